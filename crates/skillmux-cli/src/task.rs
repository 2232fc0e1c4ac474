//! Where a task comes from.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal, Read},
    path::{Path, PathBuf},
    str::{self, Utf8Error},
};

use serde::Deserialize;
use skillmux::{query::Query, text::printable};

use crate::{
    args::TaskArgs,
    render::paint::{NOTE, styled},
};

/// What stands for a task on standard input.
const STANDARD_INPUT: &str = "-";

/// Why there is no task.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error("no task was given")]
    Missing,
    #[error("`-` reads the whole task from standard input, but other words stand beside it")]
    WordsBesideInput,
    #[error("cannot read `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("`{}` is compressed, but a batch is text", path.display())]
    Compressed { path: PathBuf },
    #[error("line {line} of `{}` is not text", path.display())]
    NotText { path: PathBuf, line: usize, source: Utf8Error },
    #[error("line {line} of `{}` is not a query", path.display())]
    NotAQuery { path: PathBuf, line: usize, source: serde_json::Error },
    #[error("line {line} of `{}` has an empty query_id", path.display())]
    EmptyId { path: PathBuf, line: usize },
    #[error("line {line} of `{}` has the query_id `{query_id}` of an earlier line", path.display())]
    RepeatedId { path: PathBuf, line: usize, query_id: String },
    #[error("line {line} of `{}`", path.display())]
    Refused { path: PathBuf, line: usize, source: skillmux::Error },
}

impl TaskError {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Missing => {
                "skillmux route \"fill in the attached PDF form\"; or --file FILE; or \
                              pipe the task into it"
                    .to_owned()
            }
            Self::WordsBesideInput => {
                "leave the words out, or the `-`; a task that holds a lone `-` goes in quotes"
                    .to_owned()
            }
            Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::InvalidData => {
                "the task must be UTF-8 text".to_owned()
            }
            Self::Unreadable { .. } => "name a file that can be read".to_owned(),
            Self::Compressed { .. } => "unpack it first, with `gunzip` or `zstd -d`".to_owned(),
            Self::NotText { .. } => "a batch must be UTF-8 text".to_owned(),
            Self::NotAQuery { .. } => {
                r#"a line reads {"query_id": "q1", "query": "what to do"}"#.to_owned()
            }
            Self::EmptyId { .. } | Self::RepeatedId { .. } => {
                "each query of a batch needs an id of its own".to_owned()
            }
            Self::Refused { source, .. } => source.hint().unwrap_or_default(),
        }
    }
}

/// A query of a batch.
#[derive(Debug)]
pub(crate) struct BatchQuery {
    pub(crate) query_id: String,
    pub(crate) query: Query,
}

/// A line of a batch; other fields are ignored.
#[derive(Deserialize)]
struct BatchLine {
    query_id: Option<LineId>,
    /// What datasets call it.
    task_id: Option<LineId>,
    query: String,
    #[serde(default)]
    needs: Vec<String>,
}

/// An id as a line has it: some programs write numbers.
#[derive(Deserialize)]
#[serde(untagged, expecting = "query_id is neither a text nor a whole number")]
enum LineId {
    Text(String),
    Number(i64),
}

