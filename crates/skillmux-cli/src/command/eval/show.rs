//! `skillmux eval show TASK --in DIR`

use skillmux::text::escaped_json;
use skillmux_eval::{
    cluster::Clusters,
    report::{Results, ShownTask, TaskScores},
};

use super::credit::credited;
use crate::{
    args::{EvalShowArgs, Format},
    outcome::Outcome,
    render::{print_text, width},
};

/// Ranks that are shown of each system; right skills further down are shown all the same.
const MAX_RANKS: usize = 10;

pub(super) fn run(args: &EvalShowArgs) -> anyhow::Result<Outcome> {
    let clusters = args.clusters.as_deref().map(Clusters::read).transpose()?;
    let results = Results::open(&args.results)?;
    let credit = clusters.as_ref().map(credited);
    let credit = credit.as_ref().map(|credit| credit as _);
    let scores = TaskScores::new(&results.dataset, &results.evaluations, credit)?
        .within(results.setting.depth);
    let shown = ShownTask::new(&scores, &args.task_id)?;
    match args.format {
        Format::Text => print_text(&shown.to_text(width(), MAX_RANKS))?,
        Format::Json => print_text(&escaped_json(&shown.to_json()))?,
    }
    Ok(Outcome::Found)
}
