//! Models that run elsewhere and are asked over HTTP.
//!
//! ```no_run
//! use skillmux::model::{ChatMessage, ChatModel, ChatRequest};
//! use skillmux_models::remote::{ChatEndpoint, EndpointConfig};
//!
//! let config = EndpointConfig::new("http://localhost:11434/v1", "qwen3:8b");
//! let model = ChatEndpoint::new(config)?;
//! let request = ChatRequest::deterministic(vec![ChatMessage::user("Say yes.")], 10);
//! println!("{}", model.complete(&request)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chat;
mod endpoint;
mod error;

pub use chat::ChatEndpoint;
pub use endpoint::{ApiKey, EndpointConfig, Retries};
pub use error::RemoteError;
