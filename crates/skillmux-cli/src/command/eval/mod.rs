//! `skillmux eval`

mod asked;
mod build;
mod compare;
mod credit;
mod execute;
mod gate;
mod list;
mod out;
mod run;
mod said;
mod show;
mod sweep;
mod trec;

use crate::{
    args::{EvalArgs, EvalCommand},
    outcome::Outcome,
    settings::Settings,
};

pub(crate) fn run(args: &EvalArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    match &args.command {
        None => trec::run(&args.trec),
        Some(EvalCommand::Run(args)) => run::run(args, settings),
        Some(EvalCommand::Gate(args)) => gate::run(args, settings),
        Some(EvalCommand::Sweep(args)) => sweep::run(args, settings),
        Some(EvalCommand::Compare(args)) => compare::run(args),
        Some(EvalCommand::Show(args)) => show::run(args),
        Some(EvalCommand::Execute(args)) => execute::run(args),
        Some(EvalCommand::Build(command)) => build::run(command, settings),
        Some(EvalCommand::List) => list::run(settings),
    }
}
