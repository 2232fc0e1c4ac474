//! An encoder of a few lines, for tests and for the golden index.

use skillmux::{
    error::Result,
    model::{Encoder, EncoderIdentity},
    text::Analyzer,
};

/// Adds up a direction for each term, drawn by the hash of the term.
pub(crate) struct TermEncoder(EncoderIdentity);

impl TermEncoder {
    /// Returns an encoder; those with different fingerprints have nothing in common.
    pub(crate) fn new(fingerprint: &str) -> Self {
        let (name, fingerprint) = ("terms".to_owned(), fingerprint.to_owned());
        Self(EncoderIdentity { name, dim: 24, fingerprint })
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0_f32; self.dim()];
        Analyzer::new().for_each_term(text, &mut |term| {
            let seeds = term.bytes().chain(self.0.fingerprint.bytes());
            let mut hash = seeds
                .fold(7_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            for x in &mut sum {
                hash = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                *x += (hash >> 40) as f32 / (1_u64 << 23) as f32 - 1.0;
            }
        });
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            for x in &mut sum {
                *x /= length;
            }
        }
        sum
    }
}

impl Encoder for TermEncoder {
    fn identity(&self) -> &EncoderIdentity {
        &self.0
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<f32>> {
        Ok(texts.iter().flat_map(|text| self.vector(text)).collect())
    }
}
