//! [`boosted`]: trees that are boosted for the logistic loss.

use std::ops::AddAssign;

use rayon::prelude::*;
use skillmux::model::{Tree, TreeSplit, Trees};

use crate::random::Random;

/// An example with `N` features.
pub(crate) struct Example<const N: usize> {
    pub(crate) features: [f32; N],
    pub(crate) is_right: bool,
    pub(crate) weight: f64,
}

/// How trees are boosted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Boosting {
    pub(crate) n_trees: usize,
    /// Most leaves of a tree.
    pub(crate) n_leaves: usize,
    /// Least number of examples of a leaf.
    pub(crate) n_least: usize,
    /// What of a leaf's best value is taken.
    pub(crate) learning_rate: f64,
    /// L2 penalty on the values of leaves. The mean weight of an example is 1.
    pub(crate) penalty: f64,
    /// Share of the examples that each tree is fitted to, in `(0, 1]`: others for each tree, drawn
    /// by a fixed seed (Friedman 2002).
    pub(crate) sample: f32,
}

/// Seed of the examples that a tree is fitted to.
const SEED: u64 = 7;

/// Most bins that the values of a feature are sorted into.
const N_BINS: usize = 128;

/// Digits of the values of leaves: what is stored is what the next tree is fitted to.
const LEAF_DIGITS: f64 = 1e4;

/// Returns trees whose sum is the log-odds that an example is right; without any tree where there
/// are no examples, or none is wrong or none right.
pub(crate) fn boosted<const N: usize>(examples: &[Example<N>], boosting: &Boosting) -> Trees {
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    let right: f64 = examples.iter().filter(|e| e.is_right).map(|e| e.weight).sum();
    if right <= 0.0 || right >= total {
        return Trees::default();
    }
    let bias = rounded((right / (total - right)).ln());
    Trees::new(bias, boosted_upon(examples, vec![f64::from(bias); examples.len()], boosting))
}

/// Returns trees whose sum, added to the log-odds that each example begins with, is the log-odds
/// that it is right. They end before a tree that could not split the examples.
///
/// Newton boosting over histograms (Friedman 2001; Chen and Guestrin 2016, Eq. 5 and 7). A tree
/// grows at the leaf whose split gains most. Of equal splits the one of the first feature is taken,
/// and the lowest one. The same examples in the same order give the same trees, on any number of
/// cores.
pub(crate) fn boosted_upon<const N: usize>(
    examples: &[Example<N>],
    mut log_odds: Vec<f64>,
    boosting: &Boosting,
) -> Vec<Tree> {
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    let scale = examples.len() as f64 / total;
    let features: Vec<Binned> = (0..N)
        .into_par_iter()
        .map(|at| Binned::new(examples.iter().map(|e| e.features[at])))
        .collect();
    let mut random = Random::new(SEED);
    let mut trees = Vec::with_capacity(boosting.n_trees);
    for _ in 0..boosting.n_trees {
        let slopes: Vec<Slope> = examples
            .iter()
            .zip(&log_odds)
            .map(|(example, log_odds)| {
                if boosting.sample < 1.0 && random.share() >= boosting.sample {
                    return Slope::default();
                }
                Slope::of(example.is_right, example.weight * scale, *log_odds)
            })
            .collect();
        let grown = Grown::new(&features, &slopes, boosting);
        if grown.splits.is_empty() {
            break;
        }
        for leaf in &grown.leaves {
            let value = f64::from(leaf.value(boosting));
            for row in &leaf.rows {
                log_odds[*row as usize] += value;
            }
        }
        trees.push(grown.into_tree(&features, boosting));
    }
    trees
}

/// First and second derivative of the loss by the log-odds, and how many examples they are of.
#[derive(Debug, Clone, Copy, Default)]
struct Slope {
    gradient: f64,
    curvature: f64,
    n: usize,
}

impl Slope {
    fn of(is_right: bool, weight: f64, log_odds: f64) -> Self {
        let estimate = 1.0 / (1.0 + (-log_odds).exp());
        let error = estimate - f64::from(u8::from(is_right));
        Self { gradient: weight * error, curvature: weight * estimate * (1.0 - estimate), n: 1 }
    }

    fn without(self, other: Self) -> Self {
        Self {
            gradient: self.gradient - other.gradient,
            curvature: self.curvature - other.curvature,
            n: self.n - other.n,
        }
    }

    /// Returns by how much the best value of a leaf lowers the loss, twice.
    fn worth(self, penalty: f64) -> f64 {
        self.gradient * self.gradient / (self.curvature + penalty)
    }
}

impl AddAssign for Slope {
    fn add_assign(&mut self, other: Self) {
        self.gradient += other.gradient;
        self.curvature += other.curvature;
        self.n += other.n;
    }
}

/// The values of a feature in bins, which all hold about the same number of examples.
struct Binned {
    /// Bin of each example.
    bins: Vec<u8>,
    /// What separates a bin from the next one.
    bounds: Vec<f32>,
}

