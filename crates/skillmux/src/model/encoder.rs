//! [`Encoder`]: texts to vectors.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Turns texts into vectors that are close where the texts mean the same.
///
/// The contract, for `n` texts and [`dim`](Self::dim) dimensions:
/// - the answer is `[n, dim]`, row-major: the vector of text `i` is `answer[i * dim..][..dim]`;
/// - a row has Euclidean length 1 within `1e-3`, or is all zero where the text says nothing to the
///   model (as an empty one);
/// - all numbers are finite;
/// - a row depends on its own text only: a batch gives what one by one gives, within `1e-5`, and a
///   model that the index keeps vectors of gives the same bits each time;
/// - no text is too long: a model with a limit reads the beginning.
///
/// The similarity of two texts is the dot product of their rows, in `[-1, 1]`.
pub trait Encoder: Send + Sync {
    /// Returns which model this is; two with the same identity give the same vectors.
    fn identity(&self) -> &EncoderIdentity;

    /// Returns the number of dimensions.
    fn dim(&self) -> usize {
        self.identity().dim as usize
    }

    /// Returns the vectors of parts of skills.
    ///
    /// # Errors
    /// [`Error::Encoder`](crate::Error::Encoder) if the model fails, as a remote one may.
    fn encode(&self, texts: &[&str]) -> Result<Vec<f32>>;

    /// Returns the vectors of queries, which some models read with an instruction of their own.
    ///
    /// # Errors
    /// As for [`encode`](Self::encode).
    fn encode_queries(&self, texts: &[&str]) -> Result<Vec<f32>> {
        self.encode(texts)
    }

    /// Returns how much of a query [`encode_queries`](Self::encode_queries) reads, in `(0, 1]`:
    /// below 1 for a query that is longer than the limit of the model.
    fn read_share(&self, _query: &str) -> f32 {
        1.0
    }
}

impl fmt::Debug for dyn Encoder + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Encoder").field(self.identity()).finish()
    }
}

/// Which encoder made vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncoderIdentity {
    /// Name and version of the encoder.
    pub name: String,
    /// Number of dimensions.
    pub dim: u32,
    /// Hash of the weights, so that retraining under the same name is noticed.
    pub fingerprint: String,
}

impl EncoderIdentity {
    /// Returns the name and the beginning of the fingerprint, `name:1a2b3c4d`.
    pub fn short(&self) -> String {
        let fingerprint: String = self.fingerprint.chars().take(8).collect();
        format!("{}:{fingerprint}", self.name)
    }
}

impl fmt::Display for EncoderIdentity {
    /// Shows the name, the dimension and the beginning of the fingerprint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fingerprint: String = self.fingerprint.chars().take(8).collect();
        write!(f, "{} ({} dimensions, {fingerprint})", self.name, self.dim)
    }
}
