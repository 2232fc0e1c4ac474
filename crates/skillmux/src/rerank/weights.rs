//! [`RankerWeights`]: what each signal counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::QueryTraits;
use crate::{features::features, retrieve::Feature};

/// Larger weights are no result of a fit, and their sums are not finite.
const MAX_WEIGHT: f32 = 1e6;

/// Parts of a weight that fingerprints always tell: those for length and writing.
const N_OLDEST_PARTS: usize = 3;

/// The weights of a [`LinearReranker`](super::LinearReranker) for both kinds of index: plain
/// numbers, which `skillmux train ranker` fits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankerWeights {
    /// For an index with vectors and their encoder.
    pub with_vectors: FeatureWeights,
    /// For words alone.
    pub without_vectors: FeatureWeights,
    /// For an index that has the vectors of a transformer as well, and a query that it can read;
    /// all zero if nothing was fitted.
    #[serde(default, skip_serializing_if = "FeatureWeights::is_zero")]
    pub with_transformer: FeatureWeights,
}

/// A weight for each feature, by name; a feature without one does not count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, FeatureWeight>", into = "BTreeMap<String, FeatureWeight>")]
pub struct FeatureWeights(BTreeMap<String, FeatureWeight>);

features! {
    /// What one unit of a feature adds to the log-odds of a skill, by the traits of the query.
    pub struct FeatureWeight {
        /// For a short query.
        base,
        /// Added times the length of the query, in `[0, 1]`.
        length,
        /// Added times 1 for a query in writing without spaces.
        spaceless,
        /// Added times the share of the query that no skill has, in `[0, 1]`.
        #[serde(default, skip_serializing_if = "is_zero")]
        uncovered,
        /// Added times the size of the library, in `[0, 1]`.
        #[serde(default, skip_serializing_if = "is_zero")]
        library,
        /// Added times the length and the share that no skill has.
        #[serde(default, skip_serializing_if = "is_zero")]
        long_uncovered,
        /// Added times the length and the size of the library.
        #[serde(default, skip_serializing_if = "is_zero")]
        long_library,
        /// Added times how far the library is above 10,000 skills, in `[0, 1]`.
        #[serde(default, skip_serializing_if = "is_zero")]
        crowd,
        /// Added times the length and that.
        #[serde(default, skip_serializing_if = "is_zero")]
        long_crowd,
    }
}

/// Why weights are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// A name is that of no feature.
    #[error("there is no feature `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A weight is not finite, or too large.
    #[error("the weight of `{name}` is no number up to {MAX_WEIGHT}")]
    Unbounded {
        /// Name of the feature.
        name: String,
    },
}

impl FeatureWeight {
    /// Returns the weight for a query with these traits.
    pub fn of(&self, traits: &QueryTraits) -> f32 {
        self.to_array().iter().zip(traits.factors()).map(|(part, factor)| part * factor).sum()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what the serialiser calls it with")]
fn is_zero(part: &f32) -> bool {
    part.to_bits() << 1 == 0
}

impl FeatureWeights {
    /// Returns weights by the names of their features; those that are all zero are left out.
    ///
    /// # Errors
    /// [`WeightsError`] for a name that no feature has, and for numbers that are not finite or
    /// above a million.
    pub fn new(
        named: impl IntoIterator<Item = (String, FeatureWeight)>,
    ) -> Result<Self, WeightsError> {
        let mut weights = BTreeMap::new();
        for (name, weight) in named {
            if Feature::ALL.iter().all(|feature| feature.as_str() != name) {
                return Err(WeightsError::Unknown { name });
            }
            if !weight.to_array().iter().all(|x| x.abs() <= MAX_WEIGHT) {
                return Err(WeightsError::Unbounded { name });
            }
            if weight != FeatureWeight::default() {
                weights.insert(name, weight);
            }
        }
        Ok(Self(weights))
    }

    /// Returns whether no feature counts.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the weight of a feature; all zero if it does not count.
    pub fn get(&self, name: &str) -> FeatureWeight {
        self.find(name).unwrap_or_default()
    }

    /// Returns the weights by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, FeatureWeight)> {
        self.0.iter().map(|(name, weight)| (name.as_str(), *weight))
    }

    /// Returns the weight of a feature that counts.
    pub(super) fn find(&self, name: &str) -> Option<FeatureWeight> {
        self.0.get(name).copied()
    }

    /// Returns a short text that tells these weights from others: 16 digits of a hash.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, weight) in &self.0 {
            hasher.update(name.as_bytes());
            let parts = weight.to_array();
            let (of_writing, others) = parts.split_at(N_OLDEST_PARTS);
            for part in of_writing {
                hasher.update(&part.to_le_bytes());
            }
            // Weights that have none of these keep the name that they had before there were any.
            if others.iter().any(|part| !is_zero(part)) {
                for part in others {
                    hasher.update(&part.to_le_bytes());
                }
            }
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

impl TryFrom<BTreeMap<String, FeatureWeight>> for FeatureWeights {
    type Error = WeightsError;

    fn try_from(named: BTreeMap<String, FeatureWeight>) -> Result<Self, WeightsError> {
        Self::new(named)
    }
}

impl From<FeatureWeights> for BTreeMap<String, FeatureWeight> {
    fn from(weights: FeatureWeights) -> Self {
        weights.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_survive_json_and_unknown_features_are_refused() {
        let weight =
            FeatureWeight { base: 1.5, length: -0.5, spaceless: 0.25, ..FeatureWeight::default() };
        let weights = FeatureWeights::new([
            (Feature::Body.as_str().to_owned(), weight),
            (Feature::Name.as_str().to_owned(), FeatureWeight::default()),
        ]);
        let weights = weights.unwrap();
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
    fn the_fingerprint_follows_the_numbers() {
        let of = |base| {
            let weight = FeatureWeight { base, ..FeatureWeight::default() };
            FeatureWeights::new([("bm25".to_owned(), weight)]).unwrap().fingerprint()
        };
        assert_eq!(of(1.0), of(1.0));
        assert_ne!(of(1.0), of(1.0_f32.next_up()));
        let weight = FeatureWeight { base: 1.0, library: 1.0, ..FeatureWeight::default() };
        let sized = FeatureWeights::new([("bm25".to_owned(), weight)]).unwrap();
        assert_ne!(of(1.0), sized.fingerprint());
    }

    #[test]
    fn the_weight_of_a_feature_follows_the_query() {
        let weight =
            FeatureWeight::from_array([1.0, 2.0, -4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0]);
        let of = |length, spaceless, uncovered, library| {
            weight.of(&QueryTraits { length, spaceless, uncovered, library, read: 0.0 })
        };
        for (found, expected) in [
            (of(0.0, 0.0, 0.0, 0.0), 1.0),
            (of(0.5, 0.0, 0.0, 0.0), 2.0),
            (of(1.0, 1.0, 0.0, 0.0), -1.0),
            (of(0.0, 0.0, 0.5, 0.0), 5.0),
            (of(0.0, 0.0, 0.0, 0.25), 5.0),
            (of(0.5, 0.0, 0.5, 0.0), 14.0),
            (of(0.5, 0.0, 0.0, 0.5), 26.0),
            (of(0.0, 0.0, 0.0, 0.75), 13.0),
            // 31,623 skills are halfway between 10,000 and 100,000 by the logarithm.
            (of(0.0, 0.0, 0.0, 0.9), 79.4),
            (of(0.5, 0.0, 0.0, 1.0), 306.0),
        ] {
            assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
        }
    }
}
