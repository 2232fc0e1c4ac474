//! [`CheckpointScorer`]: a published cross-encoder.

use std::error::Error as StdError;

use candle_core::{Result as TensorResult, Tensor};
use skillmux::{
    Error as EngineError,
    error::Result as EngineResult,
    model::{PairScorer, PairScorerIdentity},
};

use super::{
    Checkpoint, CheckpointError, InferencePrecision, Parts, TensorError,
    batch::{Batch, n_shared},
    bert::Bert,
    config::{Config, Family, Head},
    fingerprint,
    gguf::LABELS,
    layer::{Linear, Table, look_up},
    qwen3::Qwen3,
    tokens::{Frame, Sequence, Tokens},
    weights::Weights,
};
use crate::model_file::TOKENIZER;

/// What a Qwen3 reranker reads before a pair (Qwen3-Reranker's published template).
const BEFORE: &str = "<|im_start|>system\nJudge whether the Document meets the requirements based on the \
                      Query and the Instruct provided. Note that the answer can only be \"yes\" or \
                      \"no\".<|im_end|>\n<|im_start|>user\n";

/// What it reads after a pair; the next token is its answer.
const AFTER: &str = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";

/// A cross-encoder of a folder. Its scores are log-odds: those of the one label of a classifier, of
/// its second label against its first, or of the answer `yes` against `no`.
pub struct CheckpointScorer {
    identity: PairScorerIdentity,
    reader: PairReader,
    network: PairNetwork,
}

/// Makes inputs of a query and a text.
pub(super) struct PairReader {
    tokens: Tokens,
    /// Of a Qwen3 reranker.
    template: Option<Template>,
}

/// What stands around a pair.
struct Template {
    before: Vec<u32>,
    instruction: String,
    after: Vec<u32>,
}

/// A network with its head.
pub(super) enum PairNetwork {
    Bert { network: Bert, head: ClassifierHead },
    Qwen3 { network: Qwen3, answer: Tensor },
}

/// What stands on the state of the first token.
pub(super) struct ClassifierHead {
    dense: Linear,
    out: Linear,
}

impl CheckpointScorer {
    pub(super) fn read(checkpoint: &Checkpoint) -> Result<Self, CheckpointError> {
        let Checkpoint { config, settings, .. } = checkpoint;
        let Parts { tokens, mut weights, hasher } = checkpoint.read()?;
        let precision = checkpoint.precision();
        let network = PairNetwork::take(checkpoint, precision, &tokens, &mut weights)?;
        let reader = PairReader::new(checkpoint, tokens, settings.max_tokens)?;
        let instruction = reader.template.as_ref().map_or("", |template| &template.instruction);
        let mut texts = vec![instruction];
        texts.extend(precision.mark());
        let fingerprint = fingerprint(hasher, settings.max_tokens, &texts);
        let identity = PairScorerIdentity { name: precision.name_of(config), fingerprint };
        Ok(Self { identity, reader, network })
    }

    fn logits(
        &self,
        query: &str,
        texts: &[&str],
    ) -> Result<Vec<f32>, Box<dyn StdError + Send + Sync>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let sequences = self.reader.sequences(query, texts)?;
        // A single pair shares nothing that would be read again.
        let n_shared = if texts.len() > 1 { n_shared(&sequences) } else { 0 };
        let logits = self.network.logits(&sequences, n_shared).and_then(|logits| logits.to_vec1());
        Ok(logits.map_err(TensorError)?)
    }
}

impl PairReader {
    /// Returns a reader that cuts a pair, with all around it, at a number of tokens.
    pub(super) fn new(
        checkpoint: &Checkpoint,
        tokens: Tokens,
        max_tokens: usize,
    ) -> Result<Self, CheckpointError> {
        let Checkpoint { folder, config, settings, .. } = checkpoint;
        let form = |error: tokenizers::Error| folder.form(TOKENIZER, error.to_string());
        let template = match config.family {
            Family::Bert | Family::Roberta => None,
            Family::Qwen3 => Some(Template {
                before: tokens.of_template(BEFORE).map_err(form)?,
                instruction: settings.instruction.clone(),
                after: tokens.of_template(AFTER).map_err(form)?,
            }),
        };
        let n_around = template.as_ref().map_or(0, |t| t.before.len() + t.after.len());
        let n_left = max_tokens.saturating_sub(n_around).max(1);
        Ok(Self { tokens: tokens.cut_at(n_left).map_err(form)?, template })
    }

    /// Returns the tokens of a query with each text.
    pub(super) fn sequences(
        &self,
        query: &str,
        texts: &[&str],
    ) -> tokenizers::Result<Vec<Sequence>> {
        let Some(template) = &self.template else { return self.tokens.of_pairs(query, texts) };
        let inputs: Vec<String> = texts.iter().map(|text| template.input(query, text)).collect();
        let mut sequences = self.tokens.of_texts(&inputs, Frame::Bare)?;
        for sequence in &mut sequences {
            template.put_around(sequence);
        }
        Ok(sequences)
    }
}

