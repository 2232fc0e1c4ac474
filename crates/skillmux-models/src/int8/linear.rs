//! [`Linear`]: a matrix of bytes and a bias.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::{
    Isa, SimdOp,
    ops::{BitOps, NumOps, ToFloat},
};
use rten_tensor::{Layout, NdTensorView};

use super::steps::{Steps, Unit};

/// Whether products are exact on all processors.
static IS_EXACT: AtomicBool = AtomicBool::new(false);

/// From now on, the networks of signed bytes, such as the embedded transformer, multiply exactly on
/// all processors. To be called before the first model is read.
///
/// Processors without instructions for products of bytes, such as AVX-512 VNNI, add two products in
/// 16 bits. So what enters a matrix is rounded to half as many steps there, and scores differ from
/// those of other processors in the second or third digit. With this, they multiply twice instead,
/// and take almost twice the time. Then only sums of floating-point numbers differ, whose order
/// depends on the processor. For others nothing changes.
pub fn multiply_exactly() {
    IS_EXACT.store(true, Ordering::Relaxed);
}

/// Rows whose numbers are summed over groups at once.
const N_ROWS: usize = 32;

type Executor = GemmExecutor<u8, i8, i32>;

/// What multiplies matrices, and memory for their products.
///
/// A thread keeps one for all its matrices: to make an executor asks the processor what it can do,
/// which takes some microseconds in a virtual machine, and memory of this size is given back to the
/// system when it is freed.
pub(super) struct Multiplier {
    executor: Executor,
    /// Where bytes are multiplied in two parts.
    halves: Option<Halves>,
    products: Vec<i32>,
    numbers: Vec<f32>,
}

impl Multiplier {
    pub(super) fn new() -> Self {
        let executor = Executor::new();
        let in_halves = executor.may_saturate() && IS_EXACT.load(Ordering::Relaxed);
        let halves = in_halves.then(Halves::default);
        Self { executor, halves, products: Vec::new(), numbers: Vec::new() }
    }

    /// Returns the highest byte that a number may be rounded to.
    pub(super) fn max_step(&self) -> u8 {
        // Two products of 127 and 127 fit into the 16 bits that older processors add them in.
        if self.executor.may_saturate() && self.halves.is_none() { 127 } else { 255 }
    }
}

/// Bytes as twice their half and what is left of them, so that two products of each part fit into
/// 16 bits.
#[derive(Default)]
struct Halves {
    part: Vec<u8>,
    products: Vec<i32>,
}

impl Halves {
    /// Writes the exact products of any bytes.
    fn multiply(
        &mut self,
        executor: &Executor,
        bytes: NdTensorView<'_, u8, 2>,
        weights: &PackedBMatrix<i8>,
        products: &mut [i32],
    ) {
        let shape = bytes.shape();
        self.products.resize(products.len(), 0);
        let mut of_part = |of: fn(u8) -> u8, products: &mut [i32]| {
            self.part.clear();
            self.part.extend(bytes.iter().map(|byte| of(*byte)));
            let part = NdTensorView::from_data(shape, &self.part[..]);
            multiply(executor, part, weights, products);
        };
        of_part(|byte| byte / 2, products);
        of_part(|byte| byte % 2, &mut self.products);
        for (half, rest) in products.iter_mut().zip(&self.products) {
            *half = 2 * *half + rest;
        }
    }
}

fn multiply(
    executor: &Executor,
    bytes: NdTensorView<'_, u8, 2>,
    weights: &PackedBMatrix<i8>,
    products: &mut [i32],
) {
    let (bytes, weights) = (GemmInputA::Unpacked(bytes), GemmInputB::Packed(weights));
    executor.gemm(products, bytes, weights, GemmOptions::default()).expect("the shapes match");
}

/// `x W + b` for rows `x`, which are rounded to bytes.
pub(crate) struct Linear {
    /// Of inputs that lie side by side.
    groups: Vec<Group>,
    bias: Vec<f32>,
    n_in: usize,
}

/// The weights of some inputs.
struct Group {
    weights: PackedBMatrix<i8>,
    scales: Vec<f32>,
    /// Sum of the steps of each output.
    sums: Vec<i32>,
}

