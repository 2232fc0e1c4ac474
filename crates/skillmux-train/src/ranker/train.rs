//! [`RankerExamples`]: queries with their candidates, and weights fitted to them.

use std::sync::Arc;

use skillmux::{
    index::Index,
    model::Encoder,
    rerank::{FeatureWeights, RankerWeights},
    retrieve::{FeatureGroup, PoolRetriever},
};

use super::{
    data::{Lists, Queries, RankerData},
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
    /// Scores of the weights with a transformer, of each query in each index; none without one.
    pub transformer_scores: Vec<QueryScores>,
}

/// Queries with their candidates, from which weights are fitted, as often as one likes.
pub struct RankerExamples {
    with_vectors: Lists,
    without_vectors: Lists,
    /// By size of the library.
    with_transformer: Vec<Lists>,
}

impl RankerExamples {
    /// Looks all queries up in an index with vectors of this encoder; most of the work.
    ///
    /// # Errors
    /// [`Error::TooFewPairs`], and what the index says.
    pub fn of(index: &Index, encoder: Arc<dyn Encoder>, data: &RankerData) -> Result<Self> {
        let with_vectors =
            data.lists(index, &PoolRetriever::new(Some(encoder)), Queries::NewToEncoder)?;
        let without_vectors =
            data.lists(index, &PoolRetriever::new(None), Queries::NewToEncoder)?;
        let n_lists = with_vectors.fold(Fold::Train).filter(|list| list.has_right()).count();
        if n_lists < MIN_LISTS {
            return Err(Error::TooFewPairs { n_pairs: n_lists, min_pairs: MIN_LISTS });
        }
        Ok(Self { with_vectors, without_vectors, with_transformer: Vec::new() })
    }

    /// Returns no examples: what is added is fitted beside weights that are there.
    pub fn none() -> Self {
        let none = Lists::default;
        Self { with_vectors: none(), without_vectors: none(), with_transformer: Vec::new() }
    }

    /// Looks the queries up with a transformer as well, in indexes of one size, which weighs as
    /// much as any other.
    ///
    /// Only queries count whose skills are new to all encoders, and that the transformer can read.
    ///
    /// # Errors
    /// What the indexes say.
    pub fn add_transformer<'i>(
        &mut self,
        indexes: impl IntoIterator<Item = &'i Index>,
        encoder: &Arc<dyn Encoder>,
        transformer: &Arc<dyn Encoder>,
        data: &RankerData,
    ) -> Result<()> {
        let retriever =
            PoolRetriever::new(Some(Arc::clone(encoder))).with_transformer(Arc::clone(transformer));
        let mut of_size = Lists::default();
        for index in indexes {
            let mut lists = data.lists(index, &retriever, Queries::OfNewSkills)?;
            lists.retain_read();
            of_size.extend(lists);
        }
        self.with_transformer.push(of_size);
        Ok(())
    }

    /// Fits the weights and scores them on what is held out; with `kept`, the weights with a
    /// transformer alone, beside those.
    pub fn fit(&self, options: &RankerOptions, kept: Option<&RankerWeights>) -> TrainedRanker {
        let Self { with_vectors: with, without_vectors: without, with_transformer } = self;
        let dense = FeatureGroup::ALL.into_iter().filter(|group| group.needs_vectors());
        let words_alone = RankerOptions {
            without: options.without.iter().copied().chain(dense).collect(),
            ..options.clone()
        };
        let mut weights = kept.cloned().unwrap_or_else(|| RankerWeights {
            with_vectors: fit::fit(with, options),
            without_vectors: fit::fit(without, &words_alone),
            with_transformer: FeatureWeights::default(),
        });
        if !with_transformer.is_empty() {
            weights.with_transformer =
                fit::fit_with_transformer(with_transformer, options, &weights.with_vectors);
        }
        let scores_with = scores::scores(with, &weights.with_vectors);
        let scores_without = scores::scores(without, &weights.without_vectors);
        let scores = scores_with
            .into_iter()
            .zip(scores_without)
            .map(|(both, words)| QueryScores { ranker_without_vectors: words.ranker, ..both });
        let of_transformer = |lists: &Lists| scores::scores(lists, &weights.with_transformer);
        TrainedRanker {
            transformer_scores: with_transformer.iter().flat_map(of_transformer).collect(),
            scores: scores.collect(),
            n_train: with.fold(Fold::Train).count(),
            n_validation: with.fold(Fold::Validation).count(),
            weights,
        }
    }
}
