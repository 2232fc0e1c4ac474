//! [`info_nce`], and the way between bags of terms and unit vectors, there and back.

use rayon::prelude::*;

use super::{
    corpus::Bag,
    matrix::{product, product_transposed, transposed_product},
};

/// Vectors of length 1 with the lengths that they had.
pub(super) struct Encoded {
    /// `[n, dim]`, row-major; all zero for a text without terms.
    pub(super) vectors: Vec<f32>,
    lengths: Vec<f32>,
}

/// Returns the bags with each term weighed as in a query.
pub(super) fn weighted(bags: &[Bag], query_weights: &[f32]) -> Vec<Bag> {
    let weigh = |(term, weight): &(u32, f32)| (*term, weight * query_weights[*term as usize]);
    bags.iter().map(|bag| bag.iter().map(weigh).collect()).collect()
}

/// Adds up the vectors of the terms of each bag, with a factor of their own in queries.
pub(super) fn encode(
    bags: &[Bag],
    vectors: &[f32],
    query_weights: Option<&[f32]>,
    dim: usize,
) -> Encoded {
    let mut sums = vec![0.0; bags.len() * dim];
    let encode_one = |(sum, bag): (&mut [f32], &Bag)| {
        for (term, weight) in bag {
            let row = *term as usize;
            let factor = weight * query_weights.map_or(1.0, |weights| weights[row]);
            for (sum, x) in sum.iter_mut().zip(&vectors[row * dim..][..dim]) {
                *sum += factor * x;
            }
        }
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            for x in sum.iter_mut() {
                *x /= length;
            }
        }
        length
    };
    let lengths = sums.par_chunks_mut(dim).zip(bags.par_iter()).map(encode_one).collect();
    Encoded { vectors: sums, lengths }
}

/// Returns the mean of several vectors of each text.
pub(super) fn mean_of(parts: &[Encoded]) -> Vec<f32> {
    let share = 1.0 / parts.len().max(1) as f32;
    let mut mean = vec![0.0; parts.first().map_or(0, |part| part.vectors.len())];
    for part in parts {
        for (mean, x) in mean.iter_mut().zip(&part.vectors) {
            *mean += share * x;
        }
    }
    mean
}

impl Encoded {
    /// Turns the gradient of `factor` times the unit vectors into that of the sums behind them.
    pub(super) fn tangent(&self, mut gradient: Vec<f32>, factor: f32, dim: usize) -> Vec<f32> {
        let rows = gradient.par_chunks_mut(dim).zip(self.vectors.par_chunks(dim));
        rows.zip(&self.lengths).for_each(|((gradient, unit), length)| {
            if *length <= 0.0 {
                gradient.fill(0.0);
                return;
            }
            let along: f32 = gradient.iter().zip(unit).map(|(g, u)| g * u).sum();
            for (g, u) in gradient.iter_mut().zip(unit) {
                *g = factor * (*g - along * u) / length;
            }
        });
        gradient
    }
}

/// A batch: the first candidates are the answers to the queries, in their order.
pub(super) struct InfoNce<'b> {
    /// `[n, dim]`.
    pub(super) queries: &'b [f32],
    /// `[m, dim]`, `m >= n`.
    pub(super) candidates: &'b [f32],
    pub(super) dim: usize,
    pub(super) temperature: f32,
    /// `[n, m]`, added to the logits; or empty.
    pub(super) bias: &'b [f32],
    /// Whether a candidate that is not the answer may be one, and does not count.
    pub(super) is_false_negative: &'b (dyn Fn(usize, usize) -> bool + Sync),
}

/// What [`info_nce`] returns.
pub(super) struct Outcome {
    /// Mean over the queries.
    pub(super) loss: f32,
    pub(super) query_gradient: Vec<f32>,
    pub(super) candidate_gradient: Vec<f32>,
}

