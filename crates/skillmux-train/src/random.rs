//! [`Random`]: numbers that a seed decides, on every machine and in every version.

use std::f32::consts::TAU;

use serde::{Deserialize, Serialize};

/// A generator of pseudo-random numbers (Steele, Lea and Flood 2014, `SplitMix64`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`, which is not 0; the bias is below `n / 2^64`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n).expect("a count fits into 64 bits");
        usize::try_from(self.next() % n).expect("it is below a count")
    }

    /// Returns a number in `[0, 1)`.
    pub(crate) fn share(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Returns a normally distributed number (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f32 {
        let (length, angle) = (self.share().max(f32::EPSILON), self.share());
        (-2.0 * length.ln()).sqrt() * (TAU * angle).cos()
    }

    /// Returns a random one of the items.
    pub(crate) fn choose<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        if items.is_empty() { None } else { items.get(self.below(items.len())) }
    }
}
