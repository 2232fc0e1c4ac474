//! [`train_encoder`]: rounds of mining, steps and scores.

use skillmux::index::Index;
use skillmux_models::{EncoderParts, StaticEncoder};

use super::{
    batch::{Batch, Sampler},
    checkpoint::{self, Checkpoint},
    corpus::{Bag, Corpus},
    data::EncoderData,
    folder::{PLOT, RunFolder},
    log::LogLine,
    loss::{self, info_nce},
    negative::Miner,
    options::EncoderOptions,
    pair::PairKind,
    plot,
    row_optimizer::learning_rate,
    validation::Validation,
    weights::Weights,
};
use crate::{
    error::{Error, Result},
    random::Random,
};

/// Fewer pairs of queries and skills than this train nothing.
const MIN_PAIRS: usize = 10;

/// A trained encoder.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedEncoder {
    /// Bytes that [`StaticEncoder::from_bytes`] reads.
    pub bytes: Vec<u8>,
    /// What its round did.
    pub best: LogLine,
    /// Queries that were trained on.
    pub n_train: usize,
    /// Queries that were held out.
    pub n_held_out: usize,
}

/// Trains an encoder on the skills of an index.
///
/// The folder of the run gets a checkpoint, [`LOG`](super::LOG) and [`PLOT`] after each round;
/// `report` is called with each line of the log.
///
/// # Errors
/// [`Error::BadOption`], [`Error::TooFewPairs`], [`Error::CheckpointForeign`] when resuming,
/// [`Error::LossNotFinite`], and errors of reading the index and writing the folder.
pub fn train_encoder(
    index: &Index,
    data: &EncoderData,
    options: &EncoderOptions,
    run: &RunFolder<'_>,
    report: &mut dyn FnMut(&LogLine),
) -> Result<TrainedEncoder> {
    options.check()?;
    let corpus = Corpus::read(index, options.n_terms)?;
    let split = data.split(index, &corpus)?;
    if split.train.len() < MIN_PAIRS {
        return Err(Error::TooFewPairs { n_pairs: split.train.len(), min_pairs: MIN_PAIRS });
    }
    let validation = Validation::new(index, &corpus, &split)?;
    let key = checkpoint::key(&corpus, &split, options);
    let mut state = if let Some(checkpoint) = Checkpoint::open(run, &key)? {
        checkpoint
    } else {
        let mut random = Random::new(options.seed);
        let weights = Weights::random(&corpus, options.dim, &mut random);
        Checkpoint::start(key, weights, random)
    };
    let sampler = Sampler::new(&corpus, &split, options);
    let mut miner = Miner::new(index, &corpus, &split, options);
    let n_steps_a_round = options.n_steps.div_ceil(options.n_rounds);
    while state.step < options.n_steps && state.n_rounds_since_best() < options.patience {
        let n_steps = n_steps_a_round.min(options.n_steps - state.step);
        let queries = sampler.queries_of_round(n_steps, &mut state.random);
        let negatives = miner.mine(&queries, &state.weights, &mut state.random)?;
        let mut losses = LossMeans::default();
        let mut next_query = 0;
        for _ in 0..n_steps {
            state.step += 1;
            let kind = sampler.kind(&mut state.random);
            let n_queries = if kind == PairKind::Query { options.n_pairs } else { 0 };
            let taken = next_query..(next_query + n_queries).min(queries.len());
            next_query = taken.end;
            let batch =
                sampler.batch(kind, &queries[taken.clone()], &negatives[taken], &mut state.random);
            if batch.is_empty() {
                continue;
            }
            let rate = learning_rate(options, state.step);
            let loss = take_step(&batch, options, rate, &mut state);
            if !loss.is_finite() {
                return Err(Error::LossNotFinite { step: state.step });
            }
            losses.add(kind, loss);
        }
        let scores = validation.scores(&state.weights);
        let line = LogLine {
            round: state.log.len() + 1,
            step: state.step,
            learning_rate: learning_rate(options, state.step),
            losses: losses.means(),
            negatives: miner.take_counts(),
            scores,
        };
        report(&line);
        state.note(line);
        state.save(run)?;
        plot::draw(&state.log, &run.path.join(PLOT))?;
    }
    let (weights, best) = state.into_best();
    let bytes = StaticEncoder::quantised(&EncoderParts {
        terms: &corpus.terms,
        query_weights: &weights.of_queries,
        vectors: &weights.vectors,
        dim: weights.dim,
    });
    let (n_train, n_held_out) = (split.train.len(), split.held_out.len());
    Ok(TrainedEncoder { bytes, best, n_train, n_held_out })
}

/// Takes one step, and returns the loss of the batch.
fn take_step(
    batch: &Batch,
    options: &EncoderOptions,
    learning_rate: f32,
    state: &mut Checkpoint,
) -> f32 {
    let Weights { dim, vectors, of_queries } = &state.weights;
    let queries = loss::encode(&batch.queries, vectors, Some(of_queries), *dim);
    let parts: Vec<loss::Encoded> =
        batch.parts.iter().map(|bags| loss::encode(bags, vectors, None, *dim)).collect();
    let candidates = loss::mean_of(&parts);
    let outcome = info_nce(&loss::InfoNce {
        queries: &queries.vectors,
        candidates: &candidates,
        dim: *dim,
        temperature: options.temperature,
        bias: &batch.lexical,
        is_false_negative: &|query, candidate| batch.is_false_negative(query, candidate),
    });
    let share = 1.0 / parts.len() as f32;
    let query_gradient = queries.tangent(outcome.query_gradient, 1.0, *dim);
    let part_gradients: Vec<Vec<f32>> = parts
        .iter()
        .map(|part| part.tangent(outcome.candidate_gradient.clone(), share, *dim))
        .collect();
    state.optimizer.add_query_weights(&batch.queries, &query_gradient, &state.weights);
    let weighted = loss::weighted(&batch.queries, &state.weights.of_queries);
    let mut items: Vec<(&Bag, &[f32])> = Vec::new();
    items.extend(weighted.iter().zip(query_gradient.chunks(*dim)));
    for (bags, gradient) in batch.parts.iter().zip(&part_gradients) {
        items.extend(bags.iter().zip(gradient.chunks(*dim)));
    }
    state.optimizer.add(&items);
    state.optimizer.step(&mut state.weights, learning_rate);
    outcome.loss
}

/// Mean losses by kind.
#[derive(Default)]
struct LossMeans {
    sums: [f32; PairKind::N],
    counts: [u32; PairKind::N],
}

impl LossMeans {
    fn add(&mut self, kind: PairKind, loss: f32) {
        self.sums[kind as usize] += loss;
        self.counts[kind as usize] += 1;
    }

    fn means(&self) -> [f32; PairKind::N] {
        std::array::from_fn(|kind| self.sums[kind] / self.counts[kind].max(1) as f32)
    }
}
