//! `skillmux train kinds`

use anyhow::{Context as _, bail};
use skillmux::index::Index;
use skillmux_train::kinds::{KindExamples, KindScores};

use crate::{
    args::TrainKindsArgs,
    folder::write_file,
    outcome::Outcome,
    render::{paint::grouped, print_text},
};

pub(super) fn run(args: &TrainKindsArgs) -> anyhow::Result<Outcome> {
    let examples = KindExamples::read(&args.labels, &Index::open(&args.index)?)?;
    let [n_parts, n_left_out] = examples.n_parts();
    if n_parts == 0 {
        bail!(
            "the index has no part of --labels; name an index that holds the skills they were written for"
        );
    }
    let (weights, learned) = examples.fit();
    let weights = serde_json::to_string(&weights).context("weights are numbers")?;
    write_file(&args.out, format!("{weights}\n").as_bytes())?;
    let scores = |KindScores { accuracy, macro_f1 }| {
        format!("accuracy {accuracy:.3}, macro-F1 {macro_f1:.3}")
    };
    print_text(&format!(
        "{} parts of {} skills (left out: {} that the index lacks); written to {}\n\n\
         rules: {}\n\
         learned, five folds by skill: {}\n",
        grouped(n_parts),
        grouped(examples.n_skills()),
        grouped(n_left_out),
        args.out.display(),
        scores(examples.rules()),
        scores(learned),
    ))?;
    Ok(Outcome::Found)
}
