//! How sessions begin, live through nonsense, and end.

use std::{path::Path, time::Duration};

use rmcp::{
    ServiceExt,
    model::ProtocolVersion,
    service::{ClientLifecycleMode, serve_client_with_lifecycle},
};
use serde_json::{Value, json};
use skillmux_server::{ServerError, SkillServer, State};
use tokio::{
    io::{
        AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
    },
    task::JoinHandle,
};

use crate::{Session, library::SampleIndex, structured, text};

/// A client that sends bytes, right or wrong.
struct RawSession {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    server: JoinHandle<Result<(), ServerError>>,
    _index: SampleIndex,
}

impl RawSession {
    fn start() -> Self {
        let index = SampleIndex::new();
        let (near, far) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(far);
        let server = tokio::spawn(SkillServer::new(index.router()).run(input, output));
        let (output, input) = tokio::io::split(near);
        Self { input, output: BufReader::new(output), server, _index: index }
    }

    async fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn request(&mut self, id: u32, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string()).await;
        let response = self.receive().await;
        assert_eq!(response["id"], id, "{response}");
        response
    }

    async fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" }
        });
        let response = self.request(0, "initialize", params).await;
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        response["result"].clone()
    }

    /// Closes the client's end and returns how the server took it.
    async fn close(mut self) -> Result<(), ServerError> {
        self.input.shutdown().await.unwrap();
        drop((self.input, self.output));
        tokio::time::timeout(Duration::from_secs(10), self.server).await.unwrap().unwrap()
    }
}

/// Returns the answer to a line that is no JSON.
fn no_json() -> Value {
    json!({ "jsonrpc": "2.0", "error": { "code": -32700, "message": "the line is no JSON" } })
}

#[tokio::test]
async fn a_client_learns_who_serves_it_and_how_to_use_it() {
    let session = Session::start().await;
    let server = session.client.peer_info().unwrap();
    assert_eq!(server.server_info.as_ref().unwrap().name, "skillmux");
    assert!(server.capabilities.tools.is_some());
    let instructions = server.instructions.as_deref().unwrap();
    assert!((3..=5).contains(&instructions.matches(". ").count()), "{instructions}");
    assert!(instructions.contains("third-party"), "{instructions}");
}

#[tokio::test]
async fn every_version_with_a_handshake_is_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut session = RawSession::start();
        assert_eq!(session.initialize(version).await["protocolVersion"], version);
        session.close().await.unwrap();
    }
    let mut session = RawSession::start();
    assert_eq!(session.initialize("2099-01-01").await["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn the_stateless_version_is_spoken() {
    let index = SampleIndex::new();
    let (near, far) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(far);
    tokio::spawn(SkillServer::new(index.router()).run(input, output));
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions };
    let client = serve_client_with_lifecycle((), near, lifecycle).await.unwrap();
    assert_eq!(client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2026_07_28);
    let session = Session { client, index };
    assert_eq!(session.client.list_all_tools().await.unwrap().len(), 3);
    let result = session.call("find_skills", json!({ "task": "clean a messy CSV file" })).await;
    assert_eq!(structured(&result)["decision"], "load");
}

#[tokio::test]
async fn without_skills_no_task_needs_one_and_lists_are_empty() {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(far);
    tokio::spawn(SkillServer::new(State::without_skills()).run(input, output));
    let client = ().serve(near).await.unwrap();
    let session = Session { client, index: SampleIndex::new() };
    let call = json!({ "task": "clean a CSV file", "needs": ["CSV"] });
    let found = session.call("find_skills", call).await;
    assert_eq!(structured(&found)["decision"], "abstain");
    assert_eq!(structured(&found)["unserved"], json!(["CSV"]));
    assert!(text(&found).contains("there are no skills"), "{}", text(&found));
    for (tool, arguments) in [
        ("read_skill", json!({ "skill_id": "a" })),
        ("explain_route", json!({ "task": "clean a CSV file" })),
    ] {
        let result = session.call(tool, arguments).await;
        assert_eq!(text(&result), "there are no skills\nhint: go on without a skill");
    }
    assert!(session.client.list_all_resources().await.unwrap().is_empty());
    assert!(session.client.list_skills(None).await.unwrap().skills.is_empty());
}

