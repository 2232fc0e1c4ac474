//! [`Layer`]: attention and feed-forward part.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_simd::SimdOp;
use rten_tensor::NdTensorView;
use rten_vecmath::{Normalize, NormalizeOptions, Softmax, Sum, SumSquareSub};

use super::{
    adapter::{Added, LayerAdapter},
    linear::{Linear, Multiplier},
    steps::Steps,
};

/// Scale and shift of rows that are brought to mean 0 and variance 1.
pub(crate) struct Norm {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
    /// Added to the variance.
    pub(crate) epsilon: f32,
}

impl Norm {
    /// Normalises each row in place.
    pub(crate) fn apply(&self, rows: &mut [f32]) {
        let n = self.scale.len();
        for row in rows.chunks_exact_mut(n) {
            let mean = Sum::new(row).dispatch() / n as f32;
            let variance = SumSquareSub::new(row, mean).dispatch() / n as f32;
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: (variance + self.epsilon).sqrt().recip(),
                element_scale: Some(&self.scale),
                element_bias: Some(&self.shift),
                ..NormalizeOptions::default()
            };
            Normalize::new_mut(row, options).dispatch();
        }
    }
}

/// One layer of a network. Where widths do not match, it panics when it is used.
pub(crate) struct Layer {
    /// Of a head of attention.
    pub(crate) head_width: usize,
    /// Queries, keys and values, `[3 * dim, dim]`.
    pub(crate) inputs: Linear,
    /// `[dim, dim]`.
    pub(crate) attention: Linear,
    pub(crate) attention_norm: Norm,
    /// `[n_inner, dim]`.
    pub(crate) inner: Linear,
    /// Changes what `inner` makes of a token.
    pub(crate) activate: fn(&mut [f32]),
    /// `[dim, n_inner]`.
    pub(crate) outer: Linear,
    pub(crate) outer_norm: Norm,
}

impl Layer {
    /// Makes the states after the layer of those before it, `[n_tokens, dim]`. What an adapter makes
    /// of the same rows is added to what each matrix makes of them.
    pub(crate) fn apply(
        &self,
        adapter: Option<&LayerAdapter>,
        states: &mut [f32],
        workspace: &mut Workspace,
    ) {
        let dim = self.attention.n_out();
        let n_tokens = states.len() / dim;
        let Workspace { multiplier, steps, next_steps, inputs, mixed, attention, added, activated } =
            workspace;
        steps.clear(self.inputs.group());
        states.chunks_exact(dim).for_each(|state| steps.push(state));
        inputs.clear();
        self.inputs.apply(steps, multiplier, |_, row| inputs.extend_from_slice(row));
        if let Some(adapter) = adapter {
            add(inputs, added.of(&adapter.inputs, states));
        }

        mixed.resize(n_tokens * dim, 0.0);
        attention.mix(inputs, dim, self.head_width, mixed);
        steps.clear(self.attention.group());
        mixed.chunks_exact(dim).for_each(|row| steps.push(row));

        let state = |row: usize| row * dim..(row + 1) * dim;
        next_steps.clear(self.inner.group());
        let of_mixed = added.rows(adapter.map(|adapter| &adapter.attention), mixed);
        self.attention.apply(steps, multiplier, |row, taken| {
            let state = &mut states[state(row)];
            add(state, taken);
            of_mixed.add_to(row, state);
            self.attention_norm.apply(state);
            next_steps.push(state);
        });
        steps.clear(self.outer.group());
        activated.clear();
        let of_states = added.rows(adapter.map(|adapter| &adapter.inner), states);
        self.inner.apply(next_steps, multiplier, |row, inner| {
            of_states.add_to(row, inner);
            (self.activate)(inner);
            steps.push(inner);
            if adapter.is_some() {
                activated.extend_from_slice(inner);
            }
        });
        let of_activated = added.rows(adapter.map(|adapter| &adapter.outer), activated);
        self.outer.apply(steps, multiplier, |row, out| {
            let state = &mut states[state(row)];
            add(state, out);
            of_activated.add_to(row, state);
            self.outer_norm.apply(state);
        });
    }
}

/// Memory that layers write to, kept from text to text by a thread.
pub(crate) struct Workspace {
    multiplier: Multiplier,
    steps: Steps,
    next_steps: Steps,
    /// Queries, keys and values, `[n_tokens, 3 * dim]`.
    inputs: Vec<f32>,
    /// What each token takes from all, `[n_tokens, dim]`.
    mixed: Vec<f32>,
    attention: Attention,
    added: Added,
    /// What enters `outer`, where an adapter reads it, `[n_tokens, n_inner]`.
    activated: Vec<f32>,
}

impl Workspace {
    pub(crate) fn new() -> Self {
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
            added: Added::new(),
            activated: Vec::new(),
        }
    }
}

/// What mixes states, and memory for one head.
struct Attention {
    executor: GemmExecutor<f32>,
    /// What a token takes of each, `[n_tokens, n_tokens]`.
    shares: Vec<f32>,
    /// `[n_tokens, head_width]`.
    of_head: Vec<f32>,
}

impl Attention {
    /// Writes what each token takes from all, head by head, `[n_tokens, dim]`.
    fn mix(&mut self, inputs: &[f32], dim: usize, head_width: usize, mixed: &mut [f32]) {
        let n_tokens = mixed.len() / dim;
        let view = |start: usize| {
            NdTensorView::from_slice_with_strides(
                [n_tokens, head_width],
                &inputs[start..],
                [3 * dim, 1],
            )
            .expect("each row has three times the width")
        };
        let scale = (head_width as f32).sqrt().recip();
        let Self { executor, shares, of_head } = self;
        shares.resize(n_tokens * n_tokens, 0.0);
        of_head.resize(n_tokens * head_width, 0.0);
        for head in (0..dim).step_by(head_width) {
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
            let rows = mixed.chunks_exact_mut(dim).zip(of_head.chunks_exact(head_width));
            for (mixed, of_head) in rows {
                mixed[head..head + head_width].copy_from_slice(of_head);
            }
        }
    }
}

fn add(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}
