//! [`Fault`]: what is wrong with a record of a dataset, and its [`Place`]: values of errors, and none
//! themselves.

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
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Something else than an object.
    NotAnObject,
    /// A field is not there, or null.
    FieldMissing {
        /// The field.
        field: &'static str,
    },
    /// A field holds something of another kind.
    FieldKind {
        /// The field.
        field: &'static str,
        /// What it should be, such as `a text`.
        expected: &'static str,
    },
    /// A text is blank, or a list has no element.
    FieldEmpty {
        /// The field.
        field: &'static str,
    },
    /// An object has a key twice.
    KeyRepeated {
        /// The key.
        key: String,
    },
    /// Two tasks have one id.
    TaskRepeated {
        /// The id.
        id: String,
    },
    /// A task that has an entry here is not in the file of the tasks.
    TaskUnknown {
        /// The id.
        id: String,
        /// The other file.
        file: &'static str,
    },
    /// Two skills have one id, or one is listed twice.
    SkillRepeated {
        /// The id.
        id: String,
    },
    /// A skill is not among those of the library.
    SkillUnknown {
        /// The id.
        id: String,
    },
    /// A gold skill has no grade above 0.
    GoldWithoutGrade {
        /// The id.
        id: String,
    },
    /// A category is not one of the dataset's.
    CategoryUnknown {
        /// The category.
        category: String,
    },
    /// A range is empty, overlaps the one before it, or ends after the body.
    Span {
        /// First byte.
        start: u32,
        /// Byte after the last.
        end: u32,
        /// Bytes of the body.
        body_bytes: u32,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => f.write_str("not a JSON object"),
            Self::FieldMissing { field } => write!(f, "field `{field}` is missing"),
            Self::FieldKind { field, expected } => write!(f, "field `{field}` is not {expected}"),
            Self::FieldEmpty { field } => write!(f, "field `{field}` is empty"),
            Self::KeyRepeated { key } => write!(f, "key `{}` occurs again", printable(key)),
            Self::TaskRepeated { id } => write!(f, "task `{}` occurs again", printable(id)),
            Self::TaskUnknown { id, file } => {
                write!(f, "task `{}` is not in `{file}`", printable(id))
            }
            Self::SkillRepeated { id } => write!(f, "skill `{}` occurs again", printable(id)),
            Self::SkillUnknown { id } => {
                write!(f, "skill `{}` is not in the library", printable(id))
            }
            Self::GoldWithoutGrade { id } => {
                write!(f, "gold skill `{}` has no grade above 0 in `relevance`", printable(id))
            }
            Self::CategoryUnknown { category } => {
                write!(f, "category `{category}` has no skill in `categories.json`")
            }
            Self::Span { start, end, body_bytes } => write!(
                f,
                "span [{start}, {end}] is empty, out of order, or beyond the {body_bytes} bytes of \
                 the body"
            ),
        }
    }
}
