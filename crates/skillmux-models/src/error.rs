//! The error type of models that are read from bytes.

/// Result of a call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are no static encoder.
    #[error("the static encoder is damaged: {detail}")]
    EncoderDamaged {
        /// What is wrong.
        detail: &'static str,
    },
}

impl Error {
    /// Returns what the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::EncoderDamaged { .. } => {
                Some("train it again with: skillmux train encoder".to_owned())
            }
        }
    }
}