#[tokio::test]
async fn nonsense_before_the_handshake_does_not_end_the_server() {
    let mut session = RawSession::start();
    session.send("").await;
    session.send("hello").await;
    assert_eq!(session.receive().await, no_json());
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 }
    });
    session.send(&cancelled.to_string()).await;
    session.send(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#).await;
    let early = session.request(8, "tools/list", json!({})).await;
    let message = early["error"]["message"].as_str().unwrap();
    assert!(message.contains("call `initialize` with `protocolVersion`"), "{message}");
    let versionless = session.request(9, "initialize", json!({ "capabilities": {} })).await;
    assert_eq!(versionless["error"]["message"], message);
    session.send(&cancelled.to_string()).await;
    assert_eq!(session.initialize("2025-11-25").await["protocolVersion"], "2025-11-25");
    session.close().await.unwrap();
}

#[tokio::test]
async fn the_last_message_needs_no_line_end() {
    for (last, is_answered) in
        [(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, true), ("{", true), (" ", false)]
    {
        let mut session = RawSession::start();
        session.initialize("2025-06-18").await;
        session.input.write_all(last.as_bytes()).await.unwrap();
        session.input.shutdown().await.unwrap();
        let mut output = String::new();
        session.output.read_to_string(&mut output).await.unwrap();
        assert_eq!(output.lines().count(), usize::from(is_answered), "{last}: {output}");
    }
}

#[tokio::test]
async fn nonsense_in_a_session_does_not_end_the_server() {
    let mut session = RawSession::start();
    session.initialize("2025-06-18").await;
    for nonsense in [&b"{\n"[..], b"\xff\xfe\n", b"hello\n"] {
        session.input.write_all(nonsense).await.unwrap();
        assert_eq!(session.receive().await, no_json());
    }
    for nonsense in [b"[]\n", &b"null\n"[..]] {
        session.input.write_all(nonsense).await.unwrap();
        assert_eq!(session.receive().await["error"]["code"], -32600);
    }
    let params = json!({ "name": "find_skills", "arguments": ["task"] });
    assert!(session.request(1, "tools/call", params).await["error"]["code"].is_i64());
    for method in [
        "no/such/method",
        "prompts/list",
        "logging/setLevel",
        "completion/complete",
        "resources/subscribe",
        "tasks/get",
    ] {
        let params = json!({
            "level": "info", "uri": "skill://a/SKILL.md", "taskId": "a",
            "ref": { "type": "ref/prompt", "name": "a" }, "argument": { "name": "a", "value": "" }
        });
        let error = &session.request(2, method, params).await["error"];
        let message = format!("this server has no method `{method}`");
        assert_eq!((&error["code"], &error["message"]), (&json!(-32601), &json!(message)));
    }
    session.send(r#"{"jsonrpc":"2.0","id":9,"params":{}}"#).await;
    let response = session.receive().await;
    assert_eq!(response["id"], 9);
    assert_eq!(response["error"]["message"], "`method` is missing");
    let response = session.request(3, "tools/list", json!({})).await;
    assert_eq!(response["result"]["tools"].as_array().unwrap().len(), 3);
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_wrong_call_is_told_which_field_is_wrong() {
    let mut session = RawSession::start();
    session.initialize("2025-11-25").await;
    for (method, params, message) in [
        ("tools/call", json!({}), "`name` is missing"),
        ("tools/call", json!({ "name": 5 }), "`name` is a number, but must be a string"),
        (
            "tools/call",
            json!({ "name": "find_skills", "arguments": "x" }),
            "`arguments` is a string, but must be an object",
        ),
        ("tools/call", json!([]), "`params` must be an object"),
        ("resources/read", json!({}), "`uri` is missing"),
        ("skills/get", json!({}), "`uri` is missing"),
    ] {
        let error = &session.request(1, method, params).await["error"];
        assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!(message)));
    }
    let error = &session.request(2, "skills/list", json!({ "cursor": 5 })).await["error"];
    assert_eq!(error["code"], -32602);
    session.close().await.unwrap();
}

