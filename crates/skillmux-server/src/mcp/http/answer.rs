//! Answers to requests that go wrong, all in the form that MCP has for them.

use std::{borrow::Cow, convert::Infallible};

use http::{
    HeaderValue, Response, StatusCode,
    header::{ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::body::Bytes;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError};
use skillmux::text::one_line;

use super::{MAX_ANSWER_TIME, MAX_BODY_BYTES, PATIENCE};
use crate::mcp::failure::name_method;

/// A response of the service.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

const JSON: &str = "application/json";

/// Why a request is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is for another path.
    Path,
    /// It has no `Host`, or one that cannot be read.
    NoHost,
    /// Its `Host` is not this computer.
    Host,
    /// A page of another site sends it.
    Origin,
    /// Its body is too long.
    TooLong,
    /// Its body does not arrive.
    TooSlow,
    /// Its body ends too early, or in a chunk that cannot be read.
    Cut,
    /// Its body is no JSON.
    NoJson,
    /// Too many others are under way.
    Busy,
    /// The answer takes too long.
    Late,
}

impl Refusal {
    /// Returns the response that says so.
    pub(super) fn answer(self) -> Answer {
        let (status, code, message) = self.parts();
        let mut answer = json_error(status, code, &message);
        // What is left of the body is not read.
        if matches!(self, Self::TooLong | Self::TooSlow | Self::Cut) {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }

    fn parts(self) -> (StatusCode, ErrorCode, Cow<'static, str>) {
        let invalid = ErrorCode::INVALID_REQUEST;
        let (status, code, message) = match self {
            Self::TooLong => {
                let message = format!("the body is longer than {MAX_BODY_BYTES} bytes");
                return (StatusCode::PAYLOAD_TOO_LARGE, invalid, message.into());
            }
            Self::TooSlow => {
                let seconds = PATIENCE.as_secs();
                let message = format!("the body did not arrive within {seconds} seconds");
                return (StatusCode::REQUEST_TIMEOUT, invalid, message.into());
            }
            Self::Late => {
                let seconds = MAX_ANSWER_TIME.as_secs();
                let message =
                    format!("the answer took longer than {seconds} seconds; try again in a moment");
                return (StatusCode::GATEWAY_TIMEOUT, ErrorCode::INTERNAL_ERROR, message.into());
            }
            Self::Path => {
                (StatusCode::NOT_FOUND, invalid, "nothing is served here; the path is `/mcp`")
            }
            Self::NoHost => (
                StatusCode::BAD_REQUEST,
                invalid,
                "the header `Host` is missing, or cannot be read",
            ),
            Self::Host => (
                StatusCode::FORBIDDEN,
                invalid,
                "the header `Host` is not this computer; use `localhost`, `127.0.0.1` or `[::1]`",
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                invalid,
                "the header `Origin` is not this computer; web pages of other sites are not answered",
            ),
            Self::Cut => (StatusCode::BAD_REQUEST, invalid, "the body did not arrive whole"),
            Self::NoJson => {
                (StatusCode::BAD_REQUEST, ErrorCode::PARSE_ERROR, "the body is no JSON")
            }
            Self::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::INTERNAL_ERROR,
                "too many requests are under way; try again in a moment",
            ),
        };
        (status, code, message.into())
    }
}

/// Returns an answer of rmcp with its error as JSON, in a sentence: some are plain text, and some a
/// bare name.
pub(super) async fn as_json(answer: Answer) -> Answer {
    let (mut parts, body) = answer.into_parts();
    if parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == JSON) {
        let Ok(body) = body.collect().await;
        let body = body.to_bytes();
        let body = named_method(&body).map_or(body, |body| {
            parts.headers.remove(CONTENT_LENGTH);
            body
        });
        return Response::from_parts(parts, Full::new(body).boxed());
    }
    if !(parts.status.is_client_error() || parts.status.is_server_error()) {
        return Response::from_parts(parts, body);
    }
    let Ok(text) = body.collect().await;
    let text = one_line(&String::from_utf8_lossy(&text.to_bytes()));
    // It checks the type of the content first, and says of a message that it cannot read that its
    // type is wrong.
    let (status, text) = if text.starts_with("fail to deserialize request body") {
        (StatusCode::BAD_REQUEST, "the body is no JSON-RPC message")
    } else {
        (parts.status, text.as_str())
    };
    let mut answer = json_error(status, ErrorCode::INVALID_REQUEST, text);
    if let Some(allowed) = parts.headers.get(ALLOW) {
        answer.headers_mut().insert(ALLOW, allowed.clone());
    }
    answer
}

/// Returns what stands for an error that is the bare name of a method.
fn named_method(body: &[u8]) -> Option<Bytes> {
    let mut error: JsonRpcError = serde_json::from_slice(body).ok()?;
    name_method(&mut error.error).then(|| serde_json::to_vec(&error).unwrap_or_default().into())
}

fn json_error(status: StatusCode, code: ErrorCode, message: &str) -> Answer {
    let error = JsonRpcError::new(None, ErrorData::new(code, message.to_owned(), None));
    let body = serde_json::to_vec(&error).unwrap_or_default();
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    answer
}
