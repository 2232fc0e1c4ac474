//! Layers of BERT in signed bytes ([`InferencePrecision::Int8`](super::InferencePrecision::Int8)).

use candle_core::{Result as TensorResult, Tensor};
use rten_simd::SimdUnaryOp;
use rten_vecmath::{ApproxGelu, Gelu};

use super::{
    CheckpointError,
    batch::Batch,
    config::{Activation, Config},
    weights::Weights,
};
use crate::int8::{Layer, LayerParts, Linear, Norm, on_all_threads};

/// Most inputs that share a scale. Vectors of `MiniLM` then have a cosine of some .9996 to those of 32-bit numbers;
/// one scale a row leaves it at .999 (docs/published-models.md).
const MAX_GROUP: usize = 64;

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
            self.layers.iter().for_each(|layer| layer.apply(&mut states, workspace));
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
    Ok(Layer::new(LayerParts {
        head_width: config.head_width,
        inputs: linear(weights, &inputs, [width, width])?,
        attention: linear(weights, &[name("attention.output.dense")], [width, width])?,
        attention_norm: norm(config, weights, &attention_norm)?,
        inner: linear(weights, &[name("intermediate.dense")], [inner, width])?,
        activate: match config.activation {
            Activation::Gelu => |row| Gelu {}.map_mut(row),
            Activation::GeluTanh => |row| ApproxGelu {}.map_mut(row),
            Activation::Relu => |row| row.iter_mut().for_each(|x| *x = x.max(0.0)),
        },
        outer: linear(weights, &[name("output.dense")], [width, inner])?,
        outer_norm: norm(config, weights, &name("output.LayerNorm"))?,
    }))
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
    let group = (1..=MAX_GROUP).rev().find(|group| n_in.is_multiple_of(*group)).unwrap_or(n_in);
    let (bytes, scales) = rounded(&matrix, n_in, group);
    Ok(Linear::new(n_in, &bytes, &scales, bias))
}

fn norm(config: &Config, weights: &mut Weights, name: &str) -> Result<Norm, CheckpointError> {
    let mut part = |part: &str| numbers(weights, &[(format!("{name}.{part}"), vec![config.width])]);
    let (scale, shift) = (part("weight")?, part("bias")?);
    Ok(Norm { scale, shift, epsilon: super::layer::single(config.norm_epsilon) })
}

/// Takes tensors out, end to end.
fn numbers(
    weights: &mut Weights,
    parts: &[(String, Vec<usize>)],
) -> Result<Vec<f32>, CheckpointError> {
    let taken = weights.take_stacked(parts)?;
    taken.flatten_all().and_then(|all| all.to_vec1()).map_err(|source| weights.network(source))
}

/// Returns `[n_out, n_in]` weights as bytes within 127 of 0, and the scale of each group of each output, `[n_groups, n_out]`.
#[expect(clippy::cast_possible_truncation, reason = "within 127 of 0")]
fn rounded(matrix: &[f32], n_in: usize, group: usize) -> (Vec<i8>, Vec<f32>) {
    let (n_out, n_groups) = (matrix.len() / n_in, n_in / group);
    let mut bytes = Vec::with_capacity(matrix.len());
    let mut scales = vec![0.0; n_groups * n_out];
    for (out, row) in matrix.chunks_exact(n_in).enumerate() {
        for (at, numbers) in row.chunks_exact(group).enumerate() {
            let most = numbers.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            let scale = most.max(f32::MIN_POSITIVE * 127.0) / 127.0;
            scales[at * n_out + out] = scale;
            bytes.extend(numbers.iter().map(|x| (x / scale).round_ties_even() as i8));
        }
    }
    (bytes, scales)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_rounded_by_group_and_output() {
        let matrix = [1.27, -0.64, 0.0, 0.0, 127.0, 1.0, 12.7, 12.7];
        let (bytes, scales) = rounded(&matrix, 4, 2);
        assert_eq!(bytes, [127, -64, 0, 0, 127, 1, 127, 127]);
        let expected = [0.01, 1.0, f32::MIN_POSITIVE, 0.1];
        assert!(
            scales.iter().zip(expected).all(|(found, x)| (found - x).abs() < 1e-6),
            "{scales:?}"
        );
    }
}
