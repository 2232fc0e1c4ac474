//! [`Ranking`]: candidates in order, and what their scores mean.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Candidate;

/// Candidates in [`Candidate::best_first`] order, each skill at most once.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The candidates, best first.
    pub candidates: Vec<Candidate>,
    /// What their scores mean.
    pub scale: ScoreScale,
    /// Who ranked them.
    pub identity: RankingIdentity,
}

/// What the scores of a ranking mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScoreScale {
    /// At least 0 and without a limit; half the score of another is half as good a match.
    Points,
    /// A share of the most that a skill could have, from about 0 to about 1; ratios as for points.
    Share,
    /// A cosine in `[-1, 1]`; ratios as for points.
    Cosine,
    /// One less is `e` times less likely the right skill, whatever the scores themselves are.
    LogOdds,
    /// Nothing but the order.
    RankOnly,
}

/// Which retriever and reranker made a ranking, with which weights: two rankings of one identity can be
/// judged by one calibration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RankingIdentity(String);

impl RankingIdentity {
    /// Returns the identity with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RankingIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