impl LineId {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

/// The tasks of a call.
#[derive(Debug)]
pub(crate) enum Tasks {
    /// One task.
    Single(Query),
    /// A batch.
    Batch(Vec<BatchQuery>),
}

impl Tasks {
    /// Reads and checks the tasks; done before a library is indexed for them.
    pub(crate) fn read(args: &TaskArgs) -> anyhow::Result<Self> {
        match &args.queries {
            Some(path) => {
                let queries = batch(path)?;
                if queries.is_empty() {
                    let path = printable(&path.display().to_string());
                    anstream::eprintln!("{} `{path}` has no queries", styled(NOTE, "note:"));
                }
                Ok(Self::Batch(queries))
            }
            None => Ok(Self::Single(single(args)?)),
        }
    }
}

/// Returns the task of a single call.
fn single(args: &TaskArgs) -> anyhow::Result<Query> {
    if args.text.len() > 1 && args.text.iter().any(|word| word == STANDARD_INPUT) {
        return Err(TaskError::WordsBesideInput.into());
    }
    let text = match (args.text.join(" "), &args.file) {
        (text, None) if !args.text.is_empty() && text != STANDARD_INPUT => text,
        (_, Some(path)) => {
            let read = File::open(path).map_err(Into::into).and_then(read_file);
            read.map_err(|error| error.at(path))?
        }
        (text, None) if text.is_empty() && io::stdin().is_terminal() => {
            return Err(TaskError::Missing.into());
        }
        _ => read_capped(io::stdin()).map_err(|error| error.at(Path::new("standard input")))?,
    };
    Ok(Query::new(text)?.with_needs(&args.needs)?)
}

/// Why a text could not be read.
enum ReadError {
    Io(io::Error),
    Refused(skillmux::Error),
}

impl From<io::Error> for ReadError {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

impl ReadError {
    fn at(self, path: &Path) -> anyhow::Error {
        match self {
            Self::Io(source) => TaskError::Unreadable { path: path.to_owned(), source }.into(),
            Self::Refused(error) => error.into(),
        }
    }
}

/// Reads a file as [`read_capped`] does, and tells the whole size of one that is too large.
fn read_file(file: File) -> Result<String, ReadError> {
    // 0 where the system does not know it, as for a pipe.
    let n_whole = file.metadata()?.len();
    read_capped(file).map_err(|error| match error {
        ReadError::Refused(skillmux::Error::TaskTooLong { n_bytes, max_bytes }) => {
            let n_bytes = n_bytes.max(usize::try_from(n_whole).unwrap_or(usize::MAX));
            ReadError::Refused(skillmux::Error::TaskTooLong { n_bytes, max_bytes })
        }
        error => error,
    })
}

/// Reads a text, and one byte more than a task may have, so that endless input ends in an error.
fn read_capped(source: impl Read) -> Result<String, ReadError> {
    let mut bytes = Vec::new();
    source.take(Query::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    // Before the encoding is looked at: the cut may go through a character.
    if bytes.len() > Query::MAX_BYTES {
        let (n_bytes, max_bytes) = (bytes.len(), Query::MAX_BYTES);
        return Err(ReadError::Refused(skillmux::Error::TaskTooLong { n_bytes, max_bytes }));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))?;
    Ok(text.trim_start_matches(BYTE_ORDER_MARK).to_owned())
}

/// What some programs begin a text with.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What a file begins with that gzip or zstd compressed; neither is text in UTF-8.
const COMPRESSED: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];

/// Longest line of a batch: a task, its id, and escapes.
const MAX_LINE_BYTES: u64 = 4 * Query::MAX_BYTES as u64;

/// Returns the queries of a batch file, one a line; blank lines are passed over.
fn batch(path: &Path) -> Result<Vec<BatchQuery>, TaskError> {
    let unreadable = |source| TaskError::Unreadable { path: path.to_owned(), source };
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let head = file.fill_buf().map_err(unreadable)?;
    if COMPRESSED.iter().any(|start| head.starts_with(start)) {
        return Err(TaskError::Compressed { path: path.to_owned() });
    }
    let mut queries: Vec<BatchQuery> = Vec::new();
    let mut ids = HashSet::new();
    for line in 1.. {
        let mut bytes = Vec::new();
        file.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes).map_err(unreadable)?;
        if bytes.is_empty() {
            break;
        }
        let refused = |source| TaskError::Refused { path: path.to_owned(), line, source };
        if bytes.len() as u64 == MAX_LINE_BYTES {
            let (n_bytes, max_bytes) = (bytes.len(), Query::MAX_BYTES);
            return Err(refused(skillmux::Error::TaskTooLong { n_bytes, max_bytes }));
        }
        let text = str::from_utf8(&bytes).map_err(|source| {
            let path = path.to_owned();
            TaskError::NotText { path, line, source }
        })?;
        let text = text.trim_start_matches(BYTE_ORDER_MARK).trim();
        if text.is_empty() {
            continue;
        }
        let not_a_query = |source| TaskError::NotAQuery { path: path.to_owned(), line, source };
        let BatchLine { query_id, task_id, query, needs } =
            serde_json::from_str(text).map_err(not_a_query)?;
        let query_id = query_id
            .or(task_id)
            .map(LineId::into_text)
            .ok_or_else(|| not_a_query(serde::de::Error::missing_field("query_id")))?;
        // A run has ids as they are printed, and they must differ there.
        let printed = printable(&query_id);
        if printed.trim().is_empty() {
            return Err(TaskError::EmptyId { path: path.to_owned(), line });
        }
        if !ids.insert(printed) {
            return Err(TaskError::RepeatedId { path: path.to_owned(), line, query_id });
        }
        let query = Query::new(query).and_then(|query| query.with_needs(needs)).map_err(refused)?;
        queries.push(BatchQuery { query_id, query });
    }
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_task() {
        let text = read_capped("\u{feff}clean a file".as_bytes()).ok();
        assert_eq!(text.as_deref(), Some("clean a file"));
    }
}
