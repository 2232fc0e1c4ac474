//! `skillmux train pager`

use std::sync::Arc;

use anyhow::{Context as _, bail};
use skillmux::{
    index::Index,
    page::PagerWeights,
    route::{Ranker, Router, Stages},
};
use skillmux_eval::dataset::{Dataset, DatasetKind, DatasetOptions};
use skillmux_train::pager::{PagerExamples, PagerScores};

use crate::{
    args::{PagerChoice, TrainPagerArgs},
    assemble::value_pager,
    folder::write_file,
    outcome::Outcome,
    render::{paint::grouped, print_text},
};

/// Fewest skills that weights can be tested on: some for each fold.
const FEW_SKILLS: usize = 20;

pub(super) fn run(args: &TrainPagerArgs) -> anyhow::Result<Outcome> {
    let kind = Some(DatasetKind::IntraSkillBench);
    let cases = Dataset::open(&args.cases, kind, DatasetOptions::default())?;
    // Chinese questions are read as `page` reads them.
    let ranker = Ranker::default().with_translator(Arc::new(skillmux_models::translator()));
    let router = Router::new(Index::open(&args.index)?, Stages { ranker, ..Stages::default() })?;
    let read = |choice| {
        PagerExamples::read(&cases, &router, value_pager(choice, skillmux_models::pager()))
    };
    let examples = read(PagerChoice::Value)?;
    let [n_cases, n_unknown, n_other_body] = examples.n_cases();
    if n_cases == 0 && n_other_body == 0 {
        bail!("the index has no skill of a case; name an index that holds the skills of --cases");
    }
    if n_cases == 0 {
        bail!(
            "the index has the skills of --cases with other texts: `body_bytes` is not the length of \
             the text; index the skills that the cases were written for"
        );
    }
    let (texts, of_texts) = examples.fit(&router);
    let (tokens, of_tokens) = read(PagerChoice::Transformer)?.fit(&router);
    let weights = serde_json::to_string(&PagerWeights { texts, tokens });
    write_file(&args.out, format!("{}\n", weights.context("weights are numbers")?).as_bytes())?;
    let [n_nodes, n_needed] = examples.n_nodes();
    print_text(&format!(
        "{} cases (left out: {} about skills that the index lacks, {} about other texts), {} parts of \
         skills, {} of them needed; written to {}\n\n\
         five folds by skill, area under the ROC curve\n{}{}",
        grouped(n_cases),
        grouped(n_unknown),
        grouped(n_other_body),
        grouped(n_nodes),
        grouped(n_needed),
        args.out.display(),
        scores_text("--pager transformer", of_tokens),
        scores_text("--pager value", of_texts),
    ))?;
    if examples.n_skills() < FEW_SKILLS {
        let n_skills = examples.n_skills();
        print_text(&format!(
            "{n_skills} skills are few: the weights may serve no others, and the scores say little.\n"
        ))?;
    }
    Ok(Outcome::Found)
}

fn scores_text(pager: &str, scores: PagerScores) -> String {
    let PagerScores { value, words, meaning, sufficiency, sufficiency_error } = scores;
    format!(
        "{pager}\n  \
         parts: value {value:.3}, best line of words alone {words:.3}, meaning alone {meaning:.3}\n  \
         pages that suffice: {sufficiency:.3}; calibration error {sufficiency_error:.3}\n"
    )
}
