//! Endpoints on this machine that say what a test wants.

use std::sync::{Arc, Mutex};

use httpmock::{HttpMockRequest, HttpMockResponse, MockServer};
use serde_json::{Value, json};

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Value,
}

impl Asked {
    fn of(request: &HttpMockRequest) -> Self {
        let authorization = request.headers().get("authorization").cloned();
        Self {
            path: request.uri().path().to_owned(),
            authorization: authorization.map(|value| value.to_str().unwrap().to_owned()),
            body: serde_json::from_slice(request.body_ref()).unwrap(),
        }
    }

    /// Returns the text of a turn of the conversation.
    pub(crate) fn turn(&self, at: usize) -> &str {
        self.body["messages"][at]["content"].as_str().unwrap()
    }

    /// Returns the number of turns.
    pub(crate) fn n_turns(&self) -> usize {
        self.body["messages"].as_array().unwrap().len()
    }

    /// Returns the document that the request is about.
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(self.turn(1)).unwrap()
    }
}

/// A status and, if it is 200, what the model says; else the body of the answer.
pub(crate) type Said = (u16, String);

/// A server that goes away with it.
pub(crate) struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    _lent: MockServer,
}

impl Server {
    /// Answers each request with a status and a body, which a function makes of it and of the
    /// number of those before.
    pub(crate) fn start(answer: impl Fn(usize, &Asked) -> Said + Send + Sync + 'static) -> Self {
        let server = MockServer::start();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let log = Arc::clone(&asked);
        server.mock(|_, then| {
            then.respond_with(move |request| {
                let request = Asked::of(request);
                let n_before = log.lock().unwrap().len();
                let (status, body) = answer(n_before, &request);
                log.lock().unwrap().push(request);
                let reply = HttpMockResponse::builder().status(status);
                reply.header("retry-after", "0").body(body).build()
            });
        });
        Self { address: server.base_url(), asked, _lent: server }
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// Returns what was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// A server of a chat model.
pub(crate) struct ChatServer {
    pub(crate) url: String,
    server: Server,
}

impl ChatServer {
    /// Answers each request with what a function makes of it and of the number of those before.
    pub(crate) fn start(answer: impl Fn(usize, &Asked) -> Said + Send + Sync + 'static) -> Self {
        let server = Server::start(move |n_before, asked| {
            let (status, said) = answer(n_before, asked);
            let message = json!({ "role": "assistant", "content": said });
            match status {
                200 => (200, json!({ "choices": [{ "message": message }] }).to_string()),
                _ => (status, said),
            }
        });
        Self { url: server.url("/v1"), server }
    }

    /// Returns what was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.server.asked()
    }
}
