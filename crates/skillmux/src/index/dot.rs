//! Dot products of a query with stored vectors.
//!
//! Each kind of number is multiplied with the widest instructions that the processor is found to
//! have. All give the same bits: products of bytes are whole numbers, and those of floating-point
//! numbers are added up in one order, without fused steps. The file needs nothing but the standard
//! library, so that `benches/scan.rs` can be built of it alone.

#[cfg(target_arch = "x86_64")]
use std::arch::is_x86_feature_detected;

/// Sums of floating-point products that are kept apart.
const N_SUMS: usize = 32;

const SINGLE_BYTES: usize = 4;
const HALF_BYTES: usize = 2;

/// Returns the dot product of each row of signed bytes with a query, whose numbers are within 127
/// of 0.
pub(super) fn of_bytes<'r>(rows: impl Iterator<Item = &'r [u8]>, query: &[i16]) -> Vec<i32> {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vnni") {
            // SAFETY: the processor has the instructions, as was just asked.
            #[expect(unsafe_code, reason = "the function needs instructions that not all have")]
            return unsafe { x86::of_bytes_by_vnni(rows, query) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions, as was just asked.
            #[expect(unsafe_code, reason = "the function needs instructions that not all have")]
            return unsafe { x86::of_bytes_by_avx2(rows, query) };
        }
    }
    of_bytes_portably(rows, query)
}

/// Returns the dot product of each row of half-precision numbers with a query.
pub(super) fn of_halves<'r>(rows: impl Iterator<Item = &'r [u8]>, query: &[f32]) -> Vec<f32> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c") {
        // SAFETY: the processor has the instructions, as was just asked.
        #[expect(unsafe_code, reason = "the function needs instructions that not all have")]
        return unsafe { x86::of_halves_by_f16c(rows, query) };
    }
    of_halves_portably(rows, query)
}

/// Returns the dot product of each row of single-precision numbers with a query.
pub(super) fn of_singles<'r>(rows: impl Iterator<Item = &'r [u8]>, query: &[f32]) -> Vec<f32> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions, as was just asked.
        #[expect(unsafe_code, reason = "the function needs instructions that not all have")]
        return unsafe { x86::of_singles_by_avx2(rows, query) };
    }
    of_singles_portably(rows, query)
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::prefetch;

/// Steps that are multiplied at once.
const N_LANES: usize = 16;

#[inline(always)]
#[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
fn of_bytes_portably<'r>(rows: impl Iterator<Item = &'r [u8]>, query: &[i16]) -> Vec<i32> {
    let mut dots = Vec::with_capacity(rows.size_hint().0);
    // Loops, for closures would be compiled without the wider instructions.
    for row in rows {
        dots.push(of_row_of_bytes(row, query));
    }
    dots
}

/// Two products are added as 16-bit numbers, which they fit into: 2 · 127 · 127 is 32,258.
#[inline(always)]
#[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
fn of_row_of_bytes(stored: &[u8], query: &[i16]) -> i32 {
    let (stored_pairs, stored_rest) = stored.as_chunks::<{ 2 * N_LANES }>();
    let (query_pairs, query_rest) = query.as_chunks::<{ 2 * N_LANES }>();
    let mut sums = [0_i32; N_LANES];
    for (a, b) in stored_pairs.iter().zip(query_pairs) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let first = product(a[lane], b[lane]);
            let second = product(a[lane + N_LANES], b[lane + N_LANES]);
            *sum += i32::from(first.wrapping_add(second));
        }
    }
    let mut total = 0;
    for sum in sums {
        total += sum;
    }
    for (a, b) in stored_rest.iter().zip(query_rest) {
        total += i32::from(product(*a, *b));
    }
    total
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
fn product(stored: u8, query: i16) -> i16 {
    i16::from(i8::from_le_bytes([stored])).wrapping_mul(query)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
fn of_halves_portably<'r>(rows: impl Iterator<Item = &'r [u8]>, query: &[f32]) -> Vec<f32> {
    let (queries, query_rest) = query.as_chunks::<N_SUMS>();
    let mut dots = Vec::with_capacity(rows.size_hint().0);
    for row in rows {
        let (chunks, rest) = row.as_chunks::<{ HALF_BYTES * N_SUMS }>();
        let mut sums = [0.0; N_SUMS];
        for (chunk, query) in chunks.iter().zip(queries) {
            let (halves, _) = chunk.as_chunks::<HALF_BYTES>();
            for lane in 0..N_SUMS {
                sums[lane] += single(halves[lane]) * query[lane];
            }
        }
        for (lane, (half, x)) in rest.as_chunks::<HALF_BYTES>().0.iter().zip(query_rest).enumerate()
        {
            sums[lane] += single(*half) * x;
        }
        dots.push(total(sums));
    }
    dots
}

