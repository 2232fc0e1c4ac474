//! Fits the weights of the [`Ranker`](skillmux::rerank::Ranker) to queries with known skills.
//!
//! A query and its candidates are one list. The loss is the listwise cross-entropy of `SkillRouter`
//! (Eq. 2), or its pointwise one (Eq. 3) for comparison. All is decided by skill: a query is held
//! out for the scores, or kept to stop in time, if the name of any of its skills hashes so. The same
//! data, options and index give the same weights.

mod data;
mod fit;
mod scores;

use serde::{Deserialize, Serialize};
use skillmux::{
    index::Index,
    model::Encoder,
    rerank::{FeatureGroup, RankerWeights},
};

pub use data::{Fold, RankerData};
pub use scores::{QueryScores, RankerScores};

use crate::error::{Error, Result};
use data::Lists;

/// Fewer lists that hold a right skill than this train nothing.
const MIN_LISTS: usize = 20;

/// What is made small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RankerLoss {
    /// Minus the log of the share of a right skill in the softmax over its list (`SkillRouter`
    /// Eq. 2); of several right skills each has a softmax of its own, without the others.
    Listwise,
    /// Binary cross-entropy of each candidate by itself (`SkillRouter` Eq. 3).
    Pointwise,
}

/// How candidates count that nearly repeat a right skill.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NearDuplicates {
    /// As wrong.
    Wrong,
    /// Not at all.
    LeftOut,
    /// As right, with this grade beside 1 for the skill itself (R3 grades what was rejected, too).
    Graded(f32),
}

/// How the weights are fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct RankerOptions {
    /// What is made small.
    pub loss: RankerLoss,
    /// How near-duplicates of right skills count.
    pub near_duplicates: NearDuplicates,
    /// Penalty on the squares of standardised weights.
    pub penalty: f32,
    /// Most steps of the optimiser; the best on the validation part are kept.
    pub n_steps: usize,
    /// Size of the first step.
    pub learning_rate: f32,
    /// Groups of features that get no weight.
    pub without: Vec<FeatureGroup>,
}

impl Default for RankerOptions {
    /// Chosen on queries that were not held out; see `docs/ranking.md`.
    fn default() -> Self {
        Self {
            loss: RankerLoss::Listwise,
            near_duplicates: NearDuplicates::Wrong,
            penalty: 0.01,
            n_steps: 300,
            learning_rate: 0.05,
            without: Vec::new(),
        }
    }
}

/// What a training gave.
#[derive(Debug, Clone)]
pub struct TrainedRanker {
    /// The weights.
    pub weights: RankerWeights,
    /// Lists that were fitted to.
    pub n_train: usize,
    /// Lists that decided when to stop.
    pub n_validation: usize,
    /// Scores of each query of the fold that was asked for.
    pub scores: Vec<QueryScores>,
}

/// Queries with their candidates, from which weights are fitted, as often as one likes.
pub struct RankerExamples {
    with_vectors: Lists,
    without_vectors: Lists,
}

impl RankerExamples {
    /// Looks all queries up in an index with vectors of this encoder; most of the work.
    ///
    /// # Errors
    /// [`Error::TooFewPairs`], and what the index says.
    pub fn of(index: &Index, encoder: &dyn Encoder, data: &RankerData) -> Result<Self> {
        let with_vectors = data.lists(index, Some(encoder))?;
        let without_vectors = data.lists(index, None)?;
        let n_lists = with_vectors.fold(Fold::Train).filter(|list| list.has_right()).count();
        if n_lists < MIN_LISTS {
            return Err(Error::TooFewPairs { n_pairs: n_lists, min_pairs: MIN_LISTS });
        }
        Ok(Self { with_vectors, without_vectors })
    }

    /// Fits the weights with and without vectors, and scores them on the fold that is asked for.
    pub fn fit(&self, options: &RankerOptions, scored: Fold) -> TrainedRanker {
        let Self { with_vectors: with, without_vectors: without } = self;
        let dense = FeatureGroup::ALL.into_iter().filter(|group| group.needs_vectors());
        let words_alone = RankerOptions {
            without: options.without.iter().copied().chain(dense).collect(),
            ..options.clone()
        };
        let weights = RankerWeights {
            with_vectors: fit::fit(with, options),
            without_vectors: fit::fit(without, &words_alone),
        };
        let scores_with = scores::scores(with, &weights.with_vectors, scored);
        let scores_without = scores::scores(without, &weights.without_vectors, scored);
        let scores = scores_with
            .into_iter()
            .zip(scores_without)
            .map(|(both, words)| QueryScores { ranker_without_vectors: words.ranker, ..both });
        TrainedRanker {
            scores: scores.collect(),
            n_train: with.fold(Fold::Train).count(),
            n_validation: with.fold(Fold::Validation).count(),
            weights,
        }
    }
}
