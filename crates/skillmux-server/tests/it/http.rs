//! The server over HTTP: what it answers, and what it refuses.

use std::time::Duration;

use serde_json::{Value, json};
use skillmux_server::{HttpListener, SkillServer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

use crate::library::SampleIndex;

const HEADERS: &str =
    "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";

/// A server on a free port.
struct Server {
    port: String,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
    _index: SampleIndex,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Value,
}

impl Server {
    fn start() -> Self {
        let index = SampleIndex::new();
        let listener = HttpListener::bind("127.0.0.1:0").unwrap();
        let url = listener.url();
        let address = url.strip_prefix("http://127.0.0.1:").unwrap();
        let port = address.strip_suffix("/mcp").unwrap().to_owned();
        let (stop, stopped) = oneshot::channel();
        let server = SkillServer::new(index.router());
        let running = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or(()) };
            server.run_http(listener, stopped).await.unwrap();
        });
        Self { port, stop, running, _index: index }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(format!("127.0.0.1:{}", self.port)).await.unwrap()
    }

    /// Sends bytes, and returns the answer to them.
    async fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect().await;
        stream.write_all(request).await.unwrap();
        answer(&mut stream).await
    }

    /// Sends a request with more headers.
    async fn post_with(&self, headers: &str, body: &[u8]) -> Answer {
        let length = body.len();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        self.send(&[head.as_bytes(), body].concat()).await
    }

    async fn post(&self, body: &[u8]) -> Answer {
        self.post_with(&format!("host: localhost:{}\r\n{HEADERS}", self.port), body).await
    }

    /// Sends a message, and returns the result.
    async fn call(&self, method: &str, params: Value) -> Answer {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        self.post(message.to_string().as_bytes()).await
    }
}

/// Reads an answer until its connection ends, which is in time.
async fn answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A server that does not read all may reset the connection after its answer.
    let _ = timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = if body.is_empty() { Value::Null } else { serde_json::from_str(body).unwrap() };
    Answer { status, head: head.to_ascii_lowercase(), body }
}

impl Answer {
    /// Returns the message of an error.
    fn error(&self) -> &str {
        assert!(self.head.contains("content-type: application/json"), "{self:?}");
        self.body["error"]["message"].as_str().unwrap()
    }
}

#[tokio::test]
async fn a_client_with_a_handshake_needs_no_session() {
    let server = Server::start();
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" }
    });
    let begun = server.call("initialize", params).await;
    assert_eq!((begun.status, &begun.body["id"]), (200, &json!(7)));
    assert_eq!(begun.body["result"]["protocolVersion"], "2025-11-25");
    assert!(!begun.head.contains("mcp-session-id"), "{}", begun.head);
    let noted = server.post(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!((noted.status, noted.body), (202, Value::Null));
    let listed = server.call("tools/list", json!({})).await;
    assert_eq!(listed.body["result"]["tools"].as_array().unwrap().len(), 3);
    let params = json!({ "name": "find_skills", "arguments": { "task": "clean a CSV file" } });
    let found = server.call("tools/call", params).await;
    assert_eq!(found.body["result"]["structuredContent"]["decision"], "load");
    let refused = server.call("prompts/list", json!({})).await;
    assert_eq!((refused.status, &refused.body["id"]), (200, &json!(7)));
    assert_eq!(refused.error(), "this server has no method `prompts/list`");
}

#[tokio::test]
async fn the_stateless_version_is_spoken() {
    let server = Server::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let post = async |method: &str, name: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        let headers = format!(
            "host: [::1]\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}{HEADERS}"
        );
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        server.post_with(&headers, message.to_string().as_bytes()).await
    };
    let met = post("server/discover", "", json!({})).await.body;
    let extensions = &met["result"]["capabilities"]["extensions"];
    assert_eq!(extensions["io.modelcontextprotocol/skills"], json!({}), "{met}");
    let listed = post("tools/list", "", json!({})).await.body;
    assert_eq!(
        (&listed["result"]["resultType"], &listed["result"]["ttlMs"]),
        (&json!("complete"), &json!(3_600_000))
    );
    let params = json!({ "name": "read_skill", "arguments": { "skill_id": "data/csv-cleaning" } });
    let read = post("tools/call", "mcp-name: read_skill\r\n", params.clone()).await;
    assert_eq!((read.status, &read.body["result"]["isError"]), (200, &json!(false)));
    let other = post("tools/call", "mcp-name: find_skills\r\n", params).await;
    assert_eq!((other.status, &other.body["error"]["code"]), (400, &json!(-32020)), "{other:?}");
    let uri = "skill://../../etc/passwd";
    let name = format!("mcp-name: {uri}\r\n");
    let read = post("resources/read", &name, json!({ "uri": uri })).await.body;
    assert_eq!(read["error"]["code"], -32602, "{read}");
}

