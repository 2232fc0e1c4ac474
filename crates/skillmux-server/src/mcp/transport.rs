//! [`PatientTransport`]: keeps the handshake alive.

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage, ServerResult},
    transport::Transport,
};

/// A transport that drops notifications and responses until the session has begun.
///
/// rmcp ends the server when anything but a request arrives before the handshake, such as the
/// `notifications/cancelled` of a client that gave up on a probe.
pub(super) struct PatientTransport<T> {
    inner: T,
    begun: bool,
}

impl<T> PatientTransport<T> {
    /// Returns a transport over `inner` that waits for a session to begin.
    pub(super) fn new(inner: T) -> Self {
        Self { inner, begun: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for PatientTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        // During the handshake rmcp answers pings, probes and errors only.
        if let JsonRpcMessage::Response(response) = &item {
            self.begun |= !matches!(
                response.result,
                ServerResult::EmptyResult(_) | ServerResult::DiscoverResult(_)
            );
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.inner.receive().await?;
            if self.begun || matches!(message, JsonRpcMessage::Request(_)) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
