//! [`ByteBlocks`]: products with matrices of `Q8_0`, by AVX-512 VNNI.
//!
//! candle multiplies such blocks by AVX2. Here one instruction multiplies 64 bytes and adds up four products each, for 16 rows of the
//! matrix at once. The other side is rounded to blocks of bytes as well, as candle and llama.cpp do.

use candle_core::{
    Device, Result as TensorResult, Tensor,
    quantized::{GgmlDType, QTensor},
};
use half::f16;
use rayon::prelude::*;

/// Numbers of a block, which have one scale.
const N_IN_BLOCK: usize = 32;

/// Bytes of a block in a file: its scale in half precision, and its numbers.
const STORED_BYTES: usize = 2 + N_IN_BLOCK;

/// Numbers that one step of the instruction adds up.
const N_QUAD: usize = 4;
const N_QUADS: usize = N_IN_BLOCK / N_QUAD;

/// Rows of a matrix that are multiplied at once.
const N_LANES: usize = 16;

/// Rows of the other side that are multiplied at once: their sums stay in registers.
const N_TILE: usize = 8;

/// Rows of the other side for which a part of the matrix stays near, at most.
const N_CHUNK: usize = 64;

/// What is added to a signed byte, so that it has no sign.
const EXCESS: i32 = 128;

/// Matrices that read the same input, `[n_out, n_in]`, one below the other.
pub(super) struct ByteBlocks {
    n_in: usize,
    n_out: usize,
    /// 16 rows after the other, and of these a block after the other.
    blocks: Vec<LaneBlock>,
}

/// A block of 16 rows.
#[derive(Clone)]
#[repr(C, align(64))]
struct LaneBlock {
    /// Four numbers of each row in turn, with [`EXCESS`].
    quads: [[u8; N_LANES * N_QUAD]; N_QUADS],
    scales: [f32; N_LANES],
}

/// A block of a row of the other side.
#[derive(Clone, Copy, Default)]
struct RowBlock {
    /// Four signed numbers each.
    quads: [i32; N_QUADS],
    /// What the [`EXCESS`] of the matrix adds to its product, taken off.
    offset: i32,
    scale: f32,
}

impl ByteBlocks {
    /// Returns the matrices as one; `None` if one of them has other blocks or another form, or if the processor lacks the instructions.
    pub(super) fn of(matrices: &[&QTensor]) -> TensorResult<Option<Self>> {
        if !can_multiply() {
            return Ok(None);
        }
        let mut all = Self { n_in: 0, n_out: 0, blocks: Vec::new() };
        for matrix in matrices {
            let &[n_out, n_in] = matrix.shape().dims() else { return Ok(None) };
            let fits = n_in % N_IN_BLOCK == 0 && n_out % N_LANES == 0;
            let is_alike = all.n_out == 0 || all.n_in == n_in;
            if matrix.dtype() != GgmlDType::Q8_0 || !fits || !is_alike || n_in == 0 {
                return Ok(None);
            }
            all.n_in = n_in;
            all.n_out += n_out;
            let stored = matrix.data()?;
            let rows = stored.chunks_exact(n_in / N_IN_BLOCK * STORED_BYTES);
            let rows: Vec<&[[u8; STORED_BYTES]]> = rows.map(|row| row.as_chunks().0).collect();
            for rows in rows.as_chunks::<N_LANES>().0 {
                let of_lanes = |at: usize| LaneBlock::of(rows.map(|row| &row[at]));
                all.blocks.extend((0..n_in / N_IN_BLOCK).map(of_lanes));
            }
        }
        Ok((all.n_out > 0).then_some(all))
    }

