//! What can go wrong in the command line alone.

use std::path::PathBuf;

/// An error of the command line, with its hint.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// No agent's skill folder exists.
    #[error("no agent's skills were found under `{}` or in the working directory", home.display())]
    NoAgent {
        /// Home folder of the user.
        home: PathBuf,
    },
    /// There is no generation to go back to.
    #[error("no earlier generation of the index at `{}` is whole", path.display())]
    NothingWhole {
        /// Folder of the index.
        path: PathBuf,
    },
    /// A dataset has no task to ask.
    #[error("`{}` has no task that counts", path.display())]
    NoTask {
        /// The dataset.
        path: PathBuf,
    },
    /// A folder holds results that others can't be added to.
    #[error("`{}` holds results of another {}", path.display(), what.join(", "))]
    OtherResults {
        /// The folder.
        path: PathBuf,
        /// What is not the same.
        what: Vec<String>,
    },
    /// No chat model is named where one is needed.
    #[error("this needs a chat model, and none is named")]
    NoChat,
    /// Another process writes to a folder of results.
    #[error("another run writes to `{}`", path.display())]
    OutLocked {
        /// The folder.
        path: PathBuf,
    },
}

impl CliError {
    /// Returns what the user can do about it.
    pub(crate) fn hint(&self) -> String {
        let hint = match self {
            Self::NoAgent { .. } => {
                "name some with --library PATH, or make an index with: skillmux index SOURCE..."
            }
            Self::NoTask { .. } => "see docs/datasets.md for what counts, and leave out --sample 0",
            Self::OtherResults { .. } => {
                "name another folder with --out, or replace all that it holds with --fresh"
            }
            Self::NoChat => {
                "--chat-url http://localhost:8000/v1 --chat-model NAME, and the key, if there is one, in \
                 SKILLMUX_API_KEY"
            }
            Self::OutLocked { .. } => "wait for it, or name another folder with --out",
            Self::NothingWhole { .. } => {
                "rebuild it with: skillmux index SOURCE... --rebuild, and --index if it has one"
            }
        };
        hint.to_owned()
    }
}

/// Returns what the user can do about an error of training or synthesis, by the flags that do it.
pub(crate) fn train_hint(error: &skillmux_train::Error) -> Option<String> {
    use skillmux_train::Error;
    let hint = match error {
        Error::CheckpointForeign { .. } => {
            "train without --resume, or name another folder with --run"
        }
        Error::OutName { .. } => "rows are written as JSON Lines: --out FILE.jsonl",
        Error::OutLocked { .. } => "wait for it, or name another file with --out",
        error => return error.hint(),
    };
    Some(hint.to_owned())
}

/// Returns what the user of the command line can do about an error of an evaluation, where that is a
/// command or a flag; [`skillmux_eval::Error::hint`] knows neither.
pub(crate) fn eval_hint(error: &skillmux_eval::Error) -> Option<String> {
    use skillmux_eval::Error;

    let hint = match error {
        Error::Weights { .. } => "`skillmux train ranker` writes such a file",
        Error::Csv { .. } | Error::CsvHead { .. } | Error::TaskTwice { .. } => {
            "such tables are written by `skillmux eval`; write it anew"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
