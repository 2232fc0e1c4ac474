//! [`Bm25`]: scores of one snapshot.

use super::{Bm25Config, FieldWeights, TermSaturation, saturate};
use crate::{
    error::Result,
    index::{Field, Index, SkillIdx, length_of},
    query::QueryTerm,
    retrieve::hit::Hit,
    text::is_character_pair,
};

/// In a library of this size nearly every word of the language occurs: one that does not is a typo,
/// a name or a number, and no sign that the skills are about something else.
const N_SKILLS_WITH_ALL_WORDS: usize = 10_000;

/// BM25 over one snapshot of the index.
pub(crate) struct Bm25<'i> {
    index: &'i Index,
    config: Bm25Config,
}

/// What the index says of a term of a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermWeight {
    /// Factor of its share in the score.
    pub(crate) weight: f32,
    /// The same in the score of a clause, which says it once.
    pub(crate) weight_in_clause: f32,
    /// Whether it is a word that a skill may lack: a pair of characters that no skill holds is not.
    pub(crate) is_word: bool,
    /// Whether it counts against a skill that lacks it.
    pub(crate) counts: bool,
}

impl TermWeight {
    /// Returns the weight that a skill could gain.
    pub(crate) fn attainable(&self) -> f32 {
        if self.counts { self.weight } else { 0.0 }
    }
}

impl<'i> Bm25<'i> {
    /// Returns BM25 over an index.
    pub(crate) fn new(index: &'i Index, config: Bm25Config) -> Self {
        Self { index, config }
    }

    /// Returns the index.
    pub(crate) fn index(&self) -> &'i Index {
        self.index
    }

    /// Returns the constants.
    pub(crate) fn config(&self) -> &Bm25Config {
        &self.config
    }

    /// Returns what the index says of a term.
    pub(crate) fn weigh(&self, term: &QueryTerm) -> Result<TermWeight> {
        let postings = self.index.postings(&term.text)?;
        let is_known = postings.iter().any(|postings| postings.n_skills > 0);
        let idf = self.index.idf_of(&postings);
        Ok(TermWeight {
            weight: self.config.query_weight(term) * idf,
            weight_in_clause: f32::min(term.frequency, 1.0) * idf,
            is_word: is_known || !is_character_pair(&term.text),
            counts: is_known || self.index.n_skills() < N_SKILLS_WITH_ALL_WORDS,
        })
    }

    /// Returns the most that a skill could score, above 0.
    pub(crate) fn attainable(&self, terms: &[QueryTerm]) -> Result<f32> {
        let mut weight = 0.0;
        for term in terms {
            weight += self.weigh(term)?.attainable();
        }
        Ok(f32::max(self.config.max_share() * weight, f32::MIN_POSITIVE))
    }

    /// Returns the skills that score above 0, and those that are `named` (sorted), in no order.
    pub(crate) fn hits(&self, terms: &[QueryTerm], named: &[SkillIdx]) -> Result<Vec<Hit>> {
        let scored = self.scores(terms)?.into_iter().zip(self.index.lexical().skills());
        let hits = scored.filter_map(|(score, skill)| Some(Hit { skill: skill?, score }));
        let is_found = |hit: &Hit| hit.score > 0.0 || named.binary_search(&hit.skill).is_ok();
        Ok(hits.filter(is_found).collect())
    }

    /// Returns the score of every skill, in order, as a share of the most that a skill could have.
    pub(crate) fn shares(&self, terms: &[QueryTerm], attainable: f32) -> Result<Vec<f32>> {
        let mut shares = vec![0.0; self.index.n_skills()];
        for (score, skill) in self.scores(terms)?.into_iter().zip(self.index.lexical().skills()) {
            if let Some(share) = skill.and_then(|skill| shares.get_mut(skill.0 as usize)) {
                *share = score / attainable;
            }
        }
        Ok(shares)
    }

    /// Returns the scores of all documents, in document order.
    fn scores(&self, terms: &[QueryTerm]) -> Result<Vec<f32>> {
        let mut scores = vec![0.0; self.index.lexical().n_documents()];
        let norms = self.norms();
        match self.config.saturation {
            TermSaturation::PerField => {
                for term in terms {
                    self.add_per_field(term, &norms, &mut scores)?;
                }
            }
            TermSaturation::Joint => {
                let mut frequencies = vec![0.0; scores.len()];
                for term in terms {
                    self.add_joint(term, &norms, &mut frequencies, &mut scores)?;
                }
            }
        }
        Ok(scores)
    }

    /// Adds `idf · Σ weight · tf / (tf + k1 · norm)` over the fields.
    fn add_per_field(
        &self,
        term: &QueryTerm,
        norms: &[[f32; 256]; 3],
        scores: &mut [f32],
    ) -> Result<()> {
        let mut postings = self.index.postings(&term.text)?;
        let term_weight = self.config.query_weight(term) * self.index.idf_of(&postings);
        for (field, norms) in Field::ALL.into_iter().zip(norms) {
            let FieldWeights { weight, k1, .. } = self.config.fields[field.position()];
            let factor = weight * term_weight;
            postings[field.position()].for_each_block(|segment, documents, frequencies| {
                let scores = &mut scores[segment.base()..];
                let length_ids = segment.length_ids(field);
                for (document, frequency) in documents.iter().zip(frequencies) {
                    let document = *document as usize;
                    let norm = norms[usize::from(length_ids[document])];
                    scores[document] += factor * saturate(*frequency as f32, k1 * norm);
                }
            });
        }
        Ok(())
    }

    /// Adds `idf · f / (f + k1)` with `f = Σ weight · tf / norm` over the fields.
    ///
    /// `frequencies` is all zero before and after.
    fn add_joint(
        &self,
        term: &QueryTerm,
        norms: &[[f32; 256]; 3],
        frequencies: &mut [f32],
        scores: &mut [f32],
    ) -> Result<()> {
        let mut postings = self.index.postings(&term.text)?;
        let term_weight = self.config.query_weight(term) * self.index.idf_of(&postings);
        let mut touched: Vec<usize> = Vec::new();
        for (field, norms) in Field::ALL.into_iter().zip(norms) {
            let weight = self.config.fields[field.position()].weight;
            postings[field.position()].for_each_block(|segment, documents, counts| {
                let length_ids = segment.length_ids(field);
                for (document, count) in documents.iter().zip(counts) {
                    let norm = norms[usize::from(length_ids[*document as usize])];
                    let document = segment.base() + *document as usize;
                    if frequencies[document] == 0.0 {
                        touched.push(document);
                    }
                    frequencies[document] += weight * *count as f32 / norm;
                }
            });
        }
        for document in touched {
            let frequency = std::mem::take(&mut frequencies[document]);
            scores[document] += term_weight * saturate(frequency, self.config.joint_k1());
        }
        Ok(())
    }

    /// Returns `1 - b + b · length / mean length` by quantised length, for each field.
    pub(crate) fn norms(&self) -> [[f32; 256]; 3] {
        Field::ALL.map(|field| {
            let b = self.config.fields[field.position()].b;
            let average = self.index.lexical().average_len(field).max(1.0);
            std::array::from_fn(|length_id| {
                let length_id = u8::try_from(length_id).expect("there are 256 of them");
                1.0 - b + b * length_of(length_id) as f32 / average
            })
        })
    }
}
