//! [`PatientTransport`]: keeps the handshake alive, answers what is no message, and says errors in
//! sentences.

use std::pin::Pin;

use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ErrorData, JsonRpcMessage, ServerJsonRpcMessage,
        ServerResult,
    },
    transport::Transport,
};

use super::{
    failure::{name_handshake, name_method},
    lines::NO_JSON,
};

/// A transport that drops notifications and responses until the session has begun, answers lines
/// that are no JSON, and says in a sentence that there is no such method, or that the session has
/// not begun.
///
/// rmcp ends the server when anything but a request arrives before the handshake, such as the
/// `notifications/cancelled` of a client that gave up on a probe. Lines that are no JSON get no
/// answer of rmcp.
pub(super) struct PatientTransport<T: Transport<RoleServer>> {
    inner: T,
    begun: bool,
    /// An answer on its way: `receive` may be dropped at any time, and must not lose it.
    answer: Option<Sending<T::Error>>,
}

type Sending<E> = Pin<Box<dyn Future<Output = Result<(), E>> + Send>>;

impl<T: Transport<RoleServer>> PatientTransport<T> {
    /// Returns a transport over `inner` that waits for a session to begin.
    pub(super) fn new(inner: T) -> Self {
        Self { inner, begun: false, answer: None }
    }
}

/// Returns whether a message stands for a line that is no JSON.
fn is_no_json(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Notification(message) = message else { return false };
    matches!(&message.notification, ClientNotification::CustomNotification(custom) if custom.method == NO_JSON)
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for PatientTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        mut item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        // During the handshake rmcp answers pings, probes and errors only.
        if let JsonRpcMessage::Response(response) = &item {
            self.begun |= !matches!(
                response.result,
                ServerResult::EmptyResult(_) | ServerResult::DiscoverResult(_)
            );
        }
        if let JsonRpcMessage::Error(error) = &mut item {
            name_method(&mut error.error);
            if !self.begun {
                name_handshake(&mut error.error);
            }
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(answer) = &mut self.answer {
                // Where nobody reads any more, the input ends as well.
                let _ = answer.await;
                self.answer = None;
            }
            let message = self.inner.receive().await?;
            if is_no_json(&message) {
                // An id that cannot be told is left out: MCP has no `null` for it.
                let error = ErrorData::parse_error("the line is no JSON", None);
                self.answer = Some(Box::pin(self.inner.send(JsonRpcMessage::error(error, None))));
                continue;
            }
            if self.begun || matches!(message, JsonRpcMessage::Request(_)) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