impl Binned {
    fn new(values: impl Iterator<Item = f32>) -> Self {
        let values: Vec<f32> = values.collect();
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let mut bounds: Vec<f32> = Vec::new();
        for number in 1..N_BINS {
            let at = number * sorted.len() / N_BINS;
            let Some(below) = at.checked_sub(1).map(|below| sorted[below]) else { continue };
            // The next value that is higher, so that equal values share a bin.
            let above = sorted[sorted.partition_point(|value| *value <= below)..].first();
            let Some(middle) = above.map(|above| below + (above - below) / 2.0) else { break };
            if bounds.last().is_none_or(|last| *last < middle) {
                bounds.push(middle);
            }
        }
        let bin = |value: &f32| bounds.partition_point(|bound| bound < value);
        let bins = values.iter().map(|value| u8::try_from(bin(value)).expect("there are few bins"));
        Self { bins: bins.collect(), bounds }
    }
}

/// A split of a leaf: which feature, after which bin, and what it gains.
#[derive(Debug, Clone, Copy)]
struct Cut {
    feature: usize,
    bin: usize,
    gain: f64,
}

/// Examples that fall into one leaf so far.
struct Leaf {
    rows: Vec<u32>,
    sum: Slope,
    cut: Option<Cut>,
    /// The split that leads here, and whether as its lower child.
    parent: Option<(usize, bool)>,
}

impl Leaf {
    fn new(
        rows: Vec<u32>,
        parent: Option<(usize, bool)>,
        features: &[Binned],
        slopes: &[Slope],
        boosting: &Boosting,
    ) -> Self {
        let mut sum = Slope::default();
        for row in &rows {
            sum += slopes[*row as usize];
        }
        let cuts: Vec<Option<Cut>> = features
            .par_iter()
            .enumerate()
            .map(|(feature, binned)| best_cut(feature, binned, &rows, slopes, sum, boosting))
            .collect();
        let better = |best: Cut, next: Cut| if next.gain > best.gain { next } else { best };
        let cut = cuts.into_iter().flatten().reduce(better);
        Self { rows, sum, cut, parent }
    }

    fn value(&self, boosting: &Boosting) -> f32 {
        let best = -self.sum.gradient / (self.sum.curvature + boosting.penalty);
        rounded(best * boosting.learning_rate)
    }
}

fn best_cut(
    feature: usize,
    binned: &Binned,
    rows: &[u32],
    slopes: &[Slope],
    sum: Slope,
    boosting: &Boosting,
) -> Option<Cut> {
    let mut histogram = [Slope::default(); N_BINS];
    for row in rows {
        histogram[usize::from(binned.bins[*row as usize])] += slopes[*row as usize];
    }
    let mut low = Slope::default();
    let mut best: Option<Cut> = None;
    for (bin, slope) in histogram.iter().enumerate().take(binned.bounds.len()) {
        low += *slope;
        let high = sum.without(low);
        if low.n.min(high.n) < boosting.n_least {
            continue;
        }
        let worth = |slope: Slope| slope.worth(boosting.penalty);
        let gain = worth(low) + worth(high) - worth(sum);
        if gain > best.map_or(1e-9, |best| best.gain) {
            best = Some(Cut { feature, bin, gain });
        }
    }
    best
}

/// A tree that grows.
struct Grown {
    leaves: Vec<Leaf>,
    /// Feature and bin of each split, and its children: a split, or `None` for a leaf.
    splits: Vec<(Cut, [Option<usize>; 2])>,
}

impl Grown {
    fn new(features: &[Binned], slopes: &[Slope], boosting: &Boosting) -> Self {
        let rows = (0..slopes.len()).map(|row| u32::try_from(row).expect("few examples")).collect();
        let mut grown = Self {
            leaves: vec![Leaf::new(rows, None, features, slopes, boosting)],
            splits: Vec::new(),
        };
        while grown.leaves.len() < boosting.n_leaves {
            let gain = |leaf: &Leaf| leaf.cut.map_or(0.0, |cut| cut.gain);
            let best = (0..grown.leaves.len())
                .rev()
                .max_by(|a, b| gain(&grown.leaves[*a]).total_cmp(&gain(&grown.leaves[*b])));
            let Some((at, cut)) = best.and_then(|at| Some((at, grown.leaves[at].cut?))) else {
                break;
            };
            let Leaf { rows, parent, .. } = grown.leaves.swap_remove(at);
            let number = grown.splits.len();
            grown.splits.push((cut, [None; 2]));
            if let Some((split, is_low)) = parent {
                grown.splits[split].1[usize::from(!is_low)] = Some(number);
            }
            let is_low =
                |row: &u32| usize::from(features[cut.feature].bins[*row as usize]) <= cut.bin;
            let (low, high): (Vec<u32>, Vec<u32>) = rows.into_iter().partition(is_low);
            for (rows, is_low) in [(low, true), (high, false)] {
                let parent = Some((number, is_low));
                grown.leaves.push(Leaf::new(rows, parent, features, slopes, boosting));
            }
        }
        grown
    }

