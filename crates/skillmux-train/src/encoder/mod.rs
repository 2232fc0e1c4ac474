//! Trains the [`StaticEncoder`] by contrast (`SkillRouter` §4.2).
//!
//! A run has rounds. A round mines negatives with the encoder as it is, takes its share of the
//! steps, scores the held-out queries, and writes a checkpoint. The run stops early when the scores
//! no longer rise, and gives the encoder of the best round. The same data, options and seed give
//! the same bytes, whether a run was resumed or not.
//!
//! What is held out is decided by skill: a skill's name (without case and joints) that hashes to 0
//! of ten takes all its queries, and those of the skills that share its name, out of the training.

mod batch;
mod checkpoint;
mod corpus;
mod data;
mod loss;
mod matrix;
mod negative;
mod optimizer;
mod plot;
mod validation;

use std::path::Path;

use serde::{Deserialize, Serialize};
use skillmux::index::Index;

pub(crate) use corpus::key_of_name;
pub use data::EncoderData;
pub(crate) use data::{Translations, is_held_out_name, read_queries};
pub use negative::{FalseNegativeFilter, NegativeCounts, NegativeSource};

use self::{
    batch::{Batch, PairKind, Sampler},
    checkpoint::Checkpoint,
    corpus::{Bag, Corpus},
    loss::info_nce,
    negative::Miner,
    optimizer::{Optimizer, learning_rate},
    validation::Validation,
};
use skillmux_models::{EncoderParts, StaticEncoder};

use crate::{
    error::{Error, Result},
    random::Random,
};

/// Fewer pairs of queries and skills than this train nothing.
const MIN_PAIRS: usize = 10;

/// Name of the log in the folder of a run: one [`LogLine`] a round.
pub const LOG: &str = "log.jsonl";

/// Name of the plot in the folder of a run.
pub const PLOT: &str = "loss.svg";

/// How an encoder is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EncoderOptions {
    /// Terms of the vocabulary, those of most skills.
    pub n_terms: usize,
    /// Dimensions.
    pub dim: usize,
    /// Steps, if the run does not stop early.
    pub n_steps: usize,
    /// Rounds that the steps are shared out to.
    pub n_rounds: usize,
    /// Rounds without a better score after which the run stops.
    pub patience: usize,
    /// Pairs of a batch.
    pub n_pairs: usize,
    /// Mined negatives of a pair of query and skill; `SkillRouter` has 10. In-batch negatives come
    /// on top: those of all other pairs.
    pub n_negatives: usize,
    /// Divides the cosines of a batch.
    pub temperature: f32,
    /// What the lexical score share in `[0, 1]` of a skill adds to its logit, so that the encoder
    /// learns what BM25 does not know (Gao et al. 2021, "Complement Lexical Retrieval Model with
    /// Semantic Residual Embeddings").
    pub lexical_weight: f32,
    /// Highest step of a number of a vector.
    pub learning_rate: f32,
    /// Share of the steps in which the learning rate rises, before it falls along a cosine.
    pub warm_up: f32,
    /// Share of the terms of a text that a step leaves out.
    pub dropout: f32,
    /// Most distinct terms of a body that a step sees, drawn anew each time.
    pub max_body_terms: usize,
    /// How often each kind of pair is drawn: query and skill, description and body, heading and
    /// section, texts in two languages, sections in two languages.
    pub mix: [f32; PairKind::N],
    /// What the filter takes for a false negative.
    pub filter: FalseNegativeFilter,
    /// Seed of everything that is drawn.
    pub seed: u64,
}

impl Default for EncoderOptions {
    /// Chosen on the held-out queries; see `docs/encoder.md`.
    fn default() -> Self {
        Self {
            n_terms: 49_152,
            dim: 160,
            n_steps: 1600,
            n_rounds: 4,
            patience: 3,
            n_pairs: 192,
            n_negatives: 8,
            temperature: 0.05,
            lexical_weight: 60.0,
            learning_rate: 0.01,
            warm_up: 0.05,
            dropout: 0.1,
            max_body_terms: 96,
            mix: [4.0, 2.0, 1.5, 2.0, 1.0],
            filter: FalseNegativeFilter::default(),
            seed: 1,
        }
    }
}

