//! `skillmux eval`

mod asked;
mod build;
mod compare;
mod list;
mod out;
mod run;
mod show;
mod trec;

use std::{fs, path::Path};

use anyhow::Context;
use skillmux_eval::{answer::Answer, cluster::Clusters, task::Task};

use crate::{
    Outcome,
    args::{EvalArgs, EvalCommand},
    settings::Settings,
};

pub(crate) fn run(args: &EvalArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    match &args.command {
        None => trec::run(&args.trec),
        Some(EvalCommand::Run(args)) => run::run(args, settings),
        Some(EvalCommand::Compare(args)) => compare::run(args),
        Some(EvalCommand::Show(args)) => show::run(args),
        Some(EvalCommand::Build(command)) => build::run(command, settings),
        Some(EvalCommand::List) => list::run(),
    }
}

/// Makes a folder, with all above it.
fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot make the folder `{}`", path.display()))
}

/// Returns what names near-duplicates of right skills as these, in an answer to a task.
fn credited(clusters: &Clusters) -> impl Fn(&Answer, &Task) -> Answer + Sync + '_ {
    |answer, task| {
        let mut answer = answer.clone();
        answer.drop_skills(&clusters.with_copies(&task.ignored, &task.gold));
        clusters.credit(&answer, &task.gold)
    }
}

/// Columns of the terminal; 80 if there is none.
fn width() -> usize {
    textwrap::termwidth()
}
