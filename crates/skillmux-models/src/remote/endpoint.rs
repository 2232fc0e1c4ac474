//! Sends JSON to an endpoint and reads JSON back, with patience.

use std::{cell::Cell, rc::Rc, thread, time::Duration};

use backon::{BlockingRetryable, ExponentialBuilder};
use serde::de::DeserializeOwned;
use serde_json::Value;
use skillmux::text::one_line;
use ureq::{
    Agent,
    http::{HeaderValue, Uri, header, uri::Authority},
};

use super::error::RemoteError;
use crate::http::{
    ApiKey, CONNECT_TIMEOUT, Retries, USER_AGENT, is_loopback, is_transient, is_transient_status,
};

/// Longest answer that is read.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

/// Longest part of an answer that an error repeats.
const MAX_DETAIL_BYTES: usize = 300;

/// Longest time to wait before another attempt, whatever the server asks for.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// Where a remote model is, and how it is asked.
#[derive(Debug, Clone)]
pub struct EndpointConfig {
    /// URL that the paths of the protocol are appended to, such as `http://localhost:11434/v1`.
    pub base_url: String,
    /// Name of the model at the endpoint.
    pub model: String,
    /// Sent as a bearer token, if there is one.
    pub api_key: Option<ApiKey>,
    /// Longest time for one attempt, from connection to the end of the answer.
    pub timeout: Duration,
    /// When a request is sent again.
    pub retries: Retries,
}

impl EndpointConfig {
    /// Returns a configuration without a key, with two minutes for an attempt.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            api_key: None,
            timeout: Duration::from_mins(2),
            retries: Retries::default(),
        }
    }
}

/// Sends requests to one URL.
pub(super) struct Endpoint {
    agent: Agent,
    url: String,
    host: String,
    protocol: &'static str,
    authorization: Option<HeaderValue>,
    api_key: Option<ApiKey>,
    retries: Retries,
}

