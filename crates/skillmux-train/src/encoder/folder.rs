//! [`RunFolder`]: where a run keeps its files.

use std::{fs, io::ErrorKind, path::Path};

use crate::error::{Error, Result};

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

impl RunFolder<'_> {
    /// Returns the checkpoint of a run that is to be resumed, from the file of this name; `None`
    /// where there is none, or where the run begins anew.
    pub(crate) fn checkpoint(&self, file: &str) -> Result<Option<Vec<u8>>> {
        if self.start == RunStart::Fresh {
            return Ok(None);
        }
        let path = self.path.join(file);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Read { path, source }),
        }
    }
}

/// What to do with the checkpoint of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStart {
    /// Begin anew.
    Fresh,
    /// Go on from it, if there is one.
    Resume,
}
