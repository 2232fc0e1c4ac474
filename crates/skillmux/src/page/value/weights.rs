//! [`NodeWeights`]: what the features of a node count.

use serde::{Deserialize, Serialize};

use super::NodeFeatures;
use crate::model::{Trees, probability};

/// How likely a node is needed to answer a query, as log-odds over [`NodeFeatures`]: a linear part,
/// and boosted trees. `skillmux train pager` fits them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeWeights {
    /// Log-odds without any feature.
    pub bias: f32,
    /// What one unit of each feature adds to the log-odds.
    pub weights: NodeFeatures,
    /// What trees over the features add, in the order of [`NodeFeatures::NAMES`].
    #[serde(default, skip_serializing_if = "Trees::is_empty")]
    pub trees: Trees,
    /// How likely a page suffices; without it, pages do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sufficiency: Option<SufficiencyWeights>,
}

/// The weights of a [`ValuePager`](super::ValuePager), for each way of reading nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PagerWeightsFile", into = "PagerWeightsFile")]
pub struct PagerWeights {
    /// Where an [`Encoder`](crate::model::Encoder) reads them as whole texts.
    pub texts: NodeWeights,
    /// Where a [`TokenEncoder`](crate::model::TokenEncoder) reads their tokens.
    pub tokens: NodeWeights,
}

impl PagerWeights {
    /// Tells whether all weights are numbers that can be counted with.
    pub fn is_finite(&self) -> bool {
        self.texts.is_finite() && self.tokens.is_finite()
    }
}

/// Weights as a file has them: with the names of the features, since a tree knows only their
/// numbers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the weights of a pager")]
struct PagerWeightsFile {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    features: Vec<String>,
    texts: NodeWeights,
    tokens: NodeWeights,
}

impl PagerWeightsFile {
    fn has_trees(&self) -> bool {
        [&self.texts, &self.tokens].iter().any(|of| !of.trees.is_empty())
    }
}

impl TryFrom<PagerWeightsFile> for PagerWeights {
    type Error = &'static str;

    fn try_from(file: PagerWeightsFile) -> Result<Self, Self::Error> {
        if file.has_trees() && file.features != NodeFeatures::NAMES {
            return Err("they were trained for other features: train them anew");
        }
        let PagerWeightsFile { texts, tokens, .. } = file;
        Ok(Self { texts, tokens })
    }
}

impl From<PagerWeights> for PagerWeightsFile {
    fn from(PagerWeights { texts, tokens }: PagerWeights) -> Self {
        let mut file = Self { features: Vec::new(), texts, tokens };
        if file.has_trees() {
            file.features = NodeFeatures::NAMES.map(str::to_owned).to_vec();
        }
        file
    }
}

/// How likely a page has all that a query needs, by logistic regression over what it leaves out.
///
/// If the probabilities `p` of its nodes were right, and one node told nothing about another one, a
/// page would suffice with the probability `∏ (1 − p)` over the nodes that it leaves out. They are
/// not quite, so the regression has two more numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SufficiencyWeights {
    /// Log-odds where all numbers are 0.
    pub bias: f32,
    /// What one unit of the logarithm of `Σ −ln(1 − p)` adds.
    pub sum: f32,
    /// What one unit of the logarithm of the largest `−ln(1 − p)` adds.
    pub largest: f32,
    /// What leaving out all tokens adds, against none.
    pub share: f32,
}

impl SufficiencyWeights {
    /// Returns how likely a page suffices that leaves out so much, in `[0, 1]`.
    pub fn probability(&self, left_out: &LeftOutValue) -> f32 {
        let [sum, largest, share] = left_out.numbers();
        let log_odds = self.bias + self.sum * sum + self.largest * largest + self.share * share;
        probability(log_odds)
    }
}

/// What a page leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LeftOutValue {
    /// Sum of [`NodeWeights::loss_without`] over the nodes, at least 0.
    pub sum: f32,
    /// The largest of them.
    pub largest: f32,
    /// Tokens of the nodes over those of all nodes, in `[0, 1]`.
    pub share: f32,
}

impl LeftOutValue {
    /// Returns what is left out, from the loss and the tokens of each node, of all nodes together.
    pub fn of(left_out: impl Iterator<Item = (f32, u32)>, full_tokens: u32) -> Self {
        let (mut all, mut n_tokens) = (Self::default(), 0_u32);
        for (loss, tokens) in left_out {
            all.sum += loss;
            all.largest = all.largest.max(loss);
            n_tokens = n_tokens.saturating_add(tokens);
        }
        Self { share: n_tokens as f32 / full_tokens.max(1) as f32, ..all }
    }

    /// Returns the numbers that the regression is over: two logarithms and the share.
    pub fn numbers(&self) -> [f32; 3] {
        let ln = |loss: f32| loss.clamp(1e-6, 1e6).ln();
        [ln(self.sum), ln(self.largest), self.share]
    }
}

