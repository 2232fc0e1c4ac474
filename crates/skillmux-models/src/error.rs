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
    /// The bytes are no sequence composer.
    #[error("the sequence composer {detail}")]
    ComposerDamaged {
        /// What is wrong, such as ``has no tensor `x` ``.
        detail: String,
    },
    /// A sequence composer is given another encoder than it was trained with.
    #[error("the sequence composer was trained with the encoder {expected}, and not with {is}")]
    ComposerEncoder {
        /// The encoder that it was trained with.
        expected: String,
        /// The encoder that it was given.
        is: String,
    },
}

impl Error {
    /// Returns who can put this right.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::EncoderDamaged { .. }
            | Self::TransformerDamaged { .. }
            | Self::ComposerDamaged { .. }
            | Self::ComposerEncoder { .. } => ErrorKind::Input,
        }
    }

    /// Returns what the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::EncoderDamaged { .. }
            | Self::TransformerDamaged { .. }
            | Self::ComposerDamaged { .. } => {
                Some("fetch the file again, or train it again".to_owned())
            }
            Self::ComposerEncoder { .. } => Some(
                "name that encoder with --encoder, or train a composer with this one".to_owned(),
            ),
        }
    }
}
