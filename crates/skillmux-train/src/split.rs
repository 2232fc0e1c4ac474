//! What is held out from training, and for what.
//!
//! Every rule is here but the published one, which is that of the dataset
//! ([`skillmux_eval::dataset::split`]). All but the last go by the name of a skill, so that copies
//! and translations of it, which mostly keep the name, are on the same side.

use rustc_hash::FxHashSet;
use skillmux::skill::SkillId;
use skillmux_eval::dataset::split::is_scored;

/// One skill name in so many is held out from the encoder.
const ENCODER_ONE_IN: u64 = 10;

/// Parts that skill names are dealt out to for the ranker.
const RANKER_PARTS: u64 = 10;

/// One query in so many is held out from the calibrations.
const CALIBRATION_ONE_IN: u32 = 5;

/// What a query of the ranker is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fold {
    /// Weights are fitted to it.
    Train,
    /// Decides when to stop.
    Validation,
    /// For the scores.
    HeldOut,
}

/// Returns the hash of a name without case and joints, by which names are the same.
pub(crate) fn key_of_name(name: &str) -> u64 {
    let key: String =
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let hash = blake3::hash(key.as_bytes());
    let start = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
    u64::from_le_bytes(*start)
}

/// Returns whether the encoder learns nothing from the queries of skills with this name.
pub(crate) fn is_new_to_encoder(name_key: u64) -> bool {
    name_key.is_multiple_of(ENCODER_ONE_IN)
}

/// Returns whether a pair of translations is kept for the final scores, and read by no training.
pub(crate) fn is_scored_pair(english: &SkillId) -> bool {
    is_scored(english.as_str())
}

/// Names of the skills of the pairs that are kept for the final scores: no training learns that
/// skills of these names are translations of each other.
#[derive(Debug, Default)]
pub(crate) struct ScoredNames(FxHashSet<u64>);

impl FromIterator<u64> for ScoredNames {
    fn from_iter<I: IntoIterator<Item = u64>>(name_keys: I) -> Self {
        Self(name_keys.into_iter().collect())
    }
}

impl ScoredNames {
    /// Returns whether a skill of this name may be learned from as a translation.
    pub(crate) fn leave(&self, name_key: u64) -> bool {
        !self.0.contains(&name_key)
    }
}

/// What the names of the skills of a query decide for the ranker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RankerShare {
    /// The last that one of the names says.
    pub(crate) fold: Fold,
    /// Whether one of the names was held out from the encoder, whose cosines are too good for a
    /// query that it was trained on.
    pub(crate) is_new_to_encoder: bool,
}

impl RankerShare {
    /// Returns what a name decides.
    pub(crate) fn of_name(name_key: u64) -> Self {
        // The last digit says what is new to the encoder.
        let fold = match name_key / ENCODER_ONE_IN % RANKER_PARTS {
            0 | 5 => Fold::HeldOut,
            1 => Fold::Validation,
            _ => Fold::Train,
        };
        Self { fold, is_new_to_encoder: is_new_to_encoder(name_key) }
    }

    /// Returns what two names of one query decide.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            fold: self.fold.max(other.fold),
            is_new_to_encoder: self.is_new_to_encoder || other.is_new_to_encoder,
        }
    }
}

/// Returns whether a query is held out from the calibrations, by its text: the same for every
/// index and every run.
pub(crate) fn is_new_to_calibration(query: &str) -> bool {
    let hash = blake3::hash(query.as_bytes());
    let [a, b, c, d, ..] = *hash.as_bytes();
    u32::from_le_bytes([a, b, c, d]).is_multiple_of(CALIBRATION_ONE_IN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case_and_joints() {
        assert_eq!(key_of_name("PDF-Forms"), key_of_name("pdf_forms"));
        assert_ne!(key_of_name("pdf-forms"), key_of_name("pdf-form"));
    }

    #[test]
    fn a_tenth_of_the_names_is_new_to_the_encoder_and_a_fifth_is_held_out_from_the_ranker() {
        let shares: Vec<RankerShare> =
            (0..10_000).map(|n| RankerShare::of_name(key_of_name(&n.to_string()))).collect();
        let n = |is: fn(&RankerShare) -> bool| shares.iter().filter(|share| is(share)).count();
        assert!((900..1100).contains(&n(|share| share.is_new_to_encoder)));
        assert!((1800..2200).contains(&n(|share| share.fold == Fold::HeldOut)));
        assert!((900..1100).contains(&n(|share| share.fold == Fold::Validation)));
    }

    #[test]
    fn a_query_of_two_skills_is_as_far_from_training_as_either() {
        let [seen, new] = [(Fold::Validation, false), (Fold::Train, true)]
            .map(|(fold, is_new_to_encoder)| RankerShare { fold, is_new_to_encoder });
        let both = RankerShare { fold: Fold::Validation, is_new_to_encoder: true };
        assert_eq!((seen.and(new), new.and(seen)), (both, both));
    }

    #[test]
    fn a_fifth_of_the_queries_is_new_to_the_calibrations() {
        let n = (0..1000).filter(|n| is_new_to_calibration(&n.to_string())).count();
        assert!((160..240).contains(&n), "{n}");
    }
}
