//! `skillmux train composer`

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use skillmux::index::Index;
use skillmux_train::composer::{SetExamples, SetTasks};

use crate::{
    args::TrainComposerArgs,
    assemble::Models,
    folder::write_file,
    outcome::Outcome,
    render::{
        paint::{STRONG, grouped, styled},
        print_text,
    },
    settings::Settings,
};

pub(super) fn run(args: &TrainComposerArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    if !(0.0..=1.0).contains(&args.threshold) {
        bail!("the threshold is a probability from 0 to 1, and not {}", args.threshold);
    }
    let mut tasks = SetTasks::default();
    for path in &args.tasks {
        tasks.add(path)?;
    }
    let models = Models::load(settings)?;
    let mut examples = SetExamples::default();
    for path in &args.index {
        let router = models.untranslated_router(Index::open(path)?)?;
        examples.ask(&tasks, &router)?;
    }
    if examples.n_train() == 0 {
        bail!("no index has all skills of a task; name indexes that hold the skills of --tasks");
    }
    let weights = examples.fit(args.threshold);
    let json = serde_json::to_string_pretty(&weights).context("weights are numbers")?;
    write_file(&args.out, format!("{json}\n").as_bytes())?;
    let mut text = format!(
        "{} tasks to fit, over all indexes; written to {}\n",
        grouped(examples.n_train()),
        args.out.display()
    );
    let title = format!(
        "{:>9} {:>8} {:>6} {:>7} {:>10}",
        "skills", "right", "tasks", "Set F1", "best alone"
    );
    writeln!(text, "\nheld out\n{}", styled(STRONG, &title))?;
    for scores in examples.scores(weights) {
        for (group, right) in ["one", "several"].into_iter().enumerate() {
            let skills = grouped(scores.n_skills);
            let [n, f1, first] = [
                scores.n_tasks[group].to_string(),
                format!("{:.3}", scores.set_f1[group]),
                format!("{:.3}", scores.set_f1_of_first[group]),
            ];
            writeln!(text, "{skills:>9} {right:>8} {n:>6} {f1:>7} {first:>10}")?;
        }
    }
    print_text(&text)?;
    Ok(Outcome::Found)
}
