//! [`fit`]: the weights of the set head.

use skillmux::compose::{SetFeatures, SetWeights};

use crate::optimizer::{Labelled, logistic, rounded, with_bias};

/// Bias and weights.
const N: usize = SetFeatures::N + 1;

/// L2 penalty on the weights, as a share of the weight of all examples.
const PENALTY: f64 = 1e-4;

/// How the weights of the set head are fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitOptions {
    /// Least probability of a skill that is added to a plan, in `[0, 1]`.
    pub threshold: f32,
    /// Weight of a rejected candidate, not negative, where one of which nothing is known weighs 1. All examples of a task
    /// weigh 1 together, whatever this is.
    pub rejected_weight: f64,
}

impl FitOptions {
    /// Returns options with which a rejected candidate weighs as much as any other wrong one.
    pub fn new(threshold: f32) -> Self {
        Self { threshold, rejected_weight: 1.0 }
    }
}

/// A candidate beside chosen skills.
pub(super) struct Example {
    pub(super) features: SetFeatures,
    pub(super) is_right: bool,
    pub(super) weight: f64,
}

/// Returns the weights that fit examples; all zero where there are none.
pub(super) fn fit(examples: &[Example], threshold: f32) -> SetWeights {
    let labelled = |example: &Example| Labelled::<N> {
        input: with_bias(example.features.to_array()),
        answer: example.is_right,
        weight: example.weight,
    };
    let examples: Vec<Labelled<N>> = examples.iter().map(labelled).collect();
    let [bias, weights @ ..] = rounded(logistic(&examples, PENALTY));
    SetWeights { bias, weights: SetFeatures::from_array(weights), threshold }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_the_places_of_their_features() {
        let example = |share: f32, is_right: bool| Example {
            features: SetFeatures { share, ..SetFeatures::default() },
            is_right,
            weight: 1.0,
        };
        // One answer of eight is wrong.
        let examples: Vec<Example> = (0..200)
            .flat_map(|at| [example(1.0, at % 8 > 0), example(-1.0, at % 8 == 0)])
            .collect();
        let SetWeights { bias, weights, threshold } = fit(&examples, 0.25);
        let others = SetFeatures { share: 0.0, ..weights }.to_array();
        assert!((weights.share - 7_f32.ln()).abs() < 0.01 && bias.abs() < 0.01, "{weights:?}");
        assert!(others.iter().all(|weight| weight.abs() < 1e-6), "{weights:?}");
        assert!((threshold - 0.25).abs() < 1e-6);
        assert_eq!(fit(&[], 0.3).weights, SetFeatures::default());
    }
}
