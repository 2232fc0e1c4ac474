//! What can be wrong with the settings of an agent.

use std::{io, path::PathBuf};

/// Why a settings file of an agent is left as it is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsFileError {
    /// The file does not parse.
    #[error("`{}`, line {line}: {detail}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line of the mistake, counted from 1.
        line: usize,
        /// What is wrong there.
        detail: String,
    },
    /// Something else stands where a table or list must be.
    #[error("`{key}` in `{}` must be {expected}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Keys that lead there, with dots.
        key: String,
        /// What must stand there.
        expected: &'static str,
    },
    /// The file changed between its diff and its writing.
    #[error("`{}` was changed by another program just now", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file is a link to nothing.
    #[error("`{}` is a link to a file that is not there", path.display())]
    DeadLink {
        /// The link.
        path: PathBuf,
    },
    /// It is a folder, a pipe or the like.
    #[error("`{}` is no regular file", path.display())]
    NoFile {
        /// What stands where the file must be.
        path: PathBuf,
    },
    /// Nobody may write to it, as its owner wants it.
    #[error("`{}` may not be written to", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The record of what was changed cannot be read.
    #[error("cannot use `{}`: {detail}", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// Another process changes settings.
    #[error("another `skillmux init` or `uninit` is running")]
    Locked {
        /// What it holds.
        path: PathBuf,
    },
    /// The system does not let the file be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system does not let the file be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl SettingsFileError {
    /// Returns what the user can do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Malformed { .. } | Self::Shape { .. } => {
                "put this right in the file, and run the command again; nothing was written to it"
            }
            Self::Changed { .. } => "run the command again, best while the agent is not running",
            Self::Locked { .. } => "wait until it is done, or answer its question",
            Self::DeadLink { .. } => "make the file that the link names, or remove the link",
            Self::NoFile { .. } => "put a file there, or nothing",
            Self::ReadOnly { .. } => "let its owner write to it, and run the command again",
            Self::Record { .. } => {
                "move the file away; then `skillmux uninit` cannot undo what was done before"
            }
            Self::Read { .. } | Self::Write { .. } => "check who owns the file and its folder",
        }
    }
}
