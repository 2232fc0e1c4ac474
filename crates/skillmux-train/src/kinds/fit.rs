//! [`fit`]: the weights of kinds.

use std::collections::BTreeMap;

use skillmux::skill::{KindWeights, NodeKind, node::N_KIND_FEATURES};

use crate::optimizer::{Adam, Pace, cosine_decay};

const N_KINDS: usize = NodeKind::ALL.len();

/// L2 penalty on the weights, against the mean loss of an example.
const PENALTY: f64 = 0.001;
const N_STEPS: i32 = 200;
const LEARNING_RATE: f64 = 0.05;

/// A part of a skill.
#[derive(Debug, Clone)]
pub(super) struct Example {
    /// Ascending.
    pub(super) features: Vec<u16>,
    pub(super) kind: NodeKind,
}

/// Returns the weights that fit examples; all zero where there are none.
pub(super) fn fit(examples: &[&Example]) -> KindWeights {
    let mut weights = vec![0.0_f64; N_KIND_FEATURES * N_KINDS];
    let mut adam = Adam::new(weights.len());
    let of_kinds = weights_of_kinds(examples);
    let total: f64 = examples.iter().map(|example| of_kinds[place(example.kind)]).sum();
    for step in 1..=N_STEPS {
        let mut slopes: Vec<f64> = weights.iter().map(|weight| PENALTY * weight).collect();
        // Every part has the first feature: its weights say how frequent the kinds are.
        slopes[..N_KINDS].fill(0.0);
        for example in examples {
            let right = place(example.kind);
            let share = of_kinds[right] / total;
            for (kind, estimate) in
                probabilities(&weights, &example.features).into_iter().enumerate()
            {
                let slope = (estimate - f64::from(u8::from(kind == right))) * share;
                for feature in &example.features {
                    slopes[usize::from(*feature) * N_KINDS + kind] += slope;
                }
            }
        }
        adam.turn(0, &mut slopes, Pace::of_step(step));
        let rate = LEARNING_RATE * cosine_decay(f64::from(step) / f64::from(N_STEPS));
        for (weight, slope) in weights.iter_mut().zip(slopes) {
            *weight -= rate * slope;
        }
    }
    let row =
        |kind: usize| weights.iter().skip(kind).step_by(N_KINDS).copied().map(hundredths).collect();
    let rows: BTreeMap<NodeKind, Vec<i16>> =
        NodeKind::ALL.into_iter().enumerate().map(|(at, kind)| (kind, row(at))).collect();
    KindWeights::new(rows).expect("each kind has a weight of each feature")
}

/// Returns what an example of each kind counts: rare kinds count more, by the root of how rare they
/// are.
fn weights_of_kinds(examples: &[&Example]) -> [f64; N_KINDS] {
    NodeKind::ALL.map(|kind| {
        let n = examples.iter().filter(|example| example.kind == kind).count();
        1.0 / (n.max(1) as f64).sqrt()
    })
}

fn place(kind: NodeKind) -> usize {
    NodeKind::ALL.iter().position(|known| *known == kind).unwrap_or(0)
}

/// Returns how likely each kind is.
fn probabilities(weights: &[f64], features: &[u16]) -> [f64; N_KINDS] {
    let mut scores = [0.0; N_KINDS];
    for feature in features {
        let row = &weights[usize::from(*feature) * N_KINDS..][..N_KINDS];
        for (score, weight) in scores.iter_mut().zip(row) {
            *score += weight;
        }
    }
    let largest = scores.iter().copied().fold(f64::MIN, f64::max);
    let odds = scores.map(|score| (score - largest).exp());
    let sum: f64 = odds.iter().sum();
    odds.map(|odds| odds / sum)
}

#[expect(clippy::cast_possible_truncation, reason = "weights are small, and a cast saturates")]
fn hundredths(weight: f64) -> i16 {
    (weight * 100.0).round() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_goes_with_a_kind_tells_it() {
        let example = |feature: u16, kind| Example { features: vec![0, feature], kind };
        let examples: Vec<Example> = (0..40)
            .flat_map(|at| {
                // One of eight is of another kind.
                let odd = if at % 8 == 0 { NodeKind::Param } else { NodeKind::Step };
                [example(7, odd), example(9, NodeKind::Concept)]
            })
            .collect();
        let examples: Vec<&Example> = examples.iter().collect();
        let weights = fit(&examples);
        assert_eq!(weights.kind(&[0, 7]), NodeKind::Step);
        assert_eq!(weights.kind(&[0, 9]), NodeKind::Concept);
        assert_eq!(weights, fit(&examples));
        assert_eq!(fit(&[]).kind(&[0]), NodeKind::ALL[0]);
    }
}
