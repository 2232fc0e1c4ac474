//! The models inside the `skillmux` binary, and how they are trained.
//!
//! ```
//! let calibration = skillmux_models::abstention().with_vectors;
//! assert!(calibration.threshold > 0.0 && calibration.threshold < 1.0);
//! ```

mod embedded;
pub mod error;
pub mod remote;
mod static_encoder;
pub mod synth;
pub mod train;

pub use embedded::{EmbeddedModel, ModelKind, abstention, embedded_models, encoder, ranker};
pub use error::{Error, Result};
pub use static_encoder::StaticEncoder;
