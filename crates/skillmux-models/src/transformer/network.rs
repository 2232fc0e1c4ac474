//! [`Network`]: what a transformer makes of tokens.

use rten_simd::SimdUnaryOp;
use rten_vecmath::ApproxGelu;

use super::{TransformerParts, damaged, matrix::Matrix, tokens::Tokens, weights::Tensors};
use crate::{
    error::Result,
    int8::{Layer, Linear, Norm, Workspace, at_once},
};

#[cfg(feature = "embedded")]
use crate::int8::{Adapter, LayerAdapter};

/// Width of a head of attention in models of this class.
const HEAD_WIDTH: usize = 32;

/// Added to the variance, as BERT has it.
const EPSILON: f32 = 1e-12;

/// A text of which a larger share of tokens is unknown says nothing to the model: most of it is in
/// a writing that the vocabulary lacks.
const MAX_UNKNOWN_SHARE: f32 = 0.25;

/// Word and position vectors, and the layers over them.
pub(super) struct Network {
    pub(super) tokens: Tokens,
    words: Matrix,
    /// Position vectors, `[n_positions, dim]`.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

impl Network {
    /// Reads the network of these parts.
    pub(super) fn of(parts: &TransformerParts<'_>) -> Result<Self> {
        Self::read(parts.vocabulary, &Tensors::read(parts.tensors)?)
    }

    /// Reads a network with as many layers as there are tensors for.
    pub(super) fn read(vocabulary: &str, tensors: &Tensors) -> Result<Self> {
        let tokens = Tokens::new(vocabulary)?;
        let words = tensors.matrix("embeddings.word_embeddings.weight")?;
        let dim = words.n_in;
        if words.n_out != tokens.n_known() {
            return Err(damaged("has not as many word vectors as tokens"));
        }
        let positions = tensors.numbers("embeddings.position_embeddings.weight")?;
        if dim == 0 || !positions.len().is_multiple_of(dim) || positions.is_empty() {
            return Err(damaged("has position vectors of another length"));
        }
        // What opens a text and what closes it.
        if positions.len() < 2 * dim {
            return Err(damaged("has no place for a text"));
        }
        let norm = norm(tensors, "embeddings.LayerNorm", dim)?;
        let mut n_layers = 0;
        while tensors.has_layer(n_layers) {
            n_layers += 1;
        }
        // To order the numbers of a layer for products takes some milliseconds.
        let layers = at_once((0..n_layers).map(|at| move || layer(tensors, at, dim)));
        let layers = layers.into_iter().collect::<Result<Vec<Layer>>>()?;
        if layers.is_empty() {
            return Err(damaged("has no layers"));
        }
        Ok(Self { tokens, words, positions, norm, layers })
    }

    /// Returns the width of a state.
    pub(super) fn dim(&self) -> usize {
        self.words.n_in
    }

    /// Returns the number of layers.
    #[cfg(test)]
    pub(super) fn n_layers(&self) -> usize {
        self.layers.len()
    }

    /// Returns how many tokens it reads at most.
    pub(super) fn max_tokens(&self) -> usize {
        self.positions.len() / self.dim()
    }

    /// Returns whether the tokens of a text say something to the network.
    pub(super) fn can_read(&self, inside: &[u32]) -> bool {
        let n_unknown = inside.iter().filter(|id| **id == self.tokens.unknown()).count();
        !inside.is_empty() && n_unknown as f32 <= MAX_UNKNOWN_SHARE * inside.len() as f32
    }

    /// Returns the last states of the tokens, `[n_tokens, dim]`; at most
    /// [`max_tokens`](Self::max_tokens).
    pub(super) fn states(&self, ids: &[u32], workspace: &mut Workspace) -> Vec<f32> {
        let mut states = self.first_states(ids);
        self.norm.apply(&mut states);
        for layer in &self.layers {
            layer.apply(None, &mut states, workspace);
        }
        states
    }

    /// As [`states`](Self::states), for two texts and with an adapter.
    #[cfg(feature = "embedded")]
    pub(super) fn adapted_states(
        &self,
        ids: &[u32],
        second: &Second<'_>,
        adapter: &[LayerAdapter],
        workspace: &mut Workspace,
    ) -> Vec<f32> {
        let mut states = self.first_states(ids);
        for state in states.chunks_exact_mut(self.dim()).skip(second.start) {
            for (x, added) in state.iter_mut().zip(second.added) {
                *x += added;
            }
        }
        self.norm.apply(&mut states);
        for (layer, adapter) in self.layers.iter().zip(adapter) {
            layer.apply(Some(adapter), &mut states, workspace);
        }
        states
    }

    /// Returns the sums of word and position vectors.
    fn first_states(&self, ids: &[u32]) -> Vec<f32> {
        let mut states = Vec::with_capacity(ids.len() * self.dim());
        for (id, position) in ids.iter().zip(self.positions.chunks_exact(self.dim())) {
            states.extend(self.words.row(*id as usize).zip(position).map(|(word, at)| word + at));
        }
        states
    }

