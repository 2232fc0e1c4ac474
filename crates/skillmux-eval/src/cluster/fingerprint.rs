//! [`Fingerprint`]: what is kept of a text to tell near-duplicates.

use skillmux::text::for_each_shingle;

/// Smallest hashes that are kept. The standard error of a similarity near 0.8 is 0.013; texts of
/// fewer shingles are compared exactly.
const N_LEAST: usize = 1024;

/// The least hashes of a text's shingles of four units, ascending, each once: a `MinHash` sketch of
/// one hash function (bottom-k, Broder 1997).
///
/// The order brings texts with the same least hashes together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fingerprint {
    least: Vec<u32>,
}

impl Fingerprint {
    /// Returns the fingerprint of a text; empty if it has fewer units than a shingle.
    pub(super) fn of(text: &str) -> Self {
        let mut least = Vec::with_capacity(text.len() / 4);
        for_each_shingle(text, |shingle| least.push((shingle >> 32) as u32));
        least.sort_unstable();
        least.dedup();
        least.truncate(N_LEAST);
        least.shrink_to_fit();
        Self { least }
    }

    /// Returns the estimated share of shingles that two texts have in common, in `[0, 1]`.
    pub(super) fn similarity(&self, other: &Self) -> f32 {
        let (mut a, mut b) = (self.least.iter().peekable(), other.least.iter().peekable());
        let (mut n_union, mut n_common) = (0_u16, 0_u16);
        // Beyond the shorter of two full lists the union is not known.
        let max_union =
            if self.least.len().max(other.least.len()) < N_LEAST { 2 * N_LEAST } else { N_LEAST };
        while usize::from(n_union) < max_union {
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => {
                    let (x, y) = (**x, **y);
                    n_common += u16::from(x == y);
                    if x <= y {
                        a.next();
                    }
                    if y <= x {
                        b.next();
                    }
                }
                (Some(_), None) => {
                    a.next();
                }
                (None, Some(_)) => {
                    b.next();
                }
                (None, None) => break,
            }
            n_union += 1;
        }
        if n_union == 0 { 0.0 } else { f32::from(n_common) / f32::from(n_union) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(range: std::ops::Range<u32>) -> Fingerprint {
        let words: Vec<String> = range.map(|n| format!("step{n}")).collect();
        Fingerprint::of(&words.join(" "))
    }

    #[test]
    fn similarity_is_the_shared_share() {
        // 1,000 words have 997 shingles; shifted by 100, 897 are shared by 1,097.
        let a = numbered(0..1000);
        for (shift, shared) in [(0, 997.0), (100, 897.0), (333, 664.0), (1000, 0.0_f32)] {
            let expected = shared / (2.0 * 997.0 - shared);
            let found = a.similarity(&numbered(shift..1000 + shift));
            assert!((found - expected).abs() < 0.002, "{shift}: {found} {expected}");
        }
    }

    #[test]
    fn similarity_of_long_texts_is_estimated() {
        let a = numbered(0..20_000);
        let found = a.similarity(&numbered(2_000..22_000));
        // Four standard errors.
        assert!((found - 18_000.0 / 22_000.0).abs() < 0.05, "{found}");
    }

    #[test]
    fn chinese_has_shingles_of_characters() {
        let a = Fingerprint::of("把合同里的付款条款提取出来并检查是否合规");
        let b = Fingerprint::of("把合同里的付款条款提取出来并检查是否完整");
        assert!((0.5..1.0).contains(&a.similarity(&b)));
    }

    #[test]
    fn layout_and_case_do_not_count_and_short_texts_are_like_nothing() {
        let a = Fingerprint::of("Run the tests, then read the log.");
        let b = Fingerprint::of("run  THE tests — then\nread the log");
        assert!((a.similarity(&b) - 1.0).abs() < f32::EPSILON);
        let short = Fingerprint::of("only three words");
        assert!(short.similarity(&short).abs() < f32::EPSILON);
    }
}
