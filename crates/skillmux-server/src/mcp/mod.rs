//! Offers a router to agents as three MCP tools: `find_skills`, `read_skill` and `explain_route`.
//!
//! The tool set is fixed and every call stands alone: nothing is remembered between calls, so
//! the same request gets the same answer in any session of any protocol version.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use skillmux::route::Router;
//!
//! let router = Router::open(Path::new("skills.index"))?;
//! skillmux_server::serve_stdio(router)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod explain_route;
mod explain_text;
mod failure;
mod find_skills;
mod handler;
mod http;
mod lines;
mod markup;
mod read_skill;
mod reply;
mod schema;
mod server;
mod skills;
mod stop;
mod text;
mod tools;
mod transport;

pub use http::{HttpListener, serve_http};
pub use markup::enclose;
pub use server::{SkillServer, serve_stdio};
