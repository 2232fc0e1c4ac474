//! [`Example`]: a query to train on, and [`Drawn`], what a step makes of it.

use skillmux::{index::SkillIdx, query::Query};

use super::reading::SkillText;

/// A query with the skills that answer it.
#[derive(Debug, Clone)]
pub(super) struct Example {
    pub(super) query: Query,
    /// The skill whose description the query is: neither an answer nor a negative.
    pub(super) twin: Option<SkillIdx>,
    /// Skills that answer it.
    pub(super) gold: Vec<SkillIdx>,
}

impl Example {
    /// Returns whether a skill is an answer, or the query itself.
    pub(super) fn knows(&self, skill: SkillIdx) -> bool {
        self.gold.contains(&skill) || self.twin == Some(skill)
    }
}

/// A query with one of its answers and some negatives.
pub(super) struct Drawn<'e> {
    pub(super) example: &'e Example,
    pub(super) answer: SkillText,
    pub(super) negatives: Vec<SkillText>,
}
