//! [`Status`]: what a caller of each protocol gets when a call fails.

use std::{error::Error as _, fmt::Write as _};

use skillmux::{Error, ErrorKind, skill::SkillId};

/// What kind of failure a call ended with.
///
/// | status | engine error | MCP | JSON-RPC |
/// |---|---|---|---|
/// | [`Invalid`](Self::Invalid) | [`ErrorKind::Input`] | tool result with `isError` | -32602 |
/// | [`NotFound`](Self::NotFound) | [`Error::SkillUnknown`] | tool result with `isError` | -32602 |
/// | [`Index`](Self::Index) | [`ErrorKind::Index`] | tool result with `isError` | -32603 |
/// | [`Environment`](Self::Environment) | [`ErrorKind::Environment`] | tool result with `isError` | -32603 |
/// | [`Bug`](Self::Bug) | none | tool result with `isError` | -32603 |
///
/// Over MCP the failure of a tool is a result, which a model reads and corrects. Clients keep
/// protocol errors to themselves (MCP 2025-11-25, tools, error handling), so their code is for
/// requests that reach no tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The caller has to ask for something else.
    Invalid,
    /// What the caller asked for is not there.
    NotFound,
    /// The owner of the index has to repair it.
    Index,
    /// The same call may work later.
    Environment,
    /// Nobody but the authors of skillmux can put it right.
    Bug,
}

impl Status {
    /// Returns the status of a call that ended with an error of the engine.
    pub fn of(error: &Error) -> Self {
        match (error, error.kind()) {
            (Error::SkillUnknown { .. }, _) => Self::NotFound,
            (_, ErrorKind::Input) => Self::Invalid,
            (_, ErrorKind::Index) => Self::Index,
            _ => Self::Environment,
        }
    }

    /// Returns the code of a JSON-RPC error.
    pub fn json_rpc(self) -> i32 {
        match self {
            Self::Invalid | Self::NotFound => -32602,
            Self::Index | Self::Environment | Self::Bug => -32603,
        }
    }
}

/// A call that went wrong, in no protocol's words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What kind of failure it is.
    pub(crate) status: Status,
    /// What is wrong, with all causes.
    pub(crate) message: String,
    /// What puts it right, where that is known.
    pub(crate) hint: Option<String>,
    /// Ids that look like the one that is not there, best first.
    pub(crate) nearest: Vec<SkillId>,
}

impl Failure {
    /// Returns a failure that the caller can put right.
    pub(crate) fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            status: Status::Invalid,
            message: message.into(),
            hint: Some(hint.into()),
            nearest: Vec::new(),
        }
    }

    /// Returns the failure of a call about skills where there are none.
    pub(crate) fn no_skills() -> Self {
        Self::invalid("there are no skills", "go on without a skill")
    }

    /// Returns the failure that no caller can cause.
    pub(crate) fn bug() -> Self {
        Self {
            status: Status::Bug,
            message: "skillmux stopped in the middle of this call".to_owned(),
            hint: Some("this is a bug in skillmux: please report it".to_owned()),
            nearest: Vec::new(),
        }
    }

    /// Returns the failure of a call that ended with `error`; without a hint, it has the engine's.
    pub(crate) fn of(error: &Error, hint: Option<String>) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(source) = cause {
            let _ = write!(message, ": {source}");
            cause = source.source();
        }
        let nearest = match error {
            Error::SkillUnknown { nearest, .. } => nearest.clone(),
            _ => Vec::new(),
        };
        Self { status: Status::of(error), message, hint: hint.or_else(|| error.hint()), nearest }
    }
}

#[cfg(test)]
mod tests {
    use std::{io, path::PathBuf};

    use super::*;

    #[test]
    fn every_kind_of_error_has_its_status_and_code() {
        let path = PathBuf::from("/srv/skills");
        let unknown = Error::SkillUnknown { id: SkillId::new("a"), nearest: Vec::new() };
        for (error, status, json_rpc) in [
            (Error::TaskEmpty, Status::Invalid, -32602),
            (unknown, Status::NotFound, -32602),
            (Error::IndexMissing { path: path.clone() }, Status::Index, -32603),
            (Error::IndexLocked { path }, Status::Environment, -32603),
        ] {
            let found = Status::of(&error);
            assert_eq!((found, found.json_rpc()), (status, json_rpc), "{error}");
        }
        assert_eq!(Status::Bug.json_rpc(), -32603);
    }

    #[test]
    fn a_cause_is_part_of_the_message() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        let error = Error::Read { path: PathBuf::from("/srv/skills/CURRENT"), source };
        let message = Failure::of(&error, None).message;
        assert!(message.starts_with("cannot read `/srv/skills/CURRENT`: "), "{message}");
    }
}
