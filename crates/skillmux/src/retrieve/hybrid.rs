//! [`HybridRetriever`]: BM25 and the vectors of an encoder, added.

use std::sync::Arc;

use super::{
    Candidate, Contribution, RankingIdentity, RetrieveRequest, Retriever, ScoreScale, Signals,
    bm25::{Bm25, Bm25Config, by_field},
    dense::{MIN_COSINE, by_part},
    hit::Hit,
};
use crate::{
    error::Result,
    index::{Index, SkillIdx, encode_query},
    model::Encoder,
};

/// What the words of the query could give at most; what divides their score.
const ATTAINABLE: &str = "bm25.attainable";

const SIGNALS: [&str; 3] = ["dense.description", "dense.body", ATTAINABLE];

/// Constants of [`HybridRetriever`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HybridConfig {
    /// What a cosine of 1 adds to the lexical score share, which is in `[0, 1)`.
    pub dense_weight: f32,
}

impl Default for HybridConfig {
    /// Chosen on held-out queries of `queries-train`; see `docs/encoder.md`.
    fn default() -> Self {
        Self { dense_weight: 0.2 }
    }
}

/// Finds skills by the score share of BM25 and the mean cosine, added.
///
/// A score share is the BM25 score divided by the most that the query's words could give, so that
/// queries of all lengths have one scale. The fusion is by score, not by rank, for it is the size
/// of a lexical match that says how much to trust it.
pub struct HybridRetriever {
    encoder: Arc<dyn Encoder>,
    config: HybridConfig,
}

impl HybridRetriever {
    /// Returns a retriever over indexes that hold vectors of this encoder.
    pub fn new(encoder: Arc<dyn Encoder>, config: HybridConfig) -> Self {
        Self { encoder, config }
    }
}

impl Retriever for HybridRetriever {
    fn identity(&self) -> RankingIdentity {
        let (bm25, encoder) = (Bm25Config::default(), self.encoder.identity().short());
        RankingIdentity::new(format!("hybrid({}) {bm25} {encoder}", self.config.dense_weight))
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Share
    }

    fn check(&self, index: &Index) -> Result<()> {
        index.vectors_of(self.encoder.as_ref()).map(drop)
    }

    fn retrieve(&self, request: &RetrieveRequest<'_>) -> Result<Vec<Candidate>> {
        let RetrieveRequest { index, query, k, .. } = *request;
        let vectors = index.vectors_of(self.encoder.as_ref())?;
        let vector = encode_query(self.encoder.as_ref(), query.text())?;
        let bm25 = Bm25::new(index, Bm25Config::default());
        let terms = query.terms();
        let attainable = bm25.attainable(&terms)?;
        let named = request.named_positions()?;
        let scored = (0..).map(SkillIdx).zip(bm25.shares(&terms, attainable)?);
        let hits =
            scored.zip(vectors.similarities(&vector)).filter_map(|((skill, share), similarity)| {
                let is_found =
                    share > 0.0 || similarity >= MIN_COSINE || named.binary_search(&skill).is_ok();
                let score = share + self.config.dense_weight * similarity;
                is_found.then_some(Hit { skill, score })
            });
        let best = Hit::best_and_named(hits.collect(), k, &named).into_iter();
        let candidate = |hit: Hit| {
            let [description, body] = vectors.cosines(hit.skill, &vector);
            hit.named_by(index, Signals::new(&SIGNALS, vec![description, body, attainable]))
        };
        best.map(candidate).collect()
    }

    fn contributions(&self, candidate: &Candidate) -> Vec<Contribution> {
        let attainable = candidate.signals.get(ATTAINABLE).unwrap_or(f32::MAX);
        let mut parts = by_field(candidate, 1.0 / attainable);
        parts.extend(by_part(candidate, self.config.dense_weight));
        parts
    }
}
