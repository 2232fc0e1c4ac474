//! [`Candidate`]: a skill that may help, and what is known of it.

use std::cmp::Ordering;

use super::Signals;
use crate::skill::SkillId;

/// A skill that may help, with its score and the evidence for it.
///
/// The id is the stable key of a skill: it names the same skill in every generation of an index and
/// in every other engine that holds its postings or vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The skill.
    pub skill: SkillId,
    /// Higher is better; finite; comparable within one ranking only.
    pub score: f32,
    /// What is known of the skill for the query.
    pub signals: Signals,
}

impl Candidate {
    /// Returns a candidate of which no more is known than its score.
    pub fn new(skill: SkillId, score: f32) -> Self {
        Self { skill, score, signals: Signals::default() }
    }

    /// Orders by falling score, and ties by rising id.
    pub fn best_first(a: &Self, b: &Self) -> Ordering {
        b.score.total_cmp(&a.score).then_with(|| a.skill.cmp(&b.skill))
    }
}
