//! [`PairScorer`]: how well a text serves a query.

use std::fmt;

use super::EncoderIdentity;
use crate::error::Result;

/// Reads a query and a text together, and says how well the text serves the query: a cross-encoder.
///
/// The contract, for `n` texts:
/// - the answer has `n` finite scores, in the order of the texts; a higher one is better;
/// - a score depends on the query and its own text only: a batch gives what one by one gives,
///   within `1e-4`;
/// - no text is too long: a model with a limit reads the beginning;
/// - no texts give no scores.
pub trait PairScorer: Send + Sync {
    /// Returns which model this is; two with the same identity give the same scores.
    fn identity(&self) -> &PairScorerIdentity;

    /// Returns a score for each text, in log-odds where the model has been trained for them.
    ///
    /// # Errors
    /// [`Error::PairScorer`](crate::Error::PairScorer) if the model fails, as a remote one may.
    fn scores(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>>;
}

impl fmt::Debug for dyn PairScorer + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PairScorer").field(self.identity()).finish()
    }
}

/// Which cross-encoder scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairScorerIdentity {
    /// Name of the model and, for a remote one, of where it runs.
    pub name: String,
    /// Hash of the weights and of the instruction, so that another model under the same name is
    /// noticed; empty for a remote one.
    pub fingerprint: String,
}

impl PairScorerIdentity {
    /// Returns the name and the beginning of the fingerprint, as
    /// [`EncoderIdentity::short`](EncoderIdentity::short) does.
    pub fn short(&self) -> String {
        EncoderIdentity { name: self.name.clone(), dim: 0, fingerprint: self.fingerprint.clone() }
            .short()
    }
}
