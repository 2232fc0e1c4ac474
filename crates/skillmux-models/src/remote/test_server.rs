//! A server on this machine that answers as a test wants.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use httpmock::{HttpMockRequest, HttpMockResponse, MockServer};
use serde_json::Value;

use super::{ApiKey, EndpointConfig, Retries};

/// A server, and what it was asked.
pub(super) struct Server {
    pub(super) base_url: String,
    asked: Arc<Mutex<Vec<HttpMockRequest>>>,
    // Goes back to others when it is dropped.
    _lent: MockServer,
}

impl Server {
    /// Starts a server that answers one request after the other; each reply is a status and a body.
    pub(super) fn start<const N: usize>(replies: [(u16, &str); N]) -> Self {
        let replies = replies.map(|(code, body)| (code, body.to_owned()));
        Self::answering(move |n_before, _| replies[n_before].clone())
    }

    /// Starts a server that answers with what a function makes of the number of the requests before
    /// and of the body.
    pub(super) fn answering(
        answer: impl Fn(usize, &Value) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        let server = MockServer::start();
        let asked: Arc<Mutex<Vec<HttpMockRequest>>> = Arc::default();
        let log = Arc::clone(&asked);
        server.mock(|_, then| {
            then.respond_with(move |request| {
                let n_before = {
                    let mut log = log.lock().unwrap();
                    log.push(request.clone());
                    log.len() - 1
                };
                let body = serde_json::from_slice(request.body_ref()).unwrap();
                let (status, body) = answer(n_before, &body);
                let reply = HttpMockResponse::builder().status(status);
                reply.header("retry-after", "0").body(body).build()
            });
        });
        Self { base_url: server.url("/v1"), asked, _lent: server }
    }

    /// Returns how a model of this server is asked.
    pub(super) fn config(&self, api_key: Option<&str>) -> EndpointConfig {
        let mut config = EndpointConfig::new(&self.base_url, "small");
        config.api_key = api_key.map(ApiKey::new);
        // Longer than a test may take: the server says that it need not be waited for.
        config.retries = Retries { max_attempts: 3, first_wait: Duration::from_mins(1) };
        config.timeout = Duration::from_secs(5);
        config
    }

    /// Returns what was asked so far.
    pub(super) fn requests(&self) -> Vec<HttpMockRequest> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the bodies of what was asked so far.
    pub(super) fn bodies(&self) -> Vec<Value> {
        let body = |request: &HttpMockRequest| serde_json::from_slice(request.body_ref()).unwrap();
        self.requests().iter().map(body).collect()
    }
}
