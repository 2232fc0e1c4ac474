//! [`train_transformer`]: steps and rounds.

use std::path::Path;

use candle_core::Var;
use rayon::prelude::*;
use skillmux::index::Index;
use skillmux_models::checkpoint::{Checkpoint, CheckpointUse, Device, Tunable, TuneOptions};

use super::{
    checkpoint::{self, State},
    data::{Split, TransformerData},
    example::{Drawn, Example},
    log::{TransformerEvent, TransformerLogLine},
    negative::draw,
    options::TransformerOptions,
    step::{Outcome, gradients},
    validation::Validation,
};
use crate::{
    adamw::{Pace, shorten},
    encoder::RunFolder,
    error::{Error, Result},
    random::Random,
};

/// Fewer queries than this train nothing.
const MIN_PAIRS: usize = 10;

/// What is tuned, on what, and where.
#[derive(Clone)]
pub struct TransformerJob<'j> {
    /// The skills.
    pub index: &'j Index,
    /// The model to begin with.
    pub base: &'j Checkpoint,
    /// Where the network computes.
    pub device: Device,
}

/// A tuned transformer.
pub struct TrainedTransformer {
    tunable: Tunable,
    /// The round that it is of; round 0 is the base.
    pub best: TransformerLogLine,
    /// The round before the first step.
    pub base: TransformerLogLine,
    /// Queries that were trained on.
    pub n_train: usize,
    /// Queries that were held out.
    pub n_held_out: usize,
}

impl TrainedTransformer {
    /// Writes the folder of the model, which [`Checkpoint::open`] reads.
    ///
    /// # Errors
    /// [`Error::Model`].
    pub fn save(&self, folder: &Path) -> Result<()> {
        Ok(self.tunable.save(folder)?)
    }
}

