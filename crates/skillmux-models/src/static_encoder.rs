//! [`StaticEncoder`]: a vector a term, added up.
//!
//! The terms are the engine's own ([`Analyzer`]): English stems, parts of identifiers and pairs of
//! Chinese characters. A pair that is not in the vocabulary is read as its two characters; a word
//! that is not in it says nothing, for BM25 finds it where it counts.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use skillmux::{
    error::Result as EngineResult,
    model::{Encoder, EncoderIdentity},
    text::Analyzer,
};

use crate::error::{Error, Result};

const MAGIC: [u8; 8] = *b"smxstat1";
const HEADER_BYTES: usize = 24;

/// A bag of term vectors as an encoder.
///
/// The vector of a text is `Σ (1 + ln n) · w · v` over its distinct terms, scaled to length 1: `n`
/// is how often the text says the term, `v` its vector, and `w` is 1 in a skill and the term's
/// learned weight in a query, where `please create` says less than in a skill.
///
/// Bytes: `magic [8] | n_terms u32 | dim u32 | n_text_bytes u32 | 0 u32`, the terms, each ended by
/// a line feed, then for each term its query weight `f32` and its scale `f32`, and then the
/// vectors, one signed byte a dimension; all numbers are little-endian.
pub struct StaticEncoder {
    identity: EncoderIdentity,
    bytes: Cow<'static, [u8]>,
    row_of: FxHashMap<Cow<'static, str>, u32>,
    numbers_start: usize,
    vectors_start: usize,
}

/// What the bytes of an encoder hold, and where.
struct Parts {
    n_terms: usize,
    dim: usize,
    numbers_start: usize,
    vectors_start: usize,
}

impl Parts {
    fn of(bytes: &[u8]) -> Result<Self> {
        let number = |at: usize| {
            let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let numbers = (number(8), number(12), number(16));
        let (Some(n_terms), Some(dim), Some(n_text_bytes)) = numbers else {
            return Err(damaged("it has no header"));
        };
        if bytes[..8] != MAGIC || dim == 0 {
            return Err(damaged("it is of another kind"));
        }
        let numbers_start = HEADER_BYTES.saturating_add(n_text_bytes);
        let vectors_start = numbers_start.saturating_add(n_terms.saturating_mul(8));
        if vectors_start.checked_add(n_terms.saturating_mul(dim)) != Some(bytes.len()) {
            return Err(damaged("it is cut short"));
        }
        Ok(Self { n_terms, dim, numbers_start, vectors_start })
    }
}

/// Returns the vocabulary of the bytes of an encoder, in the order of the vectors.
///
/// # Errors
/// As for [`StaticEncoder::from_bytes`], but terms are not counted.
pub(crate) fn terms(bytes: &[u8]) -> Result<impl Iterator<Item = &str>> {
    let text = &bytes[HEADER_BYTES..Parts::of(bytes)?.numbers_start];
    let text = std::str::from_utf8(text).map_err(|_| damaged("its terms are no text"))?;
    Ok(text.lines())
}

fn damaged(detail: &'static str) -> Error {
    Error::EncoderDamaged { detail }
}

/// Parts of a [`StaticEncoder`] before they are quantised.
#[derive(Debug, Clone, Copy)]
pub struct EncoderParts<'p> {
    /// The vocabulary, each term once; no term holds a line feed.
    pub terms: &'p [String],
    /// `[n_terms]`: what each term weighs in a query.
    pub query_weights: &'p [f32],
    /// `[n_terms, dim]`, row-major.
    pub vectors: &'p [f32],
    /// Dimensions, at least 1.
    pub dim: usize,
}

impl StaticEncoder {
    /// Name of the architecture, and of the encoder that is embedded.
    pub const NAME: &'static str = "static-bilingual-1";

    /// Reads an encoder.
    ///
    /// # Errors
    /// [`Error::EncoderDamaged`].
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self> {
        let bytes = bytes.into();
        let fingerprint = blake3::hash(&bytes).to_hex()[..16].to_owned();
        Self::read(bytes, fingerprint)
    }

    /// As [`from_bytes`](Self::from_bytes), for bytes of which the beginning of the hash is known.
    #[cfg(feature = "embedded")]
    pub(crate) fn known(bytes: &'static [u8], fingerprint: &str) -> Result<Self> {
        Self::read(bytes.into(), fingerprint.to_owned())
    }

