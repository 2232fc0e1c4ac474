//! [`logistic`]: logistic regression.

use super::newton::{Derivatives, newton};

/// Newton steps; the loss is convex and settles within ten.
const N_STEPS: usize = 50;

/// An example of a logistic regression; the first input is 1, for the bias.
pub(crate) struct Labelled<const N: usize> {
    pub(crate) input: [f64; N],
    pub(crate) answer: bool,
    pub(crate) weight: f64,
}

/// Returns features as the input of an example: 1 for the bias, then the features. `N` is `F + 1`.
pub(crate) fn with_bias<const F: usize, const N: usize>(features: [f32; F]) -> [f64; N] {
    std::array::from_fn(|at| at.checked_sub(1).map_or(1.0, |at| f64::from(features[at])))
}

/// Returns a solution with the digits that weights have in files.
#[expect(clippy::cast_possible_truncation, reason = "a weight needs no more digits")]
pub(crate) fn rounded<const N: usize>(solution: [f64; N]) -> [f32; N] {
    solution.map(|weight| weight as f32)
}

/// Returns the bias and the weights that fit examples, with an L2 penalty on the weights as a share
/// of the weight of all examples; all zero where that is 0.
pub(crate) fn logistic<const N: usize>(examples: &[Labelled<N>], penalty: f64) -> [f64; N] {
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    if total <= 0.0 {
        return [0.0; N];
    }
    newton(N_STEPS, |solution: &[f64; N]| {
        let mut descent = solution.map(|weight| -penalty * total * weight);
        descent[0] = 0.0;
        let mut curvature = [[0.0; N]; N];
        for (at, row) in curvature.iter_mut().enumerate() {
            // The penalty; for the bias just enough that the equations have a solution.
            row[at] = if at == 0 { 1e-9 } else { penalty } * total;
        }
        for Labelled { input, answer, weight } in examples {
            let log_odds: f64 = solution.iter().zip(input).map(|(w, x)| w * x).sum();
            let estimate = 1.0 / (1.0 + (-log_odds).exp());
            let error = f64::from(u8::from(*answer)) - estimate;
            for i in 0..N {
                descent[i] += weight * error * input[i];
                for j in 0..N {
                    curvature[i][j] += weight * estimate * (1.0 - estimate) * input[i] * input[j];
                }
            }
        }
        Derivatives { descent, curvature }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_fit_finds_the_weights_that_made_the_answers() {
        let truth = [-1.0, 2.0, 0.0];
        let mut random = Random::new(1);
        let mut draw = |_| {
            let input = std::array::from_fn(|at| match at {
                0 => 1.0,
                _ => f64::from(2.0 * random.share() - 1.0),
            });
            let log_odds: f64 = truth.iter().zip(input).map(|(w, x)| w * x).sum();
            let answer = f64::from(random.share()) < 1.0 / (1.0 + (-log_odds).exp());
            Labelled::<3> { input, answer, weight: 1.0 }
        };
        let examples: Vec<Labelled<3>> = (0..20_000).map(&mut draw).collect();
        let found = logistic(&examples, 1e-4);
        for (found, truth) in found.into_iter().zip(truth) {
            assert!((found - truth).abs() < 0.1, "{found} is not {truth}");
        }
        assert!(logistic::<3>(&[], 1e-4).iter().all(|weight| weight.abs() < 1e-9));
    }
}
