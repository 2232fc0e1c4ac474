//! Parts that networks share.
//!
//! What follows from variables is computed by operations that have a gradient, the rest by fused
//! ones, which have none and are faster, and on the CPU by vector instructions where the numbers
//! lie ([`change_rows`]).

use std::{ops::Range, sync::Arc};

use candle_core::{
    D, DType, Module, Result as TensorResult, Tensor,
    quantized::{QMatMul, QTensor},
};
use candle_nn::ops;
use rten_simd::{SimdOp, SimdUnaryOp};
use rten_vecmath::{ApproxGelu, Gelu, Softmax};

use super::{
    CheckpointError, Precision,
    batch::Batch,
    config::Activation,
    in_place::{can_change, change_rows},
    weights::Weights,
};
use crate::int8::{Norm, SharedLinear};

/// A matrix and perhaps a bias.
pub(super) struct Linear {
    matrix: Matrix,
    bias: Option<Tensor>,
}

enum Matrix {
    Plain {
        weight: Tensor,
        precision: Precision,
    },
    /// Matrices that read the same input, each in blocks of its own type: their rows cannot be
    /// stacked.
    Quantised(Vec<QMatMul>),
    Int8(SharedLinear),
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
        let matrices = named(parts, n_in);
        if matrices.iter().any(|(name, _)| weights.is_quantised(name)) {
            let taken =
                matrices.iter().map(|(name, shape)| match weights.take_quantised(name, shape)? {
                    Some(tensor) => {
                        QMatMul::from_arc(tensor).map_err(|source| weights.network(source))
                    }
                    None => Ok(QMatMul::Tensor(weights.take(name, shape)?)),
                });
            let matrix = Matrix::Quantised(taken.collect::<Result<_, _>>()?);
            return Ok(Self { matrix, bias: None });
        }
        let weight = weights.take_stacked(&matrices)?;
        let matrix = Matrix::Plain { weight, precision: weights.precision() };
        Ok(Self { matrix, bias: None })
    }

    /// Takes matrices without a bias out, as one matrix of bytes.
    pub(super) fn take_int8(
        weights: &mut Weights,
        parts: &[(&str, usize)],
        n_in: usize,
    ) -> Result<Self, CheckpointError> {
        let stacked = weights.take_stacked(&named(parts, n_in))?;
        let numbers = stacked.flatten_all().and_then(|all| all.to_vec1::<f32>());
        let numbers = numbers.map_err(|source| weights.network(source))?;
        Ok(Self { matrix: Matrix::Int8(SharedLinear::rounded(n_in, &numbers)), bias: None })
    }

    /// Returns `[n_rows, n_out]` of `[n_rows, n_in]`.
    pub(super) fn of(&self, rows: &Tensor) -> TensorResult<Tensor> {
        let product = match &self.matrix {
            Matrix::Plain { weight, precision: Precision::Single } => rows.matmul(&weight.t()?)?,
            Matrix::Plain { weight, precision: Precision::Half } => {
                let [rows, weight] = [rows, weight].map(|all| all.to_dtype(DType::BF16));
                rows?.matmul(&weight?.t()?)?.to_dtype(DType::F32)?
            }
            Matrix::Quantised(matrices) => {
                let products = matrices.iter().map(|matrix| matrix.forward(rows));
                Tensor::cat(&products.collect::<TensorResult<Vec<_>>>()?, 1)?
            }
            Matrix::Int8(matrix) => {
                let n_rows = rows.dim(0)?;
                let out = matrix.of(&rows.flatten_all()?.to_vec1::<f32>()?);
                let n_out = out.len() / n_rows.max(1);
                Tensor::from_vec(out, (n_rows, n_out), rows.device())?
            }
        };
        match &self.bias {
            Some(bias) if can_change(&product) && !bias.track_op() => {
                let bias = bias.to_vec1::<f32>()?;
                change_rows(product, |row| row.iter_mut().zip(&bias).for_each(|(x, b)| *x += b))
            }
            Some(bias) => product.broadcast_add(bias),
            None => Ok(product),
        }
    }
}

/// Returns the names and shapes of matrices that read `n_in` numbers.
fn named(parts: &[(&str, usize)], n_in: usize) -> Vec<(String, Vec<usize>)> {
    let matrix = |(name, n_out): &(&str, usize)| (format!("{name}.weight"), vec![*n_out, n_in]);
    parts.iter().map(matrix).collect()
}

/// Rows that are looked up by their numbers.
pub(super) enum Table {
    Plain(Tensor),
    Quantised(Arc<QTensor>),
}