#[tokio::test]
async fn other_hosts_and_pages_are_refused() {
    let server = Server::start();
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (headers, status, expected) in [
        ("host: evil.example\r\n", 403, "the header `Host` is not this computer"),
        ("host: 127.0.0.1.evil.example\r\n", 403, "the header `Host` is not this computer"),
        ("", 400, "the header `Host` is missing"),
        ("host: localhost\r\norigin: https://evil.example\r\n", 403, "the header `Origin` is not"),
        ("host: localhost\r\norigin: null\r\n", 403, "the header `Origin` is not"),
    ] {
        let refused = server.post_with(&format!("{headers}{HEADERS}"), call).await;
        assert_eq!(refused.status, status, "{headers}");
        assert!(refused.error().starts_with(expected), "{refused:?}");
        // Nor may a page read it.
        assert!(!refused.head.contains("access-control"), "{refused:?}");
    }
    let own = format!("host: localhost\r\norigin: http://localhost:{}\r\n{HEADERS}", server.port);
    assert_eq!(server.post_with(&own, call).await.status, 200);
}

#[tokio::test]
async fn every_request_has_one_clear_answer() {
    let server = Server::start();
    for (body, code, expected) in [
        (&b"hello"[..], -32700, "the body is no JSON"),
        (b"{", -32700, "the body is no JSON"),
        (b"\xff\xfe", -32700, "the body is no JSON"),
        (b"[]", -32600, "the body is no JSON-RPC message"),
        (b"null", -32600, "the body is no JSON-RPC message"),
        (b"", -32600, "the body is no JSON-RPC message"),
    ] {
        let refused = server.post(body).await;
        assert_eq!((refused.status, refused.error()), (400, expected));
        assert_eq!(refused.body["error"]["code"], code);
    }
    let chunked =
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n";
    let refused = server.send(chunked.as_bytes()).await;
    assert_eq!((refused.status, refused.error()), (400, "the body did not arrive whole"));
    let cut = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"find_skills","arguments":{"task":"fill in a PDF form \ud83d"}}}"#;
    assert_eq!(server.post(cut.as_bytes()).await.body["result"]["isError"], false);
    let marked = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/list\"}";
    assert_eq!(server.post(marked.as_bytes()).await.status, 200);
    for (body, expected) in [
        (r#"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":[]}"#, "must be an object"),
        (r#"{"jsonrpc":"2.0","id":4}"#, "`method` is missing"),
        (r#"{"jsonrpc":"1.0","id":4,"method":"tools/list"}"#, "must be \"2.0\""),
    ] {
        let refused = server.post(body.as_bytes()).await;
        assert_eq!(refused.body["id"], 4, "{refused:?}");
        assert!(refused.error().ends_with(expected), "{refused:?}");
    }
    let host = "host: localhost\r\nconnection: close\r\n";
    for (line, status) in
        [("GET /mcp", 405), ("OPTIONS /mcp", 405), ("DELETE /mcp", 405), ("GET /", 404)]
    {
        let refused = server.send(format!("{line} HTTP/1.1\r\n{host}\r\n").as_bytes()).await;
        assert_eq!(refused.status, status, "{line}");
        assert!(!refused.error().is_empty());
    }
    let plain = server.post_with("host: localhost\r\naccept: */*\r\n", b"{}").await;
    assert!(matches!(plain.status, 406 | 415), "{plain:?}");
    assert!(!plain.error().is_empty());
    assert_eq!(server.send(b"nonsense\r\n\r\n").await.status, 400);
}

#[tokio::test]
async fn a_long_body_is_refused_and_does_not_end_the_server() {
    let server = Server::start();
    let body = vec![b' '; 9 << 20];
    let refused = server.post(&body).await;
    assert_eq!((refused.status, refused.error()), (413, "the body is longer than 8388608 bytes"));
    let asks = "POST /mcp HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 9000000\r\n\r\n";
    assert_eq!(server.send(asks.as_bytes()).await.status, 413);
    let endless = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999999999\r\n\r\n";
    assert_eq!(server.send(endless.as_bytes()).await.status, 413);
    let head =
        format!("GET /mcp HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "x".repeat(300_000));
    assert_eq!(server.send(head.as_bytes()).await.status, 431);
    assert_eq!(server.call("tools/list", json!({})).await.status, 200);
}

#[tokio::test]
async fn connections_that_wait_do_not_keep_others_out_for_long() {
    let server = Server::start();
    let mut waiting = Vec::new();
    for _ in 0..128 {
        let mut stream = server.connect().await;
        stream.write_all(b"POST /mcp HT").await.unwrap();
        waiting.push(stream);
    }
    let mut one_more = server.connect().await;
    let refused = answer(&mut one_more).await;
    assert_eq!(
        (refused.status, refused.error()),
        (503, "too many connections; try again in a moment")
    );
    drop(waiting);
    let begun = std::time::Instant::now();
    while server.call("tools/list", json!({})).await.status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_finishes_what_it_does() {
    let server = Server::start();
    let mut idle = server.connect().await;
    let mut stream = server.connect().await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_skills","arguments":{"task":"clean a CSV file"}}}"#;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\n{HEADERS}content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    // Until the answer begins.
    stream.readable().await.unwrap();
    server.stop.send(()).unwrap();
    assert_eq!(answer(&mut stream).await.status, 200);
    assert_eq!(idle.read(&mut [0]).await.unwrap_or(0), 0);
    timeout(Duration::from_secs(10), server.running).await.unwrap().unwrap();
}
