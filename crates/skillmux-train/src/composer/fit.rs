//! [`fit`]: the weights of the set head.

use skillmux::compose::{SetFeatures, SetWeights};

use crate::boosting::{Boosting, Example, boosted};

/// How the trees are boosted. Half as many trees of eight leaves, or twice as many with half of the
/// rate, gave nearly the same. So did trees that are fitted to all examples.
const BOOSTING: Boosting = Boosting {
    n_trees: 200,
    n_leaves: 15,
    n_least: 200,
    learning_rate: 0.06,
    penalty: 1.0,
    sample: 0.5,
};

/// How the weights of the set head are fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitOptions {
    /// Bounds of the threshold, in `[0, 1]`, the lower one first.
    pub threshold: [f32; 2],
    /// Weight of a rejected candidate, not negative, where one of which nothing is known weighs 1.
    /// All candidates of a task but the best one weigh 1 together, whatever this is.
    pub rejected_weight: f64,
}

impl FitOptions {
    /// Returns options with which a rejected candidate weighs as much as any other wrong one.
    pub fn new(threshold: [f32; 2]) -> Self {
        Self { threshold, rejected_weight: 1.0 }
    }
}

/// A candidate beside chosen skills.
pub(super) type SetExample = Example<{ SetFeatures::N }>;

/// Returns the weights that fit examples; without any tree where there are none.
pub(super) fn fit(examples: &[SetExample], threshold: [f32; 2]) -> SetWeights {
    SetWeights { trees: boosted(examples, &BOOSTING), threshold }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_the_places_of_their_features() {
        let example = |share: f32, is_right: bool| SetExample {
            features: SetFeatures { share, ..SetFeatures::default() }.to_array(),
            is_right,
            weight: 1.0,
        };
        // One answer of eight is wrong.
        let examples: Vec<SetExample> = (0..2000)
            .flat_map(|at| [example(1.0, at % 8 > 0), example(0.0, at % 8 == 0)])
            .collect();
        let weights = fit(&examples, [0.25, 0.3]);
        let probability =
            |share: f32| weights.probability(&SetFeatures { share, ..SetFeatures::default() });
        assert!((probability(1.0) - 0.875).abs() < 0.01);
        assert!((probability(0.0) - 0.125).abs() < 0.01);
        assert!((weights.threshold[0] - 0.25).abs() < 1e-6);
    }
}