    fn read(bytes: Cow<'static, [u8]>, fingerprint: String) -> Result<Self> {
        let Parts { n_terms, dim, numbers_start, vectors_start } = Parts::of(&bytes)?;
        let mut row_of: FxHashMap<Cow<'static, str>, u32> = FxHashMap::default();
        row_of.reserve(n_terms);
        // Terms of the program are not copied.
        match &bytes {
            Cow::Borrowed(bytes) => {
                row_of.extend(terms(bytes)?.map(Cow::Borrowed).zip(0_u32..));
            }
            Cow::Owned(bytes) => {
                row_of.extend(terms(bytes)?.map(|term| Cow::Owned(term.to_owned())).zip(0_u32..));
            }
        }
        // A term that is there twice would have the row of the second one.
        if terms(&bytes)?.count() != n_terms || row_of.len() != n_terms {
            return Err(damaged("its terms are not as many as its vectors"));
        }
        let dim = u32::try_from(dim).map_err(|_| damaged("it is of another kind"))?;
        let identity = EncoderIdentity { name: Self::NAME.to_owned(), dim, fingerprint };
        Ok(Self { identity, bytes, row_of, numbers_start, vectors_start })
    }

    /// Returns the vocabulary, in no order.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.row_of.keys().map(AsRef::as_ref)
    }

    /// Returns the bytes that [`StaticEncoder::from_bytes`] reads: vectors are rounded to 127 steps
    /// either side of 0, with a scale of their own.
    ///
    /// # Panics
    /// If the vocabulary or its text has 2^32 terms or bytes and more.
    pub fn quantised(parts: &EncoderParts<'_>) -> Vec<u8> {
        let EncoderParts { terms, query_weights, vectors, dim } = *parts;
        let text: String = terms.iter().flat_map(|term| [term.as_str(), "\n"]).collect();
        let narrow = |n: usize| u32::try_from(n).expect("a vocabulary is small").to_le_bytes();
        let mut bytes = MAGIC.to_vec();
        for number in [terms.len(), dim, text.len(), 0] {
            bytes.extend(narrow(number));
        }
        bytes.extend(text.as_bytes());
        let scale_of = |vector: &[f32]| {
            vector.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs())) / 127.0
        };
        for (vector, weight) in vectors.chunks(dim).zip(query_weights) {
            bytes.extend(weight.to_le_bytes());
            bytes.extend(scale_of(vector).to_le_bytes());
        }
        for vector in vectors.chunks(dim) {
            let scale = scale_of(vector);
            bytes.extend(vector.iter().map(|x| rounded(x / scale).to_le_bytes()[0]));
        }
        bytes
    }

    /// Adds the rows of the terms of one text to `rows`.
    fn note(&self, term: &str, rows: &mut Vec<u32>) {
        if let Some(row) = self.row_of.get(term) {
            rows.push(*row);
            return;
        }
        let mut characters = term.chars();
        let is_pair = characters.next().is_some_and(|c| !c.is_ascii())
            && characters.next().is_some()
            && characters.next().is_none();
        if is_pair {
            let mut buffer = [0; 4];
            let single = |c: char| self.row_of.get(&*c.encode_utf8(&mut buffer)).copied();
            rows.extend(term.chars().filter_map(single));
        }
    }

    fn encode_as(&self, texts: &[&str], side: Side) -> Vec<f32> {
        let dim = self.identity.dim as usize;
        let mut vectors = vec![0.0; texts.len() * dim];
        let mut rows = Vec::new();
        let mut current = 0;
        let mut finish = |position: usize, rows: &mut Vec<u32>| {
            self.add_up(rows, side, &mut vectors[position * dim..][..dim]);
            rows.clear();
        };
        Analyzer::new().for_each_term_of(texts, &mut |position, term| {
            if position != current {
                finish(current, &mut rows);
                current = position;
            }
            self.note(term, &mut rows);
        });
        if !texts.is_empty() {
            finish(current, &mut rows);
        }
        vectors
    }

    /// Adds the vectors of the rows, which it sorts, and scales the sum to length 1.
    fn add_up(&self, rows: &mut [u32], side: Side, sum: &mut [f32]) {
        rows.sort_unstable();
        for same in rows.chunk_by(|a, b| a == b) {
            let row = same[0] as usize;
            let at = self.numbers_start + row * 8;
            let weight = match side {
                Side::Skill => 1.0,
                Side::Query => self.number(at),
            };
            let factor = (1.0 + (same.len() as f32).ln()) * weight * self.number(at + 4);
            let vector = &self.bytes[self.vectors_start + row * sum.len()..][..sum.len()];
            for (sum, byte) in sum.iter_mut().zip(vector) {
                *sum += factor * f32::from(i8::from_le_bytes([*byte]));
            }
        }
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            for x in sum.iter_mut() {
                *x /= length;
            }
        }
    }

    fn number(&self, at: usize) -> f32 {
        let bytes = self.bytes[at..at + 4].try_into().expect("the length was checked");
        f32::from_le_bytes(bytes)
    }
}

