//! [`DatasetKind`]: which shapes of datasets there are, and how they are told apart.

use std::{fmt, path::Path, str::FromStr};

use super::record;
use crate::{error::Error, file};

/// The shape of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DatasetKind {
    /// SkillRouter-Eval-Core.
    SkillRouter,
    /// R3-Skill.
    R3,
    /// Queries with skills that are right or wrong for them.
    Pairs,
    /// Chinese skills and the English skills that they parallel.
    Bilingual,
    /// Tasks with an ordered list of skills, as of `SkillsBench`.
    Composition,
    /// `CompSkillBench` and its human-style set.
    CompSkillBench,
    /// IntraSkill-Bench.
    IntraSkillBench,
    /// Queries and qrels of TREC.
    Trec,
}

impl DatasetKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::SkillRouter,
        Self::R3,
        Self::Pairs,
        Self::Bilingual,
        Self::Composition,
        Self::CompSkillBench,
        Self::IntraSkillBench,
        Self::Trec,
    ];

    /// Returns the name, such as `skillrouter`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SkillRouter => "skillrouter",
            Self::R3 => "r3",
            Self::Pairs => "pairs",
            Self::Bilingual => "bilingual",
            Self::Composition => "composition",
            Self::CompSkillBench => "comp-skill-bench",
            Self::IntraSkillBench => "intra-skill-bench",
            Self::Trec => "trec",
        }
    }

    /// Returns what a dataset of this kind looks like.
    pub fn shape(self) -> &'static str {
        match self {
            Self::SkillRouter => "a folder with `tasks.jsonl` and `relevance.json`",
            Self::R3 => "a folder with `test.jsonl` and `skills_test.jsonl`",
            Self::Pairs => "lines with `query`, `skill_id` and `relevant`",
            Self::Bilingual => "lines with `zh` and `en`",
            Self::Composition => "lines with `task_id`, `query` or `instruction`, and `skills`",
            Self::CompSkillBench => {
                "a folder with `tasks.jsonl` and `categories.json`, or lines with `steps`"
            }
            Self::IntraSkillBench => "lines with `case_id`, `query` and `evidence`",
            Self::Trec => {
                "a folder with `queries.jsonl` and `qrels.trec`, or lines with `query_id` and `query`"
            }
        }
    }

    /// Returns the kind of the dataset at a path: from the files of a folder, from the fields of
    /// the first line of a file.
    ///
    /// # Errors
    /// [`Error::DatasetUnknown`] with the known shapes as its hint, [`Error::Json`] if the first line
    /// is no whole object, [`Error::Read`].
    pub fn detect(path: &Path) -> Result<Self, Error> {
        let unknown = || Error::DatasetUnknown { path: path.to_owned(), known: known_shapes() };
        if path.is_dir() {
            let holds =
                |names: [&str; 2]| names.iter().all(|name| file::find(path, name).is_some());
            let kinds = [
                (Self::SkillRouter, ["tasks.jsonl", "relevance.json"]),
                (Self::R3, ["test.jsonl", "skills_test.jsonl"]),
                (Self::CompSkillBench, ["tasks.jsonl", "categories.json"]),
                (Self::Trec, ["queries.jsonl", "qrels.trec"]),
            ];
            let kind = kinds.into_iter().find(|(_, names)| holds(*names));
            return kind.map(|(kind, _)| kind).ok_or_else(unknown);
        }
        let record = record::first_record(path)?.ok_or_else(unknown)?;
        let kinds = [
            (Self::IntraSkillBench, &["evidence", "query"][..]),
            (Self::CompSkillBench, &["steps", "query"]),
            (Self::Pairs, &["relevant", "query"]),
            (Self::Bilingual, &["zh", "en"]),
            (Self::Composition, &["skills", "task_id"]),
            (Self::Trec, &["query_id", "query"]),
        ];
        let fits = |fields: &[&str]| fields.iter().all(|field| record.has(field));
        let kind = kinds.into_iter().find(|(_, fields)| fits(fields));
        kind.map(|(kind, _)| kind).ok_or_else(unknown)
    }
}

impl fmt::Display for DatasetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for DatasetKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let kind = Self::ALL.into_iter().find(|kind| kind.as_str() == name);
        kind.ok_or_else(|| Error::KindUnknown {
            name: name.to_owned(),
            known: Self::ALL.map(Self::as_str).to_vec(),
        })
    }
}

/// Returns the kinds, each with what it looks like.
fn known_shapes() -> Vec<String> {
    DatasetKind::ALL.map(|kind| format!("{kind}: {}", kind.shape())).to_vec()
}
