//! Training tasks: what users would ask for that needs a skill, after `SkillRouter` §4.2, table 2.

mod assignment;
mod plan;

use serde::{Deserialize, Serialize};
use skillmux::{index::Index, model::ChatModel, skill::SkillId};

use super::{
    out::OutFile,
    text::{Language, Shingles, units},
    work::{Mark, Rows, WorkOptions, WorkReport, work},
};
use crate::error::Result;
use plan::Plan;

/// Queries with a larger Jaccard similarity of their pairs of units are duplicates. Of 600 of our long
/// tasks no two have more than 0.08; 99 of 100 short queries have less than 0.39 with every other one.
const MAX_SIMILARITY: f64 = 0.4;
const DUPLICATE_UNITS: usize = 2;

/// How long a query is, and whether it needs several skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryKind {
    /// One to three sentences, one skill.
    Short,
    /// A task as long as those of `SkillRouter` (160 words on average), one skill.
    Long,
    /// A task that needs two to four skills in an order.
    Multi,
}

impl QueryKind {
    /// Returns the name, such as `short`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
            Self::Multi => "multi",
        }
    }

    /// Returns how many words or characters are asked for.
    fn wanted(self, language: Language) -> (usize, usize) {
        match (self, language) {
            (Self::Short, Language::En) => (12, 40),
            (Self::Short, Language::Zh) => (20, 70),
            (Self::Long | Self::Multi, Language::En) => (100, 250),
            (Self::Long | Self::Multi, Language::Zh) => (150, 400),
        }
    }

    /// Returns how many are taken: from half to the double of what is asked for.
    fn bounds(self, language: Language) -> (usize, usize) {
        let (min, max) = self.wanted(language);
        (min / 2, max * 2)
    }

    fn form(self) -> &'static str {
        match self {
            Self::Short => "one to three sentences",
            Self::Long | Self::Multi => {
                "a request with all details, as prose or as a brief with parts"
            }
        }
    }
}

/// Which queries are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryOptions {
    /// How long they are, and whether they need several skills.
    pub kind: QueryKind,
    /// Share of the queries that are asked for in Chinese, in `[0, 1]`; the others are English.
    pub share_zh: f64,
}

/// Asks a model for queries that skills of an index answer, and appends those that pass all checks to a
/// file of JSON Lines; goes on where an earlier run stopped. `docs/synth.md` has the rules.
///
/// Skills are drawn evenly, where the paper draws by category: a library has none.
///
/// # Errors
/// [`Error::OutName`](crate::Error::OutName), [`Error::OutLocked`](crate::Error::OutLocked),
/// [`Error::OutForeign`](crate::Error::OutForeign), [`Error::Read`](crate::Error::Read),
/// [`Error::Write`](crate::Error::Write), and those of the index, all before the model is asked; later
/// ones are [`WorkReport::stopped`].
pub fn write_queries(
    index: &Index,
    model: &dyn ChatModel,
    options: &QueryOptions,
    work_options: &WorkOptions<'_>,
) -> Result<WorkReport> {
    let (rows, out) = OutFile::open::<QueryRow>(work_options.out, "{\"query_id\":\"")?;
    let kind = options.kind.as_str();
    let rows = Rows {
        out,
        keys: rows.iter().map(|row| row.query_id.clone()).collect(),
        marks: rows.iter().map(|row| mark(&row.query)).collect(),
        n_before: rows.iter().filter(|row| row.kind == kind).count(),
        max_similarity: MAX_SIMILARITY,
    };
    let plan = Plan::new(index, *options, work_options)?;
    Ok(work(model, plan, rows, work_options))
}

/// Returns what a query is told from others by.
fn mark(query: &str) -> Mark {
    Mark { shingles: Shingles::of(&units(query), DUPLICATE_UNITS), name_key: None }
}

/// A query, as `skillmux train` reads it, by `skill_ids`, and `skillmux eval`, as a dataset of the kind
/// `composition`, by `task_id` and `skills`.
#[derive(Debug, Serialize, Deserialize)]
struct QueryRow {
    // First: a row that was cut is known by it.
    query_id: String,
    #[serde(default)]
    task_id: String,
    query: String,
    /// In the order in which they are used.
    #[serde(default)]
    skill_ids: Vec<SkillId>,
    #[serde(default)]
    skills: Vec<SkillId>,
    #[serde(default)]
    lang: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    model: String,
    /// Version of the instructions.
    #[serde(default)]
    prompt: u32,
}
