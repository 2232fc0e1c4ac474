//! [`SetWeights`]: what the features of a set count.

use serde::{Deserialize, Serialize};

use super::SetFeatures;

/// How likely a skill belongs to the set beside the chosen ones, by logistic regression over [`SetFeatures`]: plain numbers, which
/// `skillmux train composer` fits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetWeights {
    /// Log-odds without any feature.
    pub bias: f32,
    /// What one unit of each feature adds to the log-odds.
    pub weights: SetFeatures,
    /// A skill is added from this probability on, in `[0, 1]`.
    pub threshold: f32,
}

impl SetWeights {
    /// Returns the probability in `[0, 1]` that a skill belongs to the set.
    pub fn probability(&self, features: &SetFeatures) -> f32 {
        let log_odds = self.bias + self.weights.dot(features);
        1.0 / (1.0 + (-log_odds).exp())
    }
}
