//! [`RunFolder`]: where a run keeps its files.

use std::path::Path;

/// Name of the log in the folder of a run: one [`LogLine`](super::LogLine) a round.
pub const LOG: &str = "log.jsonl";

/// Name of the plot in the folder of a run.
pub const PLOT: &str = "loss.svg";

/// Where a run keeps its files.
#[derive(Debug, Clone, Copy)]
pub struct RunFolder<'p> {
    /// The folder, which exists.
    pub path: &'p Path,
    /// What to do with a checkpoint in it.
    pub start: RunStart,
}

/// What to do with the checkpoint of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStart {
    /// Begin anew.
    Fresh,
    /// Go on from it, if there is one.
    Resume,
}