/// Which side of a match a text is on.
#[derive(Clone, Copy)]
enum Side {
    Skill,
    Query,
}

#[expect(clippy::cast_possible_truncation, reason = "the value is within 127 of 0")]
fn rounded(x: f32) -> i8 {
    x.round().clamp(-127.0, 127.0) as i8
}

impl Encoder for StaticEncoder {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn encode(&self, texts: &[&str]) -> EngineResult<Vec<f32>> {
        Ok(self.encode_as(texts, Side::Skill))
    }

    fn encode_queries(&self, texts: &[&str]) -> EngineResult<Vec<f32>> {
        Ok(self.encode_as(texts, Side::Query))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Vec<u8> {
        let terms = ["merg", "pdf", "表格", "导", "出"].map(str::to_owned);
        let vectors = [1.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.5, 0.5, -1.0, 0.25];
        let query_weights = [0.0, 1.0, 1.0, 1.0, 1.0];
        let parts = EncoderParts {
            terms: &terms,
            query_weights: &query_weights,
            vectors: &vectors,
            dim: 2,
        };
        StaticEncoder::quantised(&parts)
    }

    fn assert_close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            // A step of the quantisation is 1/127 of the largest number of a vector.
            assert!((a - b).abs() < 0.01, "{found:?} is not {expected:?}");
        }
    }

    #[test]
    fn vectors_of_terms_add_up() {
        let encoder = StaticEncoder::from_bytes(small()).unwrap();
        let root = 5.0_f32.sqrt();
        assert_close(&encoder.encode(&["merging PDF"]).unwrap(), &[1.0 / root, 2.0 / root]);
        assert_close(&encoder.encode(&["表格"]).unwrap(), &[0.0, 1.0]);
        let twice = 1.0 + 2.0_f32.ln();
        let length = (twice * twice + 4.0).sqrt();
        let expected = [twice / length, 2.0 / length];
        assert_close(&encoder.encode(&["merge and merge pdf"]).unwrap(), &expected);
    }

    #[test]
    fn terms_weigh_otherwise_in_a_query() {
        let encoder = StaticEncoder::from_bytes(small()).unwrap();
        assert_close(&encoder.encode_queries(&["merge pdf"]).unwrap(), &[0.0, 1.0]);
    }

    #[test]
    fn an_unknown_pair_is_its_characters_and_an_unknown_word_nothing() {
        let encoder = StaticEncoder::from_bytes(small()).unwrap();
        let sum = [-0.5_f32, 0.75];
        let length = (sum[0] * sum[0] + sum[1] * sum[1]).sqrt();
        assert_close(&encoder.encode(&["导出"]).unwrap(), &[sum[0] / length, sum[1] / length]);
        assert_close(&encoder.encode(&["zebra", "", "the"]).unwrap(), &[0.0; 6]);
        assert!(encoder.encode(&[]).unwrap().is_empty());
    }

    #[test]
    fn a_batch_gives_what_one_by_one_gives() {
        let encoder = StaticEncoder::from_bytes(small()).unwrap();
        let texts = ["merge", "", "pdf 表格", "", "导出 pdf"];
        let one_by_one: Vec<f32> =
            texts.iter().flat_map(|text| encoder.encode(&[text]).unwrap()).collect();
        assert_eq!(encoder.encode(&texts).unwrap(), one_by_one);
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let whole = small();
        for n_bytes in 0..whole.len() {
            assert!(StaticEncoder::from_bytes(whole[..n_bytes].to_vec()).is_err(), "{n_bytes}");
        }
        for at in 0..HEADER_BYTES - 4 {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            assert!(StaticEncoder::from_bytes(bytes).is_err(), "byte {at}");
        }
        // Terms in more, or fewer, lines than there are vectors, or one that is there twice.
        for terms in [["tea", "foo\ntea"], ["tea", "tea"], ["tea\nfoo", "bar"]] {
            let parts = EncoderParts {
                terms: &terms.map(str::to_owned),
                query_weights: &[1.0; 2],
                vectors: &[1.0; 4],
                dim: 2,
            };
            let bytes = StaticEncoder::quantised(&parts);
            assert!(StaticEncoder::from_bytes(bytes).is_err(), "{terms:?}");
        }
    }
}
