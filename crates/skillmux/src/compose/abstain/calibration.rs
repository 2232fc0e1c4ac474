//! [`Calibration`]: from what speaks for the best skill to how likely it helps.

use serde::{Deserialize, Serialize};

use super::{Evidence, Features};
use crate::{
    model::{PairScorer, probability},
    retrieve::RankingIdentity,
};

/// How likely the best skill helps, by logistic regression over [`Evidence`].
///
/// Plain numbers: `skillmux train abstention` fits them, and any program may store them. They say
/// something about rankings of one [`RankingIdentity`] alone, those that they were fitted to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The rankings that it judges.
    pub ranking: RankingIdentity,
    /// Log-odds without any evidence.
    pub bias: f32,
    /// What one unit of each feature adds to the log-odds.
    pub weights: Features,
    /// The verifier whose log-odds `serves` weighs, as its identity names it in short; no
    /// other one is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<String>,
    /// A plan abstains below this confidence, in `[0, 1]`.
    pub threshold: f32,
    /// The threshold in a library of 100,000 skills, where chance finds some match for anything;
    /// the same as the other where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub large_threshold: Option<f32>,
}

/// A [`Calibration`] for each ranking that one was fitted to. In a file, all numbers are finite.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Calibration>")]
pub struct Calibrations(Vec<Calibration>);

impl Calibrations {
    /// Returns these calibrations; of two for one ranking the first counts.
    pub fn new(calibrations: impl IntoIterator<Item = Calibration>) -> Self {
        Self(calibrations.into_iter().collect())
    }

    /// Returns the calibration of a ranking; `None` if none was fitted to it.
    pub fn of(&self, ranking: &RankingIdentity) -> Option<&Calibration> {
        self.0.iter().find(|calibration| calibration.ranking == *ranking)
    }

    /// Returns all calibrations.
    pub fn iter(&self) -> impl Iterator<Item = &Calibration> {
        self.0.iter()
    }
}

impl TryFrom<Vec<Calibration>> for Calibrations {
    type Error = &'static str;

    fn try_from(calibrations: Vec<Calibration>) -> Result<Self, Self::Error> {
        if calibrations.iter().all(Calibration::is_finite) {
            Ok(Self(calibrations))
        } else {
            Err("a number is too large")
        }
    }
}

/// Skills of the largest library that `threshold` is for, and of the smallest that
/// `large_threshold` is for.
const THRESHOLD_SIZES: [f32; 2] = [300.0, 100_000.0];

/// Skills of the largest library in which a verifier is asked.
const MAX_VERIFIED_SKILLS: usize = 2_000;

impl Calibration {
    fn is_finite(&self) -> bool {
        let others = [self.bias, self.threshold, self.large_threshold.unwrap_or(0.0)];
        self.weights.to_array().into_iter().chain(others).all(f32::is_finite)
    }

    /// Returns whether it weighs what this verifier says in a library of this size.
    pub(crate) fn asks(&self, verifier: &dyn PairScorer, n_skills: usize) -> bool {
        Self::may_ask_verifier(n_skills)
            && self.weights.serves != 0.0
            && self.verifier.as_ref().is_some_and(|known| *known == verifier.identity().short())
    }

    /// Returns whether a verifier is asked in a library of this size at all. In a large one, the best
    /// skill is often wrong though the right one is near.
    pub(crate) fn may_ask_verifier(n_skills: usize) -> bool {
        n_skills <= MAX_VERIFIED_SKILLS
    }

    /// Returns the confidence below which a plan abstains in a library of this size. Above 300
    /// skills it goes over to that of 100,000 by the logarithm.
    pub fn threshold_of(&self, n_skills: usize) -> f32 {
        let [small, large] = THRESHOLD_SIZES.map(f32::ln);
        let share = ((n_skills as f32).ln() - small) / (large - small);
        let rise = self.large_threshold.unwrap_or(self.threshold) - self.threshold;
        self.threshold + rise * share.clamp(0.0, 1.0)
    }

    /// Returns the estimate in `[0, 1]` that the best skill helps, where as many tasks need a
    /// skill as need none; 1 for a skill that the task names. Where a verifier was asked, it is
    /// somewhat higher than that.
    pub fn confidence(&self, evidence: &Evidence) -> f32 {
        if evidence.is_named {
            return 1.0;
        }
        probability(self.log_odds(&evidence.features))
    }

    /// Returns the log-odds of that, for a skill that the task does not name.
    pub fn log_odds(&self, features: &Features) -> f32 {
        let weights = self.weights.to_array();
        let summands = weights.iter().zip(features.to_array()).map(|(w, f)| w * f);
        self.bias + summands.sum::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration(ranking: &str) -> Calibration {
        let weights = Features { score_mass: 2.0, ..Features::default() };
        Calibration {
            ranking: RankingIdentity::new(ranking),
            bias: -1.0,
            weights,
            verifier: None,
            threshold: 0.5,
            large_threshold: None,
        }
    }

    #[test]
    fn a_named_skill_is_certain() {
        let named = Evidence { is_named: true, ..Evidence::default() };
        assert!((calibration("a").confidence(&named) - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn a_confidence_is_a_share_however_far_the_evidence_goes() {
        for far in [-1e6, 0.0, 1e6] {
            let features = Features::from_array([far; Features::N]);
            let evidence = Evidence { features, ..Evidence::default() };
            assert!((0.0..=1.0).contains(&calibration("a").confidence(&evidence)));
        }
    }

    #[test]
    fn the_threshold_rises_with_the_library() {
        let plain = calibration("a");
        let rising = Calibration { large_threshold: Some(0.9), ..calibration("a") };
        for (n_skills, expected) in [
            (0, 0.5),
            (300, 0.5),
            (1_000, 0.582_902),
            (10_000, 0.741_451),
            (100_000, 0.9),
            (1_000_000, 0.9),
        ] {
            assert!((rising.threshold_of(n_skills) - expected).abs() < 1e-5, "{n_skills}");
            assert!((plain.threshold_of(n_skills) - 0.5).abs() < 1e-5, "{n_skills}");
        }
    }

    #[test]
    fn a_ranking_is_judged_by_its_own_calibration_alone() {
        let calibrations = Calibrations::new([calibration("a"), calibration("b")]);
        assert_eq!(calibrations.of(&RankingIdentity::new("b")), Some(&calibration("b")));
        assert_eq!(calibrations.of(&RankingIdentity::new("c")), None);
        let json = serde_json::to_string(&calibrations).unwrap();
        assert_eq!(serde_json::from_str::<Calibrations>(&json).unwrap(), calibrations);
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        let calibration = Calibration { large_threshold: Some(0.5), ..calibration("a") };
        let json = serde_json::to_value(Calibrations::new([calibration])).unwrap();
        for place in ["/0/bias", "/0/threshold", "/0/large_threshold", "/0/weights/score_mass"] {
            let mut json = json.clone();
            *json.pointer_mut(place).unwrap() = 1e300.into();
            let error = serde_json::from_value::<Calibrations>(json).unwrap_err();
            assert!(error.to_string().contains("too large"), "{place}: {error}");
        }
    }
}
