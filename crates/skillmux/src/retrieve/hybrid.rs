//! Fuses BM25 with the vectors of an encoder.

use super::{
    Candidate, DenseRetriever, Query, Ranking, Retriever,
    dense::{MIN_COSINE, Summands, ranking_with_named},
};
use crate::{
    error::Result,
    explain::Explanation,
    index::{Index, SkillIdx},
    model::Encoder,
    skill::Skill,
};

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

/// Ranks by the score share of BM25 and the cosine, added; skills that the query names come first.
///
/// A score share is the BM25 score divided by the most that the query's words could give, so that
/// queries of all lengths have one scale. The fusion is by score, not by rank, for it is the size
/// of a lexical match that says how much to trust it.
pub struct HybridRetriever<'i> {
    dense: DenseRetriever<'i>,
    config: HybridConfig,
}

impl<'i> HybridRetriever<'i> {
    /// Returns a retriever over an index that holds vectors of this encoder.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`](crate::Error::EncoderMismatch).
    pub fn new(index: &'i Index, encoder: &'i dyn Encoder, config: HybridConfig) -> Result<Self> {
        Ok(Self { dense: DenseRetriever::new(index, encoder)?, config })
    }

    /// Returns what the index says of each candidate, in their order: what a reranker starts from.
    ///
    /// Costs another pass over the postings of the query, and reads no skill.
    ///
    /// # Errors
    /// As for [`Retriever::retrieve`].
    pub fn signals(&self, query: &Query, candidates: &[Candidate]) -> Result<Vec<Signals>> {
        let skills: Vec<SkillIdx> = candidates.iter().map(|candidate| candidate.skill).collect();
        let lexical = self.dense.lexical.field_shares(&query.terms(), &skills)?;
        let vector = self.dense.encode(query)?;
        let named = self.dense.lexical.named(query)?;
        let signals = |(skill, lexical): (SkillIdx, [f32; 3])| Signals {
            lexical,
            dense: self.dense.vectors.cosines(skill, &vector),
            is_named: named.binary_search(&skill).is_ok(),
        };
        Ok(skills.into_iter().zip(lexical).map(signals).collect())
    }
}

/// What the index says of a skill for a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signals {
    /// Score shares of BM25 by [`Field::position`](crate::index::Field::position).
    pub lexical: [f32; 3],
    /// Cosines of name with description, and of the body.
    pub dense: [f32; 2],
    /// Whether the query names the skill.
    pub is_named: bool,
}

impl Retriever for HybridRetriever<'_> {
    fn retrieve(&self, query: &Query, k: usize) -> Result<Ranking> {
        let shares = self.dense.lexical.shares(&query.terms())?;
        let similarities = self.dense.vectors.similarities(&self.dense.encode(query)?);
        let named = self.dense.lexical.named(query)?;
        let scored = (0..).map(SkillIdx).zip(shares).zip(similarities);
        let found = scored.filter_map(|((skill, share), similarity)| {
            let is_found =
                share > 0.0 || similarity >= MIN_COSINE || named.binary_search(&skill).is_ok();
            let score = share + self.config.dense_weight * similarity;
            is_found.then_some(Candidate { skill, score })
        });
        Ok(ranking_with_named(found.collect(), &named, k))
    }

    fn explain(&self, query: &Query, found: &[(Candidate, &Skill)]) -> Result<Vec<Explanation>> {
        let attainable = self.dense.lexical.attainable(&query.terms())?;
        let summands =
            Summands { dense_weight: self.config.dense_weight, lexical_weight: 1.0 / attainable };
        self.dense.explain_as(query, found, &summands)
    }
}