impl Table {
    /// Takes a table out.
    pub(super) fn take(
        weights: &mut Weights,
        name: &str,
        shape: &[usize],
    ) -> Result<Self, CheckpointError> {
        match weights.take_quantised(name, shape)? {
            Some(table) => Ok(Self::Quantised(table)),
            None => weights.take(name, shape).map(Self::Plain),
        }
    }

    /// Returns rows, by their numbers.
    pub(super) fn rows(&self, rows: Vec<u32>) -> TensorResult<Tensor> {
        match self {
            Self::Plain(table) => look_up(table, rows),
            Self::Quantised(table) => {
                let n_rows = rows.len();
                table.embedding(&Tensor::from_vec(rows, n_rows, &table.device())?)
            }
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

    /// Returns rows that were just computed, normalised.
    pub(super) fn of(&self, rows: Tensor) -> TensorResult<Tensor> {
        let Self { scale, shift, epsilon } = self;
        if rows.track_op() {
            return ops::layer_norm_slow(&rows, scale, shift, *epsilon);
        }
        if !can_change(&rows) || scale.track_op() {
            return ops::layer_norm(&rows, scale, shift, *epsilon);
        }
        let (scale, shift) = (scale.to_vec1()?, shift.to_vec1()?);
        let norm = Norm { scale, shift, epsilon: *epsilon };
        change_rows(rows, |row| norm.apply(row))
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
        if rows.track_op() {
            return ops::rms_norm_slow(rows, &self.scale, self.epsilon);
        }
        ops::rms_norm(rows, &self.scale, self.epsilon)
    }
}

/// Returns numbers that are not negative and add up to 1 in each row, by the last dimension, of
/// logits that were just computed.
pub(super) fn softmax(logits: Tensor) -> TensorResult<Tensor> {
    if can_change(&logits) {
        return change_rows(logits, |row| {
            Softmax::new_mut(row).dispatch();
        });
    }
    // The fused one has no gradient.
    if logits.track_op() {
        ops::softmax(&logits, D::Minus1)
    } else {
        ops::softmax_last_dim(&logits)
    }
}

/// Returns what the activation makes of numbers that were just computed.
pub(super) fn activate(numbers: Tensor, activation: Activation) -> TensorResult<Tensor> {
    if can_change(&numbers) {
        return change_rows(numbers, in_place(activation));
    }
    match activation {
        Activation::Gelu => numbers.gelu_erf(),
        Activation::GeluTanh => numbers.gelu(),
        Activation::Relu => numbers.relu(),
    }
}

/// Returns what changes numbers where they lie.
pub(super) fn in_place(activation: Activation) -> fn(&mut [f32]) {
    match activation {
        Activation::Gelu => |row| Gelu {}.map_mut(row),
        Activation::GeluTanh => |row| ApproxGelu {}.map_mut(row),
        Activation::Relu => |row| row.iter_mut().for_each(|x| *x = x.max(0.0)),
    }
}

/// Returns the rows of a table, by their numbers.
pub(super) fn look_up(table: &Tensor, rows: Vec<u32>) -> TensorResult<Tensor> {
    let n_rows = rows.len();
    table.index_select(&Tensor::from_vec(rows, n_rows, table.device())?, 0)
}

/// Returns the last row of each sequence.
pub(super) fn last_states(states: &Tensor, batch: &Batch<'_>) -> TensorResult<Tensor> {
    look_up(states, batch.last_rows())
}

/// Returns the mean of the rows of each sequence.
pub(super) fn mean_states(states: &Tensor, batch: &Batch<'_>) -> TensorResult<Tensor> {
    let rows = batch.rows();
    if !states.track_op() {
        let mean = |rows: Range<usize>| states.narrow(0, rows.start, rows.len())?.mean_keepdim(0);
        let means = rows.into_iter().map(mean).collect::<TensorResult<Vec<_>>>()?;
        return Tensor::cat(&means, 0);
    }
    // A product: the gradient of a part is a matrix of the size of the whole.
    let (n_sequences, n_rows) = (rows.len(), states.dim(0)?);
    let mut shares = vec![0.0_f32; n_sequences * n_rows];
    for (sequence, rows) in rows.into_iter().enumerate() {
        let share = 1.0 / rows.len() as f32;
        shares[sequence * n_rows..][rows].fill(share);
    }
    Tensor::from_vec(shares, (n_sequences, n_rows), states.device())?.matmul(states)
}

#[expect(clippy::cast_possible_truncation, reason = "an epsilon needs few digits")]
pub(super) fn single(epsilon: f64) -> f32 {
    epsilon as f32
}
