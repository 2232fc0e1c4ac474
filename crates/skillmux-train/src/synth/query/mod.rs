//! Training tasks: what users would ask for that needs a skill, after `SkillRouter` §4.2, table 2.

mod assignment;
mod options;
mod plan;
mod row;

use skillmux::{index::Index, model::ChatModel};

pub use options::{QueryOptions, TaskKind};

use self::{
    plan::Plan,
    row::{QueryRow, mark},
};
use super::{
    out::OutFile,
    work::{Likeness, Rows, WorkOptions, WorkReport, work},
};
use crate::error::Result;

/// Queries with a larger Jaccard similarity of their pairs of units are duplicates. Of 600 of our
/// long tasks no two have more than 0.08; 99 of 100 short queries have less than 0.39 with every
/// other one.
const MAX_SIMILARITY: f64 = 0.4;

/// Asks a model for queries that skills of an index answer, and appends those that pass all checks
/// to a file of JSON Lines; goes on where an earlier run stopped. `docs/synth.md` has the rules.
///
/// Skills are drawn evenly, where the paper draws by category: a library has none.
///
/// # Errors
/// [`Error::OutName`](crate::Error::OutName), [`Error::OutLocked`](crate::Error::OutLocked),
/// [`Error::OutForeign`](crate::Error::OutForeign), [`Error::Read`](crate::Error::Read),
/// [`Error::Write`](crate::Error::Write), and those of the index, all before the model is asked;
/// later ones are [`WorkReport::stopped`].
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
        likeness: Likeness { max_similarity: MAX_SIMILARITY, max_cosine: f64::INFINITY },
    };
    let plan = Plan::new(index, *options, work_options)?;
    Ok(work(model, plan, rows, work_options))
}
