//! [`Ranker`]: ranks candidates by weighed features.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::{
    feature::{Feature, N_FEATURES},
    table::{FeatureRow, FeatureTable, QueryKind},
};
use crate::{
    error::Result,
    explain::{Contribution, EXACT_NAME, Explanation},
    index::{Index, SkillIdx},
    model::Encoder,
    retrieve::{Bm25Config, Bm25Retriever, Candidate, Query, Ranking, Retriever},
    skill::Skill,
};

/// Feature of a skill that was retrieved, but not among the candidates that are ranked again.
const RETRIEVED: &str = "retrieved";

/// Larger weights are no result of a fit, and their sums are not finite.
const MAX_WEIGHT: f32 = 1e6;

/// How much a skill that the task names is put above all others, in log-odds.
const NAMED_MARGIN: f32 = 2.0;

/// The weights of a [`Ranker`]: plain numbers, which `skillmux train ranker` fits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankerWeights {
    /// For an index with vectors and their encoder.
    pub with_vectors: FeatureWeights,
    /// For words alone.
    pub without_vectors: FeatureWeights,
}

/// A weight for each feature and kind of query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, FeatureWeight>", into = "BTreeMap<String, FeatureWeight>")]
pub struct FeatureWeights([FeatureWeight; N_FEATURES]);

/// What one unit of a feature adds to the log-odds of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureWeight {
    /// For a short query.
    pub base: f32,
    /// Added times [`QueryKind::length`].
    pub length: f32,
    /// Added times [`QueryKind::spaceless`].
    pub spaceless: f32,
}

impl FeatureWeight {
    /// Returns the weight for a kind of query.
    pub fn of(&self, kind: QueryKind) -> f32 {
        self.base + self.length * kind.length + self.spaceless * kind.spaceless
    }
}

impl Default for FeatureWeights {
    /// All zero.
    fn default() -> Self {
        Self([FeatureWeight::default(); N_FEATURES])
    }
}

impl FeatureWeights {
    /// Returns the weights with these numbers, in the order of [`Feature::ALL`].
    pub fn new(weights: [FeatureWeight; N_FEATURES]) -> Self {
        Self(weights)
    }

    /// Returns the numbers, in the order of [`Feature::ALL`].
    pub fn as_array(&self) -> &[FeatureWeight; N_FEATURES] {
        &self.0
    }

    /// Returns the weight of each feature for a kind of query.
    pub fn of(&self, kind: QueryKind) -> FeatureRow {
        self.0.map(|weight| weight.of(kind))
    }
}

impl TryFrom<BTreeMap<String, FeatureWeight>> for FeatureWeights {
    type Error = String;

    /// Takes weights by name; features without one do not count. Refuses unknown names, and numbers
    /// that are not finite or above a million.
    fn try_from(mut named: BTreeMap<String, FeatureWeight>) -> Result<Self, String> {
        let weights =
            Feature::ALL.map(|feature| named.remove(feature.as_str()).unwrap_or_default());
        if let Some((unknown, _)) = named.into_iter().next() {
            return Err(format!("there is no feature `{unknown}`"));
        }
        for (feature, FeatureWeight { base, length, spaceless }) in Feature::ALL.iter().zip(weights)
        {
            let is_sound = [base, length, spaceless].iter().all(|x| x.abs() <= MAX_WEIGHT);
            if !is_sound {
                let name = feature.as_str();
                return Err(format!("the weight of `{name}` is no number up to {MAX_WEIGHT}"));
            }
        }
        Ok(Self(weights))
    }
}

impl From<FeatureWeights> for BTreeMap<String, FeatureWeight> {
    fn from(weights: FeatureWeights) -> Self {
        let names = Feature::ALL.map(|feature| feature.as_str().to_owned());
        let named = names.into_iter().zip(weights.0);
        named.filter(|(_, weight)| *weight != FeatureWeight::default()).collect()
    }
}

/// Ranks the best candidates of retrieval, of the query as a whole and of its clauses, by a weighed
/// sum of [`Feature`]s; skills that the query names come first.
///
/// Scores are log-odds up to a constant: a skill that scores 1 more is `e` times as likely the
/// right one. Skills that are no candidates follow in the order of BM25.
pub struct Ranker<'i> {
    bm25: Bm25Retriever<'i>,
    encoder: Option<&'i dyn Encoder>,
    weights: &'i FeatureWeights,
    /// The last query with its table: what is retrieved is explained next.
    last: Mutex<Option<(String, Arc<FeatureTable>)>>,
}

impl<'i> Ranker<'i> {
    /// Returns a ranker over an index; with an encoder, the index must hold its vectors.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`](crate::Error::EncoderMismatch).
    pub fn new(
        index: &'i Index,
        encoder: Option<&'i dyn Encoder>,
        weights: &'i RankerWeights,
    ) -> Result<Self> {
        let bm25 = Bm25Retriever::new(index, Bm25Config::default());
        let weights = match encoder {
            Some(encoder) => {
                index.vectors_of(encoder)?;
                &weights.with_vectors
            }
            None => &weights.without_vectors,
        };
        Ok(Self { bm25, encoder, weights, last: Mutex::default() })
    }

