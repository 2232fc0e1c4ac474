//! Serves MCP over HTTP on this computer: the transport "Streamable HTTP", without sessions.
//!
//! Every request stands alone, so that nothing is kept for clients that go away. A web page that
//! somebody visits must not reach the server, though its browser can: see `guard.rs`.

mod answer;
mod guard;
mod listener;
mod server;

pub use listener::HttpListener;
pub use server::serve_http;

use std::time::Duration;

use crate::state::MAX_CALLS;

/// Longest body of a request, in bytes.
const MAX_BODY_BYTES: usize = 8 << 20;

/// How long a client may take for the head of a request, for its body, and to read the answer. A
/// connection without a request is closed after as long.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long an answer may take.
const MAX_ANSWER_TIME: Duration = Duration::from_mins(1);

/// Most connections at a time.
const MAX_CONNECTIONS: usize = 128;

/// Most requests that are answered at a time; others wait.
const MAX_REQUESTS: usize = MAX_CALLS;
