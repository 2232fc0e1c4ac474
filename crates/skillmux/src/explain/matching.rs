//! [`WordReader`]: which words of a query a skill has, counted as they were counted for the index.

use rustc_hash::FxHashMap;

use super::words::{rarest_first, without_parts};
use crate::{
    decompose::{Clause, clauses_with_terms},
    error::Result,
    index::{Field, length_id_of, length_of},
    query::{Query, QueryTerm},
    retrieve::{Bm25, TermSaturation, TermWeight, WordMatch, saturate},
    skill::Skill,
    text::TermReader,
};

/// Reads skills for one query.
pub(crate) struct WordReader<'q> {
    query: &'q Query,
    terms: Vec<WeightedTerm>,
    clauses: Vec<WeightedClause>,
    norms: [[f32; 256]; 3],
    reader: TermReader,
}

/// A term of a query with what the index says of it.
struct WeightedTerm {
    term: QueryTerm,
    weight: TermWeight,
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

impl<'q> WordReader<'q> {
    /// Looks the terms of a query up.
    pub(crate) fn new(bm25: &Bm25<'_>, query: &'q Query) -> Result<Self> {
        let weigh = |term: QueryTerm| Ok(WeightedTerm { weight: bm25.weigh(&term)?, term });
        let terms = query.terms().into_iter().map(weigh).collect::<Result<Vec<WeightedTerm>>>()?;
        let sources = terms
            .iter()
            .enumerate()
            .flat_map(|(at, term)| term.term.sources.iter().map(move |source| (source.start, at)));
        let max_share = bm25.config().max_share();
        let clause = |(Clause { weight, .. }, inside): (Clause, Vec<usize>)| {
            let counted = inside.iter().map(|at| &terms[*at].weight).filter(|term| term.counts);
            let attainable: f32 = counted.map(|term| term.weight_in_clause).sum();
            let length = f32::max((inside.len() as f32).ln_1p(), f32::MIN_POSITIVE);
            let divisor = f32::max(max_share * attainable / length, f32::MIN_POSITIVE);
            WeightedClause { weight, terms: inside, divisor }
        };
        let clauses = clauses_with_terms(query.text(), sources).into_iter().map(clause).collect();
        Ok(Self { query, terms, clauses, norms: bm25.norms(), reader: TermReader::new() })
    }

    /// Reads one skill.
    pub(crate) fn read(&mut self, bm25: &Bm25<'_>, skill: &Skill) -> WordMatch {
        let fields = self.count(bm25, skill);
        let config = bm25.config();
        let mut field_scores = [0.0_f32; 3];
        let mut scores_in_clause = Vec::with_capacity(self.terms.len());
        let (mut matched, mut missing) = (Vec::new(), Vec::new());
        let mut weight_of_all = 0.0_f32;
        for (at, WeightedTerm { term, weight }) in self.terms.iter().enumerate() {
            let shares = Field::ALL.map(|field| {
                let field = field.position();
                let FieldCounts { counts, length_id } = &fields[field];
                let norm = self.norms[field][usize::from(*length_id)];
                config.share(field, counts[at] as f32, norm)
            });
            let sum: f32 = shares.iter().sum();
            let unit = match config.saturation {
                TermSaturation::PerField => 1.0,
                TermSaturation::Joint if sum == 0.0 => 0.0,
                TermSaturation::Joint => saturate(sum, config.joint_k1()) / sum,
            };
            let factor = weight.weight * unit;
            scores_in_clause.push(weight.weight_in_clause * unit * sum);
            for (score, share) in field_scores.iter_mut().zip(shares) {
                *score += factor * share;
            }
            weight_of_all += weight.attainable();
            if sum > 0.0 {
                matched.push((weight.weight, term));
            } else if weight.is_word {
                missing.push((weight.weight, term));
            }
        }
        let weight_of = |terms: &[(f32, &QueryTerm)]| terms.iter().map(|term| term.0).sum::<f32>();
        let weight_of_matched = weight_of(&matched);
        let weight_of_words = f32::max(weight_of_matched + weight_of(&missing), f32::MIN_POSITIVE);
        let attainable = f32::max(config.max_share() * weight_of_all, f32::MIN_POSITIVE);
        let of_name = fields[Field::Name.position()].counts.iter();
        let n_terms_in_name = of_name.filter(|count| **count > 0).count();
        WordMatch {
            matched: rarest_first(self.query.text(), &matched),
            missing: rarest_first(self.query.text(), &without_parts(&missing)),
            subjects_lacked: 0.0,
            coverage: f32::min(weight_of_matched / weight_of_words, 1.0),
            score_share: field_scores.iter().sum::<f32>() / attainable,
            field_scores,
            n_terms: u32::try_from(self.terms.len()).unwrap_or(u32::MAX),
            n_terms_in_name: u32::try_from(n_terms_in_name).unwrap_or(u32::MAX),
            clause_mass: self.clause_mass(&scores_in_clause),
            body_terms: length_of(fields[Field::Body.position()].length_id),
        }
    }

    /// Returns the highest mass of a clause, from the score of each term in a clause.
    fn clause_mass(&self, scores: &[f32]) -> f32 {
        let mass = |clause: &WeightedClause| {
            let score: f32 = clause.terms.iter().map(|at| scores[*at]).sum();
            clause.weight * score / clause.divisor
        };
        self.clauses.iter().map(mass).fold(0.0, f32::max)
    }

    /// Counts the terms as they were counted for the index.
    fn count(&mut self, bm25: &Bm25<'_>, skill: &Skill) -> [FieldCounts; 3] {
        let terms = self.terms.iter().enumerate();
        let positions: FxHashMap<&str, usize> =
            terms.map(|(at, term)| (term.term.text.as_str(), at)).collect();
        let caps = bm25.index().manifest().field_caps;
        let texts = [&skill.name, &skill.description, &skill.body];
        Field::ALL.map(|field| {
            let mut counts = vec![0; self.terms.len()];
            let mut n_terms = 0;
            let text = caps.capped(field, texts[field.position()]);
            let mut stream = self.reader.read(text);
            while let Some(term) = stream.advance() {
                n_terms += 1;
                if let Some(position) = positions.get(term.text) {
                    counts[*position] += 1;
                }
            }
            FieldCounts { counts, length_id: length_id_of(n_terms) }
        })
    }
}

/// How often each field of a skill holds each term of a query, and how long the field is.
struct FieldCounts {
    counts: Vec<u32>,
    length_id: u8,
}
