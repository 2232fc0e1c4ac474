//! Tells a model what went wrong, so that it can do better.

use std::fmt::Write as _;

use rmcp::{
    ErrorData,
    handler::server::tool::IntoCallToolResult,
    model::{CallToolResponse, CallToolResult, ContentBlock, ErrorCode, Tool},
};
use serde_json::Value;
use skillmux::{
    skill::SkillId,
    text::{clipped, one_line},
};

use super::{arguments::kind_of, lines::REFUSED};
use crate::{Status, status::Failure};

/// Longest message, in characters; what the caller sent may be long, and it knows that already.
const MAX_MESSAGE_CHARS: usize = 400;

impl IntoCallToolResult for Failure {
    /// Returns a tool result with `isError`, which clients show to the model.
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        let text = format!("{}\nhint: {}", message(&self), one_line(&advice(&self)));
        Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into())
    }
}

impl From<Failure> for ErrorData {
    /// Returns the answer to a request that is no call of a tool.
    fn from(failure: Failure) -> Self {
        let hint = failure.hint.as_deref().map(|hint| format!("; {}", one_line(hint)));
        let text = format!("{}{}", message(&failure), hint.unwrap_or_default());
        Self::new(ErrorCode(failure.status.json_rpc()), text, None)
    }
}

/// Returns the answer to a request for a page of a list that no page names.
pub(super) fn bad_cursor() -> ErrorData {
    ErrorData::invalid_params("no page of the list has this cursor; begin again without one", None)
}

/// Returns the answer to a call that reaches no tool.
pub(super) fn unknown_tool(name: &str, known: &[Tool]) -> ErrorData {
    let name = clipped(&one_line(name), MAX_MESSAGE_CHARS);
    let known: Vec<_> = known.iter().map(|tool| tool.name.as_ref()).collect();
    let message = format!("unknown tool `{name}`; there are {}", known.join(", "));
    ErrorData::new(ErrorCode(Status::Invalid.json_rpc()), message, None)
}

/// Returns the answer to a request that rmcp cannot read, because it does not know the method or
/// because the `params` are wrong.
pub(super) fn unreadable(method: &str, params: Option<&Value>) -> ErrorData {
    let field = |name: &str| params.and_then(|params| params.get(name));
    let wrong = |name, expected| match field(name) {
        None => format!("`{name}` is missing"),
        Some(value) => format!("`{name}` is {}, but must be {expected}", kind_of(value)),
    };
    let message = match method {
        REFUSED => {
            let refused = params.and_then(|error| serde_json::from_value(error.clone()).ok());
            return refused.unwrap_or_else(|| ErrorData::invalid_params("no error", None));
        }
        "tools/call" if !field("name").is_some_and(Value::is_string) => wrong("name", "a string"),
        "tools/call" if field("arguments").is_some_and(|value| !value.is_object()) => {
            wrong("arguments", "an object")
        }
        "resources/read" | "skills/get" if !field("uri").is_some_and(Value::is_string) => {
            wrong("uri", "a string")
        }
        "tools/call" | "resources/read" | "skills/get" => {
            format!("the `params` of `{method}` cannot be read")
        }
        _ => return unknown_method(method),
    };
    ErrorData::invalid_params(message, None)
}

/// Says in a sentence that there is no such method, where rmcp says it with the bare name; returns
/// whether it did.
pub(super) fn name_method(error: &mut ErrorData) -> bool {
    let is_bare = error.code == ErrorCode::METHOD_NOT_FOUND && !error.message.contains(' ');
    if is_bare {
        *error = unknown_method(&error.message);
    }
    is_bare
}

/// Says in a sentence how a session begins, where rmcp names the fields of a request without a
/// handshake alone.
pub(super) fn name_handshake(error: &mut ErrorData) {
    if error.message.starts_with("request _meta is missing") {
        let message = format!(
            "the session has not begun: call `initialize` with `protocolVersion`, `capabilities` and `clientInfo` \
             first; without a handshake, the {}",
            error.message
        );
        *error = ErrorData::new(error.code, message, None);
    }
}