/// What a round did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Number of the round, from 1.
    pub round: usize,
    /// Steps since the start.
    pub step: usize,
    /// Learning rate of the last step.
    pub learning_rate: f32,
    /// Mean loss of each kind of pair, 0 for a kind that was not drawn.
    pub losses: [f32; PairKind::N],
    /// What the filter removed.
    pub negatives: NegativeCounts,
    /// Scores on what is held out.
    pub scores: Scores,
}

/// Scores on held-out queries over all skills, and on held-out pairs of a skill in two languages.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Scores {
    /// Recall@10 of the fusion with BM25, by which rounds are compared.
    pub recall_at_10: f32,
    /// Recall@50 of the fusion.
    pub recall_at_50: f32,
    /// Hit@1 of the fusion.
    pub hit_at_1: f32,
    /// Recall@10 of BM25 alone.
    pub lexical_recall_at_10: f32,
    /// Hit@1 of BM25 alone.
    pub lexical_hit_at_1: f32,
    /// Recall@10 of the encoder alone.
    pub dense_recall_at_10: f32,
    /// Recall@10 of the encoder alone, from a Chinese description to its English skill.
    pub zh_to_en: f32,
    /// The other way.
    pub en_to_zh: f32,
}

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

/// Numbers that training changes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Weights {
    pub(crate) dim: usize,
    /// `[n_terms, dim]`, row-major.
    pub(crate) vectors: Vec<f32>,
    /// Weights of the terms in a query.
    pub(crate) of_queries: Vec<f32>,
}

impl Weights {
    /// Draws directions at random, with lengths after the rarity of the term: the encoder starts as
    /// a compressed lexical match.
    fn random(corpus: &Corpus, dim: usize, random: &mut Random) -> Self {
        let scale = 1.0 / (dim as f32).sqrt();
        let row =
            |rarity: &f32| (0..dim).map(|_| random.normal() * scale * rarity).collect::<Vec<f32>>();
        let vectors = corpus.rarities.iter().flat_map(row).collect();
        Self { dim, vectors, of_queries: vec![1.0; corpus.rarities.len()] }
    }
}

/// Trains an encoder on the skills of an index.
///
/// The folder of the run gets a checkpoint, [`LOG`] and [`PLOT`] after each round; `report` is
/// called with each line of the log.
///
/// # Errors
/// [`Error::TooFewPairs`], [`Error::CheckpointForeign`] when resuming, and errors of reading the
/// index and writing the folder.
pub fn train_encoder(
    index: &Index,
    data: &EncoderData,
    options: &EncoderOptions,
    run: &RunFolder<'_>,
    report: &mut dyn FnMut(&LogLine),
) -> Result<TrainedEncoder> {
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
    let n_steps_a_round = options.n_steps.div_ceil(options.n_rounds.max(1));
    while state.step < options.n_steps && state.n_rounds_since_best() < options.patience.max(1) {
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
            let batch = sampler.batch(kind, &queries[taken.clone()], &negatives[taken], &mut state);
            if batch.is_empty() {
                continue;
            }
            let rate = learning_rate(options, state.step);
            losses.add(kind, take_step(&batch, options, rate, &mut state));
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

/// Where a run keeps its files.
#[derive(Debug, Clone, Copy)]
pub struct RunFolder<'p> {
    /// The folder, which exists.
    pub path: &'p Path,
    /// What to do with a checkpoint in it.
    pub start: RunStart,
}

/// What to do with the checkpoint of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStart {
    /// Begin anew.
    Fresh,
    /// Go on from it, if there is one.
    Resume,
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
    Optimizer::add(&mut state.optimizer, &items);
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
