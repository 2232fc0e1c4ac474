//! Distractors: skills that look like one of the library and do something else, after `SkillRouter`
//! appendix B, table 10.

mod assignment;
mod options;
mod plan;
mod row;

use skillmux::{index::Index, model::ChatModel};

pub use options::{DistractorOptions, Strategy};

use self::{
    plan::Plan,
    row::{DistractorRow, MAX_SIMILARITY, key_of, mark},
};
use super::{
    out::OutFile,
    work::{Likeness, Rows, WorkOptions, WorkReport, work},
};
use crate::error::Result;

/// Asks a model for skills that look like those of an index and do something else, and appends
/// those that pass all checks to a shard that [`skillmux::library::Library`] reads; goes on where
/// an earlier run stopped. `docs/synth.md` has the rules.
///
/// The paper asks for three to five distractors at once; here each strategy has a request of its
/// own, so that a bad one loses no other.
///
/// # Errors
/// As for [`write_queries`](super::write_queries).
pub fn write_distractors(
    index: &Index,
    model: &dyn ChatModel,
    options: &DistractorOptions,
    work_options: &WorkOptions<'_>,
) -> Result<WorkReport> {
    let (rows, out) = OutFile::open::<DistractorRow>(work_options.out, "{\"skill_id\":\"")?;
    let rows = Rows {
        out,
        keys: rows.iter().map(|row| key_of(&row.distractor_of, row.strategy)).collect(),
        marks: rows.iter().map(|row| mark(&row.name, &row.body)).collect(),
        n_before: rows.len(),
        likeness: Likeness { max_similarity: MAX_SIMILARITY, max_cosine: f64::INFINITY },
    };
    let plan = Plan::new(index, *options, work_options)?;
    Ok(work(model, plan, rows, work_options))
}
