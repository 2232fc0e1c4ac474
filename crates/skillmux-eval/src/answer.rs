//! [`Answer`]: what a system says to a task.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use skillmux::retrieve::Contribution;

/// A skill of a ranking.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RankedSkill {
    /// Identifier.
    pub skill_id: String,
    /// Score; higher is better, comparable within one ranking only.
    pub score: f32,
    /// What the score is made of; empty if the system does not say, or was not asked for this
    /// skill.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contributions: Vec<Contribution>,
}

/// One step of an answer's plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerStep {
    /// What the step is about.
    pub subtask: String,
    /// Ids of the skills for it, best first.
    pub ranking: Vec<String>,
}

/// The shown part of a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerPage {
    /// The skill.
    pub skill_id: String,
    /// Byte ranges `[start, end)` of its body that are shown, ascending.
    pub spans: Vec<[u32; 2]>,
    /// Estimated tokens that are shown, headings included.
    pub n_tokens: u32,
    /// Estimated tokens of the whole body.
    pub full_tokens: u32,
    /// Bytes of the body.
    pub body_bytes: u32,
    /// Parts that are shown, if the system says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_parts: Option<u32>,
}

/// What a system says to a task. A part that it does not do is absent and not judged; one in which
/// it finds nothing is empty, and judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Skills, best first, each at most once; empty if none was found, absent if the system does
    /// not rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Vec<RankedSkill>>,
    /// Ids of the skills to load, in the order of execution; empty if the system abstains, absent
    /// if it only ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Vec<String>>,
    /// Confidence in `[0, 1]` that some skill helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// Steps of the plan, if the system splits tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<AnswerStep>,
    /// What is shown of skills; empty if the system shows nothing for this task, absent if it never
    /// does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<AnswerPage>>,
    /// Whether a chat model found that the pages suffice, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_sufficient: Option<bool>,
    /// Why the system could not be asked, if it could not; it then says nothing, and that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Answer {
    /// Returns an answer that only ranks.
    pub fn of_ranking(ranking: impl IntoIterator<Item = (String, f32)>) -> Self {
        let ranked = |(skill_id, score)| RankedSkill { skill_id, score, contributions: Vec::new() };
        Self { ranking: Some(ranking.into_iter().map(ranked).collect()), ..Self::default() }
    }

    /// Returns the ranking, of no skills if the system does not rank.
    pub fn ranked(&self) -> &[RankedSkill] {
        self.ranking.as_deref().unwrap_or_default()
    }

    /// Returns the pages; none if the system does not show any.
    pub(crate) fn shown(&self) -> &[AnswerPage] {
        self.pages.as_deref().unwrap_or_default()
    }

    /// Drops skills wherever the answer names them, but for its pages.
    pub fn drop_skills(&mut self, ids: &BTreeSet<String>) {
        if ids.is_empty() {
            return;
        }
        if let Some(ranking) = &mut self.ranking {
            ranking.retain(|skill| !ids.contains(&skill.skill_id));
        }
        if let Some(loaded) = &mut self.loaded {
            loaded.retain(|id| !ids.contains(id));
        }
        for step in &mut self.steps {
            step.ranking.retain(|id| !ids.contains(id));
        }
    }
}
