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

/// What log-odds are divided by before they become shares: a ranking is less sure of itself than it
/// says.
///
/// On 234 tasks of several skills whose skills no score uses, 1, 2 and 3 give a merged Recall@10 of
/// .676, .695 and .708, and the best Hit@1 lies between 1 and 2; see `docs/needs.md`.
const TEMPERATURE: f32 = 2.0;

/// Returns the shares of candidates with these log-odds, best first (a softmax); they add up to 1.
pub(crate) fn log_odds_shares(log_odds: impl IntoIterator<Item = f32>) -> Vec<f32> {
    let mut best = None;
    let weight = |score: f32| ((score - *best.get_or_insert(score)) / TEMPERATURE).exp();
    shares(log_odds.into_iter().map(weight).collect())
}

/// Returns what each of some weights is of all together.
pub(crate) fn shares(weights: Vec<f32>) -> Vec<f32> {
    let sum = f32::max(weights.iter().sum(), f32::MIN_POSITIVE);
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// Which retriever and reranker made a ranking, with which weights: two rankings of one identity
/// can be judged by one calibration.
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