    /// Returns `[n_rows, n_out]` of `[n_rows, n_in]`.
    pub(super) fn product(&self, rows: &Tensor) -> TensorResult<Tensor> {
        let (n_rows, n_in) = rows.dims2()?;
        debug_assert_eq!(n_in, self.n_in, "rows are as wide as the matrix");
        let numbers = rows.flatten_all()?.to_vec1::<f32>()?;
        let mut out = vec![0.0; n_rows * self.n_out];
        let a_thread = n_rows.div_ceil(rayon::current_num_threads()).next_multiple_of(N_TILE);
        let n_chunk = a_thread.clamp(N_TILE, N_CHUNK);
        let chunks = out.par_chunks_mut(n_chunk * self.n_out);
        chunks.zip(numbers.par_chunks(n_chunk * n_in)).for_each(|(out, numbers)| {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: there are blocks only if the processor has the instructions.
            #[expect(unsafe_code, reason = "the function needs instructions that not all have")]
            unsafe {
                x86::multiply(self, numbers, out);
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = (out, numbers);
        });
        Tensor::from_vec(out, (n_rows, self.n_out), &Device::Cpu)
    }
}

/// Returns whether the processor has the instructions.
fn can_multiply() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        has!("avx512f") && has!("avx512bw") && has!("avx512vnni")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl LaneBlock {
    /// Lays one block of each row out for the instruction.
    fn of(stored: [&[u8; STORED_BYTES]; N_LANES]) -> Self {
        let mut quads = [[0; N_LANES * N_QUAD]; N_QUADS];
        for (lane, block) in stored.iter().enumerate() {
            let [_, _, numbers @ ..] = block;
            for (at, number) in numbers.iter().enumerate() {
                // Another sign is 128 more.
                quads[at / N_QUAD][lane * N_QUAD + at % N_QUAD] = number ^ 0x80;
            }
        }
        let scales = stored.map(|[low, high, ..]| f16::from_le_bytes([*low, *high]).to_f32());
        Self { quads, scales }
    }
}

impl RowBlock {
    /// Rounds numbers to bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
    #[expect(clippy::cast_possible_truncation, reason = "what is rounded is within 127 of 0")]
    fn of(numbers: &[f32; N_IN_BLOCK]) -> Self {
        let largest = numbers.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = largest / 127.0;
        let factor = if scale > 0.0 { scale.recip() } else { 0.0 };
        let bytes = numbers.map(|x| (x * factor).round_ties_even() as i8);
        let sum: i32 = bytes.iter().map(|byte| i32::from(*byte)).sum();
        let bytes = bytes.map(i8::cast_unsigned);
        let (quads, _) = bytes.as_chunks::<N_QUAD>();
        let quads = std::array::from_fn(|at| i32::from_le_bytes(quads[at]));
        Self { quads, offset: -EXCESS * sum, scale }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_loadu_ps,
        _mm512_loadu_si512, _mm512_mul_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
        _mm512_storeu_ps,
    };

    use super::{ByteBlocks, LaneBlock, N_IN_BLOCK, N_LANES, N_TILE, RowBlock};

    /// Writes the products of some rows, `[n_rows, n_in]`, to `[n_rows, n_out]`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn multiply(matrix: &ByteBlocks, numbers: &[f32], out: &mut [f32]) {
        let n_blocks = matrix.n_in / N_IN_BLOCK;
        let mut rows = Vec::with_capacity(numbers.len() / N_IN_BLOCK);
        // A loop, for a closure would be compiled without the wider instructions.
        for block in numbers.as_chunks::<N_IN_BLOCK>().0 {
            rows.push(RowBlock::of(block));
        }
        for (group, lanes) in matrix.blocks.chunks_exact(n_blocks).enumerate() {
            let tiles = rows.chunks(N_TILE * n_blocks).zip(out.chunks_mut(N_TILE * matrix.n_out));
            for (rows, out) in tiles {
                let mut tile =
                    Tile { lanes, rows, out, n_out: matrix.n_out, column: group * N_LANES };
                match rows.len() / n_blocks {
                    N_TILE => tile.multiply::<N_TILE>(),
                    7 => tile.multiply::<7>(),
                    6 => tile.multiply::<6>(),
                    5 => tile.multiply::<5>(),
                    4 => tile.multiply::<4>(),
                    3 => tile.multiply::<3>(),
                    2 => tile.multiply::<2>(),
                    _ => tile.multiply::<1>(),
                }
            }
        }
    }

