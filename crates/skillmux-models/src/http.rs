//! What all that opens connections shares: secrets, patience, and which hosts are this machine.

use std::{fmt, time::Duration};

use ureq::http::{Error as HttpError, HeaderValue};

/// Time to set up a connection.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What servers are told about this program.
pub(crate) const USER_AGENT: &str = concat!("skillmux/", env!("CARGO_PKG_VERSION"));

/// When a request is sent again: after a status of 408, 429 or 5xx, and where no answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Most times that a request is sent, at least 1.
    pub max_attempts: u32,
    /// Time before the second attempt; it doubles with each one. A server that says `Retry-After`
    /// is waited for that long, but no longer than a minute.
    pub first_wait: Duration,
}

impl Default for Retries {
    /// Four attempts, after 1, 2 and 4 seconds.
    fn default() -> Self {
        Self { max_attempts: 4, first_wait: Duration::from_secs(1) }
    }
}

/// A secret that is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Returns the key; blanks around it are dropped.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    /// Returns the value of a header that shows the key.
    pub(crate) fn bearer(&self) -> Result<HeaderValue, HttpError> {
        let mut value = HeaderValue::try_from(format!("Bearer {}", self.0))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Returns a text without the key.
    #[cfg(feature = "remote")]
    pub(crate) fn masked(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "(key)") }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

/// Returns whether another attempt may get an answer where none came.
pub(crate) fn is_transient(error: &ureq::Error) -> bool {
    matches!(
        error,
        ureq::Error::Io(_)
            | ureq::Error::Timeout(_)
            | ureq::Error::ConnectionFailed
            | ureq::Error::BodyStalled
            | ureq::Error::HostNotFound
    )
}

/// Returns whether another attempt may get another answer than an error of this status.
pub(crate) fn is_transient_status(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..)
}

/// Returns whether a host is this machine, which is not asked through a proxy.
pub(crate) fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}
