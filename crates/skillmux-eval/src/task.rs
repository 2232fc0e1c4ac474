//! [`Task`]: a query with what is right for it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The skills that are right for a task, with their grades (1 or more; higher is better).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Gold {
    grades: BTreeMap<String, u32>,
}

impl Gold {
    /// Returns whether a skill is right.
    pub fn contains(&self, skill_id: &str) -> bool {
        self.grades.contains_key(skill_id)
    }

    /// Returns the grade of a skill, 0 for a wrong one.
    pub(crate) fn grade(&self, skill_id: &str) -> u32 {
        self.grades.get(skill_id).copied().unwrap_or(0)
    }

    /// Returns the number of right skills.
    pub fn len(&self) -> usize {
        self.grades.len()
    }

    /// Returns whether no skill is right.
    pub fn is_empty(&self) -> bool {
        self.grades.is_empty()
    }

    /// Returns the right skills with their grades, by id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.grades.iter().map(|(id, grade)| (id.as_str(), *grade))
    }

    /// Adds a right skill, or changes its grade; a grade of 0 is ignored.
    pub fn insert(&mut self, skill_id: impl Into<String>, grade: u32) {
        if grade > 0 {
            self.grades.insert(skill_id.into(), grade);
        }
    }
}

impl<S: Into<String>> FromIterator<S> for Gold {
    /// Every skill gets grade 1.
    fn from_iter<I: IntoIterator<Item = S>>(ids: I) -> Self {
        Self { grades: ids.into_iter().map(|id| (id.into(), 1)).collect() }
    }
}

/// One sub-task of a task, in the order of execution.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoldStep {
    /// What is to be done, in plain words.
    pub subtask: String,
    /// Functional category of a skill that can do it.
    pub category: String,
    /// The skill that does it, if one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<String>,
}

/// The part of a skill's body that a task needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoldEvidence {
    /// The skill.
    pub skill_id: String,
    /// Bytes of the annotated body, to notice another version of it.
    pub body_bytes: u32,
    /// Byte ranges `[start, end)` of the body, ascending, not overlapping.
    pub spans: Vec<[u32; 2]>,
}

/// A query with what is right for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Identifier, unique in its dataset.
    pub id: String,
    /// The task in plain words.
    pub query: String,
    /// What it asks for, in short phrases; empty if that is for the router to find.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The skills that help; empty if none does and a router should abstain.
    #[serde(default)]
    pub gold: Gold,
    /// The right skills in the order of execution; empty if the dataset has no order.
    #[serde(default)]
    pub order: Vec<String>,
    /// The sub-tasks; empty if the dataset has none.
    #[serde(default)]
    pub steps: Vec<GoldStep>,
    /// Skills that are known to be wrong, and must not be loaded.
    #[serde(default)]
    pub rejected: BTreeSet<String>,
    /// Skills that help somewhat: they count for graded measures with their grade, and are neither
    /// right nor wrong for all others. None of them is in `gold`.
    #[serde(default, skip_serializing_if = "Gold::is_empty")]
    pub partial: Gold,
    /// Skills that are neither right nor wrong, such as the one that the query was taken from: they
    /// are dropped from every ranking before it is scored.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub ignored: BTreeSet<String>,
    /// What paging must show, if the dataset says.
    #[serde(default)]
    pub evidence: Option<GoldEvidence>,
    /// What the task belongs to, as `language` → `zh`: results are reported by these.
    #[serde(default)]
    pub slices: BTreeMap<String, String>,
}

impl Task {
    /// Returns whether it is known which skills are right, be it that none is.
    pub(crate) fn gold_is_known(&self) -> bool {
        !self.gold.is_empty() || self.needs_no_skill()
    }

    /// Returns the right skills and those that help somewhat, with their grades.
    pub(crate) fn graded(&self) -> Gold {
        let mut graded = self.gold.clone();
        self.partial.iter().for_each(|(id, grade)| graded.insert(id, grade));
        graded
    }

    /// Returns whether it is known that some skill helps.
    pub(crate) fn some_skill_helps(&self) -> bool {
        !self.gold.is_empty() || !self.steps.is_empty()
    }

    /// Returns whether no skill helps, so that a router should abstain.
    ///
    /// A task without right skills is not always one of these: its steps may name categories
    /// instead, or only some skill is known to be wrong, and another may well be right.
    pub(crate) fn needs_no_skill(&self) -> bool {
        self.gold.is_empty() && self.steps.is_empty() && self.rejected.is_empty()
    }
}
