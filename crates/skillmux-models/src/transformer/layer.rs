//! [`Layer`]: attention and feed-forward part.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_simd::{SimdOp, SimdUnaryOp};
use rten_tensor::NdTensorView;
use rten_vecmath::{ApproxGelu, Normalize, NormalizeOptions, Softmax, Sum, SumSquareSub};

use super::{
    damaged,
    linear::{Linear, Multiplier},
    steps::Steps,
    weights::Tensors,
};
use crate::error::Result;

/// Width of a head of attention in models of this class.
const HEAD_WIDTH: usize = 32;

/// Added to the variance, as BERT has it.
const EPSILON: f32 = 1e-12;

/// Scale and shift of rows that are brought to mean 0 and variance 1.
pub(super) struct Norm {
    scale: Vec<f32>,
    bias: Vec<f32>,
}

impl Norm {
    /// Reads the norm of rows of this width.
    pub(super) fn read(tensors: &Tensors, name: &str, dim: usize) -> Result<Self> {
        let part = |part: &str| tensors.vector(&format!("{name}.{part}"), dim);
        Ok(Self { scale: part("weight")?, bias: part("bias")? })
    }

    /// Normalises each row in place.
    pub(super) fn apply(&self, rows: &mut [f32]) {
        let n = self.scale.len();
        for row in rows.chunks_exact_mut(n) {
            let mean = Sum::new(row).dispatch() / n as f32;
            let variance = SumSquareSub::new(row, mean).dispatch() / n as f32;
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: (variance + EPSILON).sqrt().recip(),
                element_scale: Some(&self.scale),
                element_bias: Some(&self.bias),
                ..NormalizeOptions::default()
            };
            Normalize::new_mut(row, options).dispatch();
        }
    }
}

/// One layer of the network.
pub(super) struct Layer {
    dim: usize,
    /// Queries, keys and values.
    inputs: Linear,
    attention: Linear,
    attention_norm: Norm,
    inner: Linear,
    outer: Linear,
    outer_norm: Norm,
}

impl Layer {
    /// Reads the layer of this number.
    pub(super) fn read(tensors: &Tensors, layer: usize, dim: usize) -> Result<Self> {
        if !dim.is_multiple_of(HEAD_WIDTH) {
            return Err(damaged("has heads of another width"));
        }
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let inputs = ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
        let inner = Linear::read(tensors, &[name("intermediate.dense")], dim)?;
        let layer = Self {
            dim,
            inputs: Linear::read(tensors, &inputs, dim)?,
            attention: Linear::read(tensors, &[name("attention.output.dense")], dim)?,
            attention_norm: Norm::read(tensors, &name("attention.output.LayerNorm"), dim)?,
            outer: Linear::read(tensors, &[name("output.dense")], inner.n_out())?,
            inner,
            outer_norm: Norm::read(tensors, &name("output.LayerNorm"), dim)?,
        };
        let widths = [&layer.attention, &layer.outer].map(Linear::n_out);
        if widths != [dim, dim] || layer.inputs.n_out() != 3 * dim {
            return Err(damaged("has matrices of another width"));
        }
        Ok(layer)
    }

    /// Makes the states after the layer of those before it, `[n_tokens, dim]`.
    pub(super) fn apply(&self, states: &mut [f32], workspace: &mut Workspace) {
        let n_tokens = states.len() / self.dim;
        let Workspace { multiplier, steps, next_steps, inputs, mixed, attention } = workspace;
        steps.clear();
        states.chunks_exact(self.dim).for_each(|state| steps.push(state));
        inputs.clear();
        self.inputs.apply(steps, multiplier, |_, row| inputs.extend_from_slice(row));

        mixed.resize(n_tokens * self.dim, 0.0);
        attention.mix(inputs, self.dim, mixed);
        steps.clear();
        mixed.chunks_exact(self.dim).for_each(|row| steps.push(row));

        let state = |row: usize| row * self.dim..(row + 1) * self.dim;
        next_steps.clear();
        self.attention.apply(steps, multiplier, |row, taken| {
            let state = &mut states[state(row)];
            add(state, taken);
            self.attention_norm.apply(state);
            next_steps.push(state);
        });
        steps.clear();
        self.inner.apply(next_steps, multiplier, |_, row| {
            ApproxGelu {}.map_mut(row);
            steps.push(row);
        });
        self.outer.apply(steps, multiplier, |row, out| {
            let state = &mut states[state(row)];
            add(state, out);
            self.outer_norm.apply(state);
        });
    }
}

/// Memory that layers write to, kept from text to text by a thread.
pub(super) struct Workspace {
    multiplier: Multiplier,
    steps: Steps,
    next_steps: Steps,
    /// Queries, keys and values, `[n_tokens, 3 * dim]`.
    inputs: Vec<f32>,
    /// What each token takes from all, `[n_tokens, dim]`.
    mixed: Vec<f32>,
    attention: Attention,
}

impl Workspace {
    pub(super) fn new() -> Self {
        let multiplier = Multiplier::new();
        let [steps, next_steps] = [(); 2].map(|()| Steps::new(multiplier.max_step()));
        Self {
            multiplier,
            steps,
            next_steps,
            inputs: Vec::new(),
            mixed: Vec::new(),
            attention: Attention {
                executor: GemmExecutor::new(),
                shares: Vec::new(),
                of_head: Vec::new(),
            },
        }
    }
}

/// What mixes states, and memory for one head.
struct Attention {
    executor: GemmExecutor<f32>,
    /// What a token takes of each, `[n_tokens, n_tokens]`.
    shares: Vec<f32>,
    /// `[n_tokens, HEAD_WIDTH]`.
    of_head: Vec<f32>,
}

impl Attention {
    /// Writes what each token takes from all, head by head, `[n_tokens, dim]`.
    fn mix(&mut self, inputs: &[f32], dim: usize, mixed: &mut [f32]) {
        let n_tokens = mixed.len() / dim;
        let view = |start: usize| {
            NdTensorView::from_slice_with_strides(
                [n_tokens, HEAD_WIDTH],
                &inputs[start..],
                [3 * dim, 1],
            )
            .expect("each row has three times the width")
        };
        let scale = (HEAD_WIDTH as f32).sqrt().recip();
        let Self { executor, shares, of_head } = self;
        shares.resize(n_tokens * n_tokens, 0.0);
        of_head.resize(n_tokens * HEAD_WIDTH, 0.0);
        for head in (0..dim).step_by(HEAD_WIDTH) {
            let (query, key, value) = (view(head), view(dim + head), view(2 * dim + head));
            let options = GemmOptions { alpha: scale, ..GemmOptions::default() };
            let key = GemmInputB::Unpacked(key.transposed());
            executor
                .gemm(shares, GemmInputA::Unpacked(query), key, options)
                .expect("the shapes match");
            for row in shares.chunks_exact_mut(n_tokens) {
                Softmax::new_mut(row).dispatch();
            }
            let rows = NdTensorView::from_data([n_tokens, n_tokens], &shares[..]);
            let value = GemmInputB::Unpacked(value);
            executor
                .gemm(of_head, GemmInputA::Unpacked(rows), value, GemmOptions::default())
                .expect("the shapes match");
            let rows = mixed.chunks_exact_mut(dim).zip(of_head.chunks_exact(HEAD_WIDTH));
            for (mixed, of_head) in rows {
                mixed[head..head + HEAD_WIDTH].copy_from_slice(of_head);
            }
        }
    }
}

fn add(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}
