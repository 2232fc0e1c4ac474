//! [`Bert`]: the network of BERT, `RoBERTa` and XLM-RoBERTa.

use candle_core::{Result as TensorResult, Tensor};
use rayon::prelude::*;

use super::{
    CheckpointError, InferencePrecision,
    batch::Batch,
    config::{Config, Family},
    int8::Int8Layers,
    layer::{LayerNorm, Linear, activate, look_up, softmax},
    rectangle::{Heads, Rectangle, Seen},
    weights::Weights,
};

/// Layers in which every token attends to all of its sequence.
pub(super) struct Bert {
    config: Config,
    tokens: Tensor,
    positions: Tensor,
    types: Tensor,
    norm: LayerNorm,
    layers: Layers,
}

enum Layers {
    Single(Vec<Layer>),
    Int8(Int8Layers),
}

struct Layer {
    /// Queries, keys and values, one after the other.
    attention: Linear,
    attention_out: Linear,
    attention_norm: LayerNorm,
    inner: Linear,
    out: Linear,
    out_norm: LayerNorm,
}

impl Bert {
    pub(super) fn take(
        config: &Config,
        precision: InferencePrecision,
        weights: &mut Weights,
    ) -> Result<Self, CheckpointError> {
        let (width, epsilon) = (config.width, config.norm_epsilon);
        let mut table =
            |name: &str, n: usize| weights.take(&format!("embeddings.{name}.weight"), &[n, width]);
        Ok(Self {
            tokens: table("word_embeddings", config.n_vocab)?,
            positions: table("position_embeddings", config.n_positions)?,
            types: table("token_type_embeddings", config.n_types)?,
            norm: LayerNorm::take(weights, "embeddings.LayerNorm", width, epsilon)?,
            layers: match precision {
                InferencePrecision::Single => {
                    let layers = (0..config.n_layers)
                        .map(|at| Layer::take(config, weights, &format!("encoder.layer.{at}")));
                    Layers::Single(layers.collect::<Result<_, _>>()?)
                }
                InferencePrecision::Int8 => Layers::Int8(Int8Layers::take(config, weights)?),
            },
            config: config.clone(),
        })
    }

    /// Returns the states of all tokens, `[n_tokens, width]`.
    pub(super) fn states(&self, batch: &Batch<'_>) -> TensorResult<Tensor> {
        let first_position = match self.config.family {
            Family::Bert | Family::Qwen3 => 0,
            Family::Roberta => self.config.pad_token + 1,
        };
        let n_types = u32::try_from(self.config.n_types).unwrap_or(u32::MAX);
        let types = batch.types().into_iter().map(|kind| kind.min(n_types - 1)).collect();
        let mut states = look_up(&self.tokens, batch.tokens())?;
        states = (states + look_up(&self.types, types)?)?;
        states = (states + look_up(&self.positions, batch.positions(first_position))?)?;
        states = self.norm.of(states)?;
        let layers = match &self.layers {
            Layers::Single(layers) => layers,
            Layers::Int8(layers) => return layers.of(&states, batch),
        };
        let rectangle = if states.track_op() {
            Some(Rectangle::of(batch, Seen::All, states.device())?)
        } else {
            None
        };
        for layer in layers {
            states = layer.of(&states, batch, rectangle.as_ref(), &self.config)?;
        }
        Ok(states)
    }
}

impl Layer {
    fn take(config: &Config, weights: &mut Weights, at: &str) -> Result<Self, CheckpointError> {
        let (width, inner, epsilon) = (config.width, config.inner_width, config.norm_epsilon);
        let [query, key, value] =
            ["query", "key", "value"].map(|name| format!("{at}.attention.self.{name}"));
        let parts = [(query.as_str(), width), (key.as_str(), width), (value.as_str(), width)];
        let name = |rest: &str| format!("{at}.{rest}");
        let norm = |weights: &mut Weights, rest: &str| {
            LayerNorm::take(weights, &name(rest), width, epsilon)
        };
        Ok(Self {
            attention: Linear::take_stacked(weights, &parts, width)?,
            attention_out: Linear::take(weights, &name("attention.output.dense"), [width, width])?,
            attention_norm: norm(weights, "attention.output.LayerNorm")?,
            inner: Linear::take(weights, &name("intermediate.dense"), [inner, width])?,
            out: Linear::take(weights, &name("output.dense"), [width, inner])?,
            out_norm: norm(weights, "output.LayerNorm")?,
        })
    }

    fn of(
        &self,
        states: &Tensor,
        batch: &Batch<'_>,
        rectangle: Option<&Rectangle>,
        config: &Config,
    ) -> TensorResult<Tensor> {
        let mixed = self.attention.of(states)?;
        let of_sequence = |rows: std::ops::Range<usize>| {
            attend(&mixed.narrow(0, rows.start, rows.len())?, config)
        };
        let attended = if let Some(rectangle) = rectangle {
            rectangle.attend(&heads(&mixed, config)?)?
        } else {
            let attended = batch.rows().into_par_iter().map(of_sequence);
            Tensor::cat(&attended.collect::<TensorResult<Vec<_>>>()?, 0)?
        };
        let attended = self.attention_out.of(&attended)?;
        let states = self.attention_norm.of((attended + states)?)?;
        let inner = activate(self.inner.of(&states)?, config.activation)?;
        self.out_norm.of((self.out.of(&inner)? + states)?)
    }
}

/// Returns the heads of queries, keys and values, `[n_tokens, 3 * width]`.
fn heads(mixed: &Tensor, config: &Config) -> TensorResult<Heads> {
    let part = |part: usize| {
        let part = mixed.narrow(1, part * config.width, config.width)?.contiguous()?;
        part.reshape((mixed.dim(0)?, config.n_heads, config.head_width))
    };
    Ok(Heads { queries: part(0)?, keys: part(1)?, values: part(2)? })
}

/// Returns what each token of a sequence takes from all of it, `[n_tokens, width]`, from its
/// queries, keys and values, `[n_tokens, 3 * width]`.
fn attend(mixed: &Tensor, config: &Config) -> TensorResult<Tensor> {
    let n_tokens = mixed.dim(0)?;
    let heads = |part: usize| -> TensorResult<Tensor> {
        let part = mixed.narrow(1, part * config.width, config.width)?;
        part.reshape((n_tokens, config.n_heads, config.head_width))?.transpose(0, 1)?.contiguous()
    };
    let scale = 1.0 / (config.head_width as f64).sqrt();
    let queries = (heads(0)? * scale)?;
    let shares = softmax(queries.matmul(&heads(1)?.t()?)?)?;
    shares.matmul(&heads(2)?)?.transpose(0, 1)?.reshape((n_tokens, config.width))
}
