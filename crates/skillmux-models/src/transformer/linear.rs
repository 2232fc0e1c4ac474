//! [`Linear`]: a matrix of bytes and a bias.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::SimdOp;
use rten_tensor::NdTensorView;
use rten_vecmath::{ExtendInit, MinMax, Quantize};

use super::{damaged, matrix::Matrix, weights::Tensors};
use crate::error::Result;

type Executor = GemmExecutor<u8, i8, i32>;

/// `x W + b` for rows `x`, which are rounded to bytes.
pub(super) struct Linear {
    weights: PackedBMatrix<i8>,
    scales: Vec<f32>,
    /// Sum of the steps of each output.
    sums: Vec<i32>,
    bias: Vec<f32>,
    n_in: usize,
    /// Highest byte that a number is rounded to.
    max_step: u8,
}

impl Linear {
    /// Reads matrices of one input, whose outputs follow one another.
    pub(super) fn read(tensors: &Tensors, names: &[String], n_in: usize) -> Result<Self> {
        let mut parts = Vec::with_capacity(names.len());
        for name in names {
            let matrix = tensors.matrix(&format!("{name}.weight"))?;
            let bias = tensors.vector(&format!("{name}.bias"), matrix.n_out)?;
            if matrix.n_in != n_in {
                return Err(damaged(format!("has a matrix `{name}` of another width")));
            }
            parts.push((matrix, bias));
        }
        Ok(Self::new(n_in, &parts))
    }

    /// Returns a layer whose outputs are those of the parts, one after the other.
    fn new(n_in: usize, parts: &[(Matrix, Vec<f32>)]) -> Self {
        let executor = Executor::new();
        let steps: Vec<i8> = parts.iter().flat_map(|(matrix, _)| matrix.steps()).collect();
        let n_out = parts.iter().map(|(matrix, _)| matrix.n_out).sum();
        let rows = NdTensorView::from_data([n_out, n_in], &steps[..]);
        let sum = |row: &[i8]| row.iter().map(|step| i32::from(*step)).sum();
        Self {
            sums: steps.chunks_exact(n_in.max(1)).map(sum).collect(),
            weights: executor.prepack_b(rows.transposed()),
            scales: parts.iter().flat_map(|(matrix, _)| &matrix.scales).copied().collect(),
            bias: parts.iter().flat_map(|(_, bias)| bias).copied().collect(),
            n_in,
            // Two products of 127 and 127 fit into the 16 bits that older processors add them in.
            max_step: if executor.may_saturate() { 127 } else { 255 },
        }
    }

    /// Returns the number of outputs.
    pub(super) fn n_out(&self) -> usize {
        self.bias.len()
    }

    /// Returns `[n_rows, n_out]` for `[n_rows, n_in]`.
    pub(super) fn apply(&self, input: &[f32], n_rows: usize) -> Vec<f32> {
        let mut steps: Vec<u8> = Vec::with_capacity(input.len());
        let (mut zeros, mut scales) = (Vec::with_capacity(n_rows), Vec::with_capacity(n_rows));
        for row in input.chunks_exact(self.n_in) {
            let (least, most) = MinMax::new(row).dispatch();
            let (least, most) = (least.min(0.0), most.max(0.0));
            let scale = f32::max(most - least, f32::MIN_POSITIVE) / f32::from(self.max_step);
            let zero = byte(-least / scale);
            steps.extend_init(|rest| {
                let (rest, _) = rest.split_at_mut(row.len());
                Quantize::new(row, rest, 1.0 / scale, zero).dispatch()
            });
            zeros.push(zero);
            scales.push(scale);
        }
        let mut products = vec![0; n_rows * self.n_out()];
        let rows = NdTensorView::from_data([n_rows, self.n_in], &steps[..]);
        let (rows, weights) = (GemmInputA::Unpacked(rows), GemmInputB::Packed(&self.weights));
        // It cannot be kept, for it is not `Sync`; making one is an allocation of a few bytes.
        Executor::new()
            .gemm(&mut products, rows, weights, GemmOptions::default())
            .expect("the shapes match");
        let mut out = Vec::with_capacity(products.len());
        let rows = products.chunks_exact(self.n_out().max(1)).zip(zeros.iter().zip(&scales));
        for (products, (zero, scale)) in rows {
            // Byte `zero` stands for 0. The kernels would take that off as well, but version 0.27 of
            // rten-gemm does so wrongly from the ninth row on with AVX-512.
            let zero = i32::from(*zero);
            let columns = products.iter().zip(&self.sums).zip(self.scales.iter().zip(&self.bias));
            out.extend(columns.map(|((product, sum), (column, bias))| {
                (product - zero * sum) as f32 * (scale * column) + bias
            }));
        }
        out
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within a byte")]
fn byte(x: f32) -> u8 {
    x.round_ties_even().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a matrix of steps that follow no simple rule.
    fn matrix(n_out: usize, n_in: usize) -> Matrix {
        let step = |at: usize| (at * 7919 + at / 13) % 255;
        let steps = (0..n_out * n_in).map(|at| u8::try_from(step(at)).unwrap().wrapping_sub(127));
        let scales = (0..n_out).map(|row| 0.001 * (1 + row % 5) as f32).collect();
        Matrix::new(n_out, n_in, Vec::leak(steps.collect()), scales)
    }

    #[test]
    fn products_are_those_of_the_numbers_for_any_number_of_rows() {
        let (n_in, n_out) = (96, 40);
        let bias: Vec<f32> = (0..n_out).map(|at| at as f32 / 8.0).collect();
        let numbers: Vec<f32> =
            (0..n_out).flat_map(|row| matrix(n_out, n_in).row(row).collect::<Vec<_>>()).collect();
        let linear = Linear::new(n_in, &[(matrix(n_out, n_in), bias.clone())]);
        for n_rows in [1, 2, 8, 9, 15, 16, 17, 33, 70] {
            let input: Vec<f32> =
                (0..n_rows * n_in).map(|at| ((at * 31) % 23) as f32 / 4.0 - 2.0).collect();
            let found = linear.apply(&input, n_rows);
            for (row, found) in input.chunks_exact(n_in).zip(found.chunks_exact(n_out)) {
                for ((weights, bias), found) in numbers.chunks_exact(n_in).zip(&bias).zip(found) {
                    let expected: f32 =
                        weights.iter().zip(row).map(|(w, x)| w * x).sum::<f32>() + bias;
                    // A number is off by half a step of 1/255 of the range at most.
                    assert!(
                        (found - expected).abs() < 0.3,
                        "{n_rows} rows: {found} is not {expected}"
                    );
                }
            }
        }
    }
}
