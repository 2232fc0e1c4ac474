//! Which pairs of skills in two languages are kept for scores.
//!
//! The rule is published, and anyone who trains must be able to follow it: whoever reads pairs asks
//! here, so that what is scored is never trained on.
//!
//! ```
//! use skillmux_eval::dataset::split;
//!
//! assert!(split::is_scored("a/1") && !split::is_scored("a/2"));
//! ```

use sha2::{Digest, Sha256};

/// One pair in so many is kept for scores.
const SCORED_ONE_IN: u32 = 5;

/// Returns whether a pair is kept for scores, and not for training: whether the first eight
/// hexadecimal digits of the SHA-256 of the English id, as a number, are divisible by five.
pub fn is_scored(english_id: &str) -> bool {
    let [a, b, c, d, ..] = <[u8; 32]>::from(Sha256::digest(english_id.as_bytes()));
    u32::from_be_bytes([a, b, c, d]).is_multiple_of(SCORED_ONE_IN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scored_fifth_is_that_of_the_published_rule() {
        // python: int(hashlib.sha256(b"...").hexdigest()[:8], 16) % 5
        let scored: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
            .into_iter()
            .filter(|id| is_scored(id))
            .collect();
        assert_eq!(scored, ["a", "f", "j"]);
        let scored: Vec<_> = (0..12).filter(|n| is_scored(&format!("a/{n}"))).collect();
        assert_eq!(scored, [1, 3, 5]);
    }
}
