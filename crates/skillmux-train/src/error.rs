//! The one error type of this crate.

use std::{io, path::PathBuf};

use skillmux::ErrorKind;

/// What another library said.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What helps where numbers grow without bound.
const LOWER_RATE: &str = "train with a lower `learning_rate`";

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
        source: Cause,
    },
    /// A task of the training data cannot be asked.
    #[error("line {line} of `{}`", path.display())]
    TaskRefused {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What the engine said.
        source: skillmux::Error,
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
    /// No task can be used.
    #[error("of {n_read} tasks, none has all its skills in the index")]
    NoTasks {
        /// Tasks that were read.
        n_read: usize,
    },
    /// An option of a run has a value with which nothing can be trained.
    #[error("the option `{name}` is {value}, but must be {expected}")]
    BadOption {
        /// Name of the option.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A checkpoint is of another run.
    #[error("the checkpoint `{}` is of a run with other data or options", path.display())]
    CheckpointForeign {
        /// The checkpoint.
        path: PathBuf,
    },
    /// The plot of a run could not be drawn.
    #[error("cannot draw `{}`", path.display())]
    Plot {
        /// The plot.
        path: PathBuf,
        /// What the plotting library said.
        source: Cause,
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
    #[error("line {line} of `{}` is not a row of synthesized data", path.display())]
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
    /// A step of training has a loss that is no number.
    #[error("the loss of step {step} is not finite")]
    LossNotFinite {
        /// Number of the step, from 1.
        step: usize,
    },
    /// A step of training has a gradient that is no number.
    #[cfg(feature = "transformer")]
    #[error("the gradient of step {step} is not finite")]
    GradientNotFinite {
        /// Number of the step, from 1.
        step: usize,
    },
    /// The tensors of a step could not be computed, as for want of memory.
    #[cfg(feature = "transformer")]
    #[error("cannot compute a step of training")]
    Tensors(#[source] Box<candle_core::Error>),
    /// A published model cannot be tuned.
    #[cfg(feature = "transformer")]
    #[error(transparent)]
    Model(#[from] skillmux_models::checkpoint::CheckpointError),
    /// A sequence composer that was written cannot be read.
    #[cfg(feature = "transformer")]
    #[error(transparent)]
    Composer(skillmux_models::Error),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] skillmux::Error),
}

impl Error {
    /// Returns who can put this right.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::TrainingData { .. }
            | Self::TaskRefused { .. }
            | Self::TooFewPairs { .. }
            | Self::NoTasks { .. }
            | Self::BadOption { .. }
            | Self::CheckpointForeign { .. }
            | Self::OutName { .. }
            | Self::LossNotFinite { .. }
            | Self::OutForeign { .. } => ErrorKind::Input,
            Self::Read { .. }
            | Self::Write { .. }
            | Self::Plot { .. }
            | Self::OutLocked { .. }
            | Self::AnswersRefused { .. } => ErrorKind::Environment,
            #[cfg(feature = "transformer")]
            Self::GradientNotFinite { .. } => ErrorKind::Input,
            #[cfg(feature = "transformer")]
            Self::Tensors(_) => ErrorKind::Environment,
            #[cfg(feature = "transformer")]
            Self::Model(error) => error.kind(),
            #[cfg(feature = "transformer")]
            Self::Composer(error) => error.kind(),
            Self::Engine(error) => error.kind(),
        }
    }

    /// Returns what the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::TrainingData { .. } => "one JSON object a line; docs/datasets.md has the formats",
            Self::TooFewPairs { .. } => {
                "index the skills that the training data is about, and name that index; a ranker learns \
                 only from queries whose skill is among its candidates"
            }
            Self::NoTasks { .. } => {
                "index the skills that the tasks are about, and name that index"
            }
            Self::BadOption { .. } => "leave the option out to train with its default",
            Self::CheckpointForeign { .. } => "begin anew, or train in another folder",
            Self::OutName { .. } => {
                "rows are written as JSON Lines: name a file that ends in .jsonl"
            }
            Self::OutLocked { .. } => "wait for it, or name another file",
            Self::OutForeign { .. } => {
                "name a file that does not exist, or one of the same command"
            }
            Self::AnswersRefused { .. } => {
                "try another model; if it repeats itself, a larger library or fewer rows"
            }
            Self::LossNotFinite { .. } => LOWER_RATE,
            #[cfg(feature = "transformer")]
            Self::GradientNotFinite { .. } => LOWER_RATE,
            #[cfg(feature = "transformer")]
            Self::Tensors(_) => "free some memory, or make `n_micro_pairs` smaller",
            #[cfg(feature = "transformer")]
            Self::Model(error) => return error.hint(),
            #[cfg(feature = "transformer")]
            Self::Composer(error) => return error.hint(),
            Self::TaskRefused { source, .. } | Self::Engine(source) => return source.hint(),
            Self::Read { .. } | Self::Write { .. } | Self::Plot { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

#[cfg(feature = "transformer")]
impl From<candle_core::Error> for Error {
    fn from(error: candle_core::Error) -> Self {
        Self::Tensors(Box::new(error))
    }
}