/// 2^112, by which the exponents of half and of single precision differ.
const HALF_FACTOR: f32 = f32::from_bits((127 + 112) << 23);

/// Returns a finite number of half precision as one of single precision, exactly, small numbers
/// included.
#[inline(always)]
#[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
fn single(half: [u8; HALF_BYTES]) -> f32 {
    let half = u32::from(u16::from_le_bytes(half));
    f32::from_bits((half & 0x8000) << 16 | (half & 0x7fff) << 13) * HALF_FACTOR
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
fn of_singles_portably<'r>(rows: impl Iterator<Item = &'r [u8]>, query: &[f32]) -> Vec<f32> {
    let (queries, query_rest) = query.as_chunks::<N_SUMS>();
    let mut dots = Vec::with_capacity(rows.size_hint().0);
    for row in rows {
        let (chunks, rest) = row.as_chunks::<{ SINGLE_BYTES * N_SUMS }>();
        let mut sums = [0.0; N_SUMS];
        for (chunk, query) in chunks.iter().zip(queries) {
            prefetch(chunk);
            let (numbers, _) = chunk.as_chunks::<SINGLE_BYTES>();
            for lane in 0..N_SUMS {
                sums[lane] += f32::from_le_bytes(numbers[lane]) * query[lane];
            }
        }
        let numbers = rest.as_chunks::<SINGLE_BYTES>().0;
        for (lane, (number, x)) in numbers.iter().zip(query_rest).enumerate() {
            sums[lane] += f32::from_le_bytes(*number) * x;
        }
        dots.push(total(sums));
    }
    dots
}

/// Does nothing: where the instruction is not known, the processor looks ahead by itself.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn prefetch<const N: usize>(_: &[u8; N]) {}

/// Adds up halves of the sums, one onto the other.
#[inline(always)]
#[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
fn total(mut sums: [f32; N_SUMS]) -> f32 {
    let mut n = N_SUMS / 2;
    while n > 0 {
        for lane in 0..n {
            sums[lane] += sums[lane + n];
        }
        n /= 2;
    }
    sums[0]
}

