//! `skillmux mcp` as an agent starts it.

use std::{process::Stdio, time::Duration};

use rmcp::{
    ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
};
use serde_json::json;
use tokio::{process::Command, time::timeout};

use crate::home::Home;

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

#[tokio::test]
async fn an_agent_finds_and_reads_a_skill_and_leaves() {
    let home = Home::with_index();
    let mut command = Command::from(home.command(&["mcp", "--index", &home.index()]));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn().unwrap();
    let transport = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = ().serve(transport).await.unwrap();

    assert_eq!(client.peer_info().unwrap().server_info.as_ref().unwrap().name, "skillmux");
    let tools = client.list_all_tools().await.unwrap();
    let mut names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    names.sort_unstable();
    assert_eq!(names, ["find_skills", "read_skill"]);

    let call = async |tool: &'static str, arguments: serde_json::Value| {
        let arguments = arguments.as_object().unwrap().clone();
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        client.call_tool(params).await.unwrap()
    };
    let found = call("find_skills", json!({ "task": "clean a messy CSV file" })).await;
    assert!(text(&found).contains("data/csv-cleaning"), "{}", text(&found));
    let needs = ["clean a messy CSV file", "knit a woollen jumper"];
    let found = call("find_skills", json!({ "task": "tidy sales.csv", "needs": needs })).await;
    let answer = found.structured_content.clone().unwrap();
    assert_eq!(answer["skills"][0]["skill_id"], "data/csv-cleaning");
    assert_eq!(answer["skills"][0]["needs"], json!([needs[0]]));
    assert_eq!(answer["unserved"], json!([needs[1]]));
    assert!(text(&found).contains("no skill for: knit a woollen jumper"), "{}", text(&found));
    let wrong = call("find_skills", json!({ "task": "tidy sales.csv", "needs": [1] })).await;
    assert!(text(&wrong).contains("array of strings"), "{}", text(&wrong));
    let read = call("read_skill", json!({ "skill_id": "data/csv-cleaning" })).await;
    assert_eq!(read.is_error, Some(false));
    let unknown = call("read_skill", json!({ "skill_id": "csv-cleanin" })).await;
    assert_eq!(unknown.is_error, Some(true));
    assert!(text(&unknown).contains("data/csv-cleaning"), "{}", text(&unknown));

    client.cancel().await.unwrap();
    let output = timeout(Duration::from_secs(10), child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn an_input_that_ends_at_once_is_no_error() {
    let home = Home::with_index();
    let done = home.run_with_input(&["mcp", "--index", &home.index()], b"");
    assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (0, "", ""));
}

#[test]
fn a_missing_index_ends_the_server_before_it_speaks() {
    let home = Home::new();
    home.run(&["mcp", "--index", &home.index()]).assert_error("no index at `", "skillmux index");
}
