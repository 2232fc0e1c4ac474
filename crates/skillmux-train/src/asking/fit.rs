//! [`fit`]: the weights that tell what asks for something.

use skillmux::decompose::{AskingWeights, N_ASKING_FEATURES};

use crate::optimizer::{Adam, Pace, cosine_decay};

/// L2 penalty on the weights, against the mean loss of an example.
const PENALTY: f64 = 0.000_7;
const N_STEPS: i32 = 300;
const LEARNING_RATE: f64 = 0.05;

/// A piece of a task.
#[derive(Debug, Clone)]
pub(super) struct Example {
    /// Ascending.
    pub(super) features: Vec<u16>,
    /// Whether it asks for something.
    pub(super) asks: bool,
}

/// Returns the weights that fit examples; all zero where there are none.
pub(super) fn fit(examples: &[&Example]) -> AskingWeights {
    let mut weights = vec![0.0_f64; N_ASKING_FEATURES];
    let mut adam = Adam::new(weights.len());
    let share = 1.0 / examples.len().max(1) as f64;
    for step in 1..=N_STEPS {
        let mut slopes: Vec<f64> = weights.iter().map(|weight| PENALTY * weight).collect();
        // Every piece has the first feature: its weight says how many ask.
        slopes[0] = 0.0;
        for Example { features, asks } in examples {
            let log_odds: f64 = features.iter().map(|at| weights[usize::from(*at)]).sum();
            let probability = 1.0 / (1.0 + (-log_odds).exp());
            let slope = (probability - f64::from(u8::from(*asks))) * share;
            for at in features {
                slopes[usize::from(*at)] += slope;
            }
        }
        adam.turn(0, &mut slopes, Pace::of_step(step));
        let rate = LEARNING_RATE * cosine_decay(f64::from(step) / f64::from(N_STEPS));
        for (weight, slope) in weights.iter_mut().zip(slopes) {
            *weight -= rate * slope;
        }
    }
    AskingWeights::new(weights.into_iter().map(hundredths).collect())
        .expect("each feature has a weight")
}

#[expect(clippy::cast_possible_truncation, reason = "weights are small, and a cast saturates")]
fn hundredths(weight: f64) -> i16 {
    (weight * 100.0).round() as i16
}
