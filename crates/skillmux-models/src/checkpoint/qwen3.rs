//! [`Qwen3`]: the network of Qwen3, in which a token attends to those before it.

use candle_core::{D, Result as TensorResult, Tensor};
use candle_nn::{
    ops::silu,
    rotary_emb::{rope_slow, rope_thd},
};
use rayon::prelude::*;

use super::{
    CheckpointError, InferencePrecision,
    batch::Batch,
    config::Config,
    layer::{Linear, RmsNorm, Table, last_states, look_up, softmax},
    rectangle::{Heads, Rectangle, Seen, not_later},
    tokens::Sequence,
    weights::Weights,
};

/// Tokens whose attention is computed at once: a share for each of them and each token before it is
/// in memory.
const N_ROWS: usize = 256;

pub(super) struct Qwen3 {
    config: Config,
    tokens: Table,
    /// `[n_positions, head_width / 2]`.
    cosines: Tensor,
    sines: Tensor,
    layers: Vec<Layer>,
    norm: RmsNorm,
}

struct Layer {
    input_norm: RmsNorm,
    /// Queries, keys and values, one after the other.
    attention: Linear,
    query_norm: RmsNorm,
    key_norm: RmsNorm,
    attention_out: Linear,
    inner_norm: RmsNorm,
    /// Gate and value, one after the other.
    inner: Linear,
    out: Linear,
}

/// Keys and values of the tokens that all sequences begin with, each `[n_tokens, n_key_heads,
/// head_width]`.
struct Past {
    keys: Tensor,
    values: Tensor,
}

/// What a layer reads beside the states.
struct Reading<'r> {
    batch: &'r Batch<'r>,
    past: Option<&'r Past>,
    /// `[n_tokens, head_width / 2]`.
    cosines: &'r Tensor,
    sines: &'r Tensor,
    /// The batch side by side, where there is a gradient.
    rectangle: Option<&'r Rectangle>,
}

impl Reading<'_> {
    /// Turns heads, `[n_tokens, n_heads, head_width]`, by the positions of their tokens.
    fn turned(&self, heads: &Tensor) -> TensorResult<Tensor> {
        if heads.track_op() {
            let by_head = heads.transpose(0, 1)?.unsqueeze(0)?;
            let turned = rope_slow(&by_head, self.cosines, self.sines)?;
            return turned.squeeze(0)?.transpose(0, 1)?.contiguous();
        }
        rope_thd(&heads.unsqueeze(0)?, self.cosines, self.sines)?.squeeze(0)
    }
}

impl Qwen3 {
    /// Takes the network out; it will read at most so many tokens.
    pub(super) fn take(
        config: &Config,
        max_tokens: usize,
        precision: InferencePrecision,
        weights: &mut Weights,
    ) -> Result<Self, CheckpointError> {
        let width = config.width;
        let (cosines, sines) = rotations(config, max_tokens);
        let table = |angles: Vec<f32>| {
            Tensor::from_vec(angles, (max_tokens, config.head_width / 2), weights.device())
                .map_err(|source| weights.network(source))
        };
        let (cosines, sines) = (table(cosines)?, table(sines)?);
        Ok(Self {
            config: config.clone(),
            cosines,
            sines,
            tokens: Table::take(weights, "embed_tokens.weight", &[config.n_vocab, width])?,
            layers: (0..config.n_layers)
                .map(|at| Layer::take(config, precision, weights, &format!("layers.{at}")))
                .collect::<Result<_, _>>()?,
            norm: RmsNorm::take(weights, "norm", width, config.norm_epsilon)?,
        })
    }

    /// Returns the vectors of the tokens of the vocabulary, `[n_vocab, width]`.
    pub(super) fn token_table(&self) -> &Table {
        &self.tokens
    }

