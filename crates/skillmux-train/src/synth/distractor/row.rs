//! [`DistractorRow`]: a distractor in the shard.

use serde::{Deserialize, Serialize};
use skillmux::skill::SkillId;

use super::options::Strategy;
use crate::synth::{
    name::name_key,
    sample::key,
    text::{Shingles, units},
    work::Mark,
};

/// Distractors whose bodies are more alike are duplicates: near-duplicates from `docs/datasets.md`.
pub(super) const MAX_SIMILARITY: f64 = 0.4;
pub(super) const DUPLICATE_UNITS: usize = 4;

/// Returns the name by which a distractor is known in every run.
pub(super) fn key_of(reference: &SkillId, strategy: Strategy) -> String {
    key(&["distractor", reference.as_str(), strategy.as_str()])
}

/// Returns what a distractor is told from others by.
pub(super) fn mark(name: &str, body: &str) -> Mark {
    let shingles = Shingles::of(&units(body), DUPLICATE_UNITS);
    Mark { shingles, name_key: Some(name_key(name)), text_key: None, vector: Vec::new() }
}

/// A distractor, as a library reads it, and where it comes from.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DistractorRow {
    // First: a row that was cut is known by it.
    pub(super) skill_id: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) body: String,
    pub(super) source: String,
    pub(super) distractor_of: SkillId,
    pub(super) strategy: Strategy,
    #[serde(default)]
    pub(super) model: String,
    /// Version of the instructions.
    #[serde(default)]
    pub(super) prompt: u32,
}