fn unknown_method(method: &str) -> ErrorData {
    let method = clipped(&one_line(method), MAX_MESSAGE_CHARS);
    let message = format!("this server has no method `{method}`");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn message(failure: &Failure) -> String {
    clipped(&one_line(&failure.message), MAX_MESSAGE_CHARS)
}

/// Returns what a model should do next.
fn advice(failure: &Failure) -> String {
    match (failure.status, failure.hint.as_deref()) {
        (Status::NotFound, _) => ids_advice(&failure.nearest),
        (Status::Invalid, Some(hint)) => hint.to_owned(),
        (Status::Invalid, None) => "call again with other arguments".to_owned(),
        (Status::Index, Some(hint)) => {
            format!("go on without a skill, and tell the user how to repair it: {hint}")
        }
        (Status::Index, None) => "go on without a skill, and tell the user".to_owned(),
        (Status::Environment, Some(hint)) => {
            format!("go on without a skill, and tell the user: {hint}")
        }
        (Status::Environment, None) => {
            "call again in a moment; if it fails again, go on without a skill".to_owned()
        }
        (Status::Bug, _) => {
            "this is a bug in skillmux: go on without a skill, and tell the user".to_owned()
        }
    }
}

fn ids_advice(nearest: &[SkillId]) -> String {
    let mut advice = "call find_skills with the task to get ids".to_owned();
    for (i, id) in nearest.iter().enumerate() {
        let lead = if i == 0 { "; ids that look alike: " } else { ", " };
        let _ = write!(advice, "{lead}`{id}`");
    }
    advice
}

#[cfg(test)]
mod tests {
    use std::{io, path::PathBuf};

    use skillmux::Error;

    use super::*;

    fn text(failure: Failure) -> String {
        let Ok(CallToolResponse::Complete(result)) = failure.into_call_tool_result() else {
            panic!("a failed call is complete");
        };
        assert_eq!(result.is_error, Some(true));
        result.content[0].as_text().unwrap().text.clone()
    }

    #[test]
    fn a_missing_index_comes_with_the_command_that_makes_one() {
        let error = Error::IndexMissing { path: PathBuf::from("/srv/skills") };
        assert_eq!(
            text(Failure::of(&error, Some("run make-index /srv/skills".to_owned()))),
            "no index at `/srv/skills`\nhint: go on without a skill, and tell the user how to \
             repair it: run make-index /srv/skills"
        );
    }

    #[test]
    fn a_corrupt_index_comes_with_the_generation_that_is_whole() {
        let path = PathBuf::from("/srv/skills");
        let detail = "manifest.json is missing".to_owned();
        let error = Error::IndexCorrupt { path, generation: Some(7), detail, previous: Some(6) };
        let text = text(Failure::of(&error, None));
        assert!(
            text.starts_with("generation 7 of the index at `/srv/skills` is corrupt"),
            "{text}"
        );
        assert!(text.contains("tell the user how to repair it: generation 6 is whole"), "{text}");
    }

    #[test]
    fn what_may_pass_is_tried_again() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        let error = Error::Read { path: PathBuf::from("/srv/skills/CURRENT"), source };
        let text = text(Failure::of(&error, None));
        assert!(text.contains("\nhint: call again in a moment"), "{text}");
    }

    #[test]
    fn a_long_id_is_not_echoed_in_full() {
        let id = SkillId::new("x".repeat(100_000));
        let error = Error::SkillUnknown { id, nearest: Vec::new() };
        let text = text(Failure::of(&error, None));
        assert!(text.len() < 600, "{}", text.len());
        assert!(text.ends_with("hint: call find_skills with the task to get ids"), "{text}");
    }

    #[test]
    fn a_bug_is_told_to_the_user() {
        let text = text(Failure::bug());
        assert!(text.ends_with("go on without a skill, and tell the user"), "{text}");
    }
}
