//! The models that need no file of their own.

use serde::Serialize;
use skillmux::compose::Calibration;

const ABSTENTION: &str = include_str!("../assets/abstention.json");

const ABSTENTION_MODEL: EmbeddedModel = EmbeddedModel {
    name: "abstention",
    kind: ModelKind::Calibration,
    n_bytes: ABSTENTION.len(),
    trained_on: "1,500 prompts of queries-train and 120 long tasks that a skill answers, and 600 \
                 requests that need none, over libraries of 50 to 78,080 skills",
};

/// A model inside the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EmbeddedModel {
    /// Name; its card is `assets/NAME.md`.
    pub name: &'static str,
    /// What it is for.
    pub kind: ModelKind,
    /// Bytes in the binary.
    pub n_bytes: usize,
    /// Which data it was trained on.
    pub trained_on: &'static str,
}

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelKind {
    /// Tells how likely the best skill helps.
    Calibration,
}

impl ModelKind {
    /// Returns the name that JSON has, too.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Calibration => "calibration",
        }
    }
}

/// Returns the models inside the binary, by name.
pub fn embedded_models() -> &'static [EmbeddedModel] {
    const { &[ABSTENTION_MODEL] }
}

/// Returns the calibration by which the binary abstains; its card is `assets/abstention.md`.
///
/// # Panics
/// Never: a test reads the file that is compiled in.
pub fn abstention() -> Calibration {
    serde_json::from_str(ABSTENTION).expect("the embedded calibration is well-formed")
}

#[cfg(test)]
mod tests {
    use skillmux::compose::Features;

    use super::*;

    #[test]
    fn the_default_of_the_engine_is_the_embedded_calibration_rounded() {
        let (embedded, default) = (abstention(), Calibration::default());
        let numbers = |calibration: Calibration| {
            let mut numbers = calibration.weights.to_array().to_vec();
            numbers.extend([calibration.bias, calibration.threshold]);
            numbers
        };
        for (embedded, default) in numbers(embedded).into_iter().zip(numbers(default)) {
            assert!((embedded - default).abs() <= 0.005, "{embedded} is rounded to {default}");
        }
    }

    #[test]
    fn the_calibration_is_finite_and_a_better_match_is_never_less_sure() {
        let Calibration { bias, weights, threshold } = abstention();
        let weights = weights.to_array();
        assert!(bias.is_finite() && weights.iter().all(|weight| weight.is_finite()));
        assert!((0.0..1.0).contains(&threshold));
        let matches = weights.iter().zip(Features::IS_MATCH).filter(|(_, is_match)| *is_match);
        assert!(matches.into_iter().all(|(weight, _)| *weight >= 0.0));
    }
}