    /// Returns the state of the last token of each sequence, `[n_sequences, width]`. What all
    /// sequences begin with, `n_shared` tokens, is read once.
    pub(super) fn last_states(
        &self,
        sequences: &[Sequence],
        n_shared: usize,
    ) -> TensorResult<Tensor> {
        let past = match sequences.first() {
            Some(first) if n_shared > 0 => Some(self.past(&first.tokens[..n_shared])?),
            _ => None,
        };
        let of_batch = |batch: Batch<'_>| {
            let (states, _) = self.states(&batch, past.as_deref())?;
            last_states(&states, &batch)
        };
        let states =
            Batch::split(sequences, n_shared).map(of_batch).collect::<TensorResult<Vec<_>>>()?;
        self.norm.of(&Tensor::cat(&states, 0)?)
    }

    /// Returns the keys and values of the tokens that sequences begin with, by layer.
    fn past(&self, tokens: &[u32]) -> TensorResult<Vec<Past>> {
        let sequence = Sequence { tokens: tokens.to_vec(), types: vec![0; tokens.len()] };
        let batch = Batch { sequences: &[sequence], n_skipped: 0 };
        Ok(self.states(&batch, None)?.1)
    }

    /// Returns the states of the last layer, before the last norm, and the keys and values of all
    /// layers.
    fn states(
        &self,
        batch: &Batch<'_>,
        past: Option<&[Past]>,
    ) -> TensorResult<(Tensor, Vec<Past>)> {
        let positions = batch.positions(0);
        let cosines = look_up(&self.cosines, positions.clone())?;
        let sines = look_up(&self.sines, positions)?;
        let mut states = self.tokens.rows(batch.tokens())?;
        let rectangle = match past {
            None if states.track_op() => {
                Some(Rectangle::of(batch, Seen::Earlier, states.device())?)
            }
            _ => None,
        };
        let mut all_keys = Vec::with_capacity(self.layers.len());
        for (at, layer) in self.layers.iter().enumerate() {
            let past = past.map(|past| &past[at]);
            let reading = Reading {
                batch,
                past,
                cosines: &cosines,
                sines: &sines,
                rectangle: rectangle.as_ref(),
            };
            let (next, keys) = layer.of(&states, &reading, &self.config)?;
            states = next;
            all_keys.push(keys);
        }
        Ok((states, all_keys))
    }
}

impl Layer {
    fn take(
        config: &Config,
        precision: InferencePrecision,
        weights: &mut Weights,
        at: &str,
    ) -> Result<Self, CheckpointError> {
        let Config { width, inner_width: inner, head_width, norm_epsilon: epsilon, .. } = *config;
        let (n_query, n_key) = (config.n_heads * head_width, config.n_key_heads * head_width);
        let name = |rest: &str| format!("{at}.{rest}");
        let mut matrix = |parts: &[(&str, usize)], n_in: usize| {
            let named: Vec<(String, usize)> =
                parts.iter().map(|(rest, n_out)| (name(rest), *n_out)).collect();
            let named: Vec<(&str, usize)> =
                named.iter().map(|(name, n_out)| (name.as_str(), *n_out)).collect();
            match precision {
                InferencePrecision::Single => Linear::take_bare(weights, &named, n_in),
                InferencePrecision::Int8 => Linear::take_int8(weights, &named, n_in),
            }
        };
        let attention = [
            ("self_attn.q_proj", n_query),
            ("self_attn.k_proj", n_key),
            ("self_attn.v_proj", n_key),
        ];
        let (attention, attention_out, inner, out) = (
            matrix(&attention, width)?,
            matrix(&[("self_attn.o_proj", width)], n_query)?,
            matrix(&[("mlp.gate_proj", inner), ("mlp.up_proj", inner)], width)?,
            matrix(&[("mlp.down_proj", width)], inner)?,
        );
        let mut norm = |rest: &str, width| RmsNorm::take(weights, &name(rest), width, epsilon);
        Ok(Self {
            input_norm: norm("input_layernorm", width)?,
            attention,
            query_norm: norm("self_attn.q_norm", head_width)?,
            key_norm: norm("self_attn.k_norm", head_width)?,
            attention_out,
            inner_norm: norm("post_attention_layernorm", width)?,
            inner,
            out,
        })
    }

