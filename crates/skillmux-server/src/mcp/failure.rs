//! [`Failure`]: a call that went wrong, told to the model so that it can do better.

use std::{error::Error as _, fmt::Write as _};

use rmcp::model::{CallToolResult, ContentBlock};
use skillmux::{Error, ErrorKind};

use super::markup::{clip, one_line};

/// Longest message, in characters; what the caller sent may be long, and it knows that already.
const MAX_MESSAGE_CHARS: usize = 400;

/// What went wrong, and what to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    message: String,
    hint: String,
}

impl Failure {
    /// Returns a failure of the call's arguments.
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    /// Returns the failure that no caller can cause.
    pub(super) fn bug() -> Self {
        Self::new(
            "skillmux stopped in the middle of this call",
            "this is a bug in skillmux: go on without a skill, and tell the user",
        )
    }

    /// Returns a tool result with `isError`, which clients show to the model.
    pub(super) fn into_result(self) -> CallToolResult {
        let message = clip(&one_line(&self.message), MAX_MESSAGE_CHARS);
        let text = format!("{message}\nhint: {}", one_line(&self.hint));
        CallToolResult::error(vec![ContentBlock::text(text)])
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(source) = cause {
            let _ = write!(message, ": {source}");
            cause = source.source();
        }
        let engine_hint = error.hint().unwrap_or_default();
        let hint = match (&error, error.kind()) {
            (Error::SkillUnknown { nearest, .. }, _) => {
                let mut hint = "call find_skills with the task to get ids".to_owned();
                for (i, id) in nearest.iter().enumerate() {
                    let lead = if i == 0 { "; ids that look alike: " } else { ", " };
                    let _ = write!(hint, "{lead}`{id}`");
                }
                hint
            }
            (_, ErrorKind::Input) => engine_hint,
            (_, ErrorKind::Index) => format!(
                "go on without a skill, and tell the user to run `skillmux index`: {engine_hint}"
            ),
            _ if engine_hint.is_empty() => {
                "call again in a moment; if it fails again, go on without a skill".to_owned()
            }
            _ => format!("go on without a skill, and tell the user: {engine_hint}"),
        };
        Self { message, hint }
    }
}

#[cfg(test)]
mod tests {
    use std::{io, path::PathBuf};

    use skillmux::skill::SkillId;

    use super::*;

    fn text(failure: Failure) -> String {
        let result = failure.into_result();
        assert_eq!(result.is_error, Some(true));
        result.content[0].as_text().unwrap().text.clone()
    }

    #[test]
    fn a_missing_index_comes_with_the_command_that_makes_one() {
        let error = Error::IndexMissing { path: PathBuf::from("/srv/skills") };
        assert_eq!(
            text(error.into()),
            "no index at `/srv/skills`\nhint: go on without a skill, and tell the user to run \
             `skillmux index`: make one of the skills that it is to hold"
        );
    }

    #[test]
    fn a_corrupt_index_comes_with_the_command_that_repairs_it() {
        let path = PathBuf::from("/srv/skills");
        let detail = "manifest.json is missing".to_owned();
        let error = Error::IndexCorrupt { path, generation: 7, detail, previous: Some(6) };
        let text = text(error.into());
        assert!(text.contains("generation 7 of the index"), "{text}");
        let hint = "tell the user to run `skillmux index`: generation 6 is whole: go back to it";
        assert!(text.ends_with(hint), "{text}");
    }

    #[test]
    fn a_cause_is_part_of_the_message() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        let error = Error::Read { path: PathBuf::from("/srv/skills/CURRENT"), source };
        let text = text(error.into());
        assert!(text.starts_with("cannot read `/srv/skills/CURRENT`: "), "{text}");
        assert!(text.contains("\nhint: call again in a moment"), "{text}");
    }

    #[test]
    fn a_long_id_is_not_echoed_in_full() {
        let id = SkillId::new("x".repeat(100_000));
        let text = text(Error::SkillUnknown { id, nearest: Vec::new() }.into());
        assert!(text.len() < 600, "{}", text.len());
        assert!(text.ends_with("hint: call find_skills with the task to get ids"), "{text}");
    }
}
