//! [`fit`]: the weights of a value of nodes.

use skillmux::page::{NodeFeatures, NodeWeights, SufficiencyWeights};

use super::PageExample;
use crate::optimizer::{Labelled, logistic, rounded, with_bias};

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

/// Returns the weights that fit examples; all zero where there are none.
pub(super) fn fit(examples: &[Example]) -> NodeWeights {
    let labelled = |example: &Example| Labelled::<N> {
        input: with_bias(example.features.to_array()),
        answer: example.is_needed,
        weight: 1.0,
    };
    let examples: Vec<Labelled<N>> = examples.iter().map(labelled).collect();
    let [bias, weights @ ..] = rounded(logistic(&examples, PENALTY));
    NodeWeights { bias, weights: NodeFeatures::from_array(weights), sufficiency: None }
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
        let NodeWeights { bias, weights, .. } = fit(&examples);
        let others = NodeFeatures { best_line: 0.0, ..weights }.to_array();
        assert!((weights.best_line - 7_f32.ln()).abs() < 0.01 && bias.abs() < 0.01, "{weights:?}");
        assert!(others.iter().all(|weight| weight.abs() < 1e-6), "{weights:?}");
        assert_eq!(fit(&[]).weights, NodeFeatures::default());
    }
}
