//! [`Problem`]: why an agent does not show a skill.

use std::fmt;

use serde::Serialize;

/// Why an agent does not show a skill as its author wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Problem {
    /// The list of skills is full.
    Dropped {
        /// Name of the skill.
        name: String,
        /// Its file.
        path: String,
    },
    /// The list has its name, and not its description.
    NameOnly {
        /// Name of the skill.
        name: String,
        /// Its file.
        path: String,
    },
    /// Its description is cut.
    Shortened {
        /// Name of the skill.
        name: String,
        /// Its file.
        path: String,
        /// Characters of the description that are shown.
        shown_chars: usize,
        /// All its characters.
        description_chars: usize,
    },
    /// A stronger folder has another skill of this name.
    Shadowed {
        /// Name of both.
        name: String,
        /// The file that is not used.
        path: String,
        /// The file that is.
        by: String,
    },
    /// Another file has the same text.
    Duplicate {
        /// Name of the skill.
        name: String,
        /// Its file.
        path: String,
        /// The stronger file with this text.
        of: String,
    },
    /// The file does not fit the Agent Skills specification.
    Broken {
        /// The file.
        path: String,
        /// What is wrong.
        detail: String,
    },
    /// The agent may read it, but skillmux does not.
    NotRead {
        /// The file or folder.
        path: String,
        /// Why not.
        detail: String,
    },
    /// `disable-model-invocation`: the model is not told of it.
    ForUserOnly {
        /// Name of the skill.
        name: String,
        /// Its file.
        path: String,
    },
}

impl Problem {
    /// Returns the kind of the problem in a word or three.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Dropped { .. } => "dropped",
            Self::NameOnly { .. } => "name only",
            Self::Shortened { .. } => "shortened",
            Self::Shadowed { .. } => "shadowed",
            Self::Duplicate { .. } => "duplicate",
            Self::Broken { .. } => "broken",
            Self::NotRead { .. } => "not read",
            Self::ForUserOnly { .. } => "not for the model",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropped { name, path }
            | Self::NameOnly { name, path }
            | Self::ForUserOnly { name, path } => write!(f, "{name}  {path}"),
            Self::Shortened { name, path, shown_chars, description_chars } => {
                write!(f, "{name}  {shown_chars} of {description_chars} characters  {path}")
            }
            Self::Shadowed { name, path, by } => write!(f, "{name}  {path}  by {by}"),
            Self::Duplicate { name, path, of } => write!(f, "{name}  {path}  of {of}"),
            Self::Broken { path, detail } | Self::NotRead { path, detail } => {
                write!(f, "{path}: {detail}")
            }
        }
    }
}
