//! [`SkillServer`]: sessions from their beginning to their end.

use rmcp::{
    ServiceExt,
    service::{QuitReason, ServerInitializeError},
    transport::async_rw::AsyncRwTransport,
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{lines::answerable, stop::told_to_stop, tools::Tools, transport::PatientTransport};
use crate::{ServerError, State};

/// An MCP server that routes tasks to skills and reads skills.
///
/// Clones share one router. Each call first picks up a newer generation of the index, if there is
/// one, and then works on it whatever comes after.
#[derive(Clone)]
pub struct SkillServer {
    state: State,
}

impl SkillServer {
    /// Returns a server of this state, or of this router.
    pub fn new(state: impl Into<State>) -> Self {
        Self { state: state.into() }
    }

    /// Returns what it answers from.
    pub(super) fn into_state(self) -> State {
        self.state
    }

    /// Serves one client until `input` ends, with one JSON message per line each way.
    ///
    /// Each line gets an answer, whatever its bytes: what is no message, no JSON, or longer than 8
    /// MiB is answered with an error. A half of a surrogate pair and bytes that are no UTF-8 are
    /// read as U+FFFD. Calls under way when `input` ends get five seconds to finish. Needs a tokio
    /// runtime with its timer enabled.
    ///
    /// # Errors
    ///
    /// [`ServerError::Handshake`] if the session does not start for another reason than a
    /// closed pipe, [`ServerError::Stopped`] if the service panics.
    pub async fn run<R, W>(self, input: R, output: W) -> Result<(), ServerError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let transport =
            PatientTransport::new(AsyncRwTransport::new_server(answerable(input), output));
        let running = match Tools::new(self.state).serve(transport).await {
            Ok(running) => running,
            // The input ended, or the output broke, before the client said anything of use.
            Err(
                ServerInitializeError::ConnectionClosed(_)
                | ServerInitializeError::TransportError { .. },
            ) => return Ok(()),
            Err(source) => return Err(ServerError::Handshake { source: Box::new(source) }),
        };
        match running.waiting().await {
            Ok(QuitReason::JoinError(source)) | Err(source) => {
                Err(ServerError::Stopped { source: Box::new(source) })
            }
            Ok(_) => Ok(()),
        }
    }
}

/// Serves a state, or a router, on standard input and output until the client closes its end, or
/// the process is told to stop (Ctrl-C, or SIGTERM).
///
/// Nothing but protocol messages goes to standard output. End of input and a closed pipe are
/// success, before the handshake too.
///
/// # Errors
///
/// [`ServerError::Runtime`] if the async runtime does not start, and what [`SkillServer::run`]
/// returns.
pub fn serve_stdio(state: impl Into<State>) -> Result<(), ServerError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| ServerError::Runtime { source })?;
    let (input, output) = rmcp::transport::stdio();
    let result = runtime.block_on(async {
        tokio::select! {
            served = SkillServer::new(state).run(input, output) => served,
            () = told_to_stop() => Ok(()),
        }
    });
    // A blocked read of stdin cannot be interrupted: dropping the runtime would wait for it.
    runtime.shutdown_background();
    result
}
