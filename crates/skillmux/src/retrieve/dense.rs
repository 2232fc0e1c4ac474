//! Ranks by the vectors of an encoder alone.

use super::{Bm25Config, Bm25Retriever, Candidate, Query, Ranking, Retriever};
use crate::{
    error::Result,
    explain::{Contribution, EXACT_NAME, Explanation},
    index::{Index, Part, Quantised, SkillIdx, Vectors, encode_query},
    model::Encoder,
    skill::Skill,
};

/// Lowest cosine that says that a skill has something to do with a query: directions drawn at
/// random are below it for 99 of 100 skills in 160 dimensions.
pub(crate) const MIN_COSINE: f32 = 0.2;

/// Ranks by the mean cosine of the query with the parts of a skill; skills that the query names
/// come first.
///
/// The scan is exact: one dot product of bytes a part.
pub struct DenseRetriever<'i> {
    pub(super) vectors: &'i Vectors,
    encoder: &'i dyn Encoder,
    /// Knows names and words.
    pub(super) lexical: Bm25Retriever<'i>,
}

/// What a score is made of, but for names.
pub(super) struct Summands {
    /// Factor of a cosine.
    pub(super) dense_weight: f32,
    /// Factor of a lexical score.
    pub(super) lexical_weight: f32,
}

impl<'i> DenseRetriever<'i> {
    /// Returns a retriever over an index that holds vectors of this encoder.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`](crate::Error::EncoderMismatch).
    pub fn new(index: &'i Index, encoder: &'i dyn Encoder) -> Result<Self> {
        let lexical = Bm25Retriever::new(index, Bm25Config::default());
        Ok(Self { vectors: index.vectors_of(encoder)?, encoder, lexical })
    }

    pub(super) fn encode(&self, query: &Query) -> Result<Quantised> {
        encode_query(self.encoder, query.text())
    }

    /// Explains with the words of BM25 and the summands of a score.
    pub(super) fn explain_as(
        &self,
        query: &Query,
        found: &[(Candidate, &Skill)],
        summands: &Summands,
    ) -> Result<Vec<Explanation>> {
        let vector = self.encode(query)?;
        let mut explanations = self.lexical.explain(query, found)?;
        for ((candidate, _), explanation) in found.iter().zip(&mut explanations) {
            let was_named = |part: &Contribution| part.feature == EXACT_NAME;
            let is_named = explanation.contributions.iter().any(was_named);
            explanation.contributions.retain(|part| !was_named(part));
            for part in &mut explanation.contributions {
                part.value *= summands.lexical_weight;
            }
            if summands.lexical_weight <= 0.0 {
                explanation.contributions.clear();
            }
            let cosines = self.vectors.cosines(candidate.skill, &vector);
            let weight = summands.dense_weight / Part::ALL.len() as f32;
            explanation.contributions.extend(Part::ALL.into_iter().zip(cosines).map(
                |(part, cosine)| Contribution {
                    feature: format!("dense.{}", part.as_str()),
                    value: weight * cosine,
                },
            ));
            if is_named {
                let rest: f32 = explanation.contributions.iter().map(|part| part.value).sum();
                explanation.contributions.push(Contribution {
                    feature: EXACT_NAME.to_owned(),
                    value: candidate.score - rest,
                });
            }
        }
        Ok(explanations)
    }
}

impl Retriever for DenseRetriever<'_> {
    fn retrieve(&self, query: &Query, k: usize) -> Result<Ranking> {
        let similarities = self.vectors.similarities(&self.encode(query)?);
        let named = self.lexical.named(query)?;
        let scored = (0..).map(SkillIdx).zip(similarities);
        let found = scored.filter(|(skill, similarity)| {
            *similarity >= MIN_COSINE || named.binary_search(skill).is_ok()
        });
        let found = found.map(|(skill, score)| Candidate { skill, score }).collect();
        Ok(ranking_with_named(found, &named, k))
    }

    fn explain(&self, query: &Query, found: &[(Candidate, &Skill)]) -> Result<Vec<Explanation>> {
        let summands = Summands { dense_weight: 1.0, lexical_weight: 0.0 };
        self.explain_as(query, found, &summands)
    }
}

/// Returns the best `k`, those that are named (sorted by position) before all others.
pub(super) fn ranking_with_named(
    mut candidates: Vec<Candidate>,
    named: &[SkillIdx],
    k: usize,
) -> Ranking {
    if !named.is_empty() {
        let best = candidates.iter().map(|candidate| candidate.score).fold(0.0, f32::max);
        // Cosines may be negative, but not below -1.
        let bonus = best + 2.0;
        for candidate in &mut candidates {
            if named.binary_search(&candidate.skill).is_ok() {
                candidate.score += bonus;
            }
        }
    }
    Ranking::of_best(candidates, k)
}
