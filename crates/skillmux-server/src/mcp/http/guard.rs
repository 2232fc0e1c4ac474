//! What a request must be like to be passed on.
//!
//! A browser lets any page send requests to this computer, under the name of the page (`Origin`)
//! or, if that name is made to lead here, to that name (`Host`; "DNS rebinding"). So both must be
//! this computer.

use std::net::IpAddr;

use http::{
    HeaderMap, HeaderValue, Request, Uri,
    header::{CONTENT_LENGTH, EXPECT, HOST, ORIGIN},
    uri::Authority,
};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes};
use tokio::time::timeout;

use super::{MAX_BODY_BYTES, PATIENCE, answer::Refusal, listener::PATH};
use crate::mcp::lines::checked;

/// Longest body that is read to its end, so that its client sees the answer; in bytes.
const MAX_DRAINED_BYTES: u64 = 64 << 20;

/// Checks who asks for what.
pub(super) fn check<B>(request: &Request<B>) -> Result<(), Refusal> {
    check_host(request.uri(), request.headers())?;
    check_origin(request.headers())?;
    if request.uri().path().trim_end_matches('/') == PATH { Ok(()) } else { Err(Refusal::Path) }
}

fn check_host(uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(Refusal::NoHost) };
    let host: Authority =
        host.to_str().ok().and_then(|host| host.parse().ok()).ok_or(Refusal::NoHost)?;
    let is_here = |authority: &Authority| is_here(authority.host());
    if is_here(&host) && uri.authority().is_none_or(is_here) { Ok(()) } else { Err(Refusal::Host) }
}

fn check_origin(headers: &HeaderMap) -> Result<(), Refusal> {
    let is_here = |origin: &HeaderValue| {
        let origin: Option<Uri> = origin.to_str().ok().and_then(|origin| origin.parse().ok());
        let host = origin.as_ref().filter(|it| it.scheme().is_some()).and_then(Uri::host);
        host.is_some_and(is_here)
    };
    if headers.get_all(ORIGIN).iter().all(is_here) { Ok(()) } else { Err(Refusal::Origin) }
}

/// Returns whether the host of an address is this computer, whatever the system says about names.
fn is_here(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Reads a body, and returns it as JSON that can be read: see [`checked`]. An empty one, as of
/// `GET`, stays empty.
pub(super) async fn body<B>(headers: &HeaderMap, body: B) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
{
    let length =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let is_too_long = length.is_some_and(|length| length > MAX_BODY_BYTES as u64);
    // A client that asks first need not send it.
    let is_asked = headers.contains_key(EXPECT);
    if is_too_long && (is_asked || length > Some(MAX_DRAINED_BYTES)) {
        return Err(Refusal::TooLong);
    }
    let bytes = timeout(PATIENCE, collected(body)).await.map_err(|_| Refusal::TooSlow)??;
    if bytes.is_empty() {
        return Ok(Bytes::new());
    }
    let json = checked(&bytes).ok_or(Refusal::NoJson)?;
    Ok(json.into_owned().into())
}

async fn collected<B>(mut body: B) -> Result<Vec<u8>, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut bytes = Vec::new();
    let mut n_bytes = 0_u64;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(Refusal::Cut) };
        let Some(data) = frame.data_ref() else { continue };
        n_bytes += data.len() as u64;
        if n_bytes > MAX_DRAINED_BYTES {
            return Err(Refusal::TooLong);
        }
        if n_bytes <= MAX_BODY_BYTES as u64 {
            bytes.extend_from_slice(data);
        } else {
            bytes = Vec::new();
        }
    }
    if n_bytes > MAX_BODY_BYTES as u64 { Err(Refusal::TooLong) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(uri: &str, headers: &[(&str, &str)]) -> Result<(), Refusal> {
        let mut request = Request::post(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check(&request.body(()).unwrap())
    }

    #[test]
    fn a_request_is_for_this_computer() {
        for host in ["localhost", "LocalHost:80", "127.0.0.1:8080", "127.1.2.3", "[::1]:9"] {
            assert_eq!(outcome("/mcp", &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "192.168.0.1",
            "0.0.0.0:80",
            "[::]",
            "localhost@evil.example",
        ] {
            assert_eq!(outcome("/mcp", &[("host", host)]), Err(Refusal::Host), "{host}");
        }
        for host in ["", "a b", "::1"] {
            let refused = outcome("/mcp", &[("host", host)]);
            assert!(matches!(refused, Err(Refusal::NoHost | Refusal::Host)), "{host}");
        }
        assert_eq!(outcome("/mcp", &[]), Err(Refusal::NoHost));
        let twice = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(outcome("/mcp", &twice), Err(Refusal::NoHost));
        let proxied = outcome("http://evil.example/mcp", &[("host", "localhost")]);
        assert_eq!(proxied, Err(Refusal::Host));
    }

    #[test]
    fn a_page_of_another_site_is_not_answered() {
        let with = |origin| outcome("/mcp", &[("host", "localhost"), ("origin", origin)]);
        for origin in ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:80"] {
            assert_eq!(with(origin), Ok(()), "{origin}");
        }
        for origin in [
            "http://evil.example",
            "null",
            "",
            "localhost",
            "http://localhost.evil.example",
            "file://",
        ] {
            assert_eq!(with(origin), Err(Refusal::Origin), "{origin}");
        }
    }

    #[test]
    fn there_is_one_path() {
        let at = |path| outcome(path, &[("host", "localhost")]);
        assert_eq!((at("/mcp"), at("/mcp/"), at("/mcp?x=1")), (Ok(()), Ok(()), Ok(())));
        for path in ["/", "/mcp/x", "/sse", "/../mcp"] {
            assert_eq!(at(path), Err(Refusal::Path), "{path}");
        }
    }
}
