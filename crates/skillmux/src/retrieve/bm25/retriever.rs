//! [`Bm25Retriever`]: candidates by words alone.

use super::{Bm25Config, score::Bm25};
use crate::{
    error::Result,
    index::Field,
    retrieve::{
        Candidate, Contribution, RankingIdentity, RetrieveRequest, Retriever, ScoreScale, Signals,
        hit::Hit,
    },
};

/// Finds skills by BM25.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bm25Retriever {
    config: Bm25Config,
}

impl Bm25Retriever {
    /// Returns a retriever with these constants.
    pub fn new(config: Bm25Config) -> Self {
        Self { config }
    }
}

impl Retriever for Bm25Retriever {
    fn identity(&self) -> RankingIdentity {
        RankingIdentity::new(self.config.to_string())
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Points
    }

    fn retrieve(&self, request: &RetrieveRequest<'_>) -> Result<Vec<Candidate>> {
        let bm25 = Bm25::new(request.index, self.config);
        let named = request.named_positions()?;
        let hits = bm25.hits(&request.query.terms(), &named)?;
        let best = Hit::best_and_named(hits, request.k, &named).into_iter();
        best.map(|hit| hit.named_by(request.index, Signals::default())).collect()
    }

    fn contributions(&self, candidate: &Candidate) -> Vec<Contribution> {
        by_field(candidate, 1.0)
    }
}

/// Returns what the words of each field add to a score, times a factor.
pub(in crate::retrieve) fn by_field(candidate: &Candidate, factor: f32) -> Vec<Contribution> {
    let Some(words) = &candidate.signals.words else { return Vec::new() };
    let parts = Field::ALL.into_iter().zip(words.field_scores);
    let part = |(field, score): (Field, f32)| Contribution {
        feature: format!("bm25.{}", field.as_str()),
        value: score * factor,
    };
    parts.map(part).collect()
}
