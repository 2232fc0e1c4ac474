//! [`RowOptimizer`]: [`Adam`] for the rows that a batch touches only.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{corpus::Bag, options::EncoderOptions, weights::Weights};
use crate::optimizer::{Adam, Pace, cosine_decay};

/// Parts that the rows are dealt out to; a row is added to by one thread only, in order, so that
/// the sum does not depend on the number of threads.
const N_SHARDS: usize = 8;

/// Step of the weights of terms in a query, as a share of that of the vectors.
const QUERY_WEIGHT_RATE: f32 = 1.0;

/// Returns the learning rate of a step: it rises in a line, then falls along a cosine to 0.
pub(super) fn learning_rate(options: &EncoderOptions, step: usize) -> f32 {
    let warm_up = (options.n_steps as f32 * options.warm_up).max(1.0);
    let step = step as f32;
    if step < warm_up {
        return options.learning_rate * step / warm_up;
    }
    let progress = (step - warm_up) / (options.n_steps as f32 - warm_up).max(1.0);
    options.learning_rate * cosine_decay(progress)
}

/// The state of Adam.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowOptimizer {
    dim: usize,
    pub(super) n_steps: i32,
    /// Rows `r` with `r % N_SHARDS == s`, at `r / N_SHARDS`.
    pub(super) shards: Vec<Shard>,
    pub(super) of_queries: Adam<f32>,
    /// Gradient of the batch by the weights of its query terms.
    query_gradient: Vec<(u32, f32)>,
}

/// Some rows, and the gradient of the batch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shard {
    pub(super) adam: Adam<f32>,
    gradient: Vec<f32>,
    is_touched: Vec<bool>,
    touched: Vec<usize>,
}

impl RowOptimizer {
    pub(super) fn new(n_rows: usize, dim: usize) -> Self {
        let n_shard_rows = n_rows.div_ceil(N_SHARDS);
        let shard = || Shard {
            adam: Adam::new(n_shard_rows * dim),
            gradient: vec![0.0; n_shard_rows * dim],
            is_touched: vec![false; n_shard_rows],
            touched: Vec::new(),
        };
        Self {
            dim,
            n_steps: 0,
            shards: (0..N_SHARDS).map(|_| shard()).collect(),
            of_queries: Adam::new(n_rows),
            query_gradient: Vec::new(),
        }
    }

    /// Adds the gradients of sums to those of the rows that were added up.
    pub(super) fn add(&mut self, items: &[(&Bag, &[f32])]) {
        let dim = self.dim;
        self.shards.par_iter_mut().enumerate().for_each(|(position, shard)| {
            for (bag, gradient) in items {
                for (term, weight) in *bag {
                    let row = *term as usize;
                    if row % N_SHARDS == position {
                        shard.add(row / N_SHARDS, *weight, gradient, dim);
                    }
                }
            }
        });
    }

    /// Moves the weights of query terms along the gradients of their sums; must come before the
    /// step that moves the vectors.
    pub(super) fn add_query_weights(&mut self, bags: &[Bag], gradients: &[f32], weights: &Weights) {
        let dim = self.dim;
        let mut sums: FxHashMap<u32, f32> = FxHashMap::default();
        for (bag, gradient) in bags.iter().zip(gradients.chunks(dim)) {
            for (term, weight) in bag {
                let vector = &weights.vectors[*term as usize * dim..][..dim];
                let along: f32 = vector.iter().zip(gradient).map(|(v, g)| v * g).sum();
                *sums.entry(*term).or_default() += weight * along;
            }
        }
        let mut sums: Vec<(u32, f32)> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|(term, _)| *term);
        self.query_gradient = sums;
    }

    /// Moves what the gradients of the batch touch.
    pub(super) fn step(&mut self, weights: &mut Weights, learning_rate: f32) {
        self.n_steps += 1;
        let dim = self.dim;
        let pace = Pace::of_step(self.n_steps);
        let moved: Vec<Vec<(usize, Vec<f32>)>> =
            self.shards.par_iter_mut().map(|shard| shard.steps(dim, pace)).collect();
        for (position, rows) in moved.into_iter().enumerate() {
            for (row, step) in rows {
                let row = row * N_SHARDS + position;
                for (x, step) in weights.vectors[row * dim..][..dim].iter_mut().zip(step) {
                    *x -= learning_rate * step;
                }
            }
        }
        for (term, gradient) in std::mem::take(&mut self.query_gradient) {
            let (row, mut step) = (term as usize, [gradient]);
            self.of_queries.turn(row, &mut step, pace);
            let moved = weights.of_queries[row] - QUERY_WEIGHT_RATE * learning_rate * step[0];
            // A word of a query may say nothing, but not the opposite of what it says in a skill.
            weights.of_queries[row] = moved.max(0.0);
        }
    }
}

