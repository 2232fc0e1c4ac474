//! Parts that networks share.

use candle_core::{Device, Result as TensorResult, Tensor};

use super::{CheckpointError, batch::Batch, weights::Weights};

/// A matrix and perhaps a bias.
pub(super) struct Linear {
    weight: Tensor,
    bias: Option<Tensor>,
}

impl Linear {
    /// Takes `NAME.weight` and `NAME.bias` out.
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        shape: [usize; 2],
    ) -> Result<Self, CheckpointError> {
        Self::take_stacked(weights, &[(name, shape[0])], shape[1])
    }

    /// Takes matrices that read the same input out, as one matrix.
    pub(super) fn take_stacked(
        weights: &mut Weights,
        parts: &[(&str, usize)],
        n_in: usize,
    ) -> Result<Self, CheckpointError> {
        let bias = |(name, n_out): &(&str, usize)| (format!("{name}.bias"), vec![*n_out]);
        let biases: Vec<_> = parts.iter().map(bias).collect();
        Ok(Self {
            bias: Some(weights.take_stacked(&biases)?),
            ..Self::take_bare(weights, parts, n_in)?
        })
    }

    /// Takes matrices without a bias out, as one matrix.
    pub(super) fn take_bare(
        weights: &mut Weights,
        parts: &[(&str, usize)],
        n_in: usize,
    ) -> Result<Self, CheckpointError> {
        let matrix = |(name, n_out): &(&str, usize)| (format!("{name}.weight"), vec![*n_out, n_in]);
        let matrices: Vec<_> = parts.iter().map(matrix).collect();
        Ok(Self { weight: weights.take_stacked(&matrices)?, bias: None })
    }

    /// Returns `[n_rows, n_out]` of `[n_rows, n_in]`.
    pub(super) fn of(&self, rows: &Tensor) -> TensorResult<Tensor> {
        let product = rows.matmul(&self.weight.t()?)?;
        match &self.bias {
            Some(bias) => product.broadcast_add(bias),
            None => Ok(product),
        }
    }
}

/// Mean and deviation of each row taken out, scaled and shifted.
pub(super) struct LayerNorm {
    scale: Tensor,
    shift: Tensor,
    epsilon: f32,
}

impl LayerNorm {
    /// Takes `NAME.weight` and `NAME.bias` out.
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        width: usize,
        epsilon: f64,
    ) -> Result<Self, CheckpointError> {
        let scale = weights.take(&format!("{name}.weight"), &[width])?;
        let shift = weights.take(&format!("{name}.bias"), &[width])?;
        Ok(Self { scale, shift, epsilon: single(epsilon) })
    }

    pub(super) fn of(&self, rows: &Tensor) -> TensorResult<Tensor> {
        candle_nn::ops::layer_norm(rows, &self.scale, &self.shift, self.epsilon)
    }
}

/// The length of each row taken out, scaled.
pub(super) struct RmsNorm {
    scale: Tensor,
    epsilon: f32,
}

impl RmsNorm {
    /// Takes `NAME.weight` out.
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        width: usize,
        epsilon: f64,
    ) -> Result<Self, CheckpointError> {
        let scale = weights.take(&format!("{name}.weight"), &[width])?;
        Ok(Self { scale, epsilon: single(epsilon) })
    }

    pub(super) fn of(&self, rows: &Tensor) -> TensorResult<Tensor> {
        candle_nn::ops::rms_norm(rows, &self.scale, self.epsilon)
    }
}

/// Returns the rows of a table, by their numbers.
pub(super) fn look_up(table: &Tensor, rows: Vec<u32>) -> TensorResult<Tensor> {
    let n_rows = rows.len();
    table.index_select(&Tensor::from_vec(rows, n_rows, &Device::Cpu)?, 0)
}

/// Returns the last row of each sequence.
pub(super) fn last_states(states: &Tensor, batch: &Batch<'_>) -> TensorResult<Tensor> {
    look_up(states, batch.last_rows())
}

#[expect(clippy::cast_possible_truncation, reason = "an epsilon needs few digits")]
fn single(epsilon: f64) -> f32 {
    epsilon as f32
}
