//! The error type of this crate.

use std::{io, path::PathBuf};

use skillmux::ErrorKind;

use crate::{
    fault::{Fault, Place},
    printable::one_line as printable,
    trec::TrecFormat,
};

/// What another library says.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file holds no weights of a ranker.
    #[error("`{}` holds no weights of a ranker", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Cause,
    },
    /// The file could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is not the JSON that it should be.
    #[error("`{}`, line {line}: not what was expected", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong.
        source: Cause,
    },
    /// A journal holds answers to other tasks, of another system, or over another library.
    #[error("`{}` was begun with another dataset, system or library", path.display())]
    JournalOfAnother {
        /// The journal.
        path: PathBuf,
    },
    /// The engine could not answer.
    #[error(transparent)]
    Engine(#[from] skillmux::Error),
    /// Two systems of one evaluation have the same name.
    #[error("there are two systems `{}`", printable(system))]
    SystemTwice {
        /// The name.
        system: String,
    },
    /// A system has no row for a task.
    #[error("`{}` has no answer to task `{}`", printable(system), printable(task_id))]
    Unanswered {
        /// The system.
        system: String,
        /// The task.
        task_id: String,
    },
    /// No task has the id.
    #[error("there is no task `{}`", printable(task_id))]
    NoSuchTask {
        /// The id.
        task_id: String,
    },
    /// A file is not the CSV that it should be.
    #[error("`{}` is not a table", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        source: Cause,
    },
    /// The first column of a table is another one.
    #[error("`{}`, line 1: the first column is `{}`, not `{expected}`", path.display(), printable(found))]
    CsvHead {
        /// The file.
        path: PathBuf,
        /// Name of the first column.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Two rows are about one task.
    #[error("`{}`, line {line}: task `{}` occurs again", path.display(), printable(task_id))]
    TaskTwice {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// The task.
        task_id: String,
    },
    /// Two tasks of a dataset have one id.
    #[error("`{}` has two tasks `{}`", path.display(), printable(task_id))]
    SameTask {
        /// The file.
        path: PathBuf,
        /// The task.
        task_id: String,
    },
    /// A folder of results is of another version.
    #[error("`{}` has format {format}, but this version reads {expected}", path.display())]
    ResultsFormat {
        /// The file.
        path: PathBuf,
        /// Its version.
        format: u32,
        /// The version that is read.
        expected: u32,
    },
    /// An answer is to a task that was not asked.
    #[error("`{}`, line {line}: there is no task `{}`", path.display(), printable(task_id))]
    UnknownTask {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// The task.
        task_id: String,
    },
    /// A skill stands in one ranking twice.
    #[error("`{}`, line {line}: skill `{}` occurs again", path.display(), printable(skill_id))]
    SkillTwice {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// The skill.
        skill_id: String,
    },
    /// A confidence is no share.
    #[error("`{}`, line {line}: confidence is {confidence}, but must be from 0 to 1", path.display())]
    Confidence {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// The value.
        confidence: f32,
    },
    /// A folder of results does not have the system.
    #[error("`{}` has no system `{}`", path.display(), printable(system))]
    NoSuchSystem {
        /// The folder.
        path: PathBuf,
        /// The system.
        system: String,
        /// The systems that it has.
        known: Vec<String>,
    },
    /// A folder of results has several systems, and one is to be named, or it has none.
    #[error("`{}` has {} systems, but one is compared", path.display(), known.len())]
    WhichSystem {
        /// The folder.
        path: PathBuf,
        /// The systems that it has.
        known: Vec<String>,
    },
    /// Two folders of results have different tasks of one id.
    #[error("task `{}` is not the same in both", printable(task_id))]
    OtherTask {
        /// The task.
        task_id: String,
    },
    /// Two folders of results have no task in common.
    #[error("`{}` and `{}` have no task in common", a.display(), b.display())]
    NoSharedTask {
        /// One folder.
        a: PathBuf,
        /// The other.
        b: PathBuf,
    },
    /// Two systems that a gate judges were not asked the same tasks.
    #[error(
        "`{}` and `{}` were not asked the same tasks: {n_only_a} are only in the first, {n_only_b} \
         only in the second",
        printable(a),
        printable(b)
    )]
    OtherTasks {
        /// The first system.
        a: String,
        /// The second system.
        b: String,
        /// Tasks that only the first was asked.
        n_only_a: usize,
        /// Tasks that only the second was asked.
        n_only_b: usize,
    },
    /// Two systems that a gate judges were not measured in the same way.
    #[error("`{}` and `{}` were measured with another {}", printable(a), printable(b), what.join(", "))]
    OtherSetting {
        /// The first system.
        a: String,
        /// The second system.
        b: String,
        /// What is not the same, such as `library`.
        what: Vec<String>,
    },
    /// A gate has no task to judge a ranking by.
    #[error("no task of `{}` has a right skill to find", printable(dataset))]
    NothingToFind {
        /// The dataset.
        dataset: String,
    },
    /// A gate is given a system that does not rank.
    #[error("`{}` gives no ranking for task `{}`", printable(system), printable(task_id))]
    NoRanking {
        /// The system.
        system: String,
        /// The task.
        task_id: String,
    },
    /// A gate is given rankings that are too short to be judged.
    #[error("rankings of {depth} skills are too short for {measure}")]
    TooShallow {
        /// What a ranking is judged by.
        measure: &'static str,
        /// How many skills rankings keep.
        depth: usize,
    },
    /// A sweep has a system that was not measured, or that shows no pages.
    #[error("`{}` shows no page whose task says what is needed", printable(system))]
    NotSwept {
        /// The system.
        system: String,
    },
    /// There is nothing to report on.
    #[error("there is no system to report on")]
    NoSystem,
    /// The engine does not answer a task.
    #[error("task `{}`", printable(task_id))]
    TaskRefused {
        /// The task.
        task_id: String,
        /// What the engine says.
        source: skillmux::Error,
    },
    /// A spec names a system that there is not.
    #[error("there is no system `{name}`")]
    SystemUnknown {
        /// The name, or the part of the spec that should begin with one.
        name: String,
        /// The forms that there are.
        known: Vec<String>,
    },
    /// A spec, or a part of it, is not well-formed.
    #[error("`{part}` is no system: expected {expected}")]
    SpecMalformed {
        /// The part.
        part: String,
        /// What should be there.
        expected: &'static str,
        /// The forms that there are.
        known: Vec<String>,
    },
    /// A system asks a model, and there is none.
    #[error("`{system}` needs {}, and none was given", model.as_str())]
    ModelMissing {
        /// The system.
        system: String,
        /// What it asks.
        model: ModelPort,
    },
    /// A system uses the transformer, which has not read all skills.
    #[error("`{}` needs an index that the transformer has read, and it has not read `{}`", printable(system), index.display())]
    Unencoded {
        /// The system.
        system: String,
        /// Folder of the index.
        index: PathBuf,
    },
    /// An encoder does not keep its contract.
    #[error("the encoder `{encoder}` gave {n_finite} finite numbers, but {n_expected} were due")]
    BadVectors {
        /// Name of the encoder.
        encoder: String,
        /// Numbers that are finite.
        n_finite: usize,
        /// Texts times dimensions.
        n_expected: usize,
    },
    /// A line has another number of columns than the format.
    #[error("line {line} has {found} columns, but {format} has {}", format.n_columns())]
    Columns {
        /// Number of the line, from 1.
        line: usize,
        /// Columns found.
        found: usize,
        /// What has other columns.
        format: TrecFormat,
    },
    /// A column that holds a number does not.
    #[error("line {line}: {column} is `{value}`, which is not a number")]
    NotANumber {
        /// Number of the line, from 1.
        line: usize,
        /// Name of the column.
        column: &'static str,
        /// What stands there.
        value: String,
    },
    /// A document occurs twice for one query.
    #[error("line {line}: `{document_id}` occurs again for query `{query_id}`")]
    Repeated {
        /// Number of the line, from 1.
        line: usize,
        /// The query.
        query_id: String,
        /// The document.
        document_id: String,
    },
    /// The path leads to a folder, a device or a pipe.
    #[error("`{}` is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A file, or one line of it, is larger than the limit, decompressed.
    #[error("{place} is larger than {max_bytes} bytes")]
    TooLarge {
        /// The file or the line.
        place: Place,
        /// The limit.
        max_bytes: u64,
    },
    /// Something in a file of a dataset is wrong.
    #[error("{place}: {fault}")]
    Malformed {
        /// Where it is.
        place: Place,
        /// What is wrong.
        fault: Fault,
    },
    /// Something in a file of columns is wrong.
    #[error("cannot use `{}`", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Box<Error>,
    },
    /// A file that the dataset needs is not in its folder.
    #[error("`{}` has no `{file}`", folder.display())]
    FileMissing {
        /// Folder of the dataset.
        folder: PathBuf,
        /// Name of the file; `.gz` and `.zst` may follow it.
        file: &'static str,
    },
    /// Neither the files of the folder nor the fields of the first line are those of a dataset.
    #[error("`{}` is no dataset of a known shape", path.display())]
    DatasetUnknown {
        /// The path.
        path: PathBuf,
        /// The shapes that there are, each with its kind.
        known: Vec<String>,
    },
    /// A dataset has no task that can be scored.
    #[error("`{}` has no task to score", path.display())]
    NoTasks {
        /// The path.
        path: PathBuf,
    },
    /// Pairs have no task that can be scored but in the part that models are trained on.
    #[error("`{}` has no held-out pair to score, and {n_left_out} others", path.display())]
    NoneHeldOut {
        /// The path.
        path: PathBuf,
        /// Pairs that are not held out.
        n_left_out: usize,
    },
    /// The needs of a line are none that the engine takes.
    #[error("{place}")]
    NeedRefused {
        /// Where they are.
        place: Place,
        /// What the engine says.
        source: Box<skillmux::Error>,
    },
    /// A dataset refers to texts of skills, and no library was given to look them up in.
    #[error("`{}` needs the texts of its skills", path.display())]
    LookupMissing {
        /// The dataset.
        path: PathBuf,
    },
    /// Fewer categories than needed have enough skills and phrases.
    #[error(
        "only {found} categories have {min_skills} skills and a phrase, but a query takes {needed}"
    )]
    TooFewCategories {
        /// Categories that have.
        found: usize,
        /// Categories that the longest query takes.
        needed: usize,
        /// Skills that a category must have.
        min_skills: usize,
    },
    /// Too few queries can be made that name none of their skills.
    #[error(
        "only {found} queries were found that name none of their skills, but {needed} are needed"
    )]
    TooFewQueries {
        /// Queries that were found.
        found: usize,
        /// Queries of the benchmark.
        needed: usize,
    },
    /// There is no such kind of dataset.
    #[error("`{}` is no kind of dataset", printable(name))]
    KindUnknown {
        /// What was named.
        name: String,
        /// The kinds that there are.
        known: Vec<&'static str>,
    },
}