/// Tunes a published encoder or cross-encoder on the skills of an index.
///
/// The folder of the run gets a checkpoint, the best weights and [`LOG`](crate::encoder::LOG) after
/// each round.
///
/// # Errors
/// [`Error::BadOption`], [`Error::TooFewPairs`], [`Error::CheckpointForeign`] when resuming,
/// [`Error::Model`] for a base that cannot be read, [`Error::LossNotFinite`],
/// [`Error::GradientNotFinite`], and errors of reading the index and writing the folder.
pub fn train_transformer(
    job: &TransformerJob<'_>,
    data: &TransformerData,
    options: &TransformerOptions,
    run: &RunFolder<'_>,
    report: &mut dyn FnMut(TransformerEvent<'_>),
) -> Result<TrainedTransformer> {
    options.check()?;
    let data = data.split(job.index)?;
    let Split { train, held_out } = &data;
    if train.len() < MIN_PAIRS {
        return Err(Error::TooFewPairs { n_pairs: train.len(), min_pairs: MIN_PAIRS });
    }
    let tune = TuneOptions {
        device: job.device.clone(),
        precision: options.precision,
        max_query_tokens: options.max_query_tokens,
        max_text_tokens: options.max_text_tokens,
    };
    let tunable = Tunable::open(job.base, &tune)?;
    let validation = Validation::new(job.index, held_out, options, tunable.purpose())?;
    let key = checkpoint::key(&tunable, &data, options);
    let mut state = match State::open(run, &key, &tunable)? {
        Some(state) => state,
        None => State::start(key, &tunable)?,
    };
    let mut round = Round::default();
    if state.n_rounds() == 0 {
        end_round(&mut round, &mut state, &tunable, &validation, run, report)?;
    }
    let mut sampler = Sampler { train, options, order: Vec::new(), epoch: None };
    while state.step() < options.n_steps {
        let step = state.count();
        let drawn = sampler.draw(job, tunable.purpose(), step)?;
        let mut outcome = gradients(&tunable, &drawn, options)?;
        if !outcome.loss.is_finite() {
            return Err(Error::LossNotFinite { step });
        }
        let norm = shorten(&mut outcome.gradients, options.max_gradient_norm, step)?;
        let variables: Vec<&Var> = tunable.variables().iter().map(|v| &v.var).collect();
        let pace = Pace { rate: options.rate_at(step), weight_decay: options.weight_decay };
        state.optimizer.step(&variables, &outcome.gradients, step, pace)?;
        report(TransformerEvent::Step { step, n_steps: options.n_steps, loss: outcome.loss });
        round.add(&outcome, norm, options.rate_at(step));
        if step.is_multiple_of(options.n_steps_a_round) || step == options.n_steps {
            end_round(&mut round, &mut state, &tunable, &validation, run, report)?;
        }
    }
    checkpoint::take_best(&tunable, run)?;
    let (best, base) = (state.best().clone(), state.base().clone());
    let (n_train, n_held_out) = (train.len(), held_out.len());
    Ok(TrainedTransformer { tunable, best, base, n_train, n_held_out })
}

/// Scores the held-out queries, and writes what is needed to go on from here.
fn end_round(
    round: &mut Round,
    state: &mut State,
    tunable: &Tunable,
    validation: &Validation<'_>,
    run: &RunFolder<'_>,
    report: &mut dyn FnMut(TransformerEvent<'_>),
) -> Result<()> {
    let Round { n_steps, loss, norm, learning_rate, n_blocked } = std::mem::take(round);
    let mean = |sum: f32| sum / n_steps.max(1) as f32;
    let line = TransformerLogLine {
        round: state.n_rounds(),
        step: state.step(),
        learning_rate,
        loss: mean(loss),
        gradient_norm: mean(norm),
        n_blocked,
        scores: validation.scores(tunable)?,
    };
    state.note(line.clone(), tunable, run)?;
    report(TransformerEvent::Round(&line));
    Ok(())
}

/// Sums over the steps of a round.
#[derive(Default)]
struct Round {
    n_steps: usize,
    loss: f32,
    norm: f32,
    learning_rate: f64,
    n_blocked: usize,
}

impl Round {
    #[expect(clippy::cast_possible_truncation, reason = "a length is told in few digits")]
    fn add(&mut self, outcome: &Outcome, norm: f64, learning_rate: f64) {
        self.n_steps += 1;
        self.loss += outcome.loss;
        self.norm += norm as f32;
        self.learning_rate = learning_rate;
        self.n_blocked += outcome.n_blocked;
    }
}

/// Draws the queries of each step: all once an epoch, in an order of its own.
struct Sampler<'e> {
    train: &'e [Example],
    options: &'e TransformerOptions,
    /// Of the epoch.
    order: Vec<usize>,
    epoch: Option<usize>,
}

impl<'e> Sampler<'e> {
    /// Draws the queries of a step with their answers and negatives, which follow from the seed and
    /// its number.
    fn draw(
        &mut self,
        job: &TransformerJob<'_>,
        purpose: CheckpointUse,
        step: usize,
    ) -> Result<Vec<Drawn<'e>>> {
        let n = self.options.n_pairs;
        let examples: Vec<(usize, &Example)> =
            ((step - 1) * n..step * n).map(|number| (number, self.example(number))).collect();
        let (options, seed) = (self.options, self.options.seed);
        let draw_one = |(number, example): (usize, &'e Example)| {
            draw(job.index, example, options, purpose, &mut random(seed, 1, number))
        };
        examples.into_par_iter().map(draw_one).collect()
    }

    /// Returns an example by its number, counted on over the epochs.
    fn example(&mut self, number: usize) -> &'e Example {
        let epoch = number / self.train.len();
        if self.epoch != Some(epoch) {
            let mut random = random(self.options.seed, 0, epoch);
            self.order = (0..self.train.len()).collect();
            // Fisher and Yates.
            for at in (1..self.order.len()).rev() {
                self.order.swap(at, random.below(at + 1));
            }
            self.epoch = Some(epoch);
        }
        &self.train[self.order[number % self.train.len()]]
    }
}

/// Returns the numbers of one thing that is drawn.
fn random(seed: u64, kind: u64, number: usize) -> Random {
    let mut seeds = Random::new(seed);
    let mix = seeds.next() ^ Random::new(kind).next();
    Random::new(mix.wrapping_add(number as u64))
}
