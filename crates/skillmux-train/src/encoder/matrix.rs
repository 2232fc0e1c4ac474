//! Products of matrices, row-major, in blocks that several threads work on.
//!
//! How a product is cut into blocks does not depend on the number of threads, so neither does it.

use rayon::prelude::*;

/// Rows of the result that a thread works on at a time.
const N_BLOCK_ROWS: usize = 32;

/// Returns `[n, m]`, `a · bᵀ` of `a: [n, dim]` and `b: [m, dim]`.
pub(super) fn product_transposed(a: &[f32], b: &[f32], dim: usize) -> Vec<f32> {
    let m = b.len() / dim;
    let mut product = vec![0.0; a.len() / dim * m];
    if m == 0 {
        return product;
    }
    product.par_chunks_mut(N_BLOCK_ROWS * m).zip(a.par_chunks(N_BLOCK_ROWS * dim)).for_each(
        |(product, a)| {
            multiply(
                Factor { numbers: a, row_step: dim, column_step: 1 },
                Factor { numbers: b, row_step: 1, column_step: dim },
                Size { rows: a.len() / dim, inner: dim, columns: m },
                product,
            );
        },
    );
    product
}

/// Returns `[n, dim]`, `a · b` of `a: [n, m]` and `b: [m, dim]`.
pub(super) fn product(a: &[f32], b: &[f32], dim: usize) -> Vec<f32> {
    let m = b.len() / dim;
    if m == 0 {
        return Vec::new();
    }
    let mut product = vec![0.0; a.len() / m * dim];
    product.par_chunks_mut(N_BLOCK_ROWS * dim).zip(a.par_chunks(N_BLOCK_ROWS * m)).for_each(
        |(product, a)| {
            multiply(
                Factor { numbers: a, row_step: m, column_step: 1 },
                Factor { numbers: b, row_step: dim, column_step: 1 },
                Size { rows: a.len() / m, inner: m, columns: dim },
                product,
            );
        },
    );
    product
}

/// Returns `[m, dim]`, `aᵀ · b` of `a: [n, m]` and `b: [n, dim]`.
pub(super) fn transposed_product(a: &[f32], b: &[f32], dim: usize) -> Vec<f32> {
    let n = b.len() / dim;
    if n == 0 {
        return Vec::new();
    }
    let m = a.len() / n;
    let mut product = vec![0.0; m * dim];
    let block = 4 * N_BLOCK_ROWS;
    product.par_chunks_mut(block * dim).enumerate().for_each(|(position, product)| {
        multiply(
            Factor { numbers: &a[position * block..], row_step: 1, column_step: m },
            Factor { numbers: b, row_step: dim, column_step: 1 },
            Size { rows: product.len() / dim, inner: n, columns: dim },
            product,
        );
    });
    product
}

#[derive(Clone, Copy)]
struct Factor<'n> {
    numbers: &'n [f32],
    row_step: usize,
    column_step: usize,
}

impl Factor<'_> {
    /// Panics unless every number of a matrix of this size is there.
    fn check(&self, n_rows: usize, n_columns: usize) {
        if n_rows > 0 && n_columns > 0 {
            let last = (n_rows - 1) * self.row_step + (n_columns - 1) * self.column_step;
            assert!(last < self.numbers.len(), "a matrix is smaller than its size");
        }
    }
}

#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    inner: usize,
    columns: usize,
}

/// Writes the product of two matrices to `product`, `[n_rows, n_columns]`.
fn multiply(a: Factor<'_>, b: Factor<'_>, size: Size, product: &mut [f32]) {
    let Size { rows: n_rows, inner: n_inner, columns: n_columns } = size;
    a.check(n_rows, n_inner);
    b.check(n_inner, n_columns);
    assert_eq!(product.len(), n_rows * n_columns, "the product has another size");
    let step = |n: usize| isize::try_from(n).expect("a matrix fits into memory");
    // SAFETY: both factors hold every number that their sizes and steps address, and the product
    // has room for its own; all three were just checked.
    #[expect(unsafe_code, reason = "the crate's only interface; see the SAFETY comment")]
    unsafe {
        matrixmultiply::sgemm(
            n_rows,
            n_inner,
            n_columns,
            1.0,
            a.numbers.as_ptr(),
            step(a.row_step),
            step(a.column_step),
            b.numbers.as_ptr(),
            step(b.row_step),
            step(b.column_step),
            0.0,
            product.as_mut_ptr(),
            step(n_columns),
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_worked_by_hand() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 0.0, 2.0, 0.0, 1.0, 1.0]);
        // a and b as two rows of three, and as three rows of two.
        assert_eq!(product_transposed(&a, &b, 3), [7.0, 5.0, 16.0, 11.0]);
        assert_eq!(product(&a, &b, 2), [8.0, 3.0, 20.0, 6.0]);
        assert_eq!(transposed_product(&a, &b, 3), [1.0, 4.0, 6.0, 2.0, 5.0, 9.0, 3.0, 6.0, 12.0]);
    }
}
