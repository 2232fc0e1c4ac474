//! `skillmux train`

mod abstention;
mod asking;
mod composer;
mod encoder;
mod kinds;
mod options;
mod pager;
mod ranker;
mod transformer;
mod work;

use std::path::{Path, PathBuf};

use crate::{
    args::TrainCommand,
    folder::{check_place, refuse_overwriting},
    outcome::Outcome,
    settings::Settings,
};

pub(crate) fn run(command: &TrainCommand, settings: &Settings) -> anyhow::Result<Outcome> {
    // Training takes minutes: a place that cannot be written to is said before them.
    for file in written_by(command) {
        check_place(file)?;
        refuse_overwriting(data_of(command), file)?;
    }
    match command {
        TrainCommand::Abstention(args) => abstention::run(args, settings),
        TrainCommand::Asking(args) => asking::run(args),
        TrainCommand::Composer(args) => composer::run(args, settings),
        TrainCommand::Encoder(args) => encoder::run(args),
        TrainCommand::Kinds(args) => kinds::run(args),
        TrainCommand::Pager(args) => pager::run(args),
        TrainCommand::Ranker(args) => ranker::run(args, settings),
        TrainCommand::Transformer(args) => transformer::run(args),
        TrainCommand::Work(args) => work::run(args, settings),
    }
}

/// Returns the files that a command writes; `train transformer` writes a folder.
fn written_by(command: &TrainCommand) -> Vec<&Path> {
    let (out, held_out) = match command {
        TrainCommand::Abstention(args) => (&args.out, &args.held_out),
        TrainCommand::Asking(args) => (&args.out, &None),
        TrainCommand::Composer(args) => (&args.out, &None),
        TrainCommand::Encoder(args) => (&args.out, &None),
        TrainCommand::Kinds(args) => (&args.out, &None),
        TrainCommand::Pager(args) => (&args.out, &None),
        TrainCommand::Ranker(args) => (&args.out, &args.held_out),
        TrainCommand::Work(args) => (&args.out, &None),
        TrainCommand::Transformer(_) => return Vec::new(),
    };
    std::iter::once(out).chain(held_out).map(PathBuf::as_path).collect()
}

/// Returns the files of training data that a command reads.
fn data_of(command: &TrainCommand) -> impl Iterator<Item = &Path> {
    let files: Vec<&[PathBuf]> = match command {
        TrainCommand::Abstention(args) => {
            vec![&args.answerable, &args.unanswerable, &args.talk, &args.triggers]
        }
        TrainCommand::Asking(args) => vec![&args.tasks],
        TrainCommand::Composer(args) => vec![&args.tasks],
        TrainCommand::Encoder(args) => vec![&args.queries, &args.translations],
        TrainCommand::Kinds(args) => vec![std::slice::from_ref(&args.labels)],
        TrainCommand::Pager(args) => vec![std::slice::from_ref(&args.cases)],
        TrainCommand::Ranker(args) => {
            vec![&args.queries, &args.tasks, &args.translations, &args.transformer_tasks]
        }
        TrainCommand::Transformer(args) => vec![&args.queries, &args.translations],
        TrainCommand::Work(args) => vec![&args.work, &args.talk],
    };
    files.into_iter().flatten().map(PathBuf::as_path)
}