    /// Returns the next states, and the keys and values of these tokens.
    fn of(
        &self,
        states: &Tensor,
        reading: &Reading<'_>,
        config: &Config,
    ) -> TensorResult<(Tensor, Past)> {
        let Reading { batch, past, .. } = *reading;
        let Config { n_heads, n_key_heads, head_width, inner_width, .. } = *config;
        let n_tokens = states.dim(0)?;
        let mixed = self.attention.of(&self.input_norm.of(states)?)?;
        let heads = |from: usize, n: usize| {
            let part = mixed.narrow(1, from * head_width, n * head_width)?;
            part.reshape((n_tokens, n, head_width))?.contiguous()
        };
        let turned = |heads: Tensor, norm: &RmsNorm| reading.turned(&norm.of(&heads)?);
        let queries = turned(heads(0, n_heads)?, &self.query_norm)?;
        let here = Past {
            keys: turned(heads(n_heads, n_key_heads)?, &self.key_norm)?,
            values: heads(n_heads + n_key_heads, n_key_heads)?,
        };
        let of_sequence = |rows: std::ops::Range<usize>| {
            let of_rows = |all: &Tensor| all.narrow(0, rows.start, rows.len());
            let with_past = |past: Option<&Tensor>, here: &Tensor| match past {
                Some(past) => Tensor::cat(&[past, &of_rows(here)?], 0),
                None => of_rows(here),
            };
            let keys = with_past(past.map(|past| &past.keys), &here.keys)?;
            let values = with_past(past.map(|past| &past.values), &here.values)?;
            attend(&of_rows(&queries)?, &keys, &values)
        };
        let attended = if let Some(rectangle) = reading.rectangle {
            let (keys, values) = (here.keys.clone(), here.values.clone());
            rectangle.attend(&Heads { queries, keys, values })?
        } else {
            let attended = batch.rows().into_par_iter().map(of_sequence);
            Tensor::cat(&attended.collect::<TensorResult<Vec<_>>>()?, 0)?
        };
        let attended = self.attention_out.of(&attended)?;
        let states = (attended + states)?;
        let inner = self.inner.of(&self.inner_norm.of(&states)?)?;
        let gate = silu(&inner.narrow(1, 0, inner_width)?.contiguous()?)?;
        let inner = (gate * inner.narrow(1, inner_width, inner_width)?)?;
        Ok(((self.out.of(&inner)? + states)?, here))
    }
}

/// Returns what each token takes from those before it, `[n_tokens, width]`, from queries,
/// `[n_tokens, n_heads, head_width]`, and from the keys and values of the tokens up to the last of
/// these.
fn attend(queries: &Tensor, keys: &Tensor, values: &Tensor) -> TensorResult<Tensor> {
    let (n_tokens, n_heads, head_width) = queries.dims3()?;
    let (n_keys, n_key_heads, _) = keys.dims3()?;
    let (n_before, n_group) = (n_keys - n_tokens, n_heads / n_key_heads);
    let keys = keys.transpose(0, 1)?.contiguous()?;
    let values = values.transpose(0, 1)?.contiguous()?;
    let scale = 1.0 / (head_width as f64).sqrt();
    let mut attended = Vec::new();
    for start in (0..n_tokens).step_by(N_ROWS) {
        let n_rows = N_ROWS.min(n_tokens - start);
        let n_seen = n_before + start + n_rows;
        // The queries of one key head, one after the other: [n_key_heads, n_group * n_rows,
        // head_width].
        let queries = queries
            .narrow(0, start, n_rows)?
            .reshape((n_rows, n_key_heads, n_group, head_width))?
            .permute((1, 2, 0, 3))?
            .reshape((n_key_heads, n_group * n_rows, head_width))?;
        let logits = (queries * scale)?.matmul(&keys.narrow(1, 0, n_seen)?.t()?)?;
        let logits = logits
            .reshape((n_key_heads * n_group, n_rows, n_seen))?
            .broadcast_add(&not_later(n_rows, n_seen, logits.device())?)?;
        let shares = softmax(logits)?.reshape((n_key_heads, n_group * n_rows, n_seen))?;
        let taken = shares
            .matmul(&values.narrow(1, 0, n_seen)?.contiguous()?)?
            .reshape((n_key_heads, n_group, n_rows, head_width))?
            .permute((2, 0, 1, 3))?
            .reshape((n_rows, n_heads * head_width))?;
        attended.push(taken);
    }
    Tensor::cat(&attended, D::Minus2)
}

/// Returns the cosines and sines by which the halves of a head are turned at each position.
fn rotations(config: &Config, n_positions: usize) -> (Vec<f32>, Vec<f32>) {
    let half = config.head_width / 2;
    let angle = |position: usize, at: usize| {
        let frequency = config.rope_theta.powf(-(at as f64) / half as f64);
        position as f64 * frequency
    };
    let angles = (0..n_positions).flat_map(|position| (0..half).map(move |at| (position, at)));
    let turned = angles.map(|(position, at)| {
        let (sine, cosine) = angle(position, at).sin_cos();
        (single(cosine), single(sine))
    });
    turned.unzip()
}

#[expect(clippy::cast_possible_truncation, reason = "weights have this precision, too")]
fn single(number: f64) -> f32 {
    number as f32
}
