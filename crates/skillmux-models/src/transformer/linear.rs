//! [`Linear`]: a matrix of bytes and a bias.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::{
    Isa, SimdOp,
    ops::{BitOps, NumOps, ToFloat},
};
use rten_tensor::NdTensorView;

use super::{damaged, matrix::Matrix, steps::Steps, weights::Tensors};
use crate::error::Result;

type Executor = GemmExecutor<u8, i8, i32>;

/// What multiplies matrices, and memory for their products.
///
/// A thread keeps one for all its matrices: to make an executor asks the processor what it can do, which takes some
/// microseconds in a virtual machine, and memory of this size is given back to the system when it is freed.
pub(super) struct Multiplier {
    executor: Executor,
    products: Vec<i32>,
    row: Vec<f32>,
}

impl Multiplier {
    pub(super) fn new() -> Self {
        Self { executor: Executor::new(), products: Vec::new(), row: Vec::new() }
    }

    /// Returns the highest byte that a number may be rounded to.
    pub(super) fn max_step(&self) -> u8 {
        // Two products of 127 and 127 fit into the 16 bits that older processors add them in.
        if self.executor.may_saturate() { 127 } else { 255 }
    }
}

/// `x W + b` for rows `x`, which are rounded to bytes.
pub(super) struct Linear {
    weights: PackedBMatrix<i8>,
    scales: Vec<f32>,
    /// Sum of the steps of each output.
    sums: Vec<i32>,
    bias: Vec<f32>,
    n_in: usize,
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
        }
    }

    /// Returns the number of outputs.
    pub(super) fn n_out(&self) -> usize {
        self.bias.len()
    }

    /// Makes `[n_out]` numbers of each row of the input, and hands them on with the number of the row.
    ///
    /// What is done to a row next finds it in the fastest memory, so that no matrix of numbers is written and read again.
    pub(super) fn apply(
        &self,
        input: &Steps,
        multiplier: &mut Multiplier,
        mut take: impl FnMut(usize, &mut [f32]),
    ) {
        let Multiplier { executor, products, row } = multiplier;
        let n_products = input.n_rows() * self.n_out();
        if products.len() < n_products {
            products.resize(n_products, 0);
        }
        row.resize(self.n_out(), 0.0);
        let products = &mut products[..n_products];
        let rows = GemmInputA::Unpacked(input.bytes(self.n_in));
        let weights = GemmInputB::Packed(&self.weights);
        executor.gemm(products, rows, weights, GemmOptions::default()).expect("the shapes match");
        let rows = products.chunks_exact(self.n_out().max(1)).zip(input.units());
        for (at, (products, (zero, scale))) in rows.enumerate() {
            Numbers { products, linear: self, zero, scale, out: row }.dispatch();
            take(at, row);
        }
    }
}

/// Makes the numbers of a row of its products.
struct Numbers<'r> {
    products: &'r [i32],
    linear: &'r Linear,
    /// Byte that stands for 0 in the row. The kernels would take that off as well, but version 0.27 of
    /// rten-gemm does so wrongly from the ninth row on with AVX-512.
    zero: u8,
    /// What a step of the row is.
    scale: f32,
    out: &'r mut [f32],
}

impl SimdOp for Numbers<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector instructions are only inlined into a caller that may use them"
    )]
    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (ints, floats) = (isa.i32(), isa.f32());
        let Linear { scales, sums, bias, .. } = self.linear;
        let zero = i32::from(self.zero);
        let (all_zero, all_scale) = (ints.splat(zero), floats.splat(self.scale));
        let n = floats.len();
        let mut out = self.out.chunks_exact_mut(n);
        let products = self.products.chunks_exact(n).zip(sums.chunks_exact(n));
        let columns = scales.chunks_exact(n).zip(bias.chunks_exact(n));
        let columns = products.zip(columns);
        for (out, ((products, sums), (scales, bias))) in (&mut out).zip(columns) {
            let offsets = ints.mul(all_zero, ints.load(sums));
            let exact = ints.to_float(ints.sub(ints.load(products), offsets));
            // Not fused, as in the rest below: a vector is the same for all processors.
            let scaled = floats.mul(exact, floats.mul(all_scale, floats.load(scales)));
            floats.store(floats.add(scaled, floats.load(bias)), out);
        }
        let rest = out.into_remainder();
        for (at, number) in (self.products.len() - rest.len()..).zip(rest) {
            let exact = (self.products[at] - zero * sums[at]) as f32;
            *number = exact * (self.scale * scales[at]) + bias[at];
        }
    }
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
            let mut multiplier = Multiplier::new();
            let mut steps = Steps::new(multiplier.max_step());
            input.chunks_exact(n_in).for_each(|row| steps.push(row));
            let mut found = Vec::new();
            linear.apply(&steps, &mut multiplier, |_, row| found.extend_from_slice(row));
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
