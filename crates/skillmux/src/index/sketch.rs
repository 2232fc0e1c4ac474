//! A small fingerprint of a body, to tell near-duplicates without reading them.

/// Number of bins; the standard error of a similarity near 0.8 is about 0.05.
const N_BINS: usize = 64;

/// Units in a shingle. A unit is a word of ASCII letters and digits, or another letter.
const SHINGLE_UNITS: usize = 4;

/// Size of an encoded sketch in bytes.
pub(crate) const SKETCH_BYTES: usize = N_BINS;

/// The 64-bit prime of the FNV hash (Fowler, Noll and Vo), 2^40 + 2^8 + 0xb3.
///
/// We add 1 after each character, so that no word but the empty one is likely to hash to 0.
const FNV_PRIME: u64 = 0x0100_0000_01b3;

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

/// Calls `f` with a hash of every four units of a text that follow each other, in order: what the
/// likeness of two texts is told by. A text of fewer units has none.
///
/// A unit is a word of ASCII letters and digits, or one letter of another script, so that Chinese has
/// shingles of characters; letter case, blanks and punctuation do not count.
pub fn for_each_shingle(text: &str, mut f: impl FnMut(u64)) {
    let mut window = [0_u64; SHINGLE_UNITS];
    let mut n_units = 0_usize;
    for_each_unit(text, |unit| {
        window.rotate_left(1);
        window[SHINGLE_UNITS - 1] = unit;
        n_units += 1;
        if n_units >= SHINGLE_UNITS {
            f(window.iter().fold(0, |hash, unit| mix(hash ^ unit)));
        }
    });
}

fn for_each_unit(text: &str, mut f: impl FnMut(u64)) {
    let mut word = 0_u64;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            word =
                (word ^ u64::from(c.to_ascii_lowercase())).wrapping_mul(FNV_PRIME).wrapping_add(1);
            continue;
        }
        if word != 0 {
            f(mix(word));
            word = 0;
        }
        if !c.is_ascii() && c.is_alphanumeric() {
            f(mix(u64::from(c) << 32));
        }
    }
    if word != 0 {
        f(mix(word));
    }
}

/// Spreads the bits of a number (the finaliser of `MurmurHash3`).
fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
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
