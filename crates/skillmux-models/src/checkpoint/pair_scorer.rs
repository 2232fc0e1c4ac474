//! [`CheckpointScorer`]: a published cross-encoder.

use std::error::Error as StdError;

use candle_core::Tensor;
use skillmux::{
    Error as EngineError,
    error::Result as EngineResult,
    model::{PairScorer, PairScorerIdentity},
};

use super::{
    Checkpoint, CheckpointError, Parts,
    batch::{Batch, n_shared},
    bert::Bert,
    config::{Config, Family, Head},
    fingerprint,
    layer::{Linear, look_up},
    qwen3::Qwen3,
    tokens::{Frame, Sequence, Tokens},
    weights::Weights,
};

/// What a Qwen3 reranker reads before a pair (Qwen3-Reranker's published template).
const BEFORE: &str = "<|im_start|>system\nJudge whether the Document meets the requirements based on the \
                      Query and the Instruct provided. Note that the answer can only be \"yes\" or \
                      \"no\".<|im_end|>\n<|im_start|>user\n";

/// What it reads after a pair; the next token is its answer.
const AFTER: &str = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";

/// A cross-encoder of a folder. Its scores are log-odds: those of the one label of a classifier, of its
/// second label against its first, or of the answer `yes` against `no`.
pub struct CheckpointScorer {
    identity: PairScorerIdentity,
    tokens: Tokens,
    network: Network,
}

enum Network {
    Bert { network: Bert, head: ClassifierHead },
    Qwen3 { network: Qwen3, template: Template, answer: Tensor },
}

/// What stands on the state of the first token.
struct ClassifierHead {
    dense: Linear,
    out: Linear,
}

/// What stands around a pair.
struct Template {
    before: Vec<u32>,
    instruction: String,
    after: Vec<u32>,
}

impl CheckpointScorer {
    pub(super) fn read(checkpoint: &Checkpoint) -> Result<Self, CheckpointError> {
        let Checkpoint { folder, config, settings } = checkpoint;
        let Parts { mut tokens, mut weights, hasher } = checkpoint.read()?;
        if config.head == Head::Classifier && config.n_labels > 2 {
            return Err(folder.unsupported(format!("a head of {} labels", config.n_labels)));
        }
        let (network, instruction) = match config.family {
            Family::Bert | Family::Roberta => {
                let network = Bert::take(config, &mut weights)?;
                let head = ClassifierHead::take(config, &mut weights)?;
                (Network::Bert { network, head }, "")
            }
            Family::Qwen3 => {
                let network = Qwen3::take(config, settings.max_tokens, &mut weights)?;
                let answer = answer(checkpoint, &tokens, &network, &mut weights)?;
                let form =
                    |error: tokenizers::Error| folder.form("tokenizer.json", error.to_string());
                let template = Template {
                    before: tokens.of_template(BEFORE).map_err(form)?,
                    instruction: settings.instruction.clone(),
                    after: tokens.of_template(AFTER).map_err(form)?,
                };
                let n_around = template.before.len() + template.after.len();
                let n_left = settings.max_tokens.saturating_sub(n_around).max(1);
                tokens = tokens.with_max_tokens(n_left).map_err(form)?;
                (Network::Qwen3 { network, template, answer }, settings.instruction.as_str())
            }
        };
        let fingerprint = fingerprint(hasher, settings.max_tokens, &[instruction]);
        let identity = PairScorerIdentity { name: config.name(), fingerprint };
        Ok(Self { identity, tokens, network })
    }

    fn logits(
        &self,
        query: &str,
        texts: &[&str],
    ) -> Result<Vec<f32>, Box<dyn StdError + Send + Sync>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        match &self.network {
            Network::Bert { network, head } => {
                let mut logits = Vec::with_capacity(texts.len());
                let sequences = self.tokens.of_pairs(query, texts)?;
                for batch in Batch::split(&sequences, 0) {
                    let first = look_up(&network.states(&batch)?, batch.first_rows())?;
                    logits.extend(head.log_odds(&first)?);
                }
                Ok(logits)
            }
            Network::Qwen3 { network, template, answer } => {
                let inputs: Vec<String> =
                    texts.iter().map(|text| template.input(query, text)).collect();
                let mut sequences = self.tokens.of_texts(&inputs, Frame::Bare)?;
                for sequence in &mut sequences {
                    template.put_around(sequence);
                }
                // A single pair shares nothing that would be read again.
                let n_shared = if texts.len() > 1 { n_shared(&sequences) } else { 0 };
                let states = network.last_states(&sequences, n_shared)?;
                Ok(states.matmul(answer)?.flatten_all()?.to_vec1()?)
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

    fn log_odds(&self, states: &Tensor) -> candle_core::Result<Vec<f32>> {
        let logits = self.out.of(&self.dense.of(states)?.tanh()?)?;
        let difference = |row: &Vec<f32>| match row[..] {
            [no, yes] => yes - no,
            _ => row[0],
        };
        Ok(logits.to_vec2()?.iter().map(difference).collect())
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
    let difference = |table: &Tensor, no: u32, yes: u32| -> candle_core::Result<Tensor> {
        let rows = look_up(table, vec![yes, no])?;
        (rows.narrow(0, 0, 1)? - rows.narrow(0, 1, 1)?)?.t()?.contiguous()
    };
    if config.head == Head::Classifier {
        let score = weights.take("score.weight", &[config.n_labels, config.width])?;
        if config.n_labels == 2 {
            return difference(&score, 0, 1).map_err(failed);
        }
        return score.t().and_then(|score| score.contiguous()).map_err(failed);
    }
    let id = |token: &'static str| {
        let missing = CheckpointError::TokenMissing { folder: folder.path().to_owned(), token };
        tokens.id(token).filter(|id| (*id as usize) < config.n_vocab).ok_or(missing)
    };
    let (no, yes) = (id("no")?, id("yes")?);
    // Where the weights have no matrix of answers, it is that of the vocabulary.
    if weights.has("lm_head.weight") {
        let table = weights.take("lm_head.weight", &[config.n_vocab, config.width])?;
        return difference(&table, no, yes).map_err(failed);
    }
    difference(network.token_table(), no, yes).map_err(failed)
}
