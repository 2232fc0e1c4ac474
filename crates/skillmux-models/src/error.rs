//! The error type of models that are read from bytes.

use skillmux::ErrorKind;

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
    /// The parts are no transformer.
    #[error("the transformer {detail}")]
    TransformerDamaged {
        /// What is wrong, such as ``has no tensor `x` ``.
        detail: String,
    },
}

impl Error {
    /// Returns who can put this right.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::EncoderDamaged { .. } | Self::TransformerDamaged { .. } => ErrorKind::Input,
        }
    }

    /// Returns what the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::EncoderDamaged { .. } | Self::TransformerDamaged { .. } => {
                Some("fetch the file again, or train it again".to_owned())
            }
        }
    }
}