/// Returns the mean of `-ln softmax(q · c / temperature + bias)` of the answers, with its gradients
/// (`SkillRouter` §4.2, Eq. 1; the bias is ours).
pub(super) fn info_nce(batch: &InfoNce<'_>) -> Outcome {
    let InfoNce { queries, candidates, dim, temperature, .. } = *batch;
    let (n, m) = (queries.len() / dim, candidates.len() / dim);
    let mut logits = product_transposed(queries, candidates, dim);
    // From here on a row of `logits` becomes the gradient of the loss by the cosines.
    let descend = |(query, row): (usize, &mut [f32])| -> f32 {
        for (candidate, logit) in row.iter_mut().enumerate() {
            *logit /= temperature;
            if !batch.bias.is_empty() {
                *logit += batch.bias[query * m + candidate];
            }
            if candidate != query && (batch.is_false_negative)(query, candidate) {
                *logit = f32::NEG_INFINITY;
            }
        }
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let of_answer = row[query] - most;
        for logit in row.iter_mut() {
            *logit = (*logit - most).exp();
        }
        let total: f32 = row.iter().sum();
        let scale = 1.0 / (temperature * n as f32);
        for share in row.iter_mut() {
            *share *= scale / total;
        }
        row[query] -= scale;
        total.ln() - of_answer
    };
    let losses: Vec<f32> = logits.par_chunks_mut(m).enumerate().map(descend).collect();
    Outcome {
        loss: losses.iter().sum::<f32>() / n as f32,
        query_gradient: product(&logits, candidates, dim),
        candidate_gradient: transposed_product(&logits, queries, dim),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const DIM: usize = 5;

    fn numbers(n: usize, seed: u64) -> Vec<f32> {
        let mut random = Random::new(seed);
        (0..n).map(|_| random.normal()).collect()
    }

    /// Bags of queries and of candidates, over four terms.
    fn bags() -> (Vec<Bag>, Vec<Bag>) {
        let queries = vec![vec![(0, 1.0), (1, 2.0)], vec![(2, 1.5)]];
        let candidates =
            vec![vec![(0, 1.0)], vec![(2, 1.0), (3, 0.5)], vec![(1, 1.0), (3, 1.0)], vec![]];
        (queries, candidates)
    }

    fn loss(vectors: &[f32]) -> (Outcome, Encoded, Encoded) {
        let (queries, candidates) = bags();
        let (queries, candidates) =
            (encode(&queries, vectors, None, DIM), encode(&candidates, vectors, None, DIM));
        let outcome = info_nce(&InfoNce {
            queries: &queries.vectors,
            candidates: &candidates.vectors,
            dim: DIM,
            temperature: 0.5,
            bias: &[0.1, 0.2, 0.3, 0.0, 0.5, 0.0, 0.0, 0.1],
            is_false_negative: &|query, candidate| query == 0 && candidate == 1,
        });
        (outcome, queries, candidates)
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let vectors = numbers(4 * DIM, 7);
        let (outcome, queries, candidates) = loss(&vectors);
        let mut gradient = vec![0.0; vectors.len()];
        let (query_bags, candidate_bags) = bags();
        let query_gradient = queries.tangent(outcome.query_gradient, 1.0, DIM);
        let candidate_gradient = candidates.tangent(outcome.candidate_gradient, 1.0, DIM);
        for (bags, part) in [(query_bags, query_gradient), (candidate_bags, candidate_gradient)] {
            for (bag, part) in bags.iter().zip(part.chunks(DIM)) {
                for (term, weight) in bag {
                    for (at, x) in part.iter().enumerate() {
                        gradient[*term as usize * DIM + at] += weight * x;
                    }
                }
            }
        }
        let step = 1e-2;
        for at in 0..vectors.len() {
            let shifted = |by: f32| {
                let mut vectors = vectors.clone();
                vectors[at] += by;
                loss(&vectors).0.loss
            };
            let expected = (shifted(step) - shifted(-step)) / (2.0 * step);
            // The error of a central difference is of the order of the squared step.
            assert!((gradient[at] - expected).abs() < 2e-3, "{at}: {} {expected}", gradient[at]);
        }
    }

    #[test]
    fn a_false_negative_does_not_count() {
        let unit = [1.0, 0.0, 0.0, 1.0];
        let of = |is_false_negative: &(dyn Fn(usize, usize) -> bool + Sync)| {
            let batch = InfoNce {
                queries: &unit[..2],
                candidates: &[1.0, 0.0, 1.0, 0.0],
                dim: 2,
                temperature: 1.0,
                bias: &[],
                is_false_negative,
            };
            info_nce(&batch).loss
        };
        assert!((of(&|_, _| false) - 2.0_f32.ln()).abs() < 1e-6);
        assert!(of(&|_, candidate| candidate == 1).abs() < 1e-6);
    }
}