    fn into_tree(self, features: &[Binned], boosting: &Boosting) -> Tree {
        let number = |at: usize| i16::try_from(at).expect("a tree is small");
        let mut splits: Vec<TreeSplit> = Vec::with_capacity(self.splits.len());
        for (cut, children) in &self.splits {
            let [low, high] = children.map(|child| child.map_or(0, number));
            let feature = u16::try_from(cut.feature).expect("there are few features");
            splits.push((feature, features[cut.feature].bounds[cut.bin], low, high));
        }
        for (at, leaf) in self.leaves.iter().enumerate() {
            if let Some((split, is_low)) = leaf.parent {
                let child = if is_low { &mut splits[split].2 } else { &mut splits[split].3 };
                *child = !number(at);
            }
        }
        let leaves = self.leaves.iter().map(|leaf| leaf.value(boosting)).collect();
        Tree::new(splits, leaves).expect("a child is a leaf or was split later")
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a leaf needs no more digits")]
fn rounded(value: f64) -> f32 {
    ((value * LEAF_DIGITS).round() / LEAF_DIGITS) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOSTING: Boosting = Boosting {
        n_trees: 60,
        n_leaves: 4,
        n_least: 5,
        learning_rate: 0.3,
        penalty: 1.0,
        sample: 1.0,
    };

    fn drawn(n: usize, is_right: impl Fn(&[f32; 3], &mut Random) -> bool) -> Vec<Example<3>> {
        let mut random = Random::new(1);
        let mut example = || {
            let features = [random.share(), random.share(), random.share()];
            Example { features, is_right: is_right(&features, &mut random), weight: 1.0 }
        };
        (0..n).map(|_| example()).collect()
    }

    #[test]
    fn trees_learn_what_no_line_can_tell() {
        let is_right = |f: &[f32; 3], _: &mut Random| (f[0] > 0.5) != (f[1] > 0.5);
        let trees = boosted(&drawn(2000, is_right), &BOOSTING);
        assert!(trees.probability(&[0.2, 0.8, 0.5]) > 0.95);
        assert!(trees.probability(&[0.8, 0.2, 0.5]) > 0.95);
        assert!(trees.probability(&[0.2, 0.2, 0.5]) < 0.05);
        assert!(trees.probability(&[0.8, 0.8, 0.5]) < 0.05);
    }

    #[test]
    fn probabilities_are_those_of_the_examples() {
        // Three of ten are right above a half, one of ten below; other features say nothing.
        let is_right =
            |f: &[f32; 3], random: &mut Random| random.share() < if f[2] > 0.5 { 0.3 } else { 0.1 };
        let boosting = Boosting { n_least: 500, ..BOOSTING };
        let trees = boosted(&drawn(20_000, is_right), &boosting);
        assert!((trees.probability(&[0.5, 0.5, 0.9]) - 0.3).abs() < 0.04);
        assert!((trees.probability(&[0.5, 0.5, 0.1]) - 0.1).abs() < 0.04);
    }

    #[test]
    fn trees_of_samples_learn_the_same_and_differ() {
        let is_right = |f: &[f32; 3], _: &mut Random| f[0] > 0.5;
        let examples = drawn(2000, is_right);
        let of_half = Boosting { sample: 0.5, ..BOOSTING };
        let [all, half, again] =
            [BOOSTING, of_half, of_half].map(|boosting| boosted(&examples, &boosting));
        assert_eq!(half, again);
        assert_ne!(half, all);
        assert!(half.probability(&[0.9, 0.5, 0.5]) > 0.95);
        assert!(half.probability(&[0.1, 0.5, 0.5]) < 0.05);
    }

    #[test]
    fn a_weight_counts_like_so_many_examples_and_none_is_no_tree() {
        let mut examples = drawn(400, |f, _| f[0] > 0.3);
        let mut twice = drawn(400, |f, _| f[0] > 0.3);
        twice.extend(drawn(400, |f, _| f[0] > 0.3));
        for example in &mut examples {
            example.weight = 7.0;
        }
        let boosting = Boosting { n_least: 1, penalty: 0.0, ..BOOSTING };
        let [once, twice] = [boosted(&examples, &boosting), boosted(&twice, &boosting)];
        for at in 0..20 {
            let features = [at as f32 / 20.0, 0.5, 0.5];
            let apart = once.probability(&features) - twice.probability(&features);
            assert!(apart.abs() < 0.02, "{features:?}");
        }
        assert_eq!(boosted::<3>(&[], &BOOSTING), Trees::default());
        assert_eq!(boosted(&drawn(9, |_, _| true), &BOOSTING), Trees::default());
    }
}
