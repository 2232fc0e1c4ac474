//! `skillmux mcp` as an agent starts it.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
};
use serde_json::json;
use tokio::{
    process::{Child, Command},
    time::{sleep, timeout},
};

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

/// An agent with a server of `skillmux mcp`.
struct Agent {
    client: RunningService<RoleClient, ()>,
    server: Child,
}

impl Agent {
    async fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut command = Command::from(home.command(&[&["mcp"], arguments].concat()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.kill_on_drop(true).spawn().unwrap();
        let transport = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
        Self { client: ().serve(transport).await.unwrap(), server }
    }

    /// Returns the text of a skill, or why there is none.
    async fn read(&self, id: &str) -> String {
        let arguments = json!({ "skill_id": id }).as_object().unwrap().clone();
        let call = CallToolRequestParams::new("read_skill").with_arguments(arguments);
        text(&self.client.call_tool(call).await.unwrap()).to_owned()
    }

    /// Reads a skill until its text has these words.
    async fn wait_for(&self, id: &str, words: &str) {
        let started = Instant::now();
        loop {
            let read = self.read(id).await;
            if read.contains(words) {
                return;
            }
            assert!(started.elapsed() < Duration::from_mins(1), "no `{words}` in {read}");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Ends the session and returns what the server said on standard error.
    async fn end(self) -> String {
        self.client.cancel().await.unwrap();
        let output = timeout(Duration::from_secs(10), self.server.wait_with_output()).await;
        String::from_utf8(output.unwrap().unwrap().stderr).unwrap()
    }
}

#[tokio::test]
async fn a_skill_that_is_new_changed_or_deleted_is_seen_without_a_restart() {
    let home = Home::new();
    home.write_skill(".claude/skills/mug", "mug", "Wash a dirty mug", "Use soap.");
    home.write_skill("lib/mug", "mug", "Wash a dirty mug", "Use soap.");
    let library = home.path("lib").display().to_string();
    for (arguments, folder, id) in [
        (&[][..], ".claude/skills/tea", "claude-code/tea"),
        // A folder of an agent that was not there.
        (&[], ".agents/skills/tea", "agents/tea"),
        (&["--library", &library], "lib/drinks/tea", "drinks/tea"),
    ] {
        let agent = Agent::start(&home, arguments).await;
        assert!(agent.read(id).await.contains("no skill has the id"), "{id}");
        home.write_skill(folder, "tea", "How to brew tea", "Boil water.");
        agent.wait_for(id, "Boil water.").await;
        home.write_skill(folder, "tea", "How to brew tea", "Warm the pot.");
        agent.wait_for(id, "Warm the pot.").await;
        std::fs::remove_dir_all(home.path(folder)).unwrap();
        agent.wait_for(id, "no skill has the id").await;
        assert_eq!(agent.end().await, "");
    }
}

#[tokio::test]
async fn an_update_that_fails_leaves_the_skills_as_they_are() {
    let home = Home::new();
    home.write_skill("lib/tea", "tea", "How to brew tea", "Boil water.");
    let agent = Agent::start(&home, &["--library", home.path("lib").to_str().unwrap()]).await;
    std::fs::remove_dir_all(home.path("lib/tea")).unwrap();
    sleep(Duration::from_secs(2)).await;
    assert!(agent.read("tea").await.contains("Boil water."));
    home.write_skill("lib/tea", "tea", "How to brew tea", "Warm the pot.");
    agent.wait_for("tea", "Warm the pot.").await;
    let said = agent.end().await;
    assert!(said.starts_with("skillmux mcp: the skills changed, but are served"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[tokio::test]
async fn an_index_without_a_cache_goes_away_with_the_server() {
    let home = Home::new();
    home.write_skill("lib/tea", "tea", "How to brew tea", "Boil water.");
    // A file where the folder should be stops the superuser, too.
    home.write("cache", "");
    let agent = Agent::start(&home, &["--library", home.path("lib").to_str().unwrap()]).await;
    home.write_skill("lib/mug", "mug", "Wash a dirty mug", "Use soap.");
    agent.wait_for("mug", "Use soap.").await;
    agent.wait_for("tea", "Boil water.").await;
    assert_eq!(agent.end().await, "");
    assert_eq!(std::fs::read_dir(home.path("tmp")).unwrap().count(), 0);
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
