//! The one error type of the engine.

use std::{io, path::PathBuf};

use crate::{library::ScanReport, model::EncoderIdentity, skill::SkillId};

/// Result of an engine call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Who can put an [`Error`] right; front ends map it to exit codes and statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller: the task, a path or an identifier is not usable.
    Input,
    /// The owner of the index: it is missing, of another format, or corrupt.
    Index,
    /// The environment: permissions, disk space, a busy lock. The same call may work later.
    Environment,
}

/// An error that says whose it is and what to do about it, beside what went wrong.
///
/// The hint is in general words: a library does not know by which command or flag its caller was
/// asked to do something.
pub trait Diagnostic: std::error::Error {
    /// Returns who can put this right.
    fn kind(&self) -> ErrorKind;

    /// Returns what the user can do about it, if there is something to say.
    fn hint(&self) -> Option<String>;
}

/// What is wrong with a need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NeedProblem {
    /// It says nothing.
    #[error("has no letter or digit")]
    NoWord,
    /// It is no short phrase.
    #[error("is longer than {max_bytes} bytes")]
    TooLong {
        /// The limit.
        max_bytes: usize,
    },
    /// There are more needs than a task can have.
    #[error("is too many: at most {max} are taken")]
    TooMany {
        /// The limit.
        max: usize,
    },
}