    /// Reads an adapter of all layers.
    #[cfg(feature = "embedded")]
    pub(super) fn adapter(&self, tensors: &Tensors) -> Result<Vec<LayerAdapter>> {
        let of_layer = |(at, layer): (usize, &Layer)| {
            let name = |part: &str| format!("encoder.layer.{at}.{part}");
            let inputs =
                ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
            let (dim, n_inner) = (self.dim(), layer.inner.n_out());
            Ok(LayerAdapter {
                inputs: adapter(tensors, &inputs, dim, dim)?,
                attention: adapter(tensors, &[name("attention.output.dense")], dim, dim)?,
                inner: adapter(tensors, &[name("intermediate.dense")], dim, n_inner)?,
                outer: adapter(tensors, &[name("output.dense")], n_inner, dim)?,
            })
        };
        self.layers.iter().enumerate().map(of_layer).collect()
    }

    /// Returns the mean of states with length 1.
    pub(super) fn direction(&self, states: &[f32]) -> Vec<f32> {
        let mut mean = vec![0.0; self.dim()];
        for state in states.chunks_exact(self.dim()) {
            for (sum, x) in mean.iter_mut().zip(state) {
                *sum += x;
            }
        }
        normalise(&mut mean);
        mean
    }
}

/// The second of two texts that are read together.
#[cfg(feature = "embedded")]
pub(super) struct Second<'s> {
    /// Place of its first token.
    pub(super) start: usize,
    /// What is added to the states of its tokens before the first layer.
    pub(super) added: &'s [f32],
}

/// Gives a vector length 1, unless it has none.
pub(super) fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        for x in vector {
            *x /= length;
        }
    }
}

/// Reads the layer of this number.
fn layer(tensors: &Tensors, at: usize, dim: usize) -> Result<Layer> {
    if !dim.is_multiple_of(HEAD_WIDTH) {
        return Err(damaged("has heads of another width"));
    }
    let name = |part: &str| format!("encoder.layer.{at}.{part}");
    let inputs = ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
    let inner = linear(tensors, &[name("intermediate.dense")], dim)?;
    let layer = Layer {
        head_width: HEAD_WIDTH,
        inputs: linear(tensors, &inputs, dim)?,
        attention: linear(tensors, &[name("attention.output.dense")], dim)?,
        attention_norm: norm(tensors, &name("attention.output.LayerNorm"), dim)?,
        outer: linear(tensors, &[name("output.dense")], inner.n_out())?,
        inner,
        activate: |row| ApproxGelu {}.map_mut(row),
        outer_norm: norm(tensors, &name("output.LayerNorm"), dim)?,
    };
    let widths = [&layer.attention, &layer.outer].map(Linear::n_out);
    if widths != [dim, dim] || layer.inputs.n_out() != 3 * dim {
        return Err(damaged("has matrices of another width"));
    }
    Ok(layer)
}

/// Reads the norm of rows of this width.
fn norm(tensors: &Tensors, name: &str, dim: usize) -> Result<Norm> {
    let part = |part: &str| tensors.vector(&format!("{name}.{part}"), dim);
    Ok(Norm { scale: part("weight")?, shift: part("bias")?, epsilon: EPSILON })
}

/// Reads matrices of one input, whose outputs follow one another.
fn linear(tensors: &Tensors, names: &[String], n_in: usize) -> Result<Linear> {
    let (mut steps, mut scales, mut biases) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        let matrix = tensors.matrix(&format!("{name}.weight"))?;
        biases.extend(tensors.vector(&format!("{name}.bias"), matrix.n_out)?);
        if matrix.n_in != n_in {
            return Err(damaged(format!("has a matrix `{name}` of another width")));
        }
        steps.extend(matrix.steps());
        scales.extend(matrix.scales);
    }
    if steps.is_empty() {
        return Err(damaged(format!("has no numbers in the matrix `{}`", names.join("`, `"))));
    }
    Ok(Linear::new(n_in, &steps, &scales, biases))
}

/// Reads the adapters of matrices of one input, whose outputs follow one another.
#[cfg(feature = "embedded")]
fn adapter(tensors: &Tensors, names: &[String], n_in: usize, n_out: usize) -> Result<Adapter> {
    let parts = names.iter().map(|name| {
        let [down, up] = [".down", ".up"].map(|end| tensors.matrix(&format!("{name}{end}")));
        let (down, up) = (down?, up?);
        let is_sound = down.n_in == n_in && up.n_out == n_out && up.n_in == down.n_out;
        if is_sound { Ok((down, up)) } else { Err(damaged("has an adapter of another width")) }
    });
    let parts = parts.collect::<Result<Vec<(Matrix, Matrix)>>>()?;
    let rank: usize = parts.iter().map(|(down, _)| down.n_out).sum();
    if rank == 0 {
        return Err(damaged("has an adapter without numbers"));
    }
    let all_out = n_out * parts.len();
    let (mut downs, mut ups) = (vec![0.0; n_in * rank], vec![0.0; rank * all_out]);
    let mut first = 0;
    for (part, (down, up)) in parts.iter().enumerate() {
        for low in 0..down.n_out {
            for (at, number) in down.row(low).enumerate() {
                downs[at * rank + first + low] = number;
            }
        }
        for out in 0..n_out {
            for (low, number) in up.row(out).enumerate() {
                ups[(first + low) * all_out + part * n_out + out] = number;
            }
        }
        first += down.n_out;
    }
    Ok(Adapter::new(rank, downs, ups))
}