impl Shard {
    fn add(&mut self, row: usize, weight: f32, gradient: &[f32], dim: usize) {
        if !self.is_touched[row] {
            self.is_touched[row] = true;
            self.touched.push(row);
        }
        for (sum, g) in self.gradient[row * dim..][..dim].iter_mut().zip(gradient) {
            *sum += weight * g;
        }
    }

    /// Returns the steps of the touched rows at a learning rate of 1, and forgets the gradient.
    fn steps(&mut self, dim: usize, pace: Pace<f32>) -> Vec<(usize, Vec<f32>)> {
        let mut steps = Vec::with_capacity(self.touched.len());
        for row in self.touched.drain(..) {
            let gradient = &mut self.gradient[row * dim..][..dim];
            self.adam.turn(row * dim, gradient, pace);
            steps.push((row, gradient.to_vec()));
            gradient.fill(0.0);
            self.is_touched[row] = false;
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_learning_rate_rises_and_falls() {
        let options = EncoderOptions { n_steps: 100, warm_up: 0.1, ..EncoderOptions::default() };
        let rates: Vec<f32> = (1..=100).map(|step| learning_rate(&options, step)).collect();
        assert!(rates[..10].is_sorted() && rates[9..].is_sorted_by(|a, b| a >= b));
        assert!((rates[9] - options.learning_rate).abs() < 1e-7 && rates[99].abs() < 1e-7);
    }

    /// Two steps by hand: with a gradient that stays, Adam moves by the learning rate.
    #[test]
    fn rows_move_against_their_gradient_and_others_stay() {
        let mut weights = Weights { dim: 2, vectors: vec![1.0; 20], of_queries: vec![1.0; 10] };
        let mut optimizer = RowOptimizer::new(10, 2);
        let both = vec![(9, 1.0), (1, 2.0)];
        for _ in 0..2 {
            optimizer.add(&[(&both, &[0.5, -0.5]), (&vec![(9, 1.0)], &[0.5, 0.0])]);
            optimizer.step(&mut weights, 0.1);
        }
        let mut expected = vec![1.0; 20];
        for row in [1, 9] {
            expected[2 * row] = 0.8;
            expected[2 * row + 1] = 1.2;
        }
        for (x, expected) in weights.vectors.iter().zip(expected) {
            assert!((x - expected).abs() < 1e-5, "{:?}", weights.vectors);
        }
    }

    #[test]
    fn a_query_weight_follows_its_vector_and_is_not_negative() {
        let mut weights = Weights { dim: 1, vectors: vec![2.0, 2.0], of_queries: vec![1.0, 0.05] };
        let mut optimizer = RowOptimizer::new(2, 1);
        optimizer.add_query_weights(&[vec![(0, 1.0)], vec![(1, 1.0)]], &[-1.0, 1.0], &weights);
        optimizer.step(&mut weights, 0.1);
        assert!((weights.of_queries[0] - 1.1).abs() < 1e-5);
        assert!(weights.of_queries[1].abs() < f32::EPSILON);
    }
}
