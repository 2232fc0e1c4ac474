//! A small fingerprint of a body, to tell near-duplicates without reading them.

use crate::text::{for_each_shingle, mix};

/// Number of bins; the standard error of a similarity near 0.8 is about 0.05.
const N_BINS: usize = 64;

/// Size of an encoded sketch in bytes.
pub(crate) const SKETCH_BYTES: usize = N_BINS;

/// Value of a bin that no shingle fell into.
const EMPTY: u8 = 0;

/// One-permutation `MinHash` over shingles of four units, one byte a bin (Li, Owen and Zhang 2012).
///
/// Texts of fewer than four units have an empty sketch, which is similar to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sketch([u8; N_BINS]);

impl Sketch {
    /// Returns the sketch of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut least = [u64::MAX; N_BINS];
        for_each_shingle(text, |shingle| {
            let bin = &mut least[(shingle >> 58) as usize];
            *bin = (*bin).min(shingle & (u64::MAX >> 6));
        });
        Self(least.map(
            |least| {
                if least == u64::MAX { EMPTY } else { 1 + (mix(least) % 255) as u8 }
            },
        ))
    }

    /// Returns the estimated Jaccard similarity of the shingle sets, in `[0, 1]`.
    pub(crate) fn similarity(&self, other: &Self) -> f32 {
        let mut n_equal = 0_u8;
        let mut n_filled = 0_u8;
        for (a, b) in self.0.iter().zip(&other.0) {
            n_filled += u8::from(*a != EMPTY || *b != EMPTY);
            n_equal += u8::from(*a != EMPTY && a == b);
        }
        if n_filled == 0 { 0.0 } else { f32::from(n_equal) / f32::from(n_filled) }
    }

    pub(crate) fn to_bytes(self) -> [u8; SKETCH_BYTES] {
        self.0
    }

    pub(crate) fn from_bytes(bytes: [u8; SKETCH_BYTES]) -> Self {
        Self(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(range: std::ops::Range<u32>) -> String {
        range.map(|n| format!("step{n}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_copy_with_other_case_and_layout_is_the_same() {
        let a = "Run the tests, then read the log and fix what failed.";
        let b = "run  THE tests — then\nread the log; and fix what failed";
        assert_eq!(Sketch::of(a), Sketch::of(b));
    }

    #[test]
    fn similarity_estimates_the_shared_share() {
        let a = Sketch::of(&numbered(0..1000));
        for (shift, jaccard) in [(0, 1.0_f32), (100, 0.82), (333, 0.5), (1000, 0.0)] {
            let b = Sketch::of(&numbered(shift..1000 + shift));
            let estimate = a.similarity(&b);
            // Three standard errors of 64 bins.
            assert!((estimate - jaccard).abs() < 0.19, "shift {shift}: {estimate}");
        }
    }

    #[test]
    fn texts_too_short_for_a_shingle_are_similar_to_nothing() {
        let short = Sketch::of("two words");
        assert!(short.similarity(&short).abs() < f32::EPSILON);
    }

    #[test]
    fn chinese_texts_have_shingles() {
        let a = Sketch::of("把合同里的付款条款提取出来并检查是否合规");
        let b = Sketch::of("把合同里的付款条款提取出来并检查是否完整");
        assert!((0.5..1.0).contains(&a.similarity(&b)));
    }
}
