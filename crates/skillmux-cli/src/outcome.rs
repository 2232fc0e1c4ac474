//! [`Outcome`]: how a command that did not fail ended.

/// How a command that did not fail ended; the exit code follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Found,
    NothingFound,
    NotPromoted,
    ProblemsFound,
}
