//! [`QueryRow`]: a query in the file.

use serde::{Deserialize, Serialize};
use skillmux::skill::SkillId;

use crate::synth::{
    text::{Shingles, units},
    work::Mark,
};

/// Units of the sequences by which queries are told from each other.
const DUPLICATE_UNITS: usize = 2;

/// Returns what a query is told from others by.
pub(super) fn mark(query: &str) -> Mark {
    let shingles = Shingles::of(&units(query), DUPLICATE_UNITS);
    Mark { shingles, name_key: None, text_key: None, vector: Vec::new() }
}

/// A query, as `skillmux train` reads it, by `skill_ids`, and `skillmux eval`, as a dataset of the
/// kind `composition`, by `task_id` and `skills`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct QueryRow {
    // First: a row that was cut is known by it.
    pub(super) query_id: String,
    #[serde(default)]
    pub(super) task_id: String,
    pub(super) query: String,
    /// In the order in which they are used.
    #[serde(default)]
    pub(super) skill_ids: Vec<SkillId>,
    #[serde(default)]
    pub(super) skills: Vec<SkillId>,
    #[serde(default)]
    pub(super) lang: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) model: String,
    /// Version of the instructions.
    #[serde(default)]
    pub(super) prompt: u32,
}
