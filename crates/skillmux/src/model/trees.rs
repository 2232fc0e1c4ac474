//! [`Trees`]: a sum of regression trees over features.

use serde::{Deserialize, Serialize};

use super::probability;

/// A bias and the leaves that a list of features falls into, one a tree: log-odds, where the trees
/// are boosted for the logistic loss (Friedman 2001).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trees {
    bias: f32,
    trees: Vec<Tree>,
}

impl Trees {
    /// Returns a sum of trees.
    pub fn new(bias: f32, trees: Vec<Tree>) -> Self {
        Self { bias, trees }
    }

    /// Tells whether there is nothing to add up.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether all leaves are numbers that can be counted with.
    pub fn is_finite(&self) -> bool {
        let mut leaves = self.trees.iter().flat_map(|tree| &tree.leaves);
        self.bias.is_finite() && leaves.all(|leaf| leaf.is_finite())
    }

    /// Returns the sum for some features. A feature that is not there counts as 0.
    pub fn sum(&self, features: &[f32]) -> f32 {
        self.trees.iter().fold(self.bias, |sum, tree| sum + tree.leaf(features))
    }

    /// Returns the probability in `[0, 1]` of which the sum is the log-odds.
    pub fn probability(&self, features: &[f32]) -> f32 {
        probability(self.sum(features))
    }
}

/// A regression tree.
///
/// In a file it is a pair of lists: the splits, each as `[feature, threshold, low, high]`, and the
/// leaves. The tree begins at the first split, or is its only leaf if there is none. A child that
/// is 0 or more is the split with that number; -1 is the first leaf, -2 the second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "(Vec<TreeSplit>, Vec<f32>)", into = "(Vec<TreeSplit>, Vec<f32>)")]
pub struct Tree {
    splits: Vec<TreeSplit>,
    leaves: Vec<f32>,
}

/// A question of a [`Tree`]: the number of a feature; a threshold; the child where the feature is
/// at most that, and the child where it is more.
pub type TreeSplit = (u16, f32, i16, i16);

impl Tree {
    /// Returns a tree; `None` if there is no leaf, or if a child is neither a leaf nor a later
    /// split.
    pub fn new(splits: Vec<TreeSplit>, leaves: Vec<f32>) -> Option<Self> {
        let is_sound = |(number, split): (usize, &TreeSplit)| {
            let (_, _, low, high) = *split;
            [low, high].into_iter().all(|child| match usize::try_from(child) {
                Ok(later) => later > number && later < splits.len(),
                Err(_) => leaf_of(child) < leaves.len(),
            })
        };
        let is_whole = !leaves.is_empty() && splits.iter().enumerate().all(is_sound);
        is_whole.then_some(Self { splits, leaves })
    }

    /// Returns the leaf that some features fall into. A feature that is not there counts as 0.
    pub fn leaf(&self, features: &[f32]) -> f32 {
        let mut at: i16 = if self.splits.is_empty() { -1 } else { 0 };
        // A child is a leaf or a later split, so it ends.
        while let Ok(number) = usize::try_from(at) {
            let (feature, threshold, low, high) = self.splits[number];
            let value = features.get(usize::from(feature)).copied().unwrap_or(0.0);
            at = if value <= threshold { low } else { high };
        }
        self.leaves[leaf_of(at)]
    }
}

/// Returns the number of the leaf that a child below zero is.
fn leaf_of(child: i16) -> usize {
    usize::try_from(!child).unwrap_or(usize::MAX)
}

impl TryFrom<(Vec<TreeSplit>, Vec<f32>)> for Tree {
    type Error = &'static str;

    fn try_from((splits, leaves): (Vec<TreeSplit>, Vec<f32>)) -> Result<Self, Self::Error> {
        Self::new(splits, leaves).ok_or("a tree leads to a place that it does not have")
    }
}

impl From<Tree> for (Vec<TreeSplit>, Vec<f32>) {
    fn from(tree: Tree) -> Self {
        (tree.splits, tree.leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        Tree::new(vec![(1, 0.5, 1, -1), (0, -2.0, -2, -3)], vec![4.0, 1.0, 2.0]).unwrap()
    }

    #[test]
    fn a_feature_at_the_threshold_goes_low() {
        assert!((tree().leaf(&[-2.0, 0.5]) - 1.0).abs() < 1e-6);
        assert!((tree().leaf(&[-1.9, 0.5]) - 2.0).abs() < 1e-6);
        assert!((tree().leaf(&[9.0, 0.6]) - 4.0).abs() < 1e-6);
        // No second feature, and what is no number.
        assert!((tree().leaf(&[-3.0]) - 1.0).abs() < 1e-6);
        assert!((tree().leaf(&[f32::NAN, 0.0]) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn trees_add_up_to_log_odds() {
        let trees = Trees::new(-4.0, vec![tree(), Tree::new(Vec::new(), vec![1.5]).unwrap()]);
        assert!((trees.sum(&[0.0, 1.0]) - 1.5).abs() < 1e-6);
        assert!((trees.probability(&[0.0, 1.0]) - 0.817_574_5).abs() < 1e-6);
        assert!((Trees::default().probability(&[]) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn a_file_keeps_a_tree_and_a_broken_one_is_an_error() {
        let text = serde_json::to_string(&tree()).unwrap();
        assert_eq!(text, "[[[1,0.5,1,-1],[0,-2.0,-2,-3]],[4.0,1.0,2.0]]");
        assert_eq!(serde_json::from_str::<Tree>(&text).unwrap(), tree());
        // No leaf, a loop, a split and a leaf that are not there.
        for broken in ["[[],[]]", "[[[0,0,0,-1]],[1]]", "[[[0,0,1,-1]],[1]]", "[[[0,0,-1,-2]],[1]]"]
        {
            assert!(serde_json::from_str::<Tree>(broken).is_err(), "{broken}");
        }
        assert!(serde_json::from_str::<Tree>("[[[0,0,-32768,-1]],[1]]").is_err());
    }
}
