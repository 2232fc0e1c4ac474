//! [`Layer`]: attention and feed-forward part.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_simd::{SimdOp, SimdUnaryOp};
use rten_tensor::NdTensorView;
use rten_vecmath::{ApproxGelu, Normalize, NormalizeOptions, Softmax, Sum, SumSquareSub};

use super::{damaged, linear::Linear, weights::Tensors};
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

    /// Returns the states after the layer, `[n_tokens, dim]`.
    pub(super) fn apply(&self, states: &[f32], n_tokens: usize) -> Vec<f32> {
        let mixed = self.mix(states, n_tokens);
        let mut middle = self.attention.apply(&mixed, n_tokens);
        add(&mut middle, states);
        self.attention_norm.apply(&mut middle);

        let mut inner = self.inner.apply(&middle, n_tokens);
        ApproxGelu {}.map_mut(&mut inner);
        let mut out = self.outer.apply(&inner, n_tokens);
        add(&mut out, &middle);
        self.outer_norm.apply(&mut out);
        out
    }

    /// Returns what each token takes from all, head by head.
    fn mix(&self, states: &[f32], n_tokens: usize) -> Vec<f32> {
        let inputs = self.inputs.apply(states, n_tokens);
        let view = |start: usize| {
            NdTensorView::from_slice_with_strides(
                [n_tokens, HEAD_WIDTH],
                &inputs[start..],
                [3 * self.dim, 1],
            )
            .expect("each row has three times the width")
        };
        let executor = GemmExecutor::<f32>::new();
        let scale = (HEAD_WIDTH as f32).sqrt().recip();
        let mut mixed = vec![0.0; n_tokens * self.dim];
        let mut shares = vec![0.0; n_tokens * n_tokens];
        let mut of_head = vec![0.0; n_tokens * HEAD_WIDTH];
        for head in (0..self.dim).step_by(HEAD_WIDTH) {
            let (query, key, value) =
                (view(head), view(self.dim + head), view(2 * self.dim + head));
            let options = GemmOptions { alpha: scale, ..GemmOptions::default() };
            let key = GemmInputB::Unpacked(key.transposed());
            executor
                .gemm(&mut shares, GemmInputA::Unpacked(query), key, options)
                .expect("the shapes match");
            for row in shares.chunks_exact_mut(n_tokens) {
                Softmax::new_mut(row).dispatch();
            }
            let rows = NdTensorView::from_data([n_tokens, n_tokens], &shares[..]);
            let value = GemmInputB::Unpacked(value);
            executor
                .gemm(&mut of_head, GemmInputA::Unpacked(rows), value, GemmOptions::default())
                .expect("the shapes match");
            let rows = mixed.chunks_exact_mut(self.dim).zip(of_head.chunks_exact(HEAD_WIDTH));
            for (mixed, of_head) in rows {
                mixed[head..head + HEAD_WIDTH].copy_from_slice(of_head);
            }
        }
        mixed
    }
}

fn add(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}
