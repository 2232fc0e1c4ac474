//! [`HttpListener`]: a socket that only this computer can reach.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use crate::ServerError;

/// Path of the service.
pub(super) const PATH: &str = "/mcp";

/// An open socket on a loopback address.
#[derive(Debug)]
pub struct HttpListener {
    socket: TcpListener,
    address: SocketAddr,
}

impl HttpListener {
    /// Opens a socket on an address such as `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`;
    /// port 0 takes a free one.
    ///
    /// # Errors
    /// [`ServerError::Address`] for another text, [`ServerError::NotLoopback`] for an address that
    /// other computers may reach, and [`ServerError::Listen`] if the system refuses.
    pub fn bind(address: &str) -> Result<Self, ServerError> {
        let address = loopback(address)?;
        let failed = |source| ServerError::Listen { address, source };
        let socket = TcpListener::bind(address).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        Ok(Self { socket, address })
    }

    /// Returns the address of the service for clients, with the port that was taken.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Returns the socket for an async runtime.
    pub(super) fn into_tokio(self) -> Result<tokio::net::TcpListener, ServerError> {
        let address = self.address;
        tokio::net::TcpListener::from_std(self.socket)
            .map_err(|source| ServerError::Listen { address, source })
    }
}

fn loopback(text: &str) -> Result<SocketAddr, ServerError> {
    // The name may mean something else to the system, so that it is not asked.
    let named = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let named = named.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let Some(address) = named.or_else(|| text.parse().ok()) else {
        return Err(ServerError::Address { text: text.to_owned() });
    };
    if address.ip().is_loopback() { Ok(address) } else { Err(ServerError::NotLoopback { address }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_computer_is_served() {
        for text in ["127.0.0.1:0", "127.0.0.2:80", "[::1]:0", "localhost:8080"] {
            assert!(loopback(text).is_ok(), "{text}");
        }
        for text in ["0.0.0.0:80", "[::]:80", "192.168.1.5:80", "[::ffff:10.0.0.1]:80"] {
            assert!(matches!(loopback(text), Err(ServerError::NotLoopback { .. })), "{text}");
        }
        for text in ["", "8080", ":8080", "127.0.0.1", "localhost", "localhost:x", "example.com:80"]
        {
            assert!(matches!(loopback(text), Err(ServerError::Address { .. })), "{text}");
        }
    }

    #[test]
    fn a_free_port_is_in_the_address() {
        let listener = HttpListener::bind("127.0.0.1:0").unwrap();
        let url = listener.url();
        let port = url.strip_prefix("http://127.0.0.1:").unwrap().strip_suffix("/mcp").unwrap();
        assert_ne!(port.parse::<u16>().unwrap(), 0);
        let taken = HttpListener::bind(&format!("127.0.0.1:{port}"));
        assert!(matches!(taken, Err(ServerError::Listen { .. })));
    }
}
