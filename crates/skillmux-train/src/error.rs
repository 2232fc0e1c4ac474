//! The one error type of this crate.

use std::{io, path::PathBuf};

/// Result of a call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong with training.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of training data does not parse.
    #[error("line {line} of `{}` is not {expected}", path.display())]
    TrainingData {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What a line must be.
        expected: &'static str,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// The data and the index have too little in common to train on.
    #[error(
        "{n_pairs} training pairs are about skills of the index, but at least {min_pairs} are needed"
    )]
    TooFewPairs {
        /// Pairs found.
        n_pairs: usize,
        /// Pairs needed.
        min_pairs: usize,
    },
    /// A checkpoint is of another run.
    #[error("the checkpoint `{}` is of a run with other data or options", path.display())]
    CheckpointForeign {
        /// The checkpoint.
        path: PathBuf,
    },
    /// The plot of a run could not be drawn.
    #[error("cannot draw `{}`: {detail}", path.display())]
    Plot {
        /// The plot.
        path: PathBuf,
        /// What the library said.
        detail: String,
    },
    /// A file for rows has a name by which it would not be read.
    #[error("`{}` does not end in .jsonl", path.display())]
    OutName {
        /// The file.
        path: PathBuf,
    },
    /// Another process appends to a file.
    #[error("another run writes to `{}`", path.display())]
    OutLocked {
        /// The file.
        path: PathBuf,
    },
    /// A file holds something else than the rows that are to be appended.
    #[error("line {line} of `{}` is no row of `skillmux synth`", path.display())]
    OutForeign {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
    /// Every answer of a chat model was refused for many rows in a row.
    #[error(
        "{n_rows} rows in a row were given up, for every answer was refused, mostly as `{reason}`"
    )]
    AnswersRefused {
        /// Rows in a row.
        n_rows: usize,
        /// Why most answers were refused.
        reason: &'static str,
    },
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] skillmux::Error),
}

impl Error {
    /// Returns what the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::TrainingData { .. } => {
                Some("one JSON object a line; docs/datasets.md has the formats".to_owned())
            }
            Self::TooFewPairs { .. } => Some(
                "index the skills that the training data is about, and name that index; a ranker learns \
                 only from queries whose skill is among its candidates"
                    .to_owned(),
            ),
            Self::CheckpointForeign { .. } => {
                Some("train without --resume, or into another folder".to_owned())
            }
            Self::OutName { .. } => {
                Some("rows are written as JSON Lines: --out FILE.jsonl".to_owned())
            }
            Self::OutLocked { .. } => {
                Some("wait for it, or name another file with --out".to_owned())
            }
            Self::OutForeign { .. } => {
                Some("name a file that does not exist, or one of the same command".to_owned())
            }
            Self::AnswersRefused { .. } => Some(
                "try another model; if it repeats itself, a larger library or fewer rows"
                    .to_owned(),
            ),
            Self::Engine(error) => error.hint(),
            Self::Read { .. } | Self::Write { .. } | Self::Plot { .. } => None,
        }
    }
}