/// Everything that can go wrong in the engine.
///
/// The message says what is wrong, with the value and the limit; [`Error::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The task has no words in it.
    #[error("the task is empty")]
    TaskEmpty,
    /// The task is longer than `Query::MAX_BYTES`.
    #[error("the task is {n_bytes} bytes, but the limit is {max_bytes}")]
    TaskTooLong {
        /// Size of the task.
        n_bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// A need of a task cannot be looked up.
    #[error("need {number} {problem}")]
    NeedRefused {
        /// Which one, from 1.
        number: usize,
        /// What is wrong with it.
        problem: NeedProblem,
    },
    /// A text does not name parts of a skill.
    #[error("`{part}` is no part of a skill")]
    PartUnknown {
        /// The text, or its begin.
        part: String,
    },
    /// A source path does not exist.
    #[error("source `{}` does not exist", path.display())]
    SourceMissing {
        /// The path as given.
        path: PathBuf,
    },
    /// A source is neither a folder of skills, nor shards, nor a list of MCP servers.
    #[error("source `{}` is not a kind that skillmux reads", path.display())]
    SourceUnknown {
        /// The path as given.
        path: PathBuf,
    },
    /// No source holds a single usable skill.
    #[error("no skill found in {n_sources} {}", if *n_sources == 1 { "source" } else { "sources" })]
    LibraryEmpty {
        /// Number of sources searched.
        n_sources: usize,
        /// What was found instead.
        report: Box<ScanReport>,
    },
    /// No index lies at the path.
    #[error("no index at `{}`", path.display())]
    IndexMissing {
        /// Folder of the index.
        path: PathBuf,
    },
    /// The folder holds something else than an index.
    #[error("`{}` is not a skillmux index", path.display())]
    IndexForeign {
        /// The folder.
        path: PathBuf,
    },
    /// The index was written by another version of the format.
    #[error("the index at `{}` has format {found}, but this skillmux reads format {expected}", path.display())]
    IndexFormat {
        /// Folder of the index.
        path: PathBuf,
        /// Format version found.
        found: u32,
        /// Format version that this build reads.
        expected: u32,
    },
    /// Another process is writing the index.
    #[error("another process is writing the index at `{}`", path.display())]
    IndexLocked {
        /// Folder of the index.
        path: PathBuf,
    },
    /// A file of a generation is missing, has another size or hash, or does not decode.
    #[error("{}the index at `{}` is corrupt: {detail}", of_generation(*generation), path.display())]
    IndexCorrupt {
        /// Folder of the index.
        path: PathBuf,
        /// Number of the generation; `None` if it cannot be told which one is current.
        generation: Option<u64>,
        /// Which file, and what is wrong with it.
        detail: String,
        /// A previous generation that is whole, if there is one.
        previous: Option<u64>,
    },
    /// No skill has this id.
    #[error("no skill has the id `{id}`")]
    SkillUnknown {
        /// The id asked for.
        id: SkillId,
        /// Ids that look alike, best first.
        nearest: Vec<SkillId>,
    },
    /// A skill has a risk for which the user wants no skill to be loaded.
    #[error("`{id}` is blocked: it {}", .risks.join(", it "))]
    SkillBlocked {
        /// The skill.
        id: SkillId,
        /// What it does, as clauses.
        risks: Vec<String>,
    },
    /// A pattern of ids does not parse.
    #[error("`{pattern}` is no pattern of ids: {detail}")]
    TrustPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A report of a scanner is not what skillmux reads.
    #[error("`{}` is no report in SARIF 2.1.0: {detail}", path.display())]
    ScannerReport {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The lexical index refused an operation.
    #[error("the lexical index at `{}` failed", path.display())]
    Lexical {
        /// Folder of the lexical index.
        path: PathBuf,
        /// What the part that keeps the postings said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The vectors of the index are of another encoder, or there are none.
    #[error("the index at `{}` has {}, but the encoder is {given}", path.display(), vectors_of(found.as_deref()))]
    EncoderMismatch {
        /// Folder of the index.
        path: PathBuf,
        /// Encoder of the vectors.
        found: Option<Box<EncoderIdentity>>,
        /// Encoder of the queries.
        given: Box<EncoderIdentity>,
    },
    /// An encoder broke its contract.
    #[error("the encoder `{name}` gave {}", numbers_of(*n_numbers, *n_texts, *dim))]
    EncoderAnswer {
        /// Name of the encoder.
        name: String,
        /// Numbers that it gave.
        n_numbers: usize,
        /// Texts that it was given.
        n_texts: usize,
        /// Dimensions that it says it has.
        dim: usize,
    },
    /// An encoder gave no vectors.
    #[error("the encoder `{name}` failed")]
    Encoder {
        /// Name of the encoder.
        name: String,
        /// What can be done about it, where the model knows.
        hint: Option<String>,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A cross-encoder broke its contract.
    #[error("the reranker `{name}` gave {}", scores_of(*n_scores, *n_texts))]
    PairScorerAnswer {
        /// Name of the cross-encoder.
        name: String,
        /// Scores that it gave.
        n_scores: usize,
        /// Texts that it was given.
        n_texts: usize,
    },
    /// A cross-encoder gave no scores.
    #[error("the reranker `{name}` failed")]
    PairScorer {
        /// Name of the cross-encoder.
        name: String,
        /// What can be done about it, where the model knows.
        hint: Option<String>,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A chat model gave no answer.
    #[error("the chat model `{name}` failed")]
    Chat {
        /// Name of the model.
        name: String,
        /// What can be done about it, where the model knows.
        hint: Option<String>,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Returns who can put this right.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::TaskEmpty
            | Self::TaskTooLong { .. }
            | Self::NeedRefused { .. }
            | Self::PartUnknown { .. }
            | Self::SourceMissing { .. }
            | Self::SourceUnknown { .. }
            | Self::LibraryEmpty { .. }
            | Self::SkillUnknown { .. }
            | Self::SkillBlocked { .. }
            | Self::TrustPattern { .. }
            | Self::ScannerReport { .. } => ErrorKind::Input,
            Self::IndexMissing { .. }
            | Self::IndexForeign { .. }
            | Self::IndexFormat { .. }
            | Self::IndexCorrupt { .. }
            | Self::EncoderMismatch { .. } => ErrorKind::Index,
            Self::IndexLocked { .. }
            | Self::Read { .. }
            | Self::Write { .. }
            | Self::Lexical { .. }
            | Self::Encoder { .. }
            | Self::EncoderAnswer { .. }
            | Self::PairScorer { .. }
            | Self::PairScorerAnswer { .. }
            | Self::Chat { .. } => ErrorKind::Environment,
        }
    }

    /// Returns what the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::TaskEmpty => "say in a sentence what the agent has to do".to_owned(),
            Self::TaskTooLong { .. } => {
                "route the request itself, without attached files or logs".to_owned()
            }
            Self::NeedRefused { .. } => {
                "pass short phrases, one for each capability that the task asks for, such as \
                 \"extract tables from PDF files\""
                    .to_owned()
            }
            Self::PartUnknown { .. } => {
                "name parts by their numbers, as a page lists them: 0-3,7".to_owned()
            }
            Self::SourceMissing { .. } => {
                "give a folder of SKILL.md files, a .jsonl/.jsonl.gz/.jsonl.zst shard, a folder of \
                 shards, or the README.md of a list of MCP servers"
                    .to_owned()
            }
            Self::SourceUnknown { .. } => {
                "skillmux reads SKILL.md, .jsonl, .jsonl.gz, .jsonl.zst and .md lists of MCP servers"
                    .to_owned()
            }
            Self::LibraryEmpty { report, .. } => {
                let skill = "a skill is a folder with a SKILL.md in it";
                match report.skipped.first() {
                    Some(first) => format!("{skill}; skipped: {}: {}", first.location, first.issue),
                    None => skill.to_owned(),
                }
            }
            Self::IndexMissing { .. } => "make one of the skills that it is to hold".to_owned(),
            Self::IndexForeign { .. } => {
                "name the folder of an index; a new one needs an empty or new folder".to_owned()
            }
            Self::IndexFormat { .. }
            | Self::EncoderMismatch { .. }
            | Self::IndexCorrupt { previous: None, .. } => "make the index again".to_owned(),
            Self::IndexLocked { .. } => {
                "wait for it to finish; reading the index works meanwhile".to_owned()
            }
            Self::IndexCorrupt { previous: Some(previous), .. } => {
                format!("generation {previous} is whole: go back to it")
            }
            Self::SkillUnknown { nearest, .. } if nearest.is_empty() => {
                "a search gives the ids of skills".to_owned()
            }
            Self::SkillUnknown { nearest, .. } => {
                let ids: Vec<String> = nearest.iter().map(|id| format!("`{id}`")).collect();
                format!("did you mean {}?", ids.join(" or "))
            }
            Self::SkillBlocked { .. } => {
                "read it yourself; if you want agents to have it, give it the tier `trusted`".to_owned()
            }
            Self::ScannerReport { .. } => {
                "most scanners write it with an option such as `--format sarif`".to_owned()
            }
            Self::TrustPattern { .. } => {
                "an id, in which `*` stands for a part between slashes and `**` for any parts: `acme/**`"
                    .to_owned()
            }
            Self::Read { source, .. } | Self::Write { source, .. } => return io_hint(source),
            Self::Encoder { hint, .. } | Self::PairScorer { hint, .. } | Self::Chat { hint, .. } => {
                return hint.clone();
            }
            Self::EncoderAnswer { .. } | Self::PairScorerAnswer { .. } => {
                "the model is damaged: fetch its weights again, or name another one".to_owned()
            }
            Self::Lexical { .. } => return None,
        };
        Some(hint)
    }
}

impl Diagnostic for Error {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }

    fn hint(&self) -> Option<String> {
        self.hint()
    }
}

