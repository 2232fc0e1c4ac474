//! What a score is made of: counts a skill's terms again, as they were counted for the index.

use rustc_hash::FxHashMap;

use super::{Bm25Retriever, TermSaturation, saturate};
use crate::{
    decompose::{Clause, clauses_with_terms},
    error::Result,
    explain::{Contribution, Explanation, Grounds},
    index::{Field, length_id_of, length_of},
    retrieve::{Query, QueryTerm, words::rarest_first},
    skill::Skill,
    text::{TermReader, is_character_pair},
};

/// In a library of this size nearly every word of the language occurs: one that does not is a typo,
/// a name or a number, and no sign that the skills are about something else.
const N_SKILLS_WITH_ALL_WORDS: usize = 10_000;

/// A term of a query with what the index says of it.
pub(super) struct WeightedTerm<'q> {
    term: &'q QueryTerm,
    /// Factor of its share in the score.
    weight: f32,
    /// The same in the score of a clause, which says it once.
    weight_in_clause: f32,
    /// Whether it is a word that a skill may lack: a pair of characters that no skill holds is not.
    is_word: bool,
    /// Whether it counts against a skill that lacks it.
    counts: bool,
}

/// A query with what is the same for all skills.
pub(super) struct WeightedQuery<'q> {
    query: &'q Query,
    pub(super) terms: Vec<WeightedTerm<'q>>,
    clauses: Vec<WeightedClause>,
}

/// A clause of a query.
struct WeightedClause {
    /// How much it is about the work itself.
    weight: f32,
    /// Positions of its terms.
    terms: Vec<usize>,
    /// What divides the score of its terms, so that the best becomes `ln(1 + terms)`.
    divisor: f32,
}

impl<'q> WeightedQuery<'q> {
    pub(super) fn new(
        bm25: &Bm25Retriever<'_>,
        query: &'q Query,
        terms: &'q [QueryTerm],
    ) -> Result<Self> {
        let terms = terms
            .iter()
            .map(|term| bm25.weighted(term))
            .collect::<Result<Vec<WeightedTerm<'q>>>>()?;
        let sources = terms
            .iter()
            .enumerate()
            .flat_map(|(at, term)| term.term.sources.iter().map(move |source| (source.start, at)));
        let max_share = bm25.config.max_share();
        let clause = |(Clause { weight, .. }, inside): (Clause, Vec<usize>)| {
            let counted = inside.iter().filter(|at| terms[**at].counts);
            let attainable: f32 = counted.map(|at| terms[*at].weight_in_clause).sum();
            let length = f32::max((inside.len() as f32).ln_1p(), f32::MIN_POSITIVE);
            let divisor = f32::max(max_share * attainable / length, f32::MIN_POSITIVE);
            WeightedClause { weight, terms: inside, divisor }
        };
        let clauses = clauses_with_terms(query.text(), sources).into_iter().map(clause).collect();
        Ok(Self { query, terms, clauses })
    }

    /// Returns the highest mass of a clause, from the score of each term in a clause.
    fn clause_mass(&self, scores: &[f32]) -> f32 {
        let mass = |clause: &WeightedClause| {
            let score: f32 = clause.terms.iter().map(|at| scores[*at]).sum();
            clause.weight * score / clause.divisor
        };
        self.clauses.iter().map(mass).fold(0.0, f32::max)
    }
}

/// How often each field of a skill holds each term of a query, and how long the field is.
pub(super) struct FieldCounts {
    counts: Vec<u32>,
    length_id: u8,
}

impl WeightedTerm<'_> {
    /// Returns the weight that a skill could gain.
    fn attainable(&self) -> f32 {
        if self.counts { self.weight } else { 0.0 }
    }
}