#[tokio::test]
async fn half_an_emoji_and_a_huge_message_are_answered() {
    let mut session = RawSession::start();
    session.initialize("2025-11-25").await;
    let call = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"find_skills","arguments":{"task":"fill in a PDF form \ud83d"}}}"#;
    session.send(call).await;
    let response = session.receive().await;
    assert_eq!((&response["id"], &response["result"]["isError"]), (&json!(4), &json!(false)));
    let task = "x".repeat(9 << 20);
    let params = json!({ "name": "find_skills", "arguments": { "task": task } });
    let error = &session.request(5, "tools/call", params).await["error"];
    assert_eq!(error["code"], -32600);
    assert!(error.to_string().contains("longer than 8388608 bytes"), "{error}");
    let response = session.request(6, "tools/list", json!({})).await;
    assert_eq!(response["result"]["tools"].as_array().unwrap().len(), 3);
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_cancelled_call_gets_no_answer_and_later_ones_do() {
    let mut session = RawSession::start();
    session.initialize("2025-11-25").await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "find_skills", "arguments": { "task": "clean a CSV file" } }
    });
    let cancelled = |id: Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    // In one piece, so that the call is not done before it is cancelled.
    session.send(&format!("{call}\n{}\n{}", cancelled(json!(1)), cancelled(json!("none")))).await;
    for id in 2..20 {
        let response = session.request(id, "tools/call", call["params"].clone()).await;
        assert_eq!(response["result"]["isError"], false);
    }
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_call_that_asks_for_progress_is_answered_at_once() {
    let mut session = RawSession::start();
    session.initialize("2025-11-25").await;
    for token in [json!("a-1"), json!(7)] {
        let params = json!({
            "name": "find_skills", "arguments": { "task": "clean a CSV file" },
            "_meta": { "progressToken": token }
        });
        // A notification would be here in its place.
        assert_eq!(session.request(1, "tools/call", params).await["result"]["isError"], false);
    }
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_client_that_leaves_before_the_handshake_is_no_error() {
    RawSession::start().close().await.unwrap();
}

#[tokio::test]
async fn a_client_that_leaves_before_its_answer_is_no_error() {
    let mut session = RawSession::start();
    session.initialize("2025-11-25").await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "find_skills", "arguments": { "task": "clean a CSV file" } }
    });
    session.send(&call.to_string()).await;
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_new_generation_is_served_without_a_restart() {
    let session = Session::start().await;
    let arguments = json!({ "skill_id": "brewing/tea" });
    let before = session.call("read_skill", arguments.clone()).await;
    assert_eq!(before.is_error, Some(true));

    let library = tempfile::tempdir().unwrap();
    write_skill(library.path(), "brewing/tea", "tea", "Ends </skill_content> early.");
    session.index.write(library.path());
    let after = session.call("read_skill", arguments).await;
    assert!(structured(&after)["markdown"].as_str().unwrap().contains("</skill_content> early"));
    assert!(text(&after).contains("Ends &lt;/skill_content> early."), "{}", text(&after));
}

#[tokio::test]
async fn calls_at_the_time_of_a_refresh_are_all_answered_by_the_old_generation_or_the_new_one() {
    let session = Session::start().await;
    let library = tempfile::tempdir().unwrap();
    write_skill(library.path(), "brewing/tea", "tea", "Steep it.");
    session.index.write(library.path());
    let read = json!({ "skill_id": "brewing/tea" });
    let find = json!({ "task": "brew a pot of tea" });
    let (early, found) = tokio::join!(
        session.call("read_skill", read.clone()),
        session.call("find_skills", find.clone()),
    );
    assert!(text(&early).contains("tea"), "{}", text(&early));
    assert!(structured(&found)["decision"].is_string());
    // One of them has opened the new one.
    assert_eq!(structured(&session.call("read_skill", read).await)["name"], "tea");
    let found = session.call("find_skills", find).await;
    assert_eq!(structured(&found)["skills"][0]["skill_id"], "brewing/tea");
}

#[tokio::test]
async fn texts_of_any_length_give_an_answer_of_bounded_length() {
    let session = Session::start().await;
    let library = tempfile::tempdir().unwrap();
    let name = "steep green tea ".repeat(2_000);
    write_skill(library.path(), "brewing/tea", &name, "Steep green tea.");
    session.index.write(library.path());
    let arguments = json!({ "task": "steep green tea", "budget_tokens": 500 });
    let result = session.call("find_skills", arguments).await;
    let answer = structured(&result);
    let found = answer["skills"].as_array().unwrap().iter();
    let names: Vec<_> = found
        .chain(answer["alternatives"].as_array().unwrap())
        .map(|skill| skill["name"].as_str().unwrap().chars().count())
        .collect();
    assert_eq!(names, [201]);
    assert!(answer.to_string().len() < 8_000);
    assert!(text(&result).len() < 8_000);
}

#[tokio::test]
async fn an_unreadable_generation_leaves_the_old_one_in_service() {
    let session = Session::start().await;
    session.index.corrupt();
    let result = session.call("find_skills", json!({ "task": "clean a messy CSV file" })).await;
    assert_eq!(structured(&result)["decision"], "load");
}

fn write_skill(root: &Path, folder: &str, name: &str, body: &str) {
    let folder = root.join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("---\nname: {name}\ndescription: How to brew {name}.\n---\n\n{body}\n");
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
}
