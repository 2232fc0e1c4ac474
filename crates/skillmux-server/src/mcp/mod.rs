//! Offers a router to agents as two MCP tools, `find_skills` and `read_skill`.
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
mod failure;
mod find_skills;
mod markup;
mod page;
mod read_skill;
mod reply;
mod server;
mod transport;

pub use server::SkillServer;

use skillmux::route::Router;

use crate::ServerError;

/// Serves `router` on standard input and output until the client closes its end.
///
/// Nothing but protocol messages goes to standard output. End of input and a closed pipe are
/// success, before the handshake too.
///
/// # Errors
///
/// [`ServerError::Runtime`] if the async runtime does not start, and what [`SkillServer::run`]
/// returns.
pub fn serve_stdio(router: Router) -> Result<(), ServerError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| ServerError::Runtime { source })?;
    let (input, output) = rmcp::transport::stdio();
    let result = runtime.block_on(SkillServer::new(router).run(input, output));
    // A blocked read of stdin cannot be interrupted: dropping the runtime would wait for it.
    runtime.shutdown_background();
    result
}
