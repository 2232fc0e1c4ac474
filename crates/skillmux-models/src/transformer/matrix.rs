//! [`Matrix`]: numbers as bytes.

/// Signed bytes with a scale a row, `[n_out, n_in]`.
pub(super) struct Matrix {
    pub(super) n_out: usize,
    pub(super) n_in: usize,
    steps: &'static [u8],
    pub(super) scales: Vec<f32>,
}

impl Matrix {
    /// Returns a matrix of `[n_out, n_in]` steps and `[n_out]` scales.
    pub(super) fn new(n_out: usize, n_in: usize, steps: &'static [u8], scales: Vec<f32>) -> Self {
        Self { n_out, n_in, steps, scales }
    }

    /// Returns the numbers of a row; none if there is no such row.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = f32> {
        let scale = self.scales.get(row).copied().unwrap_or(0.0);
        let steps = self.steps.get(row * self.n_in..(row + 1) * self.n_in).unwrap_or(&[]);
        steps.iter().map(move |step| f32::from(i8::from_le_bytes([*step])) * scale)
    }

    /// Returns the steps of all rows.
    pub(super) fn steps(&self) -> impl Iterator<Item = i8> {
        self.steps.iter().map(|step| i8::from_le_bytes([*step]))
    }
}
