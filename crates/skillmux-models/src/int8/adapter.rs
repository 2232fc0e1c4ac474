//! [`Adapter`]: a change of low rank to what a matrix makes of its rows (`LoRA`, Hu et al. 2021).

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

/// `x D U` for rows `x`, which is added to what a matrix makes of them.
pub(crate) struct Adapter {
    rank: usize,
    /// `[n_in, rank]`.
    down: Vec<f32>,
    /// `[rank, n_out]`.
    up: Vec<f32>,
}

impl Adapter {
    /// Returns an adapter with the matrices `[n_in, rank]` and `[rank, n_out]`.
    pub(crate) fn new(rank: usize, down: Vec<f32>, up: Vec<f32>) -> Self {
        Self { rank, down, up }
    }

    fn n_in(&self) -> usize {
        self.down.len() / self.rank
    }

    fn n_out(&self) -> usize {
        self.up.len() / self.rank
    }
}

/// The adapters of a layer.
pub(crate) struct LayerAdapter {
    pub(crate) inputs: Adapter,
    pub(crate) attention: Adapter,
    pub(crate) inner: Adapter,
    pub(crate) outer: Adapter,
}

/// What adapters make of rows, and memory for it.
pub(super) struct Added {
    executor: GemmExecutor<f32>,
    /// `[n_rows, rank]`.
    low: Vec<f32>,
    /// `[n_rows, n_out]`.
    rows: Vec<f32>,
}

impl Added {
    pub(super) fn new() -> Self {
        Self { executor: GemmExecutor::new(), low: Vec::new(), rows: Vec::new() }
    }

    /// Returns what an adapter makes of rows, `[n_rows, n_out]`.
    pub(super) fn of(&mut self, adapter: &Adapter, rows: &[f32]) -> &[f32] {
        let Adapter { rank, down, up } = adapter;
        let (n_in, n_out) = (adapter.n_in(), adapter.n_out());
        let n_rows = rows.len() / n_in;
        self.low.resize(n_rows * rank, 0.0);
        self.rows.resize(n_rows * n_out, 0.0);
        let multiply = |a: &[f32], shape, b: &[f32], of_b, out: &mut [f32]| {
            let (a, b) = (NdTensorView::from_data(shape, a), NdTensorView::from_data(of_b, b));
            let (a, b) = (GemmInputA::Unpacked(a), GemmInputB::Unpacked(b));
            self.executor.gemm(out, a, b, GemmOptions::default()).expect("the shapes match");
        };
        multiply(rows, [n_rows, n_in], down, [n_in, *rank], &mut self.low);
        multiply(&self.low, [n_rows, *rank], up, [*rank, n_out], &mut self.rows);
        &self.rows
    }

    /// Returns what an adapter makes of rows, to be added row by row; nothing without an adapter.
    pub(super) fn rows(&mut self, adapter: Option<&Adapter>, rows: &[f32]) -> AddedRows<'_> {
        match adapter {
            Some(adapter) => AddedRows { n_out: adapter.n_out(), rows: self.of(adapter, rows) },
            None => AddedRows { n_out: 0, rows: &[] },
        }
    }
}

/// What an adapter makes of rows.
pub(super) struct AddedRows<'a> {
    n_out: usize,
    rows: &'a [f32],
}

impl AddedRows<'_> {
    /// Adds what is made of a row to numbers.
    pub(super) fn add_to(&self, row: usize, numbers: &mut [f32]) {
        let added = self.rows.get(row * self.n_out..).unwrap_or_default();
        for (number, added) in numbers.iter_mut().zip(added) {
            *number += added;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_down_and_up() {
        // x D U with D = [[1], [2]] and U = [[3, -1, 0]].
        let adapter = Adapter::new(1, vec![1.0, 2.0], vec![3.0, -1.0, 0.0]);
        let mut added = Added::new();
        assert_eq!(added.of(&adapter, &[1.0, 1.0, 0.5, 0.0]), [9.0, -3.0, 0.0, 1.5, -0.5, 0.0]);
        let rows = added.rows(Some(&adapter), &[0.0, 1.0, 1.0, 0.0]);
        let mut numbers = vec![1.0; 3];
        rows.add_to(1, &mut numbers);
        assert_eq!(numbers, [4.0, 0.0, 1.0]);
        // Without an adapter nothing is added, and fewer rows leave nothing of those before.
        added.rows(None, &[1.0, 1.0]).add_to(0, &mut numbers);
        assert_eq!(numbers, [4.0, 0.0, 1.0]);
        assert_eq!(added.of(&adapter, &[0.0, 0.5]), [3.0, -1.0, 0.0]);
    }
}
