//! [`KeepOrder`]: candidates as they were found.

use super::{RerankRequest, Reranker};
use crate::{
    error::Result,
    retrieve::{Candidate, Contribution, RankingIdentity, Retriever, ScoreScale},
};

/// Leaves the order and the scores of the retriever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeepOrder;

impl Reranker for KeepOrder {
    fn identity(&self, retriever: &dyn Retriever) -> RankingIdentity {
        retriever.identity()
    }

    fn identity_of(&self, retriever: &dyn Retriever, found: &[Candidate]) -> RankingIdentity {
        retriever.identity_of(found)
    }

    fn scale(&self, retriever: &dyn Retriever) -> ScoreScale {
        retriever.scale()
    }

    fn rerank(
        &self,
        _request: &RerankRequest<'_>,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Candidate>> {
        Ok(candidates)
    }

    fn contributions(&self, retriever: &dyn Retriever, candidate: &Candidate) -> Vec<Contribution> {
        retriever.contributions(candidate)
    }
}