    fn table(&self, query: &Query) -> Result<Arc<FeatureTable>> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((text, table)) = last().as_ref()
            && text == query.text()
        {
            return Ok(Arc::clone(table));
        }
        let table = Arc::new(FeatureTable::of(query, &self.bm25, self.encoder)?);
        *last() = Some((query.text().to_owned(), Arc::clone(&table)));
        Ok(table)
    }

    /// Returns the candidates with their scores, names apart.
    fn scored(&self, table: &FeatureTable) -> Vec<Candidate> {
        let weights = self.weights.of(table.kind);
        let score = |row: &FeatureRow| row.iter().zip(&weights).map(|(x, w)| x * w).sum();
        let rows = table.skills.iter().zip(&table.rows);
        rows.map(|(skill, row)| Candidate { skill: *skill, score: score(row) }).collect()
    }
}

impl Retriever for Ranker<'_> {
    fn retrieve(&self, query: &Query, k: usize) -> Result<Ranking> {
        let table = self.table(query)?;
        let mut candidates = self.scored(&table);
        let floor = candidates.iter().map(|candidate| candidate.score).fold(f32::MAX, f32::min);
        let best = candidates.iter().map(|candidate| candidate.score).fold(f32::MIN, f32::max);
        let named = self.bm25.named(query)?;
        for candidate in &mut candidates {
            if named.binary_search(&candidate.skill).is_ok() {
                candidate.score += best - floor + NAMED_MARGIN;
            }
        }
        if k > candidates.len() {
            let known: rustc_hash::FxHashSet<SkillIdx> = table.skills.iter().copied().collect();
            let rest = self.bm25.retrieve(query, k)?.into_candidates();
            let highest =
                rest.iter().map(|candidate| candidate.score).fold(f32::MIN_POSITIVE, f32::max);
            let rest = rest.into_iter().filter(|candidate| !known.contains(&candidate.skill));
            // Below all candidates, and still in order.
            candidates.extend(rest.map(|Candidate { skill, score }| Candidate {
                skill,
                score: floor - 2.0 + score / highest,
            }));
        }
        Ok(Ranking::of_best(candidates, k))
    }

    fn explain(&self, query: &Query, found: &[(Candidate, &Skill)]) -> Result<Vec<Explanation>> {
        let table = self.table(query)?;
        let weights = self.weights.of(table.kind);
        let mut explanations = self.bm25.explain(query, found)?;
        let cosines = table.cosines();
        for ((candidate, _), explanation) in found.iter().zip(&mut explanations) {
            let is_named = explanation.contributions.iter().any(|part| part.feature == EXACT_NAME);
            let at = table.skills.iter().position(|skill| *skill == candidate.skill);
            explanation.contributions = match at {
                Some(at) => contributions(&table.rows[at], &weights),
                None => {
                    vec![Contribution { feature: RETRIEVED.to_owned(), value: candidate.score }]
                }
            };
            let grounds = &mut explanation.grounds;
            grounds.best_cosine = cosines.best;
            grounds.cosine_rise = cosines.best - cosines.mean;
            grounds.vector_rank = at.map_or(0.0, |at| table.rows[at][Feature::DenseRank as usize]);
            if is_named {
                let rest: f32 = explanation.contributions.iter().map(|part| part.value).sum();
                let value = candidate.score - rest;
                let feature = EXACT_NAME.to_owned();
                explanation.contributions.push(Contribution { feature, value });
            }
        }
        Ok(explanations)
    }
}

/// Returns what each feature adds to a score, without those that add nothing.
fn contributions(row: &FeatureRow, weights: &FeatureRow) -> Vec<Contribution> {
    let values = row.iter().zip(weights).map(|(x, w)| x * w);
    Feature::ALL
        .into_iter()
        .zip(values)
        .filter(|(_, value)| *value != 0.0)
        .map(|(feature, value)| Contribution { feature: feature.as_str().to_owned(), value })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_survive_json_and_unknown_features_are_refused() {
        let mut weights = [FeatureWeight::default(); N_FEATURES];
        weights[Feature::Body as usize] =
            FeatureWeight { base: 1.5, length: -0.5, spaceless: 0.25 };
        let weights = FeatureWeights::new(weights);
        let json = serde_json::to_string(&weights).unwrap();
        assert_eq!(json, r#"{"bm25.body":{"base":1.5,"length":-0.5,"spaceless":0.25}}"#);
        assert_eq!(serde_json::from_str::<FeatureWeights>(&json).unwrap(), weights);
        let unknown = json.replace("bm25.body", "bm25.boddy");
        let error = serde_json::from_str::<FeatureWeights>(&unknown).unwrap_err();
        assert!(error.to_string().starts_with("there is no feature `bm25.boddy`"), "{error}");
        let huge = json.replace("1.5", "1e308");
        let error = serde_json::from_str::<FeatureWeights>(&huge).unwrap_err();
        assert!(error.to_string().starts_with("the weight of `bm25.body`"), "{error}");
    }

    #[test]
    fn the_weight_of_a_feature_follows_the_kind_of_query() {
        let weight = FeatureWeight { base: 1.0, length: 2.0, spaceless: -4.0 };
        let of = |length, spaceless| weight.of(QueryKind { length, spaceless });
        assert!((of(0.0, 0.0) - 1.0).abs() < f32::EPSILON);
        assert!((of(0.5, 0.0) - 2.0).abs() < f32::EPSILON);
        assert!((of(1.0, 1.0) + 1.0).abs() < f32::EPSILON);
    }
}