impl Endpoint {
    /// Returns the endpoint at a path below the base URL, which speaks the protocol of this name.
    pub(super) fn new(
        config: &EndpointConfig,
        path: &str,
        protocol: &'static str,
    ) -> Result<Self, RemoteError> {
        let EndpointConfig { base_url, api_key, timeout, retries, .. } = config;
        let base_url = base_url.trim().trim_end_matches('/');
        let authority = authority_of(base_url)?;
        let is_local = is_loopback(authority.host());
        let is_open = base_url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http:"));
        if is_open && !is_local && api_key.is_some() {
            let problem =
                "begins with http://, which would show the API key to everyone on the way";
            return Err(RemoteError::BaseUrl { problem });
        }
        let url = format!("{base_url}/{path}");
        let authorization = match api_key {
            Some(key) => Some(key.bearer().map_err(|_| RemoteError::ApiKey)?),
            None => None,
        };
        let mut builder = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect of a POST is mostly a wrong base URL, and would carry the texts elsewhere.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT.min(*timeout)))
            .timeout_global(Some(*timeout))
            .user_agent(USER_AGENT);
        if is_local {
            builder = builder.proxy(None);
        }
        let agent = builder.build().new_agent();
        let (host, api_key) = (authority.to_string(), api_key.clone());
        Ok(Self { agent, url, host, protocol, authorization, api_key, retries: *retries })
    }

    /// Returns the host and, if the base URL names one, the port.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Posts a body and returns the JSON of the answer.
    pub(super) fn post(&self, body: &Value) -> Result<Value, RemoteError> {
        let body = body.to_string();
        let Retries { max_attempts, first_wait } = self.retries;
        let waits = ExponentialBuilder::default()
            .with_min_delay(first_wait)
            .with_max_delay(MAX_WAIT)
            .with_max_times(max_attempts.saturating_sub(1) as usize);
        let n_attempts = Cell::new(0);
        // What the server asks for goes before what we would wait.
        let retry_after = Rc::new(Cell::new(None::<Duration>));
        let asked_for = Rc::clone(&retry_after);
        let attempt = || {
            n_attempts.set(n_attempts.get() + 1);
            self.attempt(&body)
        };
        let answered = attempt
            .retry(waits)
            .when(Failure::is_transient)
            .notify(|failure, _| retry_after.set(failure.retry_after()))
            .sleep(move |wait| thread::sleep(asked_for.get().unwrap_or(wait).min(MAX_WAIT)))
            .call();
        let (url, n_attempts) = (self.url.clone(), n_attempts.get());
        answered.map_err(|failure| match failure {
            Failure::Silence(source) => {
                RemoteError::Unreachable { url, n_attempts, source: source.into() }
            }
            Failure::Status { status, text, .. } => {
                RemoteError::Status { url, status, n_attempts, detail: self.detail(&text) }
            }
            Failure::TooLarge => RemoteError::TooLarge { url, max_bytes: MAX_ANSWER_BYTES },
            Failure::NoJson { text } => self.protocol_error(self.detail(&text)),
        })
    }

    /// Returns the JSON of an answer in the form that the protocol gives it.
    pub(super) fn read<T: DeserializeOwned>(&self, answer: Value) -> Result<T, RemoteError> {
        T::deserialize(answer).map_err(|error| self.protocol_error(self.detail(&error.to_string())))
    }

    pub(super) fn protocol_error(&self, detail: String) -> RemoteError {
        RemoteError::Protocol { url: self.url.clone(), protocol: self.protocol, detail }
    }

    fn attempt(&self, body: &str) -> Result<Value, Failure> {
        let mut request = self.agent.post(&self.url).content_type("application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization.clone());
        }
        let mut response = request.send(body)?;
        let retry_after = response.headers().get(header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_string()?;
        if !(200..300).contains(&status) {
            let retry_after = retry_after.map(Duration::from_secs);
            return Err(Failure::Status { status, retry_after, text });
        }
        serde_json::from_str(&text).map_err(|_| Failure::NoJson { text })
    }

    /// Returns the begin of an answer on one line, without the key, should the server repeat it.
    fn detail(&self, text: &str) -> String {
        let message = serde_json::from_str::<Value>(text).ok().map(|json| {
            let error = &json["error"];
            let message = error["message"].as_str().or_else(|| error.as_str());
            message.map_or_else(|| json.to_string(), str::to_owned)
        });
        // JSON may write any letter of the key as an escape: it is looked for in what is shown.
        let text = message.as_deref().unwrap_or(text);
        let text = match &self.api_key {
            Some(key) => key.masked(text),
            None => text.to_owned(),
        };
        let line = one_line(&text[..text.floor_char_boundary(MAX_DETAIL_BYTES)]);
        if line.is_empty() { "(nothing)".to_owned() } else { line }
    }
}

/// Why an attempt gave nothing.
enum Failure {
    /// No answer came.
    Silence(ureq::Error),
    /// The answer is an error.
    Status { status: u16, retry_after: Option<Duration>, text: String },
    /// The answer is longer than what is read.
    TooLarge,
    /// The answer is something else.
    NoJson { text: String },
}

impl From<ureq::Error> for Failure {
    fn from(error: ureq::Error) -> Self {
        match error {
            ureq::Error::BodyExceedsLimit(_) => Self::TooLarge,
            error => Self::Silence(error),
        }
    }
}

impl Failure {
    /// Returns whether another attempt may get an answer.
    fn is_transient(&self) -> bool {
        match self {
            Self::Silence(error) => is_transient(error),
            Self::Status { status, .. } => is_transient_status(*status),
            Self::TooLarge | Self::NoJson { .. } => false,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            Self::Silence(_) | Self::TooLarge | Self::NoJson { .. } => None,
        }
    }
}

/// Returns the host and the port of a base URL.
fn authority_of(base_url: &str) -> Result<Authority, RemoteError> {
    let refused = |problem| RemoteError::BaseUrl { problem };
    let scheme = base_url.split("://").next().unwrap_or_default().to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https") {
        return Err(refused("begins neither with http:// nor with https://"));
    }
    if base_url.contains('@') {
        return Err(refused("holds a user name or password"));
    }
    if base_url.contains(['?', '#']) {
        return Err(refused("holds a `?` or `#`, so that no path can follow"));
    }
    let uri = base_url.parse::<Uri>().map_err(|_| refused("is malformed"))?;
    let authority = uri.authority().filter(|authority| !authority.host().is_empty());
    authority.cloned().ok_or_else(|| refused("names no host"))
}
