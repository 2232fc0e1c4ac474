//! [`RemoteError`]: why a remote model gave no answer.

use skillmux::ErrorKind;

/// Why a remote model gave no answer. No message holds the API key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The base URL cannot be used.
    #[error("the base URL {problem}")]
    BaseUrl {
        /// What is wrong with it; the URL itself may hold a password.
        problem: &'static str,
    },
    /// The API key cannot be sent in a header.
    #[error("the API key holds characters that an HTTP header cannot")]
    ApiKey,
    /// No answer came.
    #[error("no answer from `{url}`, asked {} {}", n_attempts, times(*n_attempts))]
    Unreachable {
        /// Where the request went.
        url: String,
        /// How often it was sent.
        n_attempts: u32,
        /// What the client said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The answer is an error.
    #[error("`{url}` answered {status}, asked {} {}: {detail}", n_attempts, times(*n_attempts))]
    Status {
        /// Where the request went.
        url: String,
        /// HTTP status.
        status: u16,
        /// How often the request was sent.
        n_attempts: u32,
        /// Begin of the answer.
        detail: String,
    },
    /// The answer is too long to be read.
    #[error("`{url}` answered more than {max_bytes} bytes")]
    TooLarge {
        /// Where the request went.
        url: String,
        /// The limit.
        max_bytes: u64,
    },
    /// The answer is not what the protocol says.
    #[error("`{url}` answered something else than the {protocol} protocol: {detail}")]
    Protocol {
        /// Where the request went.
        url: String,
        /// Name of the protocol.
        protocol: &'static str,
        /// Begin of the answer, or what is missing in it.
        detail: String,
    },
    /// The vectors have another number of dimensions than before.
    #[error("`{url}` answered a vector of {found} dimensions, but {expected} were expected")]
    Dimension {
        /// Where the request went.
        url: String,
        /// Dimensions of the answer.
        found: usize,
        /// Dimensions that the encoder has.
        expected: usize,
    },
}

impl RemoteError {
    /// Returns who can put this right.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::BaseUrl { .. } | Self::ApiKey => ErrorKind::Input,
            Self::Unreachable { .. }
            | Self::Status { .. }
            | Self::TooLarge { .. }
            | Self::Protocol { .. }
            | Self::Dimension { .. } => ErrorKind::Environment,
        }
    }

    /// Returns whether every other request would end in the same way: with these settings the
    /// endpoint answers nothing, or nothing for now.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::BaseUrl { .. }
                | Self::ApiKey
                | Self::Unreachable { .. }
                | Self::Dimension { .. }
                | Self::Status { status: 401..=404 | 429, .. }
        )
    }

    /// Returns what the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::BaseUrl { .. } => {
                "a base URL reads http://localhost:11434/v1 or https://api.example.com/v1; keys are \
                 given apart from it"
            }
            Self::ApiKey => "give the key alone, without blanks or line ends",
            Self::Unreachable { .. } => {
                "check that the server runs and that the base URL is right; most of the OpenAI protocol \
                 end in /v1"
            }
            Self::Status { status: 300..=399, .. } => {
                "redirects are not followed: give the base URL that they lead to"
            }
            Self::Status { status: 401 | 403, .. } => {
                "check the API key and what it may be used for"
            }
            Self::Status { status: 404, .. } => {
                "check the base URL, which mostly ends in /v1 for the OpenAI protocol, and the name of \
                 the model"
            }
            Self::Status { status: 429, .. } => "the endpoint limits requests: go on later",
            Self::Status { status: 500.., .. } => {
                "the server failed: look at its log, or go on later"
            }
            Self::Status { .. } => {
                "check the name of the model, and whether the request is too long"
            }
            Self::TooLarge { .. } => {
                "nothing larger is read; check that the base URL is that of the model's API"
            }
            Self::Protocol { .. } => {
                "the endpoint must speak this protocol; check that the base URL is its API"
            }
            Self::Dimension { .. } => {
                "the endpoint serves another model than it did; make the index again with this one"
            }
        };
        Some(hint.to_owned())
    }
}

fn times(n: u32) -> &'static str {
    if n == 1 { "time" } else { "times" }
}
