//! [`DistractorOptions`]: which distractors are written.

use serde::{Deserialize, Serialize};

/// How a distractor misses what the reference does (`SkillRouter` appendix B).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Strategy {
    /// The same technical field, and another task.
    SameDomainDifferentProblem,
    /// The same technology, and another use of it.
    SameTechDifferentUse,
    /// Broader, without the capability that the reference has.
    OverGeneralized,
}

impl Strategy {
    /// Every strategy, in the order in which they are used.
    pub const ALL: [Self; 3] =
        [Self::SameDomainDifferentProblem, Self::SameTechDifferentUse, Self::OverGeneralized];

    /// Returns the name, such as `over-generalized`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SameDomainDifferentProblem => "same-domain-different-problem",
            Self::SameTechDifferentUse => "same-tech-different-use",
            Self::OverGeneralized => "over-generalized",
        }
    }

    pub(super) fn instruction(self) -> &'static str {
        match self {
            Self::SameDomainDifferentProblem => {
                "It belongs to the same technical field as the reference, and solves another problem of it."
            }
            Self::SameTechDifferentUse => {
                "It is built on the same technologies, formats or tools as the reference, and uses them \
                 for another purpose."
            }
            Self::OverGeneralized => {
                "It covers a wider field, of which the reference is a small part, and lacks just the \
                 capability that the reference has: it stays general there."
            }
        }
    }
}

/// Which distractors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistractorOptions {
    /// Distractors of each skill, one a strategy: 1 to 3.
    pub n_per_skill: usize,
}
