//! BM25 over name, description and body.
//!
//! A term at a time, its postings are added into one score a document. Cost is linear in the
//! postings of the query's distinct terms, so that a task of 700 words is a normal query.

mod config;
mod explain;

pub use config::{Bm25Config, FieldWeights, QueryRepetition, TermSaturation};
use explain::WeightedQuery;

use rustc_hash::FxHashMap;

use crate::{
    error::Result,
    explain::{Contribution, EXACT_NAME, Explanation},
    index::{Field, Index, SkillIdx, length_of},
    skill::Skill,
    text::TermReader,
};

use super::{
    Candidate, Query, QueryTerm, Ranking, Retriever,
    mentions::{Strength, mentions},
};
/// A word used by more skills than this for each one named so is no name, but a word.
///
/// In `queries-train` the names that are meant have 1 to 6 users, those that are not 100 and more.
const MAX_USERS_PER_NAME: usize = 20;

/// Ranks by BM25; skills that the query names come first.
pub struct Bm25Retriever<'i> {
    index: &'i Index,
    config: Bm25Config,
}

impl<'i> Bm25Retriever<'i> {
    /// Returns the index.
    pub(crate) fn index(&self) -> &'i Index {
        self.index
    }

    /// Returns the constants.
    pub(crate) fn config(&self) -> &Bm25Config {
        &self.config
    }

    /// Returns a retriever over an index.
    pub fn new(index: &'i Index, config: Bm25Config) -> Self {
        Self { index, config }
    }

    /// Returns the skills that the query names exactly, sorted.
    pub(crate) fn named(&self, query: &Query) -> Result<Vec<SkillIdx>> {
        let mut named = Vec::new();
        for mention in mentions(query.text()) {
            let skills = self.index.named(&mention.key)?;
            let is_meant = match mention.strength {
                Strength::Certain => true,
                Strength::Likely => !self.is_ordinary_word(&mention.key, skills.len())?,
            };
            if is_meant {
                named.extend(skills);
            }
        }
        named.sort_unstable();
        named.dedup();
        Ok(named)
    }

    /// Returns whether far more skills use a word than bear it as their name, as `follow-up`.
    fn is_ordinary_word(&self, key: &str, n_named: usize) -> Result<bool> {
        let mut reader = TermReader::new();
        let mut terms = reader.read(key);
        let mut n_users = 0;
        // The last term of an identifier is the whole.
        let mut whole = String::new();
        while let Some(term) = terms.advance() {
            term.text.clone_into(&mut whole);
        }
        for postings in self.index.postings(&whole)? {
            n_users = n_users.max(postings.n_skills as usize);
        }
        Ok(n_users > MAX_USERS_PER_NAME * n_named)
    }

    /// Returns the score of every skill, in order, as a share of the most that a skill could have.
    pub(super) fn shares(&self, terms: &[QueryTerm]) -> Result<Vec<f32>> {
        let attainable = self.attainable(terms)?;
        let mut shares = vec![0.0; self.index.n_skills()];
        for (score, skill) in self.scores(terms)?.into_iter().zip(self.index.lexical().skills()) {
            if let Some(share) = skill.and_then(|skill| shares.get_mut(skill.0 as usize)) {
                *share = score / attainable;
            }
        }
        Ok(shares)
    }

    /// Returns the score of each field of some skills, as shares of the most that a skill could have.
    ///
    /// For saturation per field; nothing is read but postings.
    pub(super) fn field_shares(
        &self,
        terms: &[QueryTerm],
        skills: &[SkillIdx],
    ) -> Result<Vec<[f32; 3]>> {
        let positions: FxHashMap<SkillIdx, usize> =
            skills.iter().enumerate().map(|(position, skill)| (*skill, position)).collect();
        let of_document: Vec<Option<usize>> =
            self.index.lexical().skills().map(|skill| positions.get(&skill?).copied()).collect();
        let norms = self.norms();
        let attainable = self.attainable(terms)?;
        let mut shares = vec![[0.0; 3]; skills.len()];
        for term in terms {
            let mut postings = self.index.postings(&term.text)?;
            let term_weight = self.config.query_weight(term) * self.index.idf_of(&postings);
            for (field, norms) in Field::ALL.into_iter().zip(&norms) {
                let at = field.position();
                postings[at].for_each_block(|segment, documents, frequencies| {
                    let length_ids = segment.length_ids(field);
                    for (document, frequency) in documents.iter().zip(frequencies) {
                        let document = *document as usize;
                        if let Some(position) = of_document[segment.base() + document] {
                            let norm = norms[usize::from(length_ids[document])];
                            let share = self.config.share(at, *frequency as f32, norm);
                            shares[position][at] += term_weight * share / attainable;
                        }
                    }
                });
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

impl Retriever for Bm25Retriever<'_> {
    fn retrieve(&self, query: &Query, k: usize) -> Result<Ranking> {
        let terms = query.terms();
        let scores = self.scores(&terms)?;
        let named = self.named(query)?;
        let mut candidates: Vec<Candidate> = scores
            .into_iter()
            .zip(self.index.lexical().skills())
            .filter_map(|(score, skill)| Some(Candidate { skill: skill?, score }))
            .filter(|candidate| {
                candidate.score > 0.0 || named.binary_search(&candidate.skill).is_ok()
            })
            .collect();
        if !named.is_empty() {
            let bonus = name_bonus(&candidates);
            for candidate in &mut candidates {
                if named.binary_search(&candidate.skill).is_ok() {
                    candidate.score += bonus;
                }
            }
        }
        Ok(Ranking::of_best(candidates, k))
    }

    fn explain(&self, query: &Query, found: &[(Candidate, &Skill)]) -> Result<Vec<Explanation>> {
        let terms = query.terms();
        let weighted = WeightedQuery::new(self, query, &terms)?;
        let named = self.named(query)?;
        let norms = self.norms();
        let mut reader = TermReader::new();
        let explain_one = |(candidate, skill): &(Candidate, &Skill)| {
            let counts = self.term_counts(skill, &weighted.terms, &mut reader);
            let mut explanation = self.explain_terms(&weighted, &counts, &norms);
            if named.binary_search(&candidate.skill).is_ok() {
                let words: f32 = explanation.contributions.iter().map(|part| part.value).sum();
                explanation.contributions.push(Contribution {
                    feature: EXACT_NAME.to_owned(),
                    value: candidate.score - words,
                });
            }
            explanation
        };
        Ok(found.iter().map(explain_one).collect())
    }
}

/// Returns `tf / (tf + k1)`, in `[0, 1]`, growing with `tf`; 0 if the term does not count.
fn saturate(frequency: f32, k1: f32) -> f32 {
    if frequency > 0.0 { frequency / (frequency + k1) } else { 0.0 }
}

/// Returns what puts a named skill above all others: the best score, and one for an empty ranking.
fn name_bonus(candidates: &[Candidate]) -> f32 {
    candidates.iter().map(|candidate| candidate.score).fold(0.0, f32::max) + 1.0
}
