//! What a scan of the sources found, and what it did about it.

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::skill::SkillId;

/// One place where a skill was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The id that the skill had there.
    pub id: SkillId,
    /// [`Skill::source`](crate::skill::Skill::source) there.
    pub source: String,
}

/// Exact duplicates of a skill that was kept: same name, description and body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// The skill that was kept: the first in source order.
    pub kept: SkillId,
    /// The copy that was merged into it.
    pub copy: Provenance,
}

/// Different skills that carry the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collision {
    /// The name, lower-cased.
    pub name: String,
    /// Their ids, sorted; at least two.
    pub ids: Vec<SkillId>,
}

/// Something that a scan repaired or found odd, or the reason why it skipped a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The file, with a line number for shards: `part-0.jsonl:17`.
    pub location: String,
    /// What was wrong.
    pub issue: Issue,
}

/// Returns what to do about front matter, where what the YAML parser said tells it.
fn advice(detail: &str) -> &'static str {
    if detail.contains("mapping values are not allowed") {
        "; put a text that has a colon and a blank in quotes"
    } else {
        ""
    }
}

/// What can be wrong with a file or a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Issue {
    // Noted: the skill is kept.
    /// The file starts with a byte-order mark.
    #[error("byte-order mark removed")]
    ByteOrderMark,
    /// There is no front matter; the name comes from the folder, the description from the text.
    #[error("no front matter: name taken from the folder, description from the text")]
    FrontMatterMissing,
    /// The front matter is not valid YAML, and its lines were read one by one.
    #[error("front matter is not valid YAML: read line by line ({detail}{})", advice(detail))]
    FrontMatterRepaired {
        /// What the YAML parser said.
        detail: String,
    },
    /// The name is missing; the folder's name is used.
    #[error("no name: the folder's name is used")]
    NameMissing,
    /// The name differs from the folder's name; the written name is kept.
    #[error("name `{name}` differs from its folder `{folder}`")]
    NameDiffersFromFolder {
        /// The name as written.
        name: String,
        /// The folder.
        folder: String,
    },
    /// The name breaks the rules of the Agent Skills specification; it is kept.
    #[error("name `{name}` is not 1-64 characters of a-z, 0-9 and single hyphens")]
    NameInvalid {
        /// The name as written.
        name: String,
    },
    /// The description is missing; the first paragraph of the body is used.
    #[error("no description: the first paragraph is used")]
    DescriptionMissing,
    /// Two different skills have one id; the later one got a suffix.
    #[error("another skill has the id `{id}`: renamed to `{renamed}`")]
    IdTaken {
        /// The id both have.
        id: SkillId,
        /// The id that the later one got.
        renamed: SkillId,
    },

    // Skipped: the skill is not in the index.
    /// The file is larger than the limit.
    #[error("{n_bytes} bytes, but the limit is {max_bytes}")]
    TooLarge {
        /// Size of the file or line.
        n_bytes: u64,
        /// The limit.
        max_bytes: u64,
    },
    /// The id is longer than the limit.
    #[error("its id has {n_bytes} bytes, but the limit is {max_bytes}")]
    IdTooLong {
        /// Length of the id.
        n_bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// The file is not UTF-8.
    #[error("not valid UTF-8 (byte {offset})")]
    NotUtf8 {
        /// Offset of the first bad byte.
        offset: usize,
    },
    /// It is a pipe, a socket or a device.
    #[error("not a regular file: never opened, as it might block")]
    NotRegular,
    /// The file holds NUL bytes: it is not text.
    #[error("holds NUL bytes")]
    NulByte,
    /// There is neither a description nor a body.
    #[error("empty: neither a description nor a body")]
    Empty,
    /// The path leaves the root of its source through a symbolic link.
    #[error("leads out of the source's folder")]
    OutsideRoot,
    /// A folder has a name that no id can have.
    #[error(
        "a folder of its path has a name with a backslash, a control character or bytes that are not UTF-8"
    )]
    FolderName,
    /// A symbolic link leads back into a folder that it lies in.
    #[error("symbolic link loop")]
    SymlinkLoop,
    /// More symbolic links than the limit lead to one folder.
    #[error("more than {max_links} symbolic links lead to this folder")]
    TooManyLinks {
        /// The limit.
        max_links: usize,
    },
    /// The folder is deeper than the limit.
    #[error("more than {max_depth} folders deep")]
    TooDeep {
        /// The limit.
        max_depth: usize,
    },
    /// The system did not let it be read.
    #[error("cannot be read: {detail}")]
    Unreadable {
        /// What the system said.
        detail: String,
    },
    /// A line of a shard is not a JSON object of a skill.
    #[error("not a skill in JSON: {detail}")]
    BadJson {
        /// What the parser said.
        detail: String,
    },
    /// A compressed shard ends early or does not decode.
    #[error("does not decompress: {detail}")]
    BadArchive {
        /// What the decoder said.
        detail: String,
    },
}

impl Issue {
    /// Returns the issue for something that the system did not let be read.
    pub(super) fn unreadable(error: &io::Error) -> Self {
        Self::Unreadable { detail: error.to_string() }
    }
}

/// The account of a scan: `n_read` is `n_kept + n_merged + n_skipped + n_for_user_only`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanReport {
    /// Skills read, and files, folders and lines that could not be read as one.
    pub n_read: usize,
    /// Skills kept.
    pub n_kept: usize,
    /// Exact duplicates merged into a skill that was kept.
    pub n_merged: usize,
    /// Files, folders and lines skipped.
    pub n_skipped: usize,
    /// Skills left out because their authors want no model to load them:
    /// `disable-model-invocation`.
    #[serde(default)]
    pub n_for_user_only: usize,
    /// Exact duplicates, in scan order.
    pub merged: Vec<Merged>,
    /// What was repaired or is odd in skills that were kept, in scan order; a skill may appear more than
    /// once. Holds the first [`ScanReport::MAX_FINDINGS`].
    pub noted: Vec<Finding>,
    /// What was skipped, and why, in scan order. Holds the first [`ScanReport::MAX_FINDINGS`].
    pub skipped: Vec<Finding>,
    /// Files of the skills that are not for a model, in scan order. Holds the first
    /// [`ScanReport::MAX_FINDINGS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub for_user_only: Vec<String>,
    /// Names that several kept skills share, by name.
    pub collisions: Vec<Collision>,
}

impl ScanReport {
    /// Most findings that each list holds, so that a shard full of garbage cannot fill the memory.
    pub const MAX_FINDINGS: usize = 100_000;
}
