//! [`Steps`]: rows of numbers, rounded to bytes.

use std::ops::Range;

use rten_simd::{
    Isa, SimdOp,
    ops::{BitOps, FloatOps, NarrowSaturate, NumOps},
};
use rten_tensor::NdTensorView;
use rten_vecmath::MinMax;

/// Rows of bytes in groups, each group of a row with what a step of it is and which byte stands for
/// 0.
pub(super) struct Steps {
    /// Highest byte that a number is rounded to.
    max_step: u8,
    /// Numbers of a group.
    group: usize,
    bytes: Vec<u8>,
    units: Vec<Unit>,
}

/// How to read the bytes of a group.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    /// Byte that stands for 0.
    pub(super) zero: u8,
    /// What a step is.
    pub(super) scale: f32,
}

impl Steps {
    /// Returns no rows; a number of them will be rounded to 0..=`max_step`.
    pub(super) fn new(max_step: u8) -> Self {
        Self { max_step, group: 1, bytes: Vec::new(), units: Vec::new() }
    }

    /// Forgets the rows, and keeps their memory. The next ones have groups of so many numbers.
    pub(super) fn clear(&mut self, group: usize) {
        self.group = group;
        self.bytes.clear();
        self.units.clear();
    }

    /// Adds a row of whole groups, as many as those that are there have.
    pub(super) fn push(&mut self, row: &[f32]) {
        row.chunks_exact(self.group).for_each(|group| self.push_group(group));
    }

    fn push_group(&mut self, row: &[f32]) {
        let (least, most) = MinMax::new(row).dispatch();
        let (least, most) = (least.min(0.0), most.max(0.0));
        let scale = f32::max(most - least, f32::MIN_POSITIVE) / f32::from(self.max_step);
        let zero = byte(-least / scale);
        let start = self.bytes.len();
        self.bytes.resize(start + row.len(), 0);
        let steps = &mut self.bytes[start..];
        Round { numbers: row, a_number: 1.0 / scale, zero, steps }.dispatch();
        self.units.push(Unit { zero, scale });
    }

    /// Returns the number of rows of this width.
    pub(super) fn n_rows(&self, width: usize) -> usize {
        self.bytes.len() / width
    }

    /// Returns the bytes of a group in some rows of this width, `[n_rows, n_numbers]`.
    pub(super) fn bytes(
        &self,
        rows: Range<usize>,
        group: usize,
        width: usize,
    ) -> NdTensorView<'_, u8, 2> {
        let start = rows.start * width + group * self.group;
        let shape = [rows.len(), self.group];
        NdTensorView::from_slice_with_strides(shape, &self.bytes[start..], [width, 1])
            .expect("the rows are there")
    }

    /// Returns how to read a group of each of some rows of this width.
    pub(super) fn units(
        &self,
        rows: Range<usize>,
        group: usize,
        width: usize,
    ) -> impl Iterator<Item = Unit> {
        let n_groups = width / self.group;
        rows.map(move |row| self.units[row * n_groups + group])
    }
}

/// Rounds numbers to bytes.
///
/// `Quantize` of rten-vecmath 0.27 gives the same bytes, but calls a function for each of its
/// instructions, which took a sixth of the time of the whole network.
struct Round<'r> {
    numbers: &'r [f32],
    /// Steps of the number 1.
    a_number: f32,
    zero: u8,
    steps: &'r mut [u8],
}

impl SimdOp for Round<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector instructions are only inlined into a caller that may use them"
    )]
    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let n = isa.f32().len();
        let a_number = isa.f32().splat(self.a_number);
        let zero = isa.i32().splat(i32::from(self.zero));
        let mut numbers = self.numbers.chunks_exact(4 * n);
        let mut steps = self.steps.chunks_exact_mut(4 * n);
        for (steps, numbers) in (&mut steps).zip(&mut numbers) {
            let [first, second, third, fourth] = [
                round(isa, numbers, a_number, zero),
                round(isa, &numbers[n..], a_number, zero),
                round(isa, &numbers[2 * n..], a_number, zero),
                round(isa, &numbers[3 * n..], a_number, zero),
            ];
            let low = isa.i32().narrow_saturate(first, second);
            let high = isa.i32().narrow_saturate(third, fourth);
            isa.u8().store(isa.i16().narrow_saturate(low, high), steps);
        }
        for (step, number) in steps.into_remainder().iter_mut().zip(numbers.remainder()) {
            *step = byte((number * self.a_number).round_ties_even() + f32::from(self.zero));
        }
    }
}

/// Returns the steps of the first numbers.
#[expect(
    clippy::inline_always,
    reason = "vector instructions are only inlined into a caller that may use them"
)]
#[inline(always)]
fn round<I: Isa>(isa: I, numbers: &[f32], a_number: I::F32, zero: I::I32) -> I::I32 {
    let floats = isa.f32();
    let steps = floats.to_int_round(floats.mul(floats.load(numbers), a_number));
    isa.i32().add(steps, zero)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within a byte")]
fn byte(x: f32) -> u8 {
    x.round_ties_even().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_width_are_rounded_to_the_nearest_step() {
        for width in [1, 15, 64, 70, 384, 389] {
            let row: Vec<f32> = (0..width).map(|at| ((at * 31) % 23) as f32 / 4.0 - 2.0).collect();
            let mut steps = Steps::new(255);
            steps.clear(width);
            steps.push(&row);
            let Unit { zero, scale } = steps.units(0..1, 0, width).next().unwrap();
            let bytes = steps.bytes(0..1, 0, width);
            for (number, step) in row.iter().zip(bytes.iter()) {
                let found = (f32::from(*step) - f32::from(zero)) * scale;
                assert!((found - number).abs() < 0.52 * scale, "{found} is not {number}");
            }
        }
    }

    #[test]
    fn a_row_of_zeros_stays_one() {
        let mut steps = Steps::new(127);
        steps.clear(70);
        steps.push(&[0.0; 70]);
        let Unit { zero, .. } = steps.units(0..1, 0, 70).next().unwrap();
        assert!(steps.bytes(0..1, 0, 70).iter().all(|step| *step == zero));
    }

    #[test]
    fn each_group_of_a_row_has_its_own_step() {
        let mut steps = Steps::new(255);
        steps.clear(2);
        steps.push(&[100.0, 0.0, 0.0, 1.0]);
        steps.push(&[0.0, 10.0, 255.0, 0.0]);
        let scales = |group| steps.units(0..2, group, 4).map(|unit| unit.scale * 255.0);
        let found: Vec<f32> = scales(0).chain(scales(1)).map(f32::round).collect();
        assert_eq!(found, [100.0, 10.0, 1.0, 255.0]);
        assert!(steps.bytes(1..2, 1, 4).iter().eq(&[255, 0]));
    }
}
