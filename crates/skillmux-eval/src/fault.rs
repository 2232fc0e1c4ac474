//! [`Fault`]: what is wrong with a record of a dataset, and its [`Place`].

use std::{fmt, path::PathBuf};

use crate::printable::one_line as printable;

/// Where something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// In the file as a whole.
    File {
        /// The file.
        path: PathBuf,
    },
    /// In one line of a file.
    Line {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
    /// In one entry of a file that is a JSON object.
    Entry {
        /// The file.
        path: PathBuf,
        /// Key of the entry.
        key: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path } => write!(f, "`{}`", path.display()),
            Self::Line { path, line } => write!(f, "`{}`, line {line}", path.display()),
            Self::Entry { path, key } => {
                write!(f, "`{}`, entry `{}`", path.display(), printable(key))
            }
        }
    }
}

/// What can be wrong with a record of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Something else than an object.
    #[error("not a JSON object")]
    NotAnObject,
    /// A field is not there, or null.
    #[error("field `{field}` is missing")]
    FieldMissing {
        /// The field.
        field: &'static str,
    },
    /// A field holds something of another kind.
    #[error("field `{field}` is not {expected}")]
    FieldKind {
        /// The field.
        field: &'static str,
        /// What it should be, such as `a text`.
        expected: &'static str,
    },
    /// A text is blank, or a list has no element.
    #[error("field `{field}` is empty")]
    FieldEmpty {
        /// The field.
        field: &'static str,
    },
    /// Two tasks have one id.
    #[error("task `{}` occurs again", printable(id))]
    TaskRepeated {
        /// The id.
        id: String,
    },
    /// A task that has an entry here is not in the file of the tasks.
    #[error("task `{}` is not in `{file}`", printable(id))]
    TaskUnknown {
        /// The id.
        id: String,
        /// The other file.
        file: &'static str,
    },
    /// Two skills have one id, or one is listed twice.
    #[error("skill `{}` occurs again", printable(id))]
    SkillRepeated {
        /// The id.
        id: String,
    },
    /// A skill is not among those of the library.
    #[error("skill `{}` is not in the library", printable(id))]
    SkillUnknown {
        /// The id.
        id: String,
    },
    /// A gold skill has no grade above 0.
    #[error("gold skill `{}` has no grade above 0 in `relevance`", printable(id))]
    GoldWithoutGrade {
        /// The id.
        id: String,
    },
    /// A category is not one of the dataset's.
    #[error("category `{category}` has no skill in `categories.json`")]
    CategoryUnknown {
        /// The category.
        category: String,
    },
    /// A range is empty, overlaps the one before it, or ends after the body.
    #[error(
        "span [{start}, {end}] is empty, out of order, or beyond the {body_bytes} bytes of the body"
    )]
    Span {
        /// First byte.
        start: u32,
        /// Byte after the last.
        end: u32,
        /// Bytes of the body.
        body_bytes: u32,
    },
}
