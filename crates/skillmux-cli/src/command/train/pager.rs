//! `skillmux train pager`

use std::sync::Arc;

use anyhow::{Context as _, bail};
use skillmux::{
    index::Index,
    route::{Ranker, Router, Stages},
};
use skillmux_eval::dataset::{Dataset, DatasetKind, DatasetOptions};
use skillmux_train::pager::{PagerExamples, PagerScores};

use crate::{
    args::TrainPagerArgs,
    folder::write_file,
    outcome::Outcome,
    own_model::embedded_encoder,
    render::{paint::grouped, print_text},
};

pub(super) fn run(args: &TrainPagerArgs) -> anyhow::Result<Outcome> {
    let kind = Some(DatasetKind::IntraSkillBench);
    let cases = Dataset::open(&args.cases, kind, DatasetOptions::default())?;
    // Chinese questions are read as `page` reads them.
    let ranker = Ranker::default().with_translator(Arc::new(skillmux_models::translator()));
    let router = Router::new(Index::open(&args.index)?, Stages { ranker, ..Stages::default() })?;
    let examples = PagerExamples::read(&cases, &router, &*embedded_encoder())?;
    let [n_cases, n_left_out] = examples.n_cases();
    if n_cases == 0 {
        bail!("the index has no skill of a case; name an index that holds the skills of --cases");
    }
    let weights = serde_json::to_string_pretty(&examples.fit()).context("weights are numbers")?;
    write_file(&args.out, format!("{weights}\n").as_bytes())?;
    let [n_nodes, n_needed] = examples.n_nodes();
    let PagerScores { value, words, meaning } = examples.scores();
    print_text(&format!(
        "{} cases ({} left out), {} parts of skills, {} of them needed; written to {}\n\n\
         area under the ROC curve, five folds by skill\n\
         value {value:.3}, best line of words alone {words:.3}, meaning alone {meaning:.3}\n",
        grouped(n_cases),
        grouped(n_left_out),
        grouped(n_nodes),
        grouped(n_needed),
        args.out.display(),
    ))?;
    Ok(Outcome::Found)
}
