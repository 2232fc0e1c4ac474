//! What can go wrong in the command line alone.

use std::{
    io,
    path::{Path, PathBuf},
};

use skillmux::{Error, text::one_line};
use skillmux_models::remote::RemoteError;

use crate::model_option::ModelOption;

/// An error of the command line, with its hint.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// No agent's skill folder exists.
    #[error("no agent's skills were found under `{}` or in the working directory", home.display())]
    NoAgent {
        /// Home folder of the user.
        home: PathBuf,
    },
    /// None of the agents that are meant is installed.
    #[error("{} under `{}`", not_installed(names), home.display())]
    NoAgentInstalled {
        /// Home folder of the user.
        home: PathBuf,
        /// The agents that are meant; all where it is empty.
        names: Vec<String>,
    },
    /// Nothing is known of the limit of an agent's list of skills.
    #[error("the limit of the list of {name} is not documented")]
    NoListLimit {
        /// Name of the agent.
        name: &'static str,
    },
    /// A skill is in no index because its author wants no model to load it unasked.
    #[error("the front matter of `{id}` keeps it from the model: `disable-model-invocation`")]
    ForUserOnly {
        /// Its id or its name, as it was asked for.
        id: String,
        /// Its folder.
        folder: String,
    },
    /// A file that the arguments name cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line of a file is not what it should be.
    #[error("{}:{line}: {detail}", path.display())]
    NotALine {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        detail: String,
        /// What such a line looks like.
        form: &'static str,
    },
    /// No task of a file is about a skill that is there.
    #[error("no task of `{}` is about a skill of this agent", path.display())]
    NoTaskOfSkills {
        /// The file.
        path: PathBuf,
    },
    /// Files would be changed without anyone to ask.
    #[error("there is no terminal to ask on")]
    NoConsent,
    /// The settings of some agents were left as they are, all or some of their files.
    #[error("{}", not_changed(left, partly))]
    AgentsLeft {
        /// The agents of which no file was changed.
        left: Vec<String>,
        /// Those of which some files were changed.
        partly: Vec<String>,
    },
    /// An index cannot be made or updated in a folder of something else.
    #[error("`{}` is not a skillmux index", path.display())]
    IndexPlace {
        /// The folder.
        path: PathBuf,
    },
    /// There is no generation to go back to, and no need to.
    #[error("the index at `{}` has no earlier generation to go back to", path.display())]
    NothingEarlier {
        /// Folder of the index.
        path: PathBuf,
    },
    /// No generation is whole.
    #[error("no earlier generation of the index at `{}` is whole", path.display())]
    NothingWhole {
        /// Folder of the index.
        path: PathBuf,
    },
    /// A file that the settings or the arguments name cannot be read.
    #[error("cannot read `{}`", path.display())]
    Model {
        /// What it is of.
        option: ModelOption,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of weights holds something else.
    #[error("cannot use `{}`: {detail}", path.display())]
    ModelForm {
        /// What it is of.
        option: ModelOption,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The settings file cannot be read.
    #[error("cannot read the settings file `{}`", path.display())]
    SettingsUnread {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The settings file holds something else than settings.
    #[error("cannot use the settings file `{}`: {detail}", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The file of pins cannot be read or holds something else.
    #[error("`{}` holds no pins: {detail}", path.display())]
    Pins {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A dataset has no task to ask.
    #[error("`{}` has no task that counts", path.display())]
    NoTask {
        /// The dataset.
        path: PathBuf,
    },
    /// A file of needs has none for the tasks of a dataset.
    #[error("`{}` has no need of any task", path.display())]
    NoNeeds {
        /// The file.
        path: PathBuf,
    },
    /// Results hold no plans.
    #[error("no system of `{}` has plans", path.display())]
    NoPlan {
        /// The results.
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
    /// A gate is given a path without results, and no dataset.
    #[error("`{}` holds no results, and no dataset is named", path.display())]
    NoResults {
        /// The path.
        path: PathBuf,
    },
    /// A gate cannot tell what to compare with what.
    #[error("{n_old} old and {n_new} new rankings are named, but {n_each} of each are compared")]
    Unpaired {
        /// Old rankings.
        n_old: usize,
        /// New rankings.
        n_new: usize,
        /// How many there should be of each.
        n_each: usize,
    },
    /// An option says something about a model that is not named.
    #[error("--{option} is given without {owner}")]
    OptionAlone {
        /// The option, without dashes.
        option: &'static str,
        /// The option that it belongs to.
        owner: &'static str,
    },
    /// An option says something about a choice that is not made.
    #[error("--{option} is given without {choice}")]
    ChoiceMissing {
        /// The option, without dashes.
        option: &'static str,
        /// The choice that it belongs to.
        choice: &'static str,
    },
    /// Reasons are asked of a pager that has none.
    #[error(
        "--why tells how `--pager transformer` and `--pager value` choose, not how another pager does"
    )]
    WhyOfPager,
    /// Nothing says where models of the hub are kept.
    #[error("a model is named by its id, and there is no folder to keep it in")]
    NoHubCache,
    /// No chat model is named where one is needed.
    #[error("this needs a chat model, and none is named")]
    NoChat,
    /// A chat model is named, and nothing is asked of it.
    #[error("a chat model is named, and nothing asks it")]
    ChatUnused,
    /// Reasons are asked for, and a drawing.
    #[error("a drawing has no reasons")]
    WhyOfDrawing,
    /// A chat model was to tell the kinds of all parts that are measured, and did not.
    #[error("the chat model told no kinds of {n_parts} parts")]
    KindsUnsaid {
        /// Parts that it was asked about in vain.
        n_parts: usize,
    },
    /// A sequence composer is asked for without its weights.
    #[error("`--composer sequence` needs a file of weights that ends in .safetensors")]
    NoSequence,
    /// A folder for a model holds something.
    #[error("`{}` is there, and not empty", path.display())]
    OutExists {
        /// The folder.
        path: PathBuf,
    },
    /// A folder of `compile` holds the list of another agent.
    #[error("`{}` holds the list of `{}`", path.display(), one_line(agent))]
    OutOfAgent {
        /// The folder.
        path: PathBuf,
        /// Short name of the agent, as the folder says it.
        agent: String,
    },
    /// A file cannot lie where it is to be written.
    #[error("cannot write `{}`: {}", path.display(), if path.is_dir() { "it is a folder" } else { "its folder does not exist" })]
    OutPlace {
        /// The file.
        path: PathBuf,
    },
    /// The folder of a file that is to be written cannot be written to.
    #[error("cannot write `{}`", path.display())]
    OutFolder {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that is to be written is read as well.
    #[error("`{}` is training data, and would be overwritten", path.display())]
    OutIsInput {
        /// The file.
        path: PathBuf,
    },
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
            Self::NoAgentInstalled { .. } => {
                "skillmux knows claude-code, codex, gemini-cli, openclaw, copilot, cursor and opencode by \
                 their folders in the home folder; others take `skillmux mcp` as an MCP server"
            }
            Self::NoListLimit { .. } => {
                "compile knows the limits of claude-code, codex and openclaw"
            }
            Self::ForUserOnly { folder, .. } => {
                return format!(
                    "you can start it in your agent by its name, or read it in {folder}"
                );
            }
            Self::Unreadable { .. } => {
                "check the path and who may read it; the file must be text in UTF-8"
            }
            Self::NotALine { form, .. } => return format!("a line of such a file is {form}"),
            Self::NoTaskOfSkills { .. } => {
                "`skill_ids` are names of skills, or the ends of their folders, such as documents/pdf"
            }
            Self::NoConsent => {
                "--yes changes the files without a question, --dry-run shows the changes"
            }
            Self::AgentsLeft { .. } => {
                "see above what is wrong with each, and run the command again"
            }
            Self::Model { option, .. } => return option.place_hint(),
            Self::ModelForm { option, .. } => return option.form_hint(),
            Self::IndexPlace { .. } => {
                "choose an empty or new folder; nothing in this one was touched"
            }
            Self::SettingsUnread { .. } => {
                "check who may read it; it must be a file of text in UTF-8"
            }
            Self::Settings { .. } => {
                "it may have [models] with `encoder`, `encoder_model`, `reranker`, `reranker_model`, \
                 `reranker_reads`, `preset`, `precision`, `transformer`, `ranker`, `abstention`, `composer`, `pager` and \
                 `work`; and [trust], see docs/trust.md"
            }
            Self::Pins { .. } => {
                "look at what happened to it; `skillmux audit --pin` makes it again once it is removed"
            }
            Self::NoPlan { .. } => {
                "measure one that loads skills: skillmux eval run DATASET -s default --out DIR"
            }
            Self::NoNeeds { .. } => "its query_id must be those of the tasks",
            Self::NoTask { .. } => "see docs/datasets.md for what counts, and leave out --sample 0",
            Self::OtherResults { .. } => {
                "name another folder with --out, or replace all that it holds with --fresh"
            }
            Self::NoResults { .. } => {
                "ask both rankings: skillmux eval gate DATASET... --old A --new B; or name results of \
                 `skillmux eval run --out DIR` as DIR/SYSTEM"
            }
            Self::Unpaired { .. } => {
                "with datasets, name --old and --new once; with results, once for each dataset"
            }
            Self::OptionAlone { .. } => {
                "name both or neither, as options or in [models] of the settings file: --encoder-model \
                 and --reranker-model name a model at a URL, --reranker-reads goes with any --reranker, \
                 --preset and --precision with the folder or the id of a model"
            }
            Self::ChoiceMissing { option, choice } => {
                return format!("add {choice}, or leave out --{option}");
            }
            Self::WhyOfPager => "leave --pager out, or --why",
            Self::NoSequence => {
                "name it with --composer-weights FILE.safetensors; `skillmux train composer --kind sequence` writes one, \
                 and docs/composer.md says how"
            }
            Self::NoHubCache => "name a folder by the variable HF_HUB_CACHE",
            Self::NoChat => {
                "--chat-url http://localhost:8000/v1 --chat-model NAME, and the key, if there is one, in \
                 SKILLMUX_API_KEY"
            }
            Self::ChatUnused => {
                "add --judge, --decomposer chat or --kinds chat where there is one, or measure a system such as \
                 `judge(bm25)`; or leave out --chat-url and --chat-model"
            }
            Self::WhyOfDrawing => "leave --why out, or take --format text or json",
            Self::KindsUnsaid { .. } => {
                "what went wrong is said above; run it again, or take a model that follows instructions"
            }
            Self::OutLocked { .. } => "wait for it, or name another folder with --out",
            Self::OutFolder { .. } => "check who owns its folder, or name a file in another one",
            Self::OutIsInput { .. } => "name another file for what is written",
            Self::OutPlace { .. } => "name a file with --out, in a folder that is there",
            Self::OutExists { .. } | Self::OutOfAgent { .. } => "name another folder with --out",
            Self::NothingEarlier { .. } => {
                "it can be used as it is; the next update that changes something keeps this generation"
            }
            Self::NothingWhole { .. } => {
                "rebuild it with: skillmux index SOURCE... --rebuild, and --index if it has one"
            }
        };
        hint.to_owned()
    }
}

fn not_changed(left: &[String], partly: &[String]) -> String {
    let says = |names: &[String], what| {
        (!names.is_empty()).then(|| format!("the settings of {} were {what}", names.join(", ")))
    };
    let parts = [says(left, "left as they are"), says(partly, "changed only in part")];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn not_installed(names: &[String]) -> String {
    match names {
        [] => "no agent is installed".to_owned(),
        [name] => format!("the agent {name} is not installed"),
        names => format!("none of {} is installed", names.join(", ")),
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

/// Returns what the user of the command line can do about an error of an evaluation, where that is
/// a command or a flag; [`skillmux_eval::Error::hint`] knows neither.
pub(crate) fn eval_hint(error: &skillmux_eval::Error) -> Option<String> {
    use skillmux_eval::Error;

    let hint = match error {
        Error::Unencoded { index, .. } => {
            let index = shell_word(index);
            return Some(format!(
                "`skillmux index --index {index} --transformer` lets it read them; `ranked:FILE` does without it"
            ));
        }
        Error::Weights { .. } => "`skillmux train ranker` writes such a file",
        Error::NoneHeldOut { .. } => {
            "--all scores all pairs, also those that models are trained on"
        }
        Error::Csv { .. } | Error::CsvHead { .. } | Error::TaskTwice { .. } => {
            "such tables are written by `skillmux eval`; write it anew"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Returns what the user can do about what the system said, where nothing is known of the file.
pub(crate) fn io_hint(error: &io::Error) -> Option<String> {
    let hint = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "check the path",
        io::ErrorKind::IsADirectory => "name a file; this is a folder",
        io::ErrorKind::PermissionDenied => "check who owns the file and its folder",
        io::ErrorKind::ReadOnlyFilesystem => "name a place on a writable disk",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space and run the command again"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Returns what the user can do about an endpoint that gave no answer, by the flags that do it.
pub(crate) fn remote_hint(error: &RemoteError) -> Option<String> {
    match error {
        RemoteError::Status { url, status: 400 | 404 | 405 | 422, .. }
            if url.ends_with("/embed") || url.ends_with("/rerank") =>
        {
            let hint = "check the URL; without --encoder-model or --reranker-model an endpoint is asked as \
                        text-embeddings-inference is, with it as OpenAI and Cohere are";
            Some(hint.to_owned())
        }
        _ => error.hint(),
    }
}

/// Returns the engine's error that a failed command ended with, also where another crate passed it
/// on.
pub(crate) fn engine_error(error: &anyhow::Error) -> Option<&Error> {
    if let Some(error) = error.downcast_ref() {
        return Some(error);
    }
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(skillmux_eval::Error::Engine(error)), _)
        | (_, Some(skillmux_train::Error::Engine(error))) => Some(error),
        _ => None,
    }
}

/// Returns what the user can do about an error of the engine, with the command that does it.
pub(crate) fn engine_hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::IndexMissing { path } => {
            format!("make one with: skillmux index SOURCE... --index {}", shell_word(path))
        }
        Error::IndexForeign { .. } => {
            "name a folder that `skillmux index` made, or read the skills with --library FOLDER"
                .to_owned()
        }
        Error::IndexFormat { path, .. } | Error::IndexCorrupt { path, previous: None, .. } => {
            format!(
                "rebuild it with: skillmux index SOURCE... --index {} --rebuild",
                shell_word(path)
            )
        }
        Error::EncoderMismatch { path, .. } => format!(
            "name the encoder that it was built with, by --encoder, or `encoder` in [models] of the settings file, \
             with --precision int8 or `precision` if its name ends so; or rebuild it with this one: skillmux index SOURCE... --index {} --rebuild",
            shell_word(path)
        ),
        Error::Encoder { source, .. } | Error::PairScorer { source, .. } => {
            return source.downcast_ref().map_or_else(|| error.hint(), remote_hint);
        }
        Error::IndexCorrupt { path, previous: Some(previous), .. } => format!(
            "generation {previous} is whole: go back to it with: skillmux index --restore --index \
             {}",
            shell_word(path)
        ),
        Error::SkillUnknown { nearest, .. } if nearest.is_empty() => {
            "`skillmux search` prints the ids of skills".to_owned()
        }
        // It may be a file of a skill as well as one of an index.
        Error::Read { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            "check who owns the file, and who may read it and its folder".to_owned()
        }
        Error::Read { source, .. } | Error::Write { source, .. } => match source.kind() {
            io::ErrorKind::PermissionDenied => {
                "check who owns the folder, or choose another one with --index".to_owned()
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                "choose a folder on a writable disk with --index".to_owned()
            }
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => {
                "free some space and run the command again; the index is as it was before"
                    .to_owned()
            }
            _ => return error.hint(),
        },
        _ => return error.hint(),
    };
    Some(hint)
}

/// Quotes a path for a POSIX shell when it needs it.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint_of(error: impl Into<anyhow::Error>) -> String {
        engine_hint(engine_error(&error.into()).unwrap()).unwrap()
    }

    #[test]
    fn a_missing_index_comes_with_the_command_that_makes_one() {
        let missing = || Error::IndexMissing { path: PathBuf::from("/srv/my skills") };
        let expected = "make one with: skillmux index SOURCE... --index '/srv/my skills'";
        assert_eq!(hint_of(missing()), expected);
        assert_eq!(hint_of(skillmux_eval::Error::Engine(missing())), expected);
        assert_eq!(hint_of(skillmux_train::Error::Engine(missing())), expected);
        assert_eq!(hint_of(anyhow::Error::from(missing()).context("while it was tried")), expected);
    }

    #[test]
    fn a_corrupt_index_comes_with_the_command_that_repairs_it() {
        let corrupt = |previous| Error::IndexCorrupt {
            path: PathBuf::from("/srv/it's"),
            generation: Some(7),
            detail: "manifest.json is missing".to_owned(),
            previous,
        };
        assert_eq!(
            hint_of(corrupt(Some(6))),
            r"generation 6 is whole: go back to it with: skillmux index --restore --index '/srv/it'\''s'"
        );
        assert_eq!(
            hint_of(corrupt(None)),
            r"rebuild it with: skillmux index SOURCE... --index '/srv/it'\''s' --rebuild"
        );
    }

    #[test]
    fn another_index_is_no_remedy_for_a_file_that_cannot_be_read() {
        let path = || PathBuf::from("/srv/skills/tea/SKILL.md");
        let source = || io::Error::from(io::ErrorKind::PermissionDenied);
        let unread = hint_of(Error::Read { path: path(), source: source() });
        assert!(unread.starts_with("check who owns") && !unread.contains("--index"), "{unread}");
        assert!(hint_of(Error::Write { path: path(), source: source() }).contains("--index"));
    }

    #[test]
    fn what_needs_no_command_has_the_hint_of_the_engine() {
        assert_eq!(engine_hint(&Error::TaskEmpty), Error::TaskEmpty.hint());
        assert!(engine_error(&CliError::NoChat.into()).is_none());
    }
}
