//! The MCP server, seen by a client.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

mod errors;
mod explain;
mod http;
mod library;
mod session;
mod skills;
mod tools;

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult, JsonObject},
    service::RunningService,
};
use serde_json::Value;
use skillmux::route::Router;
use skillmux_server::SkillServer;

use library::SampleIndex;

/// A connected client, and what it talks to.
struct Session {
    client: RunningService<RoleClient, ()>,
    index: SampleIndex,
}

impl Session {
    /// Connects rmcp's client to a server of the fixture library.
    async fn start() -> Self {
        let index = SampleIndex::new();
        let router = index.router();
        Self::with(index, router).await
    }

    /// Connects rmcp's client to a server of this router over this index.
    async fn with(index: SampleIndex, router: Router) -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(far);
        tokio::spawn(SkillServer::new(router).run(input, output));
        Self { client: ().serve(near).await.unwrap(), index }
    }

    /// Calls a tool with the members of a JSON object.
    async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        self.client.call_tool(params).await.unwrap()
    }
}

/// Returns the text of a result.
fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

/// Returns the structured content of a result that is no error.
fn structured(result: &CallToolResult) -> &Value {
    assert_eq!(result.is_error, Some(false), "{}", text(result));
    result.structured_content.as_ref().unwrap()
}