/// The same, with instructions that not all processors have.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256, __m512i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm256_add_ps,
        _mm256_cvtph_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_setzero_ps, _mm256_storeu_ps,
        _mm512_add_epi32, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_reduce_add_epi32,
        _mm512_set1_epi8, _mm512_setzero_si512, _mm512_xor_si512,
    };

    use super::{HALF_BYTES, N_SUMS};

    /// Bytes that are multiplied at once.
    const N_BYTES: usize = 64;

    /// Numbers that are multiplied at once.
    const N_NUMBERS: usize = 8;

    /// Bytes that memory brings at once.
    const N_LINE_BYTES: usize = 64;

    /// Bytes by which memory is asked for before it is read.
    const N_BYTES_AHEAD: usize = 4096;

    /// Asks for what will be read soon after these bytes: the processor does so by itself, but too
    /// late.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "is one instruction for each line of memory")]
    pub(crate) fn prefetch<const N: usize>(bytes: &[u8; N]) {
        for at in (0..N).step_by(N_LINE_BYTES) {
            // SAFETY: asking for memory is no access to it, so that any address will do.
            #[expect(unsafe_code, reason = "the instruction takes an address")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(N_BYTES_AHEAD + at).cast());
            }
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn of_bytes_by_avx2<'r>(
        rows: impl Iterator<Item = &'r [u8]>,
        query: &[i16],
    ) -> Vec<i32> {
        super::of_bytes_portably(rows, query)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn of_singles_by_avx2<'r>(
        rows: impl Iterator<Item = &'r [u8]>,
        query: &[f32],
    ) -> Vec<f32> {
        super::of_singles_portably(rows, query)
    }

    /// The instruction multiplies unsigned bytes with signed ones. A stored byte with its sign
    /// turned over is 128 more than it was, so that the sum is too large by 128 times the sum of
    /// the query.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn of_bytes_by_vnni<'r>(
        rows: impl Iterator<Item = &'r [u8]>,
        query: &[i16],
    ) -> Vec<i32> {
        let signs = _mm512_set1_epi8(i8::MIN);
        let mut queries = vec![[0_u8; N_BYTES]; query.len().div_ceil(N_BYTES)];
        for (at, step) in query.iter().enumerate() {
            queries[at / N_BYTES][at % N_BYTES] = step.to_le_bytes()[0];
        }
        let excess = 128 * query.iter().map(|step| i32::from(*step)).sum::<i32>();
        let mut dots = Vec::with_capacity(rows.size_hint().0);
        for row in rows {
            let (chunks, rest) = row.as_chunks::<N_BYTES>();
            let mut sums = [_mm512_setzero_si512(); 2];
            let (pairs, odd) = chunks.as_chunks::<2>();
            let (query_pairs, query_odd) =
                queries[..chunks.len().min(queries.len())].as_chunks::<2>();
            for (pair, query) in pairs.iter().zip(query_pairs) {
                for at in 0..2 {
                    prefetch(&pair[at]);
                    let stored = _mm512_xor_si512(load(&pair[at]), signs);
                    sums[at] = _mm512_dpbusd_epi32(sums[at], stored, load(&query[at]));
                }
            }
            for (chunk, query) in odd.iter().zip(query_odd) {
                let stored = _mm512_xor_si512(load(chunk), signs);
                sums[0] = _mm512_dpbusd_epi32(sums[0], stored, load(query));
            }
            if let (false, Some(query)) = (rest.is_empty(), queries.last()) {
                let mut chunk = [0; N_BYTES];
                chunk[..rest.len()].copy_from_slice(rest);
                let stored = _mm512_xor_si512(load(&chunk), signs);
                sums[1] = _mm512_dpbusd_epi32(sums[1], stored, load(query));
            }
            let [first, second] = sums;
            dots.push(
                _mm512_reduce_add_epi32(_mm512_add_epi32(first, second)).wrapping_sub(excess),
            );
        }
        dots
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(bytes: &[u8; N_BYTES]) -> __m512i {
        // SAFETY: there are as many bytes as are read.
        #[expect(unsafe_code, reason = "the instruction reads from an address")]
        unsafe {
            _mm512_loadu_si512(bytes.as_ptr().cast())
        }
    }

    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn of_halves_by_f16c<'r>(
        rows: impl Iterator<Item = &'r [u8]>,
        query: &[f32],
    ) -> Vec<f32> {
        let mut queries = vec![[0.0; N_SUMS]; query.len().div_ceil(N_SUMS)];
        for (at, x) in query.iter().enumerate() {
            queries[at / N_SUMS][at % N_SUMS] = *x;
        }
        let mut dots = Vec::with_capacity(rows.size_hint().0);
        for row in rows {
            let (chunks, rest) = row.as_chunks::<{ HALF_BYTES * N_SUMS }>();
            let mut sums = [_mm256_setzero_ps(); N_SUMS / N_NUMBERS];
            for (chunk, query) in chunks.iter().zip(&queries) {
                prefetch(chunk);
                add_products(&mut sums, chunk, query);
            }
            if let (false, Some(query)) = (rest.is_empty(), queries.last()) {
                let mut chunk = [0; HALF_BYTES * N_SUMS];
                chunk[..rest.len()].copy_from_slice(rest);
                add_products(&mut sums, &chunk, query);
            }
            dots.push(total(&sums));
        }
        dots
    }

    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    fn add_products(
        sums: &mut [__m256; N_SUMS / N_NUMBERS],
        halves: &[u8; HALF_BYTES * N_SUMS],
        query: &[f32; N_SUMS],
    ) {
        let (halves, _) = halves.as_chunks::<{ HALF_BYTES * N_NUMBERS }>();
        let (query, _) = query.as_chunks::<N_NUMBERS>();
        for (at, sum) in sums.iter_mut().enumerate() {
            // SAFETY: there are as many halves and numbers as are read.
            #[expect(unsafe_code, reason = "the instructions read from an address")]
            let (halves, query) = unsafe {
                (_mm_loadu_si128(halves[at].as_ptr().cast()), _mm256_loadu_ps(query[at].as_ptr()))
            };
            *sum = _mm256_add_ps(*sum, _mm256_mul_ps(_mm256_cvtph_ps(halves), query));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn total(sums: &[__m256; N_SUMS / N_NUMBERS]) -> f32 {
        let mut numbers = [0.0; N_SUMS];
        for (numbers, sum) in numbers.as_chunks_mut::<N_NUMBERS>().0.iter_mut().zip(sums) {
            // SAFETY: there are as many numbers as are written.
            #[expect(unsafe_code, reason = "the instruction writes to an address")]
            unsafe {
                _mm256_storeu_ps(numbers.as_mut_ptr(), *sum);
            }
        }
        super::total(numbers)
    }
}

#[cfg(test)]
mod tests {
    use half::f16;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_processor_gives_the_same_bits(
            (rows, query) in (1..300_usize).prop_flat_map(|dim| {
                let vector = move || prop::collection::vec(-1.0_f32..1.0, dim);
                (prop::collection::vec(vector(), 0..4), vector())
            }),
        ) {
            #[expect(clippy::cast_possible_truncation, reason = "the value is within 127 of 0")]
            let step = |x: &f32| (x * 127.0).round() as i16;
            let steps: Vec<i16> = query.iter().map(step).collect();
            let bytes = |row: &Vec<f32>| -> Vec<u8> { row.iter().map(|x| step(x).to_le_bytes()[0]).collect() };
            let bytes: Vec<_> = rows.iter().map(bytes).collect();
            let products = |row: &Vec<f32>| -> i32 {
                row.iter().zip(&steps).map(|(a, b)| i32::from(step(a)) * i32::from(*b)).sum()
            };
            let expected: Vec<i32> = rows.iter().map(products).collect();
            prop_assert_eq!(of_bytes(bytes.iter().map(Vec::as_slice), &steps), expected.clone());
            prop_assert_eq!(of_bytes_portably(bytes.iter().map(Vec::as_slice), &steps), expected);

            let halves = |row: &Vec<f32>| -> Vec<u8> {
                // Some are too small for full precision.
                row.iter().flat_map(|x| f16::from_f32(x.powi(9)).to_le_bytes()).collect()
            };
            let halves: Vec<_> = rows.iter().map(halves).collect();
            let [wide, portable] = [
                of_halves(halves.iter().map(Vec::as_slice), &query),
                of_halves_portably(halves.iter().map(Vec::as_slice), &query),
            ];
            prop_assert_eq!(bits(&wide), bits(&portable));

            let singles = |row: &Vec<f32>| -> Vec<u8> { row.iter().flat_map(|x| x.to_le_bytes()).collect() };
            let singles: Vec<_> = rows.iter().map(singles).collect();
            let [wide, portable] = [
                of_singles(singles.iter().map(Vec::as_slice), &query),
                of_singles_portably(singles.iter().map(Vec::as_slice), &query),
            ];
            prop_assert_eq!(bits(&wide), bits(&portable));
        }
    }

    fn bits(dots: &[f32]) -> Vec<u32> {
        dots.iter().map(|dot| dot.to_bits()).collect()
    }

    #[test]
    fn largest_steps_do_not_overflow() {
        let (row, query) = (vec![0x81; 1000], vec![-127; 1000]);
        for dots in [
            of_bytes([&row[..]].into_iter(), &query),
            of_bytes_portably([&row[..]].into_iter(), &query),
        ] {
            assert_eq!(dots, [127 * 127 * 1000]);
        }
    }

    #[test]
    fn every_finite_half_is_read_exactly() {
        for half in (0..=u16::MAX).map(f16::from_bits).filter(|half| half.is_finite()) {
            assert_eq!(single(half.to_le_bytes()).to_bits(), half.to_f32().to_bits(), "{half}");
        }
    }
}
