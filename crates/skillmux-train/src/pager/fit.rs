//! [`fit`]: the weights of a value of nodes.

use skillmux::{
    model::Trees,
    page::{NodeFeatures, NodeWeights, SufficiencyWeights},
};

use super::PageExample;
use crate::{
    boosting::{self, Boosting, boosted_upon},
    optimizer::{Labelled, logistic, rounded, with_bias},
};

/// Chosen by cross-validation over the cases of `datasets/page-cases.jsonl`.
const BOOSTING: Boosting = Boosting {
    n_trees: 120,
    n_leaves: 10,
    n_least: 40,
    learning_rate: 0.05,
    penalty: 5.0,
    sample: 1.0,
};

/// Bias and weights.
const N: usize = NodeFeatures::N + 1;

/// L2 penalty on the weights, as a share of the number of examples.
const PENALTY: f64 = 1e-4;

/// A node of a skill that a case asks about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Example {
    pub(super) features: NodeFeatures,
    pub(super) is_needed: bool,
}

/// Returns the weights that fit examples; all zero where there are none. Few examples have no trees.
pub(super) fn fit(examples: &[Example]) -> NodeWeights {
    let linear = linear(examples);
    let log_odds = examples.iter().map(|example| f64::from(linear.log_odds(&example.features)));
    let log_odds = log_odds.collect();
    let example = |example: &Example| boosting::Example::<{ NodeFeatures::N }> {
        features: example.features.to_array(),
        is_right: example.is_needed,
        weight: 1.0,
    };
    let examples: Vec<_> = examples.iter().map(example).collect();
    let trees = Trees::new(0.0, boosted_upon(&examples, log_odds, &BOOSTING));
    NodeWeights { trees, ..linear }
}

/// Returns the weights of a logistic regression.
fn linear(examples: &[Example]) -> NodeWeights {
    let labelled = |example: &Example| Labelled::<N> {
        input: with_bias(example.features.to_array()),
        answer: example.is_needed,
        weight: 1.0,
    };
    let examples: Vec<Labelled<N>> = examples.iter().map(labelled).collect();
    let [bias, weights @ ..] = rounded(logistic(&examples, PENALTY));
    let weights = NodeFeatures::from_array(weights);
    NodeWeights { bias, weights, trees: Trees::default(), sufficiency: None }
}

/// Returns the weights that fit pages; without a page, those of a probability of one half.
pub(super) fn fit_sufficiency(pages: &[PageExample]) -> SufficiencyWeights {
    let labelled = |page: &PageExample| Labelled::<4> {
        input: with_bias(page.left_out.numbers()),
        answer: page.suffices,
        weight: 1.0,
    };
    let examples: Vec<Labelled<4>> = pages.iter().map(labelled).collect();
    let [bias, sum, largest, share] = rounded(logistic(&examples, PENALTY));
    SufficiencyWeights { bias, sum, largest, share }
}

#[cfg(test)]
mod tests {
    use skillmux::page::LeftOutValue;

    use super::*;

    #[test]
    fn what_is_left_out_tells_whether_a_page_suffices() {
        let left_out = |sum: f32| LeftOutValue { sum, ..LeftOutValue::default() };
        let page = |sum: f32, suffices: bool| PageExample { left_out: left_out(sum), suffices };
        // Half of the pages that leave out 1, and three quarters of those that leave out half of
        // it.
        let pages: Vec<PageExample> =
            (0..400).flat_map(|at| [page(1.0, at % 2 == 0), page(0.5, at % 4 > 0)]).collect();
        let weights = fit_sufficiency(&pages);
        assert!((weights.probability(&left_out(1.0)) - 0.5).abs() < 0.01, "{weights:?}");
        assert!((weights.probability(&left_out(0.5)) - 0.75).abs() < 0.01, "{weights:?}");
        assert!(weights.probability(&left_out(0.0)) > 0.99);
        assert!(weights.probability(&left_out(f32::INFINITY)) < 0.01);
        let none = fit_sufficiency(&[]);
        assert!((none.probability(&left_out(1.0)) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn weights_have_the_places_of_their_features() {
        let example = |best_line: f32, is_needed: bool| Example {
            features: NodeFeatures { best_line, ..NodeFeatures::default() },
            is_needed,
        };
        // One of eight is not as its words say.
        let examples: Vec<Example> = (0..200)
            .flat_map(|at| [example(1.0, at % 8 > 0), example(-1.0, at % 8 == 0)])
            .collect();
        let NodeWeights { bias, weights, .. } = linear(&examples);
        let others = NodeFeatures { best_line: 0.0, ..weights }.to_array();
        assert!((weights.best_line - 7_f32.ln()).abs() < 0.01 && bias.abs() < 0.01, "{weights:?}");
        assert!(others.iter().all(|weight| weight.abs() < 1e-6), "{weights:?}");
        assert_eq!(fit(&[]).weights, NodeFeatures::default());
        // What is linear leaves nothing to the trees.
        let probability = |best_line: f32| {
            fit(&examples).probability(&NodeFeatures { best_line, ..NodeFeatures::default() })
        };
        assert!(
            (probability(1.0) - 0.875).abs() < 0.01 && (probability(-1.0) - 0.125).abs() < 0.01
        );
    }

    #[test]
    fn trees_learn_what_the_regression_leaves() {
        let at = |best_line: f32| NodeFeatures { best_line, ..NodeFeatures::default() };
        let examples = [(-1.0, false), (0.0, true), (1.0, false)]
            .map(|(best_line, is_needed)| Example { features: at(best_line), is_needed });
        let weights = fit(&examples.repeat(80));
        for Example { features, is_needed } in &examples {
            let probability = weights.probability(features);
            assert_eq!((probability > 0.8, probability < 0.2), (*is_needed, !is_needed));
        }
        assert!(fit(&examples).trees.is_empty());
    }
}