/// A kind of model that a system may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelPort {
    /// [`skillmux::model::Encoder`].
    Encoder,
    /// [`skillmux::model::ChatModel`].
    Chat,
}

impl ModelPort {
    fn as_str(self) -> &'static str {
        match self {
            Self::Encoder => "an encoder",
            Self::Chat => "a chat model",
        }
    }
}

impl Error {
    /// Returns who can put this right.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Engine(error) => error.kind(),
            Self::InFile { source, .. } => source.kind(),
            Self::Read { source, .. } if source.kind() != io::ErrorKind::NotFound => {
                ErrorKind::Environment
            }
            Self::Write { .. } | Self::BadVectors { .. } => ErrorKind::Environment,
            _ => ErrorKind::Input,
        }
    }

    /// Returns what the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Read { .. } | Self::Write { .. } | Self::Json { .. } => return None,
            Self::Weights { .. } => "name a file that the training of a ranker has written",
            Self::SystemTwice { .. } => "name each system once",
            Self::Unanswered { .. } => "evaluate again; answers that are there are kept",
            Self::NoSuchTask { .. } => "ids of tasks are in the first column of `tasks.csv`",
            Self::Csv { .. } | Self::CsvHead { .. } | Self::TaskTwice { .. } => {
                "such tables are written by an evaluation; write it anew"
            }
            Self::ResultsFormat { .. } => "evaluate again with this version",
            Self::UnknownTask { .. }
            | Self::SameTask { .. }
            | Self::SkillTwice { .. }
            | Self::Confidence { .. } => {
                "the folder was changed after it was written; evaluate again"
            }
            Self::NoSuchSystem { known, .. } | Self::WhichSystem { known, .. } => {
                let known: Vec<String> =
                    known.iter().map(|name| format!("`{}`", printable(name))).collect();
                return Some(format!("write FOLDER/SYSTEM; there are {}", known.join(", ")));
            }
            Self::OtherTask { .. } | Self::NoSharedTask { .. } => {
                "compare results of the same dataset"
            }
            Self::OtherTasks { .. } => "measure both on the same tasks, then judge them",
            Self::OtherSetting { .. } => {
                "measure both over the same library and with the same options, then judge them"
            }
            Self::NothingToFind { .. } => {
                "a gate judges rankings by their right skills; leave this dataset out"
            }
            Self::TooShallow { .. } => "keep at least 10 skills of each ranking",
            Self::NoRanking { .. } => "name systems that rank skills",
            Self::NotSwept { .. } => {
                "sweep systems `page:...` over cases such as those of `datasets/intra-skill-bench.jsonl`"
            }
            Self::NoSystem => "name at least one system",
            Self::TaskRefused { source, .. } => return source.hint(),
            Self::NeedRefused { source, .. } => return source.hint(),
            Self::SystemUnknown { known, .. } | Self::SpecMalformed { known, .. } => {
                return Some(format!("there are: {}", known.join(", ")));
            }
            Self::ModelMissing { model: ModelPort::Encoder, .. } => {
                "name an encoder, or leave the system out"
            }
            Self::ModelMissing { model: ModelPort::Chat, .. } => {
                "give the base URL of an endpoint that speaks the OpenAI protocol, and its model"
            }
            Self::Unencoded { .. } => "let the transformer read the skills of the index",
            Self::BadVectors { .. } => "the encoder is broken, or its weights are",
            Self::JournalOfAnother { .. } => "name another folder for the results, or start afresh",
            Self::Engine(error) => return error.hint(),
            Self::Columns { format: TrecFormat::Run, .. } | Self::NotANumber { .. } => {
                "a run has lines `query_id Q0 skill_id rank score tag`, qrels `query_id 0 skill_id \
                 relevance`"
            }
            Self::Columns { .. } => {
                "qrels have lines `query_id 0 skill_id relevance`; spaces in an id are written %20"
            }
            Self::Repeated { .. } => "a document may occur once for each query",
            Self::InFile { source, .. } => return source.hint(),
            Self::NotAFile { .. } => "datasets, runs and qrels are read from regular files",
            Self::TooLarge { .. } => "split the file; nothing larger is read",
            Self::Malformed { .. } | Self::FileMissing { .. } | Self::NoTasks { .. } => {
                "docs/datasets.md describes every format field by field"
            }
            Self::KindUnknown { known, .. } => {
                return Some(format!("there are {}", known.join(", ")));
            }
            Self::DatasetUnknown { known, .. } => {
                let shapes = known.join("; ");
                return Some(format!("name its kind, or make it one of these: {shapes}"));
            }
            Self::NoneHeldOut { .. } => "score all pairs, also those that models are trained on",
            Self::LookupMissing { .. } => "name the index or the library that holds the skills",
            Self::TooFewCategories { .. } => {
                "the list must have servers under headings that the category map knows"
            }
            Self::TooFewQueries { .. } => {
                "each category must have servers whose names are no words of its phrases"
            }
        };
        Some(hint.to_owned())
    }
}
