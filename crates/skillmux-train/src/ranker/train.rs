//! [`RankerExamples`]: queries with their candidates, and weights fitted to them.

use std::sync::Arc;

use skillmux::{
    index::Index,
    model::Encoder,
    rerank::RankerWeights,
    retrieve::{FeatureGroup, PoolRetriever},
};

use super::{
    data::{Lists, RankerData},
    fit,
    options::RankerOptions,
    scores::{self, QueryScores},
};
use crate::{
    error::{Error, Result},
    split::Fold,
};

/// Fewer lists that hold a right skill than this train nothing.
const MIN_LISTS: usize = 20;

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
    pub fn of(index: &Index, encoder: Arc<dyn Encoder>, data: &RankerData) -> Result<Self> {
        let with_vectors = data.lists(index, &PoolRetriever::new(Some(encoder)))?;
        let without_vectors = data.lists(index, &PoolRetriever::new(None))?;
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
