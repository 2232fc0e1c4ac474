//! [`fit`]: the network that tells work from talk.

use skillmux::retrieve::WorkUnit;

use crate::{
    optimizer::{Adam, Pace, cosine_decay},
    random::Random,
};

/// Examples of a step.
const BATCH: usize = 256;
const LEARNING_RATE: f32 = 0.01;

/// Share of the learning rate by which weights shrink at each step (Loshchilov and Hutter 2019).
const DECAY: f32 = 0.3;

/// Length of the noise that is added to a vector, whose own length is 1: without it, the network
/// learns the few requests without a skill by heart.
const NOISE: f32 = 0.8;

/// Scale of the inputs before training.
const START: f32 = 0.3;
const SEED: u64 = 1;

/// How large the network is, and how long it is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkOptions {
    /// Hidden units, at least 1.
    pub n_units: usize,
    /// Steps of the training, at least 1.
    pub n_steps: u16,
}

impl Default for WorkOptions {
    /// What the embedded weights were trained with.
    fn default() -> Self {
        Self { n_units: 64, n_steps: 2500 }
    }
}

/// A request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Example<'v> {
    /// By the encoder; of length 1.
    pub(super) vector: &'v [f32],
    /// Whether it asks for work.
    pub(super) is_work: bool,
}

/// Returns the hidden units and the bias that fit examples.
///
/// Each step draws as many examples of work as of talk, and adds noise to their vectors. The loss
/// is the cross-entropy. The seed and the order of the examples decide the result.
pub(super) fn fit(
    examples: &[Example<'_>],
    dim: usize,
    options: WorkOptions,
) -> (Vec<WorkUnit>, f32) {
    let WorkOptions { n_units, n_steps } = options;
    let mut random = Random::new(SEED);
    let mut network = Network::new(dim, n_units, &mut random);
    let mut adam = Adam::new(network.numbers.len());
    let groups = [true, false].map(|is_work| {
        let of_kind = examples.iter().filter(|example| example.is_work == is_work);
        of_kind.copied().collect::<Vec<_>>()
    });
    if groups.iter().any(Vec::is_empty) {
        return network.units();
    }
    let deviation = NOISE / (dim as f32).sqrt();
    let mut vector = vec![0.0; dim];
    for step in 1..=i32::from(n_steps) {
        let mut slopes = vec![0.0; network.numbers.len()];
        for at in 0..BATCH {
            let group = &groups[at % groups.len()];
            let example = group[random.below(group.len())];
            for (noisy, x) in vector.iter_mut().zip(example.vector) {
                *noisy = x + deviation * random.normal();
            }
            network.add_slopes(&Example { vector: &vector, ..example }, &mut slopes);
        }
        adam.turn(0, &mut slopes, Pace::of_step(step));
        let rate = LEARNING_RATE * cosine_decay(step as f32 / f32::from(n_steps));
        for (number, slope) in network.numbers.iter_mut().zip(slopes) {
            *number -= rate * (slope + DECAY * *number);
        }
    }
    network.units()
}

/// The network that is trained.
struct Network {
    dim: usize,
    /// Of each unit its inputs, its bias and its output, and the bias of the network.
    numbers: Vec<f32>,
}

impl Network {
    /// Returns the network before training (He et al. 2015).
    fn new(dim: usize, n_units: usize, random: &mut Random) -> Self {
        let mut numbers = vec![0.0; n_units * (dim + 2) + 1];
        for unit in numbers.chunks_exact_mut(dim + 2) {
            unit[..dim].fill_with(|| START * random.normal());
            unit[dim + 1] = random.normal() * (2.0 / n_units as f32).sqrt();
        }
        Self { dim, numbers }
    }

    /// Adds the slopes of the loss of an example, as a share of a step.
    fn add_slopes(&self, example: &Example<'_>, slopes: &mut [f32]) {
        let width = self.dim + 2;
        // What is left over is the bias of the network.
        let units = self.numbers.chunks_exact(width);
        let mut log_odds = units.remainder().first().copied().unwrap_or(0.0);
        let excited: Vec<f32> = units
            .map(|unit| {
                let products = unit[..self.dim].iter().zip(example.vector).map(|(w, x)| w * x);
                let excited = f32::max(products.sum::<f32>() + unit[self.dim], 0.0);
                log_odds += unit[self.dim + 1] * excited;
                excited
            })
            .collect();
        let estimate = 1.0 / (1.0 + (-log_odds).exp());
        let error = (estimate - f32::from(u8::from(example.is_work))) / BATCH as f32;
        let mut rows = slopes.chunks_exact_mut(width);
        let units = self.numbers.chunks_exact(width).zip(&mut rows);
        for ((unit, slopes), excited) in units.zip(excited) {
            slopes[self.dim + 1] += error * excited;
            if excited > 0.0 {
                let slope = error * unit[self.dim + 1];
                slopes[self.dim] += slope;
                for (of_input, x) in slopes.iter_mut().zip(example.vector) {
                    *of_input += slope * x;
                }
            }
        }
        if let Some(of_bias) = rows.into_remainder().first_mut() {
            *of_bias += error;
        }
    }

    fn units(&self) -> (Vec<WorkUnit>, f32) {
        let units = self.numbers.chunks_exact(self.dim + 2).map(|unit| WorkUnit {
            input: unit[..self.dim].to_vec(),
            bias: unit[self.dim],
            output: unit[self.dim + 1],
        });
        (units.collect(), self.numbers.last().copied().unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests {
    use skillmux::{model::EncoderIdentity, retrieve::WorkWeights};

    use super::*;

    const OPTIONS: WorkOptions = WorkOptions { n_units: 16, n_steps: 300 };

    #[test]
    fn what_lies_apart_is_told_apart_also_by_no_line() {
        // Work lies on one axis, either way; talk on the other one.
        let vectors: Vec<[f32; 2]> = (0..64)
            .map(|at| {
                let (angle, side) = ((at % 16) as f32 / 40.0 - 0.2, (at / 16) as f32);
                let angle = angle + side * std::f32::consts::FRAC_PI_2;
                [angle.cos(), angle.sin()]
            })
            .collect();
        let examples: Vec<Example<'_>> = vectors
            .iter()
            .enumerate()
            .map(|(at, vector)| Example { vector, is_work: (at / 16) % 2 == 0 })
            .collect();
        let (units, bias) = fit(&examples, 2, OPTIONS);
        let encoder = EncoderIdentity { name: "test".into(), dim: 2, fingerprint: "0".into() };
        let weights = WorkWeights::new(encoder, &units, bias).unwrap();
        for Example { vector, is_work, .. } in &examples {
            assert_eq!(weights.log_odds(vector) > 0.0, *is_work, "{vector:?}");
        }
        assert_eq!(fit(&examples, 2, OPTIONS), (units, bias));
    }

    #[test]
    fn nothing_to_fit_gives_a_network_all_the_same() {
        assert_eq!(fit(&[], 3, OPTIONS).0.len(), OPTIONS.n_units);
    }
}
