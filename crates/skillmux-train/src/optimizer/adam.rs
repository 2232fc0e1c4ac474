//! [`Adam`]: gradient descent with a step size for each number (Kingma and Ba 2015, algorithm 1).

use num_traits::{Float, FloatConst};

/// Decays of the means of slopes and of their squares, and what keeps a step finite; the paper's.
const DECAY: f64 = 0.9;
const DECAY_OF_SQUARES: f64 = 0.999;
const EPSILON: f64 = 1e-8;

fn constant<F: Float>(number: f64) -> F {
    F::from(number).expect("a small number fits into every kind of float")
}

/// Running means of the slopes of some numbers and of their squares.
///
/// Numbers that a step does not touch keep theirs: a batch moves few rows of a large table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Adam<F> {
    pub(crate) means: Vec<F>,
    pub(crate) squares: Vec<F>,
}

/// How far the running means are from their start at 0, by the number of steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace<F> {
    unbias: F,
    unbias_squares: F,
}

impl<F: Float> Pace<F> {
    /// Returns the pace of a step, the first of which is number 1.
    pub(crate) fn of_step(number: i32) -> Self {
        let unbias = |decay: F| F::one() / (F::one() - decay.powi(number));
        Self { unbias: unbias(constant(DECAY)), unbias_squares: unbias(constant(DECAY_OF_SQUARES)) }
    }
}

impl<F: Float> Adam<F> {
    /// Returns the state before the first step.
    pub(crate) fn new(n_numbers: usize) -> Self {
        Self { means: vec![F::zero(); n_numbers], squares: vec![F::zero(); n_numbers] }
    }

    /// Takes in the slopes of the numbers from `start` on, and puts in the place of each what is to
    /// be taken from its number at a learning rate of 1.
    pub(crate) fn turn(&mut self, start: usize, slopes: &mut [F], pace: Pace<F>) {
        let (decay, decay_of_squares) = (constant::<F>(DECAY), constant::<F>(DECAY_OF_SQUARES));
        let epsilon = constant::<F>(EPSILON);
        let means = &mut self.means[start..][..slopes.len()];
        let squares = &mut self.squares[start..][..slopes.len()];
        for ((slope, mean), square) in slopes.iter_mut().zip(means).zip(squares) {
            *mean = decay * *mean + (F::one() - decay) * *slope;
            *square = decay_of_squares * *square + (F::one() - decay_of_squares) * *slope * *slope;
            *slope = *mean * pace.unbias / ((*square * pace.unbias_squares).sqrt() + epsilon);
        }
    }
}

/// Returns the share of a learning rate at a share of the steps: it falls along a cosine, from 1
/// to 0.
pub(crate) fn cosine_decay<F: Float + FloatConst>(progress: F) -> F {
    constant::<F>(0.5) * (F::one() + (F::PI() * progress).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a slope that stays, Adam moves by the learning rate.
    #[test]
    fn a_steady_slope_moves_by_the_learning_rate() {
        let mut adam = Adam::new(3);
        for step in 1..=5 {
            let mut slopes = [0.5, -3.0];
            adam.turn(1, &mut slopes, Pace::of_step(step));
            assert!((slopes[0] - 1.0_f64).abs() < 1e-6 && (slopes[1] + 1.0).abs() < 1e-6);
        }
        assert!(adam.means[0].abs() < f64::EPSILON && adam.means[1] > 0.0);
    }

    #[test]
    fn a_parabola_is_descended_to_its_bottom() {
        let (mut x, mut adam) = (5.0_f32, Adam::new(1));
        for step in 1..=2000 {
            let mut slopes = [2.0 * (x - 3.0)];
            adam.turn(0, &mut slopes, Pace::of_step(step));
            x -= 0.05 * cosine_decay(step as f32 / 2000.0) * slopes[0];
        }
        assert!((x - 3.0).abs() < 1e-3, "{x}");
    }

    #[test]
    fn rates_fall_from_all_to_nothing() {
        let rates: Vec<f64> = (0..=10).map(|n| cosine_decay(f64::from(n) / 10.0)).collect();
        assert!(rates.is_sorted_by(|a, b| a > b));
        assert!(
            (rates[0] - 1.0).abs() < 1e-12 && (rates[5] - 0.5).abs() < 1e-12 && rates[10] < 1e-12
        );
    }
}
