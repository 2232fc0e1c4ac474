//! [`Measure`]: a metric of one task and its answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{answer::Answer, task::Task};

/// A task and its answer.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The task.
    pub task: &'a Task,
    /// What a system said to it.
    pub answer: &'a Answer,
    /// Functional category by skill id.
    pub categories: &'a BTreeMap<String, String>,
}

/// Which values of a metric are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Direction {
    /// High ones.
    HigherIsBetter,
    /// Low ones.
    LowerIsBetter,
    /// Those near zero, on either side.
    NearZeroIsBetter,
}

/// A metric of one task.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// Name for tables, such as `Recall@10`.
    pub name: &'static str,
    /// What is computed, in one line for reports.
    pub formula: &'static str,
    /// Where it is defined, such as `SkillRouter §2.1`.
    pub source: &'static str,
    /// Which values are good.
    pub direction: Direction,
    /// Returns the value, or `None` if the metric says nothing about such a task or answer.
    pub of: fn(&Case<'_>) -> Option<f64>,
}

/// Beginnings of the names of the metrics that look at the first so many skills of a ranking.
const OF_FIRST: [&str; 6] = ["Hit@", "MRR@", "nDCG@", "Recall@", "FC@", "Comp@"];

impl Measure {
    /// Returns how many skills of a ranking the metric looks at, which is in its name; `None` if
    /// that is not fixed, or if it looks at something else.
    pub(crate) fn n_ranked(&self) -> Option<usize> {
        let rest = OF_FIRST.iter().find_map(|start| self.name.strip_prefix(start))?;
        rest.split(' ').next()?.parse().ok()
    }
}
