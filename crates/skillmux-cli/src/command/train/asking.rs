//! `skillmux train asking`

use anyhow::{Context as _, bail};
use skillmux_train::asking::{AskingExamples, AskingScores};

use crate::{
    args::TrainAskingArgs,
    folder::write_file,
    outcome::Outcome,
    render::{paint::grouped, print_text},
};

pub(super) fn run(args: &TrainAskingArgs) -> anyhow::Result<Outcome> {
    let mut examples = AskingExamples::default();
    for path in &args.tasks {
        examples.add(path)?;
    }
    let [n_pieces, n_asking] = examples.n_pieces();
    if n_asking == 0 {
        bail!("no task has an excerpt that asks for something; see `asks` in the help of --tasks");
    }
    let (weights, AskingScores { auc, found }) = examples.fit();
    let weights = serde_json::to_string(&weights).context("weights are numbers")?;
    write_file(&args.out, format!("{weights}\n").as_bytes())?;
    print_text(&format!(
        "{} pieces of {} tasks, {} of which ask for something; written to {}\n\n\
         five folds by library: AUC {auc:.3}, excerpts among the eight likeliest pieces {found:.3}\n",
        grouped(n_pieces),
        grouped(examples.n_tasks()),
        grouped(n_asking),
        args.out.display(),
    ))?;
    Ok(Outcome::Found)
}
