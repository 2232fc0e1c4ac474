//! The error type of this crate.

use std::{io, path::PathBuf};

/// Why a run or qrels could not be read.
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
    /// A line has another number of columns than the format.
    #[error("line {line} has {found} columns, but {format} has {expected}")]
    Columns {
        /// Number of the line, from 1.
        line: usize,
        /// Columns found.
        found: usize,
        /// Columns of the format.
        expected: usize,
        /// Name of the format.
        format: &'static str,
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
}

impl Error {
    /// Returns what the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Read { .. } => return None,
            Self::Columns { format: "a TREC run", .. } | Self::NotANumber { .. } => {
                "a run has lines `query_id Q0 skill_id rank score tag`, qrels `query_id 0 skill_id \
                 relevance`"
            }
            Self::Columns { .. } => {
                "qrels have lines `query_id 0 skill_id relevance`; spaces in an id are written %20"
            }
            Self::Repeated { .. } => "a document may occur once for each query",
        };
        Some(hint.to_owned())
    }
}
