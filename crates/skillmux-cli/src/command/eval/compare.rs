//! `skillmux eval compare A B`

use skillmux::text::escaped_json;
use skillmux_eval::{
    cluster::Clusters,
    report::{CompareOptions, Comparison, Pair, Results, TaskScores, View},
};

use super::credit::credited;
use crate::{
    args::{CompareFormat, EvalCompareArgs},
    outcome::Outcome,
    render::{print_text, width},
};

pub(super) fn run(args: &EvalCompareArgs) -> anyhow::Result<Outcome> {
    let clusters = args.clusters.as_deref().map(Clusters::read).transpose()?;
    let Pair { results, other_setting, .. } = Results::open_pair(&args.a, &args.b)?;
    let credit = clusters.as_ref().map(credited);
    let credit = credit.as_ref().map(|credit| credit as _);
    let scores = TaskScores::new(&results.dataset, &results.evaluations, credit)?
        .within(results.setting.depth)
        .within(other_setting.depth);
    let options = CompareOptions {
        view: if credit.is_some() { View::NearDuplicates } else { View::ById },
        settings: Some((&results.setting, &other_setting)),
        ..CompareOptions::default()
    };
    let comparison = Comparison::new(&scores, (0, 1), &options)?;
    match args.format {
        CompareFormat::Text => print_text(&comparison.to_text(width(), args.n))?,
        CompareFormat::Json => print_text(&escaped_json(&comparison.to_json()))?,
        CompareFormat::Markdown => print_text(&comparison.to_markdown(args.n))?,
    }
    Ok(Outcome::Found)
}
