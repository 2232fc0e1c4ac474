//! The engine of skillmux, the skill router for LLM agents.

pub mod compose;
pub mod decompose;
pub mod error;
pub mod explain;
mod features;
#[cfg(test)]
mod growth;
pub mod index;
pub mod library;
pub mod model;
pub mod page;
pub mod query;
pub mod rerank;
pub mod retrieve;
pub mod route;
pub mod skill;
pub mod text;
pub mod trust;

pub use error::{Diagnostic, Error, ErrorKind, NeedProblem, Result};
