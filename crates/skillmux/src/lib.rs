//! The engine of skillmux, the skill router for LLM agents.

pub mod error;
pub mod library;

pub use error::{Error, ErrorKind, Result};
