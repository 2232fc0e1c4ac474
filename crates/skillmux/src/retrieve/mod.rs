//! Ranks the skills of an index for a query.

mod bm25;
mod dense;
mod hybrid;
mod mentions;
mod query;
mod words;

use std::cmp::Ordering;

pub use bm25::{Bm25Config, Bm25Retriever, FieldWeights, QueryRepetition, TermSaturation};
pub use dense::DenseRetriever;
pub(crate) use dense::MIN_COSINE;
pub use hybrid::{HybridConfig, HybridRetriever, Signals};
pub use query::Query;
pub(crate) use query::QueryTerm;

use crate::{error::Result, explain::Explanation, index::SkillIdx, skill::Skill};

/// A skill with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The skill.
    pub skill: SkillIdx,
    /// Higher is better; finite; comparable within one ranking only.
    pub score: f32,
}

impl Candidate {
    /// Orders by falling score, and ties by rising [`SkillIdx`], which is the order of ids.
    pub fn best_first(a: &Self, b: &Self) -> Ordering {
        b.score.total_cmp(&a.score).then_with(|| a.skill.cmp(&b.skill))
    }
}

/// Skills in [`Candidate::best_first`] order, each at most once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    candidates: Vec<Candidate>,
}

impl Ranking {
    /// Sorts candidates and keeps the best `k`; candidates with a score that is no number are dropped.
    ///
    /// A skill must not occur twice.
    pub fn of_best(mut candidates: Vec<Candidate>, k: usize) -> Self {
        candidates.retain(|candidate| !candidate.score.is_nan());
        if k < candidates.len() {
            if k > 0 {
                candidates.select_nth_unstable_by(k - 1, Candidate::best_first);
            }
            candidates.truncate(k);
        }
        candidates.sort_unstable_by(Candidate::best_first);
        Self { candidates }
    }

    /// Returns the candidates, best first, without the ranking.
    pub(crate) fn into_candidates(self) -> Vec<Candidate> {
        self.candidates
    }

    /// Returns the candidates, best first.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }
}

/// Finds the skills that a query may need.
///
/// The contract, which one test suite checks for every implementation:
/// - at most `k` candidates, in [`Candidate::best_first`] order, each skill at most once;
/// - scores are finite; a skill that shares nothing with the query is left out, so that a ranking
///   may be shorter than `k`, or empty;
/// - skills that the query names exactly come before all others;
/// - the first `k` of a ranking do not depend on `k`;
/// - the same index and query give the same ranking, bit by bit, whether the index was built at
///   once or step by step.
pub trait Retriever: Send + Sync {
    /// Returns the best `k` skills.
    ///
    /// # Errors
    /// [`Error::Lexical`](crate::Error::Lexical) if the index cannot be read, and
    /// [`Error::Encoder`](crate::Error::Encoder) if a model that it asks fails.
    fn retrieve(&self, query: &Query, k: usize) -> Result<Ranking>;

    /// Returns what the scores of candidates are made of, in their order.
    ///
    /// The skills must be those of the candidates, and the candidates those of a ranking for the
    /// same query.
    ///
    /// # Errors
    /// As for [`Retriever::retrieve`].
    fn explain(&self, query: &Query, found: &[(Candidate, &Skill)]) -> Result<Vec<Explanation>>;
}
