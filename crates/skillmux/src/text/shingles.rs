//! Shingles: what the likeness of two texts is told by.

/// Units in a shingle. A unit is a word of ASCII letters and digits, or another letter.
const SHINGLE_UNITS: usize = 4;

/// The 64-bit prime of the FNV hash (Fowler, Noll and Vo), 2^40 + 2^8 + 0xb3.
///
/// We add 1 after each character, so that no word but the empty one is likely to hash to 0.
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Calls `f` with a hash of every four units of a text that follow each other, in order: what the
/// likeness of two texts is told by. A text of fewer units has none.
///
/// A unit is a word of ASCII letters and digits, or one letter of another script, so that Chinese
/// has shingles of characters; letter case, blanks and punctuation do not count.
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
pub(crate) fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}
