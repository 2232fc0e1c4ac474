//! Layers of BERT in signed bytes ([`InferencePrecision::Int8`](super::InferencePrecision::Int8)).

use candle_core::{Result as TensorResult, Tensor};

use super::{
    CheckpointError,
    batch::Batch,
    config::Config,
    layer::{in_place, single},
    weights::Weights,
};
use crate::int8::{Layer, Linear, Norm, on_all_threads};

/// The layers of a network.
pub(super) struct Int8Layers {
    width: usize,
    layers: Vec<Layer>,
}

impl Int8Layers {
    /// Takes the layers out, and rounds their weights.
    pub(super) fn take(config: &Config, weights: &mut Weights) -> Result<Self, CheckpointError> {
        let layers = (0..config.n_layers).map(|at| layer(config, weights, at));
        Ok(Self { width: config.width, layers: layers.collect::<Result<_, _>>()? })
    }

    /// Returns the states after the layers of those before them, `[n_tokens, width]`.
    pub(super) fn of(&self, states: &Tensor, batch: &Batch<'_>) -> TensorResult<Tensor> {
        let numbers = states.flatten_all()?.to_vec1::<f32>()?;
        let rows = batch.rows().into_iter();
        let of_sequence =
            |rows: std::ops::Range<usize>| &numbers[rows.start * self.width..rows.end * self.width];
        let texts: Vec<&[f32]> = rows.map(of_sequence).collect();
        let after = on_all_threads(&texts, |text, workspace| {
            let mut states = text.to_vec();
            self.layers.iter().for_each(|layer| layer.apply(None, &mut states, workspace));
            states
        });
        Tensor::from_vec(after.concat(), states.shape(), states.device())
    }
}

fn layer(config: &Config, weights: &mut Weights, at: usize) -> Result<Layer, CheckpointError> {
    let (width, inner) = (config.width, config.inner_width);
    let name = |part: &str| format!("encoder.layer.{at}.{part}");
    let inputs = ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
    let attention_norm = name("attention.output.LayerNorm");
    Ok(Layer {
        head_width: config.head_width,
        inputs: linear(weights, &inputs, [width, width])?,
        attention: linear(weights, &[name("attention.output.dense")], [width, width])?,
        attention_norm: norm(config, weights, &attention_norm)?,
        inner: linear(weights, &[name("intermediate.dense")], [inner, width])?,
        activate: in_place(config.activation),
        outer: linear(weights, &[name("output.dense")], [width, inner])?,
        outer_norm: norm(config, weights, &name("output.LayerNorm"))?,
    })
}

/// Takes matrices of `[n_out, n_in]` out that read the same input, as one of bytes.
fn linear(
    weights: &mut Weights,
    names: &[String],
    [n_out, n_in]: [usize; 2],
) -> Result<Linear, CheckpointError> {
    let part = |kind: &str, shape: Vec<usize>| -> Vec<_> {
        names.iter().map(|name| (format!("{name}.{kind}"), shape.clone())).collect()
    };
    let matrix = numbers(weights, &part("weight", vec![n_out, n_in]))?;
    let bias = numbers(weights, &part("bias", vec![n_out]))?;
    Ok(Linear::rounded(n_in, &matrix, bias))
}

fn norm(config: &Config, weights: &mut Weights, name: &str) -> Result<Norm, CheckpointError> {
    let mut part = |part: &str| numbers(weights, &[(format!("{name}.{part}"), vec![config.width])]);
    let (scale, shift) = (part("weight")?, part("bias")?);
    Ok(Norm { scale, shift, epsilon: single(config.norm_epsilon) })
}

/// Takes tensors out, end to end.
fn numbers(
    weights: &mut Weights,
    parts: &[(String, Vec<usize>)],
) -> Result<Vec<f32>, CheckpointError> {
    let taken = weights.take_stacked(parts)?;
    taken.flatten_all().and_then(|all| all.to_vec1()).map_err(|source| weights.network(source))
}
