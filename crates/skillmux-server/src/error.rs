//! Why a server could not start or had to stop.

use std::{error::Error, io, net::SocketAddr};

use skillmux::ErrorKind;

/// Everything that ends a server before its client does.
///
/// A failed tool call is not among them: the agent reads about it in the answer, and the server
/// goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The system refused the threads or handles that the async runtime needs.
    #[error("cannot start the async runtime")]
    Runtime {
        /// What the system said.
        source: io::Error,
    },
    /// A text that should be an address to listen on is none.
    #[error("`{text}` is no address to listen on")]
    Address {
        /// The text.
        text: String,
    },
    /// Other computers could reach the address.
    #[error("`{address}` is not an address of this computer alone")]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// The system does not let the server listen.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The client and the server did not agree on how to talk.
    #[error("the MCP handshake failed")]
    Handshake {
        /// What the protocol library said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The task that serves messages panicked.
    #[error("the MCP service stopped unexpectedly")]
    Stopped {
        /// What the async runtime said.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl ServerError {
    /// Returns who can put this right.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Address { .. } | Self::NotLoopback { .. } | Self::Handshake { .. } => {
                ErrorKind::Input
            }
            Self::Runtime { .. } | Self::Listen { .. } | Self::Stopped { .. } => {
                ErrorKind::Environment
            }
        }
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Runtime { .. } => "check the limits on threads and open files",
            Self::Address { .. } => {
                "name an address and a port, such as 127.0.0.1:8484; port 0 takes a free one"
            }
            Self::NotLoopback { .. } => {
                "use 127.0.0.1 or [::1]: the server has no passwords. To reach it from elsewhere, forward a port by ssh, \
                 or put a proxy before it that asks who is there"
            }
            Self::Listen { .. } => "choose another port; port 0 takes a free one",
            Self::Handshake { .. } => {
                "let an MCP client start this server; it speaks protocol 2024-11-05 to 2026-07-28 \
                 on stdin and stdout"
            }
            Self::Stopped { .. } => "this is a bug in skillmux: please report it",
        }
    }
}
