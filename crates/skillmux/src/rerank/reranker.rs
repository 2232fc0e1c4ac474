//! [`Reranker`]: the port of what orders candidates.

use crate::{
    error::Result,
    index::Index,
    query::Query,
    retrieve::{Candidate, Contribution, RankingIdentity, Retriever, ScoreScale},
};

/// What a [`Reranker`] is asked.
#[derive(Clone, Copy)]
pub struct RerankRequest<'a> {
    /// The snapshot of the library, for rerankers that read skills.
    pub index: &'a Index,
    /// What is looked for.
    pub query: &'a Query,
}

/// Orders candidates.
///
/// The contract, which one test suite checks for every implementation:
/// - every candidate comes back once, with its signals, in [`Candidate::best_first`] order;
/// - scores are finite;
/// - the place of a candidate among those before it does not depend on those after it, but for the
///   first [`n_compared`](Self::n_compared), which are compared with each other;
/// - where some candidates have signals, those without stay below them, in the order in which they
///   came.
pub trait Reranker: Send + Sync {
    /// Returns who ranks, with models and weights, after this retriever.
    fn identity(&self, retriever: &dyn Retriever) -> RankingIdentity;

    /// Returns who ranked these candidates, as for [`Retriever::identity_of`].
    fn identity_of(&self, retriever: &dyn Retriever, _found: &[Candidate]) -> RankingIdentity {
        self.identity(retriever)
    }

    /// Returns what the scores mean, for candidates of this retriever.
    fn scale(&self, retriever: &dyn Retriever) -> ScoreScale;

    /// Returns how many of the first candidates it compares by more than their signals, as one that
    /// asks a model does. So many are retrieved even where fewer are asked for: the first ones of a
    /// ranking do not depend on how many are asked for.
    fn n_compared(&self) -> usize {
        0
    }

    /// Returns the candidates with their new scores.
    ///
    /// # Errors
    /// Those of reading skills, and of a model that it asks.
    fn rerank(
        &self,
        request: &RerankRequest<'_>,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Candidate>>;

    /// Returns what the score of a candidate is made of; the values add up to it within rounding.
    fn contributions(&self, retriever: &dyn Retriever, candidate: &Candidate) -> Vec<Contribution>;
}