impl Linear {
    /// Returns a layer of `[n_out, n_in]` signed bytes within 127 of 0, with `[n_groups, n_out]`
    /// scales. A group has `n_in / n_groups` inputs; the division leaves no rest.
    pub(crate) fn new(n_in: usize, bytes: &[i8], scales: &[f32], bias: Vec<f32>) -> Self {
        let n_out = bias.len();
        assert_eq!(bytes.len(), n_in * n_out, "each output has a weight an input");
        let n_groups = scales.len() / n_out.max(1);
        let width = n_in / n_groups;
        let executor = Executor::new();
        let group = |(at, scales): (usize, &[f32])| {
            let of_group = |row: usize| &bytes[row * n_in + at * width..][..width];
            let sum = |row| of_group(row).iter().map(|step| i32::from(*step)).sum();
            let weights = NdTensorView::from_slice_with_strides(
                [n_out, width],
                &bytes[at * width..],
                [n_in, 1],
            )
            .expect("each group has its part of a row");
            Group {
                sums: (0..n_out).map(sum).collect(),
                weights: executor.prepack_b(weights.transposed()),
                scales: scales.to_vec(),
            }
        };
        Self { groups: scales.chunks_exact(n_out).enumerate().map(group).collect(), bias, n_in }
    }

    /// Returns the number of outputs.
    pub(crate) fn n_out(&self) -> usize {
        self.bias.len()
    }

    /// Returns the number of inputs of a group.
    pub(super) fn group(&self) -> usize {
        self.n_in / self.groups.len()
    }

    /// Makes `[n_out]` numbers of each row of the input, which has groups as the layer has, and
    /// hands them on with the number of the row.
    ///
    /// What is done to a row next finds it in the fastest memory, so that no matrix of numbers is
    /// written and read again.
    pub(super) fn apply(
        &self,
        input: &Steps,
        multiplier: &mut Multiplier,
        take: impl FnMut(usize, &mut [f32]),
    ) {
        self.apply_rows(input, 0..input.n_rows(self.n_in), multiplier, take);
    }

    /// As [`apply`](Self::apply), for some rows of the input.
    pub(super) fn apply_rows(
        &self,
        input: &Steps,
        rows: Range<usize>,
        multiplier: &mut Multiplier,
        mut take: impl FnMut(usize, &mut [f32]),
    ) {
        let Multiplier { executor, halves, products, numbers } = multiplier;
        let (n_in, n_out, n_rows) = (self.n_in, self.n_out(), rows.len());
        // One group needs the numbers of one row at a time; those of several are summed, some rows
        // at once, in fast memory.
        let is_one = self.groups.len() == 1;
        let (n_at_once, n_kept) = if is_one { (n_rows, 1) } else { (N_ROWS.min(n_rows), N_ROWS) };
        products.resize(products.len().max(n_at_once * n_out), 0);
        numbers.resize(numbers.len().max(n_kept * n_out), 0.0);
        let end = rows.end;
        for start in rows.step_by(n_at_once.max(1)) {
            let rows = start..end.min(start + n_at_once);
            let products = &mut products[..rows.len() * n_out];
            for (at, group) in self.groups.iter().enumerate() {
                let bytes = input.bytes(rows.clone(), at, n_in);
                match halves {
                    Some(halves) => halves.multiply(executor, bytes, &group.weights, products),
                    None => multiply(executor, bytes, &group.weights, products),
                }
                let of_rows = products.chunks_exact(n_out).zip(input.units(rows.clone(), at, n_in));
                for ((products, unit), row) in of_rows.zip(rows.clone()) {
                    let place = if is_one { 0 } else { row - start };
                    let out = &mut numbers[place * n_out..][..n_out];
                    if at == 0 {
                        out.copy_from_slice(&self.bias);
                    }
                    AddNumbers { products, group, unit, out: &mut *out }.dispatch();
                    if at + 1 == self.groups.len() {
                        take(row, out);
                    }
                }
            }
        }
    }
}

/// Adds the numbers of a row of its products.
struct AddNumbers<'r> {
    products: &'r [i32],
    group: &'r Group,
    /// The kernels would take its zero off as well, but version 0.27 of rten-gemm does so wrongly
    /// from the ninth row on with AVX-512.
    unit: Unit,
    out: &'r mut [f32],
}

