//! [`NodeWeights`]: what the features of a node count.

use serde::{Deserialize, Serialize};

use super::NodeFeatures;

/// How likely a node is needed to answer a query, by logistic regression over [`NodeFeatures`]: plain numbers, which `skillmux train
/// pager` fits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeWeights {
    /// Log-odds without any feature.
    pub bias: f32,
    /// What one unit of each feature adds to the log-odds.
    pub weights: NodeFeatures,
    /// How likely a page suffices; without it, pages do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sufficiency: Option<SufficiencyWeights>,
}

/// How likely a page has all that a query needs, from what it leaves out: a logistic regression over one number.
///
/// The parts that are left out have the probabilities `p` to be needed. If they were right, and one part told nothing about another
/// one, the page would suffice with the probability `∏ (1 − p)`. They are not quite, so the regression is over the logarithm of
/// `Σ −ln(1 − p)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SufficiencyWeights {
    /// Log-odds where the sum is 1.
    pub bias: f32,
    /// What one unit of the logarithm adds to the log-odds.
    pub weight: f32,
}

impl SufficiencyWeights {
    /// Returns the number that the regression is over, for a sum of `-ln(1 - p)` of at least 0.
    pub fn feature(lost: f32) -> f32 {
        lost.max(1e-6).ln()
    }

    /// Returns how likely a page suffices that leaves out so much, in `[0, 1]`.
    pub fn probability(&self, lost: f32) -> f32 {
        let log_odds = self.bias + self.weight * Self::feature(lost);
        1.0 / (1.0 + (-log_odds).exp())
    }
}

impl NodeWeights {
    /// Returns the probability in `[0, 1]` that a node is needed.
    pub fn probability(&self, features: &NodeFeatures) -> f32 {
        1.0 / (1.0 + (-self.log_odds(features)).exp())
    }

    /// Returns what each feature adds to the log-odds, in the order of [`NodeFeatures::NAMES`].
    pub fn contributions(&self, features: &NodeFeatures) -> [f32; NodeFeatures::N] {
        let (weights, features) = (self.weights.to_array(), features.to_array());
        std::array::from_fn(|at| weights[at] * features[at])
    }

    /// Returns `-ln(1 - probability)`, at least 0: what leaving the node out costs, so that the least sum over the nodes that are left
    /// out is the most likely page to lack nothing.
    pub fn loss_without(&self, features: &NodeFeatures) -> f32 {
        let log_odds = self.log_odds(features);
        // `ln(1 + e^x)`, which is `x` where `e^x` is too large to be told.
        if log_odds > 20.0 { log_odds } else { log_odds.exp().ln_1p() }
    }

    fn log_odds(&self, features: &NodeFeatures) -> f32 {
        let log_odds = self.bias + self.weights.dot(features);
        if log_odds.is_finite() { log_odds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_is_that_of_the_probability() {
        let weights = NodeFeatures { length: 2.0, ..NodeFeatures::default() };
        let weights = NodeWeights { bias: -1.0, weights, sufficiency: None };
        for length in [-3.0, 0.0, 0.4, 2.0, 900.0, f32::NAN] {
            let features = NodeFeatures { length, ..NodeFeatures::default() };
            let (loss, probability) =
                (weights.loss_without(&features), weights.probability(&features));
            assert!(loss.is_finite() && loss >= 0.0, "{length}");
            assert!(loss > 15.0 || (loss + (1.0 - probability).ln()).abs() < 1e-5, "{length}");
        }
    }
}
