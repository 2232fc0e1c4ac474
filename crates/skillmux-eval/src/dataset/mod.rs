//! Datasets: tasks with what is right for them, and the skills to choose from.
//!
//! `docs/datasets.md` describes every format field by field.
//!
//! ```
//! use skillmux_eval::dataset::{Dataset, DatasetOptions};
//! use std::path::Path;
//!
//! # let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/eval");
//! // The kind is told from the files in the folder.
//! let dataset = Dataset::open(&fixtures.join("skillrouter"), None, DatasetOptions::default())?;
//!
//! assert_eq!(dataset.name, "skillrouter");
//! assert!(dataset.tasks[0].gold.contains("databases/postgres-query-tuning"));
//! # Ok::<(), skillmux_eval::Error>(())
//! ```

mod aliases;
mod bilingual;
pub mod build;
mod comp_skill_bench;
mod composition;
pub(crate) mod file;
mod intra_skill_bench;
mod language;
mod pairs;
mod r3;
pub(crate) mod shard;
mod skillrouter;
pub mod split;
mod trec;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use skillmux::skill::Skill;

pub use aliases::Aliases;
pub use bilingual::BilingualSplit;
pub use shard::write_shard;
pub use skillrouter::Tier;
pub use trec::Unjudged;

use crate::{
    error::Error,
    task::{Gold, Task},
};

/// Tasks, and what belongs to them.
#[derive(Debug, Clone, Default)]
pub struct Dataset {
    /// Name for reports, such as `skillrouter`.
    pub name: String,
    /// Tasks that count, in the order of the file.
    pub tasks: Vec<Task>,
    /// Number of tasks that the dataset holds but does not score.
    pub n_unscored: usize,
    /// Number of queries that are judged but not among the tasks, as of other qrels.
    pub n_unasked: usize,
    /// Functional category by skill id, for category recall; empty if the dataset has none.
    pub categories: BTreeMap<String, String>,
    /// The skills to choose from, if the dataset brings them.
    pub library: Option<DatasetLibrary>,
}

/// The skills that a dataset brings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DatasetLibrary {
    /// Files that [`skillmux::library::Library::open`] reads.
    Paths(Vec<PathBuf>),
    /// Skills of a format of the dataset's own.
    Skills(Vec<Skill>),
}

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
    /// [`Error::DatasetUnknown`] with the known shapes as its hint, [`Error::Read`].
    pub fn detect(path: &Path) -> Result<Self, Error> {
        let unknown = || Error::DatasetUnknown { path: path.to_owned() };
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
        let record = file::first_record(path)?.ok_or_else(unknown)?;
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
        kind.ok_or_else(|| Error::KindUnknown { name: name.to_owned() })
    }
}

/// Returns a sentence that lists the shapes of datasets.
pub(crate) fn known_shapes() -> String {
    let shapes = DatasetKind::ALL.map(|kind| format!("{kind}: {}", kind.shape()));
    format!("name its kind, or make it one of these: {}", shapes.join("; "))
}

/// Returns the text of a skill, or nothing if the library does not have it.
pub type Lookup<'a> = dyn Fn(&str) -> Result<Option<Skill>, Error> + 'a;

/// How a dataset is read; each option matters to one kind only.
#[derive(Clone, Copy, Default)]
pub struct DatasetOptions<'a> {
    /// `skillrouter`: which pool shards belong to the library.
    pub tier: Tier,
    /// `bilingual`: which pairs are used.
    pub split: BilingualSplit,
    /// `bilingual`: where the texts of the skills are found.
    pub lookup: Option<&'a Lookup<'a>>,
    /// `trec`: the qrels; the file `qrels.trec` beside the queries if absent.
    pub qrels: Option<&'a Path>,
    /// `trec`: what a query without judgements means.
    pub unjudged: Unjudged,
}

/// What [`Dataset::bind`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding {
    /// Ids of gold skills that are copies of another skill, by whose id the library knows them.
    pub renamed: BTreeMap<String, String>,
    /// Gold skills that the library does not have: no system can find them.
    pub missing: BTreeSet<String>,
}

impl Dataset {
    /// Reads the dataset at a path; its kind is detected if none is given.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Json`] and [`Error::Malformed`] name the file, the line and the
    /// field; [`Error::DatasetUnknown`] says which shapes there are.
    pub fn open(
        path: &Path,
        kind: Option<DatasetKind>,
        options: DatasetOptions<'_>,
    ) -> Result<Self, Error> {
        let kind = match kind {
            Some(kind) => kind,
            None => DatasetKind::detect(path)?,
        };
        match kind {
            DatasetKind::SkillRouter => skillrouter::read(path, options.tier),
            DatasetKind::R3 => r3::read(path),
            DatasetKind::Pairs => pairs::read(path),
            DatasetKind::Bilingual => bilingual::read(path, options.split, options.lookup),
            DatasetKind::Composition => composition::read(path),
            DatasetKind::CompSkillBench => comp_skill_bench::read(path),
            DatasetKind::IntraSkillBench => intra_skill_bench::read(path),
            DatasetKind::Trec => trec::read(path, options.qrels, options.unjudged),
        }
    }

    /// Gives every skill the id by which the library knows it, and says which gold skills it does
    /// not have.
    ///
    /// A library keeps one of several exact duplicates; the ids of the others would never be found.
    pub fn bind(&mut self, aliases: &Aliases) -> Binding {
        let mut binding = Binding::default();
        let known = |id: &str| aliases.resolve(id).unwrap_or(id).to_owned();
        for task in &mut self.tasks {
            for (id, _) in task.gold.iter() {
                match aliases.resolve(id) {
                    None => {
                        binding.missing.insert(id.to_owned());
                    }
                    Some(kept) if kept != id => {
                        binding.renamed.insert(id.to_owned(), kept.to_owned());
                    }
                    Some(_) => {}
                }
            }
            for gold in [&mut task.gold, &mut task.partial] {
                let mut bound = Gold::default();
                for (id, grade) in gold.iter() {
                    let id = known(id);
                    let grade = grade.max(bound.grade(&id));
                    bound.insert(id, grade);
                }
                *gold = bound;
            }
            for set in [&mut task.rejected, &mut task.ignored] {
                *set = set.iter().map(|id| known(id)).collect();
            }
            task.rejected.retain(|id| !task.gold.contains(id));
            task.ignored.retain(|id| !task.gold.contains(id));
            task.order = task.order.iter().map(|id| known(id)).collect();
            for step in &mut task.steps {
                step.skill_id = step.skill_id.as_deref().map(known);
            }
            if let Some(evidence) = &mut task.evidence {
                evidence.skill_id = known(&evidence.skill_id);
            }
        }
        let categories = std::mem::take(&mut self.categories);
        self.categories = categories.into_iter().map(|(id, name)| (known(&id), name)).collect();
        binding
    }
}

/// Returns one entry of [`Task::slices`].
fn slice(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

#[cfg(test)]
mod tests;
