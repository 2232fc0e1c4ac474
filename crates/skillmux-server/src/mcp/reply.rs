//! [`Reply`]: an answer in both forms, for programs and for models.

use rmcp::{
    ErrorData,
    handler::server::tool::IntoCallToolResult,
    model::{CallToolResponse, CallToolResult, ContentBlock},
};
use serde::Serialize;
use serde_json::Value;

use crate::status::Failure;

/// What a tool answers: a value for programs and a text for models.
#[derive(Debug)]
pub(super) struct Reply {
    structured: Value,
    text: String,
}

impl Reply {
    /// Returns the reply that carries `answer` and says the same in `text`.
    pub(super) fn new<A: Serialize>(answer: &A, text: String) -> Result<Self, Failure> {
        let structured = serde_json::to_value(answer).map_err(|_| Failure::bug())?;
        Ok(Self { structured, text })
    }
}

impl IntoCallToolResult for Reply {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text)]);
        result.structured_content = Some(self.structured);
        Ok(result.into())
    }
}