    /// Some rows of one side, and 16 of the matrix.
    struct Tile<'t> {
        lanes: &'t [LaneBlock],
        rows: &'t [RowBlock],
        /// The rows of the product.
        out: &'t mut [f32],
        n_out: usize,
        /// The first of 16 columns of the product.
        column: usize,
    }

    impl Tile<'_> {
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
        fn multiply<const N: usize>(&mut self) {
            let n_blocks = self.lanes.len();
            let rows: [&[RowBlock]; N] =
                std::array::from_fn(|at| &self.rows[at * n_blocks..][..n_blocks]);
            let mut totals = [_mm512_setzero_ps(); N];
            for (at, lanes) in self.lanes.iter().enumerate() {
                // SAFETY: there are as many bytes and numbers as are read.
                #[expect(unsafe_code, reason = "the instructions read from an address")]
                let (quads, scales) = unsafe {
                    let mut quads = [_mm512_set1_epi32(0); super::N_QUADS];
                    for (quad, stored) in quads.iter_mut().zip(&lanes.quads) {
                        *quad = _mm512_loadu_si512(stored.as_ptr().cast());
                    }
                    (quads, _mm512_loadu_ps(lanes.scales.as_ptr()))
                };
                for (row, total) in rows.iter().zip(&mut totals) {
                    let row = &row[at];
                    let mut sum = _mm512_set1_epi32(row.offset);
                    for (quad, of_row) in quads.iter().zip(&row.quads) {
                        sum = _mm512_dpbusd_epi32(sum, *quad, _mm512_set1_epi32(*of_row));
                    }
                    let scale = _mm512_mul_ps(scales, _mm512_set1_ps(row.scale));
                    *total = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scale, *total);
                }
            }
            for (row, total) in totals.iter().enumerate() {
                let out = &mut self.out[row * self.n_out + self.column..][..N_LANES];
                // SAFETY: there is room for as many numbers as are written.
                #[expect(unsafe_code, reason = "the instruction writes to an address")]
                unsafe {
                    _mm512_storeu_ps(out.as_mut_ptr(), *total);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use candle_core::{Module, quantized::QMatMul};

    use super::*;

    /// Numbers within 1 of 0, which repeat late.
    fn numbers(n: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        (0..n).map(|_| next()).collect()
    }

    fn tensor(n_rows: usize, n_columns: usize, seed: u32) -> Tensor {
        Tensor::from_vec(numbers(n_rows * n_columns, seed), (n_rows, n_columns), &Device::Cpu)
            .unwrap()
    }

    fn quantised(n_rows: usize, n_columns: usize, seed: u32) -> QTensor {
        QTensor::quantize(&tensor(n_rows, n_columns, seed), GgmlDType::Q8_0).unwrap()
    }

    #[test]
    fn products_are_those_of_candle() {
        if !can_multiply() {
            return;
        }
        for (n_rows, n_in, n_outs) in [
            (1, 32, vec![16]),
            (7, 64, vec![32, 16]),
            (21, 256, vec![48]),
            (150, 96, vec![16, 16, 32]),
        ] {
            let matrices: Vec<_> =
                (1..).zip(&n_outs).map(|(seed, n_out)| quantised(*n_out, n_in, seed)).collect();
            let blocks = ByteBlocks::of(&matrices.iter().collect::<Vec<_>>()).unwrap().unwrap();
            let rows = tensor(n_rows, n_in, 9);
            let product = blocks.product(&rows).unwrap();
            assert_eq!(product.dims(), [n_rows, n_outs.iter().sum()]);
            let parts = matrices
                .into_iter()
                .map(|matrix| QMatMul::from_arc(Arc::new(matrix)).unwrap().forward(&rows).unwrap());
            let expected = Tensor::cat(&parts.collect::<Vec<_>>(), 1).unwrap();
            let apart = (product - &expected).unwrap().abs().unwrap().max_all().unwrap();
            // Sums of as many products of numbers within 1 of 0, each rounded to a part of 127.
            let allowed = 0.01 * (n_in as f32).sqrt();
            assert!(apart.to_scalar::<f32>().unwrap() < allowed, "{n_rows} rows: {apart} apart");
        }
    }

    #[test]
    fn rows_of_zeros_have_products_of_zero() {
        if !can_multiply() {
            return;
        }
        let blocks = ByteBlocks::of(&[&quantised(16, 64, 3)]).unwrap().unwrap();
        let rows = Tensor::zeros((3, 64), candle_core::DType::F32, &Device::Cpu).unwrap();
        let product = blocks.product(&rows).unwrap().flatten_all().unwrap();
        assert_eq!(product.to_vec1::<f32>().unwrap(), vec![0.0; 48]);
    }

    #[test]
    fn other_blocks_and_forms_are_left_to_candle() {
        let other = QTensor::quantize(&tensor(16, 64, 1), GgmlDType::Q4_0).unwrap();
        assert!(ByteBlocks::of(&[&other]).unwrap().is_none());
        assert!(ByteBlocks::of(&[&quantised(8, 64, 1)]).unwrap().is_none());
        assert!(ByteBlocks::of(&[&quantised(16, 64, 1), &other]).unwrap().is_none());
        assert!(ByteBlocks::of(&[]).unwrap().is_none());
    }
}
