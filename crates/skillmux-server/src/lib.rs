//! Serves a [`Router`](skillmux::route::Router) to agents over the Model Context Protocol.
//!
//! The engine is synchronous and knows no protocol. This crate owns the async runtime and what
//! every protocol shares: the [`State`] that calls work on, the table of failures ([`Status`]) and
//! the wire view of an answer; [`mcp`] adds the tools and the texts that a model reads.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use skillmux::{Error, route::Router};
//! use skillmux_server::{State, serve_stdio};
//!
//! /// Says what the owner of the index types to repair it.
//! fn commands(error: &Error) -> Option<String> {
//!     match error {
//!         Error::IndexMissing { path } => Some(format!("run: make-index {}", path.display())),
//!         _ => None,
//!     }
//! }
//!
//! let router = Router::open(Path::new("skills.index"))?;
//! serve_stdio(State::new(router).with_hints(commands))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod explanation;
pub mod mcp;
mod state;
mod status;
mod view;

pub use error::ServerError;
pub use mcp::{HttpListener, SkillServer, enclose, serve_http, serve_stdio};
pub use state::State;
pub use status::Status;
