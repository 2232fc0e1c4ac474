//! Skills that look right for a task and are not, with a reason, after R3 ("reject as resource").
//!
//! Of R3 only the abstract is known: it takes what a language model refused to put together as
//! grades, in eight classes. Our eight are those of `datasets/set-tasks.jsonl`.

mod assignment;
mod options;
mod plan;
mod row;
mod task;

use skillmux::{model::ChatModel, route::Router};

pub use options::{RejectOptions, RejectReason};

use self::{plan::Plan, row::RejectRow, task::read_tasks};
use super::{
    out::OutFile,
    work::{Likeness, Rows, WorkOptions, WorkReport, work},
};
use crate::error::Result;

/// Asks a model which of the skills that a router finds for tasks do not work for them, and appends
/// what passes all checks to a file of JSON Lines in the format of `datasets/set-tasks.jsonl`; goes
/// on where an earlier run stopped. `docs/synth.md` has the rules.
///
/// # Errors
/// As for [`write_queries`](super::write_queries), and [`Error::Read`](crate::Error::Read),
/// [`Error::TrainingData`](crate::Error::TrainingData) and
/// [`Error::TaskRefused`](crate::Error::TaskRefused) of the files of tasks;
/// [`Error::NoTasks`](crate::Error::NoTasks) if the index lacks a skill of each.
pub fn write_rejects(
    router: &Router,
    model: &dyn ChatModel,
    options: &RejectOptions,
    work_options: &WorkOptions<'_>,
) -> Result<WorkReport> {
    let index = router.index();
    let tasks = read_tasks(&options.tasks, &index, work_options.seed)?;
    let (rows, out) = OutFile::open::<RejectRow>(work_options.out, "{\"query_id\":\"")?;
    let rows = Rows {
        out,
        keys: rows.iter().map(|row| row.query_id.clone()).collect(),
        marks: Vec::new(),
        n_before: rows.len(),
        // Each task comes once, by its key.
        likeness: Likeness { max_similarity: f64::INFINITY, max_cosine: f64::INFINITY },
    };
    let plan = Plan::new(router, tasks, options.n_candidates, work_options);
    Ok(work(model, plan, rows, work_options))
}