/// Returns the hint for an operating-system error, where there is one worth giving.
fn io_hint(source: &io::Error) -> Option<String> {
    let hint = match source.kind() {
        io::ErrorKind::PermissionDenied => "check who owns the folder, or choose another one",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "free some space and try again; the index is as it was before"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose a folder on a writable disk",
        io::ErrorKind::OutOfMemory => "free some memory, or raise the limit on it, and try again",
        io::ErrorKind::Interrupted => "try again",
        _ if is_out_of_files(source) => {
            "close files, or raise the limit on open ones, and try again"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Returns whether the process or the system has as many files open as it may.
///
/// The standard library has no stable kind for it.
fn is_out_of_files(source: &io::Error) -> bool {
    /// `ENFILE` and `EMFILE`, which have the same numbers on every Unix that Rust runs on.
    const UNIX: [i32; 2] = [23, 24];
    /// `ERROR_TOO_MANY_OPEN_FILES`.
    const WINDOWS: [i32; 1] = [4];
    let codes = if cfg!(windows) { &WINDOWS[..] } else { &UNIX[..] };
    source.raw_os_error().is_some_and(|code| codes.contains(&code))
}

fn vectors_of(encoder: Option<&EncoderIdentity>) -> String {
    encoder.map_or("no vectors".to_owned(), |encoder| format!("vectors of {encoder}"))
}

/// Says what is wrong with the answer of an encoder: their count, else one of the numbers.
fn numbers_of(n_numbers: usize, n_texts: usize, dim: usize) -> String {
    if dim > 0 && n_texts.checked_mul(dim) == Some(n_numbers) {
        return "a number that is not finite".to_owned();
    }
    format!("{n_numbers} numbers for {n_texts} texts of {dim} dimensions")
}

/// Says what is wrong with the answer of a cross-encoder: their count, else one of the scores.
fn scores_of(n_scores: usize, n_texts: usize) -> String {
    if n_scores == n_texts {
        return "a score that is not finite".to_owned();
    }
    format!("{n_scores} scores for {n_texts} texts")
}

fn of_generation(generation: Option<u64>) -> String {
    generation.map_or(String::new(), |generation| format!("generation {generation} of "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_count_and_a_number_that_is_none_are_told_apart() {
        let encoder = |n_numbers, dim| {
            let name = "e".to_owned();
            Error::EncoderAnswer { name, n_numbers, n_texts: 6, dim }.to_string()
        };
        assert_eq!(encoder(96, 16), "the encoder `e` gave a number that is not finite");
        assert_eq!(encoder(95, 16), "the encoder `e` gave 95 numbers for 6 texts of 16 dimensions");
        assert_eq!(encoder(0, 0), "the encoder `e` gave 0 numbers for 6 texts of 0 dimensions");
        let scorer = |n_scores| {
            let error = Error::PairScorerAnswer { name: "r".to_owned(), n_scores, n_texts: 2 };
            (error.to_string(), error.hint().unwrap())
        };
        assert_eq!(scorer(2).0, "the reranker `r` gave a score that is not finite");
        assert_eq!(scorer(3).0, "the reranker `r` gave 3 scores for 2 texts");
        assert!(scorer(2).1.contains("fetch its weights again"));
    }
}
