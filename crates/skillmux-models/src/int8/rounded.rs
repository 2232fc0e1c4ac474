//! Matrices of numbers, rounded to bytes: [`Linear::rounded`] and [`SharedLinear`].

use std::{cell::Cell, ops::Range};

use rayon::prelude::*;

use super::{
    linear::{Linear, Multiplier},
    steps::Steps,
};

/// Most inputs that share a scale. The more do, the faster and the less exact: with a scale a row,
/// vectors of `MiniLM` miss a cosine of .999 to those of 32-bit numbers (docs/published-models.md).
const MAX_GROUP: usize = 64;

/// Outputs of a part of a shared matrix.
const N_OUT: usize = 512;

/// Rows that a thread takes at once of a shared matrix.
const N_ROWS: usize = 64;

impl Linear {
    /// Returns a layer of `[n_out, n_in]` numbers, rounded.
    pub(crate) fn rounded(n_in: usize, matrix: &[f32], bias: Vec<f32>) -> Self {
        let group = (1..=MAX_GROUP).rev().find(|group| n_in.is_multiple_of(*group)).unwrap_or(n_in);
        let (bytes, scales) = rounded(matrix, n_in, group);
        Self::new(n_in, &bytes, &scales, bias)
    }
}

/// Returns `[n_out, n_in]` weights as bytes within 127 of 0, and the scale of each group of each
/// output, `[n_groups, n_out]`.
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

/// A matrix that all threads multiply together, for networks of which one text is long work.
pub(crate) struct SharedLinear {
    /// Of outputs that follow one another.
    parts: Vec<Linear>,
    n_in: usize,
}

impl SharedLinear {
    /// Returns a layer of `[n_out, n_in]` numbers, rounded, without a bias.
    pub(crate) fn rounded(n_in: usize, matrix: &[f32]) -> Self {
        let part = |part: &[f32]| Linear::rounded(n_in, part, vec![0.0; part.len() / n_in]);
        Self { parts: matrix.par_chunks(N_OUT * n_in).map(part).collect(), n_in }
    }

    /// Returns `[n_rows, n_out]` of `[n_rows, n_in]`.
    pub(crate) fn of(&self, rows: &[f32]) -> Vec<f32> {
        let Some(first) = self.parts.first() else { return Vec::new() };
        let n_rows = rows.len() / self.n_in;
        let mut steps = with_multiplier(|multiplier| Steps::new(multiplier.max_step()));
        steps.clear(first.group());
        rows.chunks_exact(self.n_in).for_each(|row| steps.push(row));
        let starts = (0..n_rows).step_by(N_ROWS);
        let tasks: Vec<(Range<usize>, &Linear)> = starts
            .flat_map(|start| self.parts.iter().map(move |part| (start, part)))
            .map(|(start, part)| (start..n_rows.min(start + N_ROWS), part))
            .collect();
        let done: Vec<Vec<f32>> = tasks
            .par_iter()
            .map(|(rows, part)| {
                let mut done = Vec::with_capacity(rows.len() * part.n_out());
                with_multiplier(|multiplier| {
                    part.apply_rows(&steps, rows.clone(), multiplier, |_, row| {
                        done.extend_from_slice(row);
                    });
                });
                done
            })
            .collect();
        let n_out: usize = self.parts.iter().map(Linear::n_out).sum();
        let mut out = Vec::with_capacity(n_rows * n_out);
        for of_rows in done.chunks(self.parts.len()) {
            let n_rows = of_rows.first().map_or(0, |done| done.len() / first.n_out());
            for row in 0..n_rows {
                for (done, part) in of_rows.iter().zip(&self.parts) {
                    out.extend_from_slice(&done[row * part.n_out()..][..part.n_out()]);
                }
            }
        }
        out
    }
}

/// Lends the thread's multiplier to a function. A thread that takes on another task while it waits
/// for one gets a second one.
fn with_multiplier<R>(make: impl FnOnce(&mut Multiplier) -> R) -> R {
    thread_local! {
        static KEPT: Cell<Option<Multiplier>> = const { Cell::new(None) };
    }
    let mut multiplier = KEPT.take().unwrap_or_else(Multiplier::new);
    let made = make(&mut multiplier);
    KEPT.set(Some(multiplier));
    made
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

    #[test]
    fn a_shared_matrix_gives_the_products_of_the_numbers() {
        let (n_in, n_out) = (128, N_OUT + 40);
        let number = |at: usize| ((at * 7919 + at / 13) % 251) as f32 / 251.0 - 0.5;
        let matrix: Vec<f32> = (0..n_in * n_out).map(number).collect();
        let shared = SharedLinear::rounded(n_in, &matrix);
        for n_rows in [0, 1, 9, N_ROWS, N_ROWS + 3] {
            let rows: Vec<f32> = (0..n_rows * n_in).map(|at| number(at * 31)).collect();
            let found = shared.of(&rows);
            assert_eq!(found.len(), n_rows * n_out);
            for (row, found) in rows.chunks_exact(n_in).zip(found.chunks_exact(n_out)) {
                for (weights, found) in matrix.chunks_exact(n_in).zip(found) {
                    let expected: f32 = weights.iter().zip(row).map(|(w, x)| w * x).sum();
                    assert!((found - expected).abs() < 0.1, "{n_rows}: {found} is not {expected}");
                }
            }
        }
    }
}