impl Bm25Retriever<'_> {
    /// Returns the most that a skill could score, above 0.
    pub(in crate::retrieve) fn attainable(&self, terms: &[QueryTerm]) -> Result<f32> {
        let mut weight = 0.0;
        for term in terms {
            weight += self.weighted(term)?.attainable();
        }
        Ok(f32::max(self.config.max_share() * weight, f32::MIN_POSITIVE))
    }

    pub(super) fn weighted<'q>(&self, term: &'q QueryTerm) -> Result<WeightedTerm<'q>> {
        let postings = self.index.postings(&term.text)?;
        let is_known = postings.iter().any(|postings| postings.n_skills > 0);
        let idf = self.index.idf_of(&postings);
        Ok(WeightedTerm {
            term,
            weight: self.config.query_weight(term) * idf,
            weight_in_clause: f32::min(term.frequency, 1.0) * idf,
            is_word: is_known || !is_character_pair(&term.text),
            counts: is_known || self.index.n_skills() < N_SKILLS_WITH_ALL_WORDS,
        })
    }

    /// Counts the terms as they were counted for the index.
    pub(super) fn term_counts(
        &self,
        skill: &Skill,
        terms: &[WeightedTerm<'_>],
        reader: &mut TermReader,
    ) -> [FieldCounts; 3] {
        let positions: FxHashMap<&str, usize> =
            terms.iter().enumerate().map(|(at, term)| (term.term.text.as_str(), at)).collect();
        let caps = self.index.manifest().field_caps;
        let texts = [&skill.name, &skill.description, &skill.body];
        Field::ALL.map(|field| {
            let mut counts = vec![0; terms.len()];
            let mut n_terms = 0;
            let text = caps.capped(field, texts[field.position()]);
            let mut stream = reader.read(text);
            while let Some(term) = stream.advance() {
                n_terms += 1;
                if let Some(position) = positions.get(term.text) {
                    counts[*position] += 1;
                }
            }
            FieldCounts { counts, length_id: length_id_of(n_terms) }
        })
    }

    pub(super) fn explain_terms(
        &self,
        query: &WeightedQuery<'_>,
        fields: &[FieldCounts; 3],
        norms: &[[f32; 256]; 3],
    ) -> Explanation {
        let WeightedQuery { query: task, terms, .. } = query;
        let mut parts = [0.0_f32; 3];
        let mut scores_in_clause = Vec::with_capacity(terms.len());
        let (mut matched, mut missing) = (Vec::new(), Vec::new());
        let mut weight_of_all = 0.0_f32;
        for (at, weighted) in terms.iter().enumerate() {
            let WeightedTerm { term, weight, is_word, .. } = weighted;
            let shares = Field::ALL.map(|field| {
                let field = field.position();
                let FieldCounts { counts, length_id } = &fields[field];
                let norm = norms[field][usize::from(*length_id)];
                self.config.share(field, counts[at] as f32, norm)
            });
            let sum: f32 = shares.iter().sum();
            let unit = match self.config.saturation {
                TermSaturation::PerField => 1.0,
                TermSaturation::Joint if sum == 0.0 => 0.0,
                TermSaturation::Joint => saturate(sum, self.config.joint_k1()) / sum,
            };
            let factor = weight * unit;
            scores_in_clause.push(weighted.weight_in_clause * unit * sum);
            for (part, share) in parts.iter_mut().zip(shares) {
                *part += factor * share;
            }
            weight_of_all += weighted.attainable();
            if sum > 0.0 {
                matched.push((*weight, *term));
            } else if *is_word {
                missing.push((*weight, *term));
            }
        }
        let weight_of = |terms: &[(f32, &QueryTerm)]| terms.iter().map(|term| term.0).sum::<f32>();
        let weight_of_matched = weight_of(&matched);
        let weight_of_words = f32::max(weight_of_matched + weight_of(&missing), f32::MIN_POSITIVE);
        let attainable = f32::max(self.config.max_share() * weight_of_all, f32::MIN_POSITIVE);
        let contributions = Field::ALL
            .into_iter()
            .zip(parts)
            .map(|(field, value)| Contribution {
                feature: format!("bm25.{}", field.as_str()),
                value,
            })
            .collect();
        Explanation {
            contributions,
            matched: rarest_first(task.text(), &matched),
            missing: rarest_first(task.text(), &missing),
            coverage: f32::min(weight_of_matched / weight_of_words, 1.0),
            score_share: parts.iter().sum::<f32>() / attainable,
            headline_share: (parts[0] + parts[1]) / f32::max(parts.iter().sum(), f32::MIN_POSITIVE),
            n_terms: u32::try_from(terms.len()).unwrap_or(u32::MAX),
            grounds: Grounds {
                clause_mass: query.clause_mass(&scores_in_clause),
                body_terms: length_of(fields[Field::Body.position()].length_id),
                ..Grounds::default()
            },
        }
    }
}
