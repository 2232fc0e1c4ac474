//! The models inside the `skillmux` binary, and those at an endpoint.
//!
//! ```
//! let calibration = skillmux_models::abstention().with_vectors;
//! assert!(calibration.threshold > 0.0 && calibration.threshold < 1.0);
//! ```

#[cfg(feature = "embedded")]
mod embedded;
pub mod error;
#[cfg(feature = "remote")]
pub mod remote;
mod static_encoder;

#[cfg(feature = "embedded")]
pub use embedded::{EmbeddedModel, ModelKind, abstention, embedded_models, encoder, ranker};
pub use error::{Error, Result};
pub use static_encoder::{EncoderParts, StaticEncoder};
