//! Serves a [`Router`](skillmux::route::Router) to agents over the Model Context Protocol.
//!
//! The engine stays synchronous; this crate owns the async runtime, the wire format and the texts
//! that a model reads.

mod error;
pub mod mcp;

pub use error::ServerError;
pub use mcp::{SkillServer, serve_stdio};