impl NodeWeights {
    /// Tells whether all weights are numbers that can be counted with.
    pub fn is_finite(&self) -> bool {
        let of_pages =
            self.sufficiency.map_or([0.0; 4], |of| [of.bias, of.sum, of.largest, of.share]);
        let all = self.weights.to_array();
        let mut all = all.iter().chain(&of_pages).chain([&self.bias]);
        all.all(|weight| weight.is_finite()) && self.trees.is_finite()
    }

    /// Returns the probability in `[0, 1]` that a node is needed.
    pub fn probability(&self, features: &NodeFeatures) -> f32 {
        probability(self.log_odds(features))
    }

    /// Returns what the log-odds would lose if one feature were another one, for each feature, in
    /// the order of [`NodeFeatures::NAMES`]. Where there are trees, they do not add up.
    pub fn contributions(
        &self,
        features: &NodeFeatures,
        others: &NodeFeatures,
    ) -> [f32; NodeFeatures::N] {
        let (of, others) = (features.to_array(), others.to_array());
        let log_odds = self.log_odds(features);
        std::array::from_fn(|at| {
            let mut changed = of;
            changed[at] = others[at];
            log_odds - self.log_odds(&NodeFeatures::from_array(changed))
        })
    }

    /// Returns `-ln(1 - probability)`, at least 0: what leaving the node out costs, so that the
    /// least sum over the nodes that are left out is the most likely page to lack nothing.
    pub fn loss_without(&self, features: &NodeFeatures) -> f32 {
        let log_odds = self.log_odds(features);
        // `ln(1 + e^x)`, which is `x` where `e^x` is too large to be told.
        if log_odds > 20.0 { log_odds } else { log_odds.exp().ln_1p() }
    }

    /// Returns the log-odds that a node is needed; 0 where a feature is no number.
    pub fn log_odds(&self, features: &NodeFeatures) -> f32 {
        let features = features.to_array();
        let weighed = self.weights.to_array().into_iter().zip(features);
        let linear = self.bias + weighed.map(|(weight, feature)| weight * feature).sum::<f32>();
        let log_odds = linear + self.trees.sum(&features);
        if log_odds.is_finite() { log_odds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Tree;

    #[test]
    fn weights_that_are_no_numbers_are_told() {
        let weights = NodeWeights {
            bias: 1.0,
            weights: NodeFeatures::default(),
            trees: Trees::default(),
            sufficiency: None,
        };
        assert!(weights.is_finite());
        assert!(!NodeWeights { bias: f32::INFINITY, ..weights.clone() }.is_finite());
        let of_nodes = NodeFeatures { length: f32::NAN, ..NodeFeatures::default() };
        assert!(!NodeWeights { weights: of_nodes, ..weights.clone() }.is_finite());
        let of_pages =
            SufficiencyWeights { bias: 0.0, sum: 0.0, largest: 0.0, share: f32::NEG_INFINITY };
        assert!(!NodeWeights { sufficiency: Some(of_pages), ..weights.clone() }.is_finite());
    }

    #[test]
    fn trees_are_for_the_features_of_their_file() {
        let stump = Tree::new(vec![(1, 0.5, -1, -2)], vec![-1.0, 1.0]).unwrap();
        let weights = NodeWeights {
            bias: 0.0,
            weights: NodeFeatures::default(),
            trees: Trees::new(0.0, vec![stump]),
            sufficiency: None,
        };
        let weights = PagerWeights { texts: weights.clone(), tokens: weights };
        let file = serde_json::to_string(&weights).unwrap();
        assert_eq!(serde_json::from_str::<PagerWeights>(&file).unwrap(), weights);
        let [_, second, ..] = NodeFeatures::NAMES;
        let other = file.replacen(second, "another_one", 1);
        let told = serde_json::from_str::<PagerWeights>(&other).unwrap_err().to_string();
        assert!(told.contains("other features"), "{told}");
        // Without trees, each weight stands beside the name of its feature.
        let linear = NodeWeights { trees: Trees::default(), ..weights.texts };
        let weights = PagerWeights { texts: linear.clone(), tokens: linear };
        let file = serde_json::to_string(&weights).unwrap();
        assert!(!file.contains("\"features\""));
        assert_eq!(serde_json::from_str::<PagerWeights>(&file).unwrap(), weights);
    }

    #[test]
    fn the_loss_is_that_of_the_probability() {
        let weights = NodeFeatures { length: 2.0, ..NodeFeatures::default() };
        let weights =
            NodeWeights { bias: -1.0, weights, trees: Trees::default(), sufficiency: None };
        for length in [-3.0, 0.0, 0.4, 2.0, 900.0, f32::NAN] {
            let features = NodeFeatures { length, ..NodeFeatures::default() };
            let (loss, probability) =
                (weights.loss_without(&features), weights.probability(&features));
            assert!(loss.is_finite() && loss >= 0.0, "{length}");
            assert!(loss > 15.0 || (loss + (1.0 - probability).ln()).abs() < 1e-5, "{length}");
        }
    }
}
