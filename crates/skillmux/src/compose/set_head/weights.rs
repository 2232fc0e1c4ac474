//! [`SetWeights`]: what the features of a set count.

use serde::{Deserialize, Serialize};

use super::SetFeatures;
use crate::model::Trees;

/// How likely a skill belongs to the set beside the chosen ones, by boosted trees over
/// [`SetFeatures`], and how likely is enough. `skillmux train composer` fits them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SetWeightsFile", into = "SetWeightsFile")]
pub struct SetWeights {
    /// The log-odds.
    pub trees: Trees,
    /// The threshold is where one more skill raises the Set F1 that a plan can expect, but at least
    /// the first and at most the second number, in `[0, 1]`.
    pub threshold: [f32; 2],
}

impl SetWeights {
    /// Returns the probability in `[0, 1]` that a skill belongs to the set.
    pub fn probability(&self, features: &SetFeatures) -> f32 {
        self.trees.probability(&features.to_array())
    }
}

/// Weights as a file has them: with the names of the features, since a tree knows only their
/// numbers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the weights of a set head")]
struct SetWeightsFile {
    features: Vec<String>,
    threshold: [f32; 2],
    trees: Trees,
}

impl TryFrom<SetWeightsFile> for SetWeights {
    type Error = &'static str;

    fn try_from(file: SetWeightsFile) -> Result<Self, Self::Error> {
        let SetWeightsFile { features, threshold, trees } = file;
        let [least, most] = threshold;
        if features != SetFeatures::NAMES {
            Err("they were trained for other features: train them anew")
        } else if !(0.0 <= least && least <= most && most <= 1.0) {
            Err("the threshold is not two probabilities, the lower one first")
        } else {
            Ok(Self { trees, threshold })
        }
    }
}

impl From<SetWeights> for SetWeightsFile {
    fn from(SetWeights { trees, threshold }: SetWeights) -> Self {
        let features = SetFeatures::NAMES.map(str::to_owned).to_vec();
        Self { features, threshold, trees }
    }
}
