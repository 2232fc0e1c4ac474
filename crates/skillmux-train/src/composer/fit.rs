//! [`fit`]: logistic regression.

use skillmux::compose::{SetFeatures, SetWeights};

use super::data::Example;
use crate::optimizer::{Derivatives, newton};

/// Bias and weights.
const N: usize = SetFeatures::N + 1;

/// L2 penalty on the weights, as a share of the weight of all examples.
const PENALTY: f64 = 1e-4;

/// Newton steps; the loss is convex and settles within ten.
const N_STEPS: usize = 30;

/// Returns the weights that fit examples; all zero where there are none.
pub(super) fn fit(examples: &[Example], threshold: f32) -> SetWeights {
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    if total <= 0.0 {
        return SetWeights { bias: 0.0, weights: SetFeatures::default(), threshold };
    }
    let input = |example: &Example| -> [f64; N] {
        let features = example.features.to_array();
        std::array::from_fn(|at| at.checked_sub(1).map_or(1.0, |at| f64::from(features[at])))
    };
    let rows: Vec<([f64; N], &Example)> = examples.iter().map(|e| (input(e), e)).collect();
    let solution = newton(N_STEPS, |solution: &[f64; N]| {
        let mut descent = solution.map(|weight| -PENALTY * total * weight);
        descent[0] = 0.0;
        let mut curvature = [[0.0; N]; N];
        for (at, row) in curvature.iter_mut().enumerate() {
            // The penalty; for the bias just enough that the equations have a solution.
            row[at] = if at == 0 { 1e-9 } else { PENALTY } * total;
        }
        for (input, example) in &rows {
            let log_odds: f64 = solution.iter().zip(input).map(|(w, x)| w * x).sum();
            let estimate = 1.0 / (1.0 + (-log_odds).exp());
            let error = f64::from(u8::from(example.is_right)) - estimate;
            let slope = example.weight * estimate * (1.0 - estimate);
            for i in 0..N {
                descent[i] += example.weight * error * input[i];
                for j in 0..N {
                    curvature[i][j] += slope * input[i] * input[j];
                }
            }
        }
        Derivatives { descent, curvature }
    });
    let weight = |at: usize| rounded(solution[at + 1]);
    let weights = SetFeatures::from_array(std::array::from_fn(weight));
    SetWeights { bias: rounded(solution[0]), weights, threshold }
}

#[expect(clippy::cast_possible_truncation, reason = "a weight needs no more digits")]
fn rounded(weight: f64) -> f32 {
    weight as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_fit_finds_the_weights_that_made_the_answers() {
        let truth = SetWeights {
            bias: -1.0,
            weights: SetFeatures { share: 3.0, overlap: -2.0, ..SetFeatures::default() },
            threshold: 0.5,
        };
        let mut random = Random::new(1);
        let mut draw = |_| {
            let numbers = std::array::from_fn(|_| 2.0 * random.share() - 1.0);
            let features = SetFeatures::from_array(numbers);
            let is_right = random.share() < truth.probability(&features);
            Example { features, is_right, weight: 1.0 }
        };
        let examples: Vec<Example> = (0..20_000).map(&mut draw).collect();
        let found = fit(&examples, 0.5);
        assert!((found.bias - truth.bias).abs() < 0.1, "{found:?}");
        for (found, truth) in found.weights.to_array().into_iter().zip(truth.weights.to_array()) {
            assert!((found - truth).abs() < 0.15, "{found} is not {truth}");
        }
        assert_eq!(fit(&[], 0.3).weights, SetFeatures::default());
    }
}
