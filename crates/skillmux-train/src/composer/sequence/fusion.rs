//! [`fit_fusion`]: the weights of Eq. 4.4, by coordinate ascent on validation tasks.

use rayon::prelude::*;
use skillmux_models::sequence::{Decoder, Fusion, SequenceNetwork};

use super::{example::Example, options::SequenceOptions};
use crate::error::Result;

/// What is tried for each weight.
const PRIORS: [f32; 7] = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
const SETS: [f32; 8] = [0.0, 0.15, 0.3, 0.6, 1.0, 1.5, 2.5, 4.0];
const STOPS: [f32; 11] = [-6.0, -4.5, -3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0];
const COUNTS: [f32; 5] = [0.0, 0.25, 0.5, 1.0, 2.0];

/// Rounds over all weights.
const N_ROUNDS: usize = 2;

/// What is tried for a weight, and the weight.
type Coordinate = (&'static [f32], fn(&mut Fusion) -> &mut f32);

/// Tasks that are decoded with many weights.
pub(super) struct Tuning<'e>(Vec<(Decoder<'e>, &'e Example)>);

impl<'e> Tuning<'e> {
    /// Reads the scenes of tasks.
    pub(super) fn new(network: &'e SequenceNetwork, examples: &'e [Example]) -> Result<Self> {
        // Of a task that loads nothing there is nothing to tune.
        let helped = examples
            .par_iter()
            .filter(|example| example.max_skills > 0 && !example.scene.skills.is_empty());
        let read = |example: &'e Example| Ok((Decoder::new(network, &example.scene)?, example));
        Ok(Self(helped.map(read).collect::<Result<_>>()?))
    }

    /// Returns the mean Set F1.
    pub(super) fn set_f1(&mut self, fusion: &Fusion) -> Result<f64> {
        let of_task = |(decoder, example): &mut (Decoder<'_>, &Example)| -> Result<f64> {
            let may_follow = |chosen: &[u32], at: usize| example.may_follow(chosen, at);
            let best = decoder.best(fusion, example.max_skills, &may_follow)?;
            Ok(example.set_f1(&best))
        };
        let scores: Vec<f64> = self.0.par_iter_mut().map(of_task).collect::<Result<_>>()?;
        Ok(scores.iter().sum::<f64>() / scores.len().max(1) as f64)
    }
}

impl SequenceOptions {
    /// Returns whether the set head has a say when a sequence is decoded.
    fn has_set(&self) -> bool {
        self.fits_set && self.set_weight > 0.0
    }
}

/// Returns what an epoch is judged with, before anything is fitted.
pub(super) fn first_fusion(options: &SequenceOptions) -> Fusion {
    let SequenceOptions { n_beams, length_penalty, .. } = *options;
    let set = if options.has_set() { 0.3 } else { 0.0 };
    let prior = if options.fits_prior { 1.0 } else { 0.0 };
    Fusion { prior, set, n_beams, length_penalty, ..Fusion::default() }
}

/// Returns the best weights, and their Set F1.
pub(super) fn fit_fusion(
    network: &SequenceNetwork,
    examples: &[Example],
    options: &SequenceOptions,
) -> Result<(Fusion, f64)> {
    let mut tuning = Tuning::new(network, examples)?;
    let mut best = first_fusion(options);
    let mut score = tuning.set_f1(&best)?;
    let mut coordinates: Vec<Coordinate> = Vec::new();
    if options.fits_stop {
        coordinates.push((&STOPS, |fusion| &mut fusion.stop));
    }
    if options.has_set() {
        coordinates.push((&SETS, |fusion| &mut fusion.set));
    }
    if options.fits_prior {
        coordinates.push((&PRIORS, |fusion| &mut fusion.prior));
    }
    if options.fits_count && options.count_weight > 0.0 {
        coordinates.push((&COUNTS, |fusion| &mut fusion.count));
    }
    for _ in 0..N_ROUNDS {
        for (values, coordinate) in &coordinates {
            for value in *values {
                let mut tried = best;
                *coordinate(&mut tried) = *value;
                let found = tuning.set_f1(&tried)?;
                if found > score {
                    (best, score) = (tried, found);
                }
            }
        }
    }
    Ok((best, score))
}