impl PairNetwork {
    /// Takes the network of a cross-encoder out.
    pub(super) fn take(
        checkpoint: &Checkpoint,
        precision: InferencePrecision,
        tokens: &Tokens,
        weights: &mut Weights,
    ) -> Result<Self, CheckpointError> {
        let Checkpoint { folder, config, settings, .. } = checkpoint;
        if config.head == Head::Classifier && config.n_labels > 2 {
            return Err(folder.unsupported(format!("a head of {} labels", config.n_labels)));
        }
        if config.family == Family::Qwen3 {
            let network = Qwen3::take(config, settings.max_tokens, precision, weights)?;
            let answer = answer(checkpoint, tokens, &network, weights)?;
            return Ok(Self::Qwen3 { network, answer });
        }
        let network = Bert::take(config, precision, weights)?;
        Ok(Self::Bert { network, head: ClassifierHead::take(config, weights)? })
    }

    /// Returns the log-odds of at least one sequence, `[n]`; all begin with the same `n_shared`
    /// tokens.
    pub(super) fn logits(&self, sequences: &[Sequence], n_shared: usize) -> TensorResult<Tensor> {
        match self {
            Self::Bert { network, head } => {
                let of_batch = |batch: Batch<'_>| {
                    head.log_odds(&look_up(&network.states(&batch)?, batch.first_rows())?)
                };
                let logits = Batch::split(sequences, 0).map(of_batch);
                Tensor::cat(&logits.collect::<TensorResult<Vec<_>>>()?, 0)
            }
            Self::Qwen3 { network, answer } => {
                network.last_states(sequences, n_shared)?.matmul(answer)?.flatten_all()
            }
        }
    }
}

impl PairScorer for CheckpointScorer {
    fn identity(&self) -> &PairScorerIdentity {
        &self.identity
    }

    fn scores(&self, query: &str, texts: &[&str]) -> EngineResult<Vec<f32>> {
        let name = || self.identity.name.clone();
        let failed = |source| EngineError::PairScorer { name: name(), hint: None, source };
        self.logits(query, texts).map_err(failed)
    }
}

impl Template {
    fn input(&self, query: &str, text: &str) -> String {
        let Self { instruction, .. } = self;
        format!("<Instruct>: {instruction}\n\n<Query>: {query}\n\n<Document>: {text}")
    }

    fn put_around(&self, sequence: &mut Sequence) {
        let tokens = [&self.before[..], &sequence.tokens, &self.after].concat();
        *sequence = Sequence { types: vec![0; tokens.len()], tokens };
    }
}

impl ClassifierHead {
    fn take(config: &Config, weights: &mut Weights) -> Result<Self, CheckpointError> {
        let (dense, out) = match config.family {
            Family::Roberta => ("classifier.dense", "classifier.out_proj"),
            Family::Bert | Family::Qwen3 => ("pooler.dense", "classifier"),
        };
        Ok(Self {
            dense: Linear::take(weights, dense, [config.width, config.width])?,
            out: Linear::take(weights, out, [config.n_labels, config.width])?,
        })
    }

    /// Returns the log-odds of states, `[n]` of `[n, width]`.
    fn log_odds(&self, states: &Tensor) -> TensorResult<Tensor> {
        let logits = self.out.of(&self.dense.of(states)?.tanh()?)?;
        let label = |at: usize| logits.narrow(1, at, 1)?.flatten_all();
        if logits.dim(1)? == 2 { label(1)? - label(0)? } else { label(0) }
    }
}

/// Returns the direction in which the last state says yes, `[width, 1]`.
fn answer(
    checkpoint: &Checkpoint,
    tokens: &Tokens,
    network: &Qwen3,
    weights: &mut Weights,
) -> Result<Tensor, CheckpointError> {
    let Checkpoint { folder, config, .. } = checkpoint;
    let failed = |source| folder.network(source);
    let difference = |table: &Table, no: u32, yes: u32| -> TensorResult<Tensor> {
        let rows = table.rows(vec![yes, no])?;
        (rows.narrow(0, 0, 1)? - rows.narrow(0, 1, 1)?)?.t()?.contiguous()
    };
    if config.head == Head::Classifier {
        let score = weights.take("score.weight", &[config.n_labels, config.width])?;
        if config.n_labels == 2 {
            return difference(&Table::Plain(score), 0, 1).map_err(failed);
        }
        return score.t().and_then(|score| score.contiguous()).map_err(failed);
    }
    if weights.has(LABELS) {
        let labels = Table::take(weights, LABELS, &[2, config.width])?;
        let (yes, no) = weights.answers();
        return difference(&labels, no, yes).map_err(failed);
    }
    let id = |token: &'static str| {
        let missing = CheckpointError::TokenMissing { folder: folder.path().to_owned(), token };
        tokens.id(token).filter(|id| (*id as usize) < config.n_vocab).ok_or(missing)
    };
    let (no, yes) = (id("no")?, id("yes")?);
    // Where the weights have no matrix of answers, it is that of the vocabulary.
    if weights.has("lm_head.weight") {
        let table = Table::take(weights, "lm_head.weight", &[config.n_vocab, config.width])?;
        return difference(&table, no, yes).map_err(failed);
    }
    difference(network.token_table(), no, yes).map_err(failed)
}