impl SimdOp for AddNumbers<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector instructions are only inlined into a caller that may use them"
    )]
    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (ints, floats) = (isa.i32(), isa.f32());
        let Group { scales, sums, .. } = self.group;
        let zero = i32::from(self.unit.zero);
        let (all_zero, all_scale) = (ints.splat(zero), floats.splat(self.unit.scale));
        let n = floats.len();
        let mut out = self.out.chunks_exact_mut(n);
        let products = self.products.chunks_exact(n).zip(sums.chunks_exact(n));
        let columns = products.zip(scales.chunks_exact(n));
        for (out, ((products, sums), scales)) in (&mut out).zip(columns) {
            let offsets = ints.mul(all_zero, ints.load(sums));
            let exact = ints.to_float(ints.sub(ints.load(products), offsets));
            // Not fused, as in the rest below: a vector is the same for all processors.
            let scaled = floats.mul(exact, floats.mul(all_scale, floats.load(scales)));
            floats.store(floats.add(floats.load(out), scaled), out);
        }
        let rest = out.into_remainder();
        for (at, number) in (self.products.len() - rest.len()..).zip(rest) {
            let exact = (self.products[at] - zero * sums[at]) as f32;
            *number += exact * (self.unit.scale * scales[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_in_two_parts_are_exact_for_all_bytes() {
        let (n_rows, n_in, n_out) = (19, 64, 24);
        let weight = |at: usize| i8::try_from(i32::try_from(at * 53 % 255).unwrap() - 127).unwrap();
        let weights: Vec<i8> = (0..n_out * n_in).map(weight).collect();
        // The highest bytes and weights beside each other are where sums of 16 bits overflow.
        let byte = |at: usize| {
            if at.is_multiple_of(3) { 255 } else { u8::try_from(at * 7 % 256).unwrap() }
        };
        let bytes: Vec<u8> = (0..n_rows * n_in).map(byte).collect();
        let linear = Linear::new(n_in, &weights, &vec![1.0; n_out], vec![0.0; n_out]);
        let mut products = vec![0; n_rows * n_out];
        let view = NdTensorView::from_data([n_rows, n_in], &bytes[..]);
        let group = &linear.groups[0].weights;
        Halves::default().multiply(&Executor::new(), view, group, &mut products);
        for (row, products) in bytes.chunks(n_in).zip(products.chunks(n_out)) {
            for (weights, product) in weights.chunks(n_in).zip(products) {
                let exact = row.iter().zip(weights).map(|(x, w)| i32::from(*x) * i32::from(*w));
                assert_eq!(*product, exact.sum::<i32>());
            }
        }
    }

    #[test]
    fn products_are_those_of_the_numbers_for_any_number_of_rows_and_groups() {
        let (n_in, n_out) = (96, 40);
        let bias: Vec<f32> = (0..n_out).map(|at| at as f32 / 8.0).collect();
        // They follow no simple rule.
        let step = |at: usize| i8::try_from((at * 7919 + at / 13) % 255).unwrap_or(0);
        let bytes: Vec<i8> = (0..n_out * n_in).map(step).collect();
        for n_groups in [1, 2, 3] {
            let scales: Vec<f32> =
                (0..n_groups * n_out).map(|at| 0.001 * (1 + at % 5) as f32).collect();
            let weight = |out: usize, at: usize| {
                let group = at / (n_in / n_groups);
                f32::from(bytes[out * n_in + at]) * scales[group * n_out + out]
            };
            let linear = Linear::new(n_in, &bytes, &scales, bias.clone());
            for n_rows in [1, 2, 8, 9, 15, 16, 17, 33, 70] {
                let input: Vec<f32> =
                    (0..n_rows * n_in).map(|at| ((at * 31) % 23) as f32 / 4.0 - 2.0).collect();
                let mut multiplier = Multiplier::new();
                let mut steps = Steps::new(multiplier.max_step());
                steps.clear(linear.group());
                input.chunks_exact(n_in).for_each(|row| steps.push(row));
                let mut found = Vec::new();
                linear.apply(&steps, &mut multiplier, |row, numbers| {
                    assert_eq!(row * n_out, found.len(), "the rows come in their order");
                    found.extend_from_slice(numbers);
                });
                assert_eq!(found.len(), n_rows * n_out);
                for (row, found) in input.chunks_exact(n_in).zip(found.chunks_exact(n_out)) {
                    for (out, found) in found.iter().enumerate() {
                        let sum: f32 =
                            row.iter().enumerate().map(|(at, x)| weight(out, at) * x).sum();
                        let expected = sum + bias[out];
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
}
