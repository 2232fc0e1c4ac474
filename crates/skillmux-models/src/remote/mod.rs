//! Models that run elsewhere and are asked over HTTP.
//!
//! ```no_run
//! use skillmux::model::{ChatMessage, ChatModel, ChatRequest, Encoder, PairScorer};
//! use skillmux_models::remote::{
//!     BatchLimits, ChatEndpoint, EncoderEndpoint, EncoderOptions, EndpointConfig,
//!     PairScorerEndpoint, PairScorerOptions, PairScorerProtocol,
//! };
//!
//! let config = EndpointConfig::new("http://localhost:11434/v1", "qwen3:8b");
//! let model = ChatEndpoint::new(config)?;
//! let request = ChatRequest::deterministic(vec![ChatMessage::user("Say yes.")], 10);
//! println!("{}", model.complete(&request)?);
//!
//! let config = EndpointConfig::new("http://localhost:11434/v1", "bge-m3");
//! let encoder = EncoderEndpoint::open(config, EncoderOptions::default())?;
//! println!("{:?}", encoder.encode(&["Builds slide decks"])?);
//!
//! let config = EndpointConfig::new("http://localhost:8080", "bge-reranker-v2-m3");
//! let options =
//!     PairScorerOptions { protocol: PairScorerProtocol::Tei, batches: BatchLimits::default() };
//! let scorer = PairScorerEndpoint::new(config, options)?;
//! println!("{:?}", scorer.scores("make slides", &["Builds slide decks"])?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod chat;
mod encoder;
mod endpoint;
mod error;
mod pair_scorer;
#[cfg(test)]
mod test_server;

pub use crate::http::{ApiKey, Retries};
pub use batch::BatchLimits;
pub use chat::ChatEndpoint;
pub use encoder::{EncoderEndpoint, EncoderOptions, EncoderProtocol};
pub use endpoint::EndpointConfig;
pub use error::RemoteError;
pub use pair_scorer::{PairScorerEndpoint, PairScorerOptions, PairScorerProtocol, RelevanceScale};

/// Returns a number in single precision.
#[expect(clippy::cast_possible_truncation, reason = "precision beyond that of scores is dropped")]
fn single(number: f64) -> f32 {
    number as f32
}
