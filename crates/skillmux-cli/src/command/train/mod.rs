//! `skillmux train`

mod abstention;
mod composer;
mod encoder;
mod kinds;
mod options;
mod pager;
mod ranker;
mod transformer;
mod work;

use std::path::Path;

use crate::{args::TrainCommand, folder::check_place, outcome::Outcome, settings::Settings};

pub(crate) fn run(command: &TrainCommand, settings: &Settings) -> anyhow::Result<Outcome> {
    // Training takes minutes: a place that cannot be written to is said before them.
    if let Some(file) = file_of(command) {
        check_place(file)?;
    }
    match command {
        TrainCommand::Abstention(args) => abstention::run(args, settings),
        TrainCommand::Composer(args) => composer::run(args, settings),
        TrainCommand::Encoder(args) => encoder::run(args),
        TrainCommand::Kinds(args) => kinds::run(args),
        TrainCommand::Pager(args) => pager::run(args),
        TrainCommand::Ranker(args) => ranker::run(args, settings),
        TrainCommand::Transformer(args) => transformer::run(args),
        TrainCommand::Work(args) => work::run(args, settings),
    }
}

/// Returns the file that a command writes weights to; `train transformer` writes a folder.
fn file_of(command: &TrainCommand) -> Option<&Path> {
    Some(match command {
        TrainCommand::Abstention(args) => &args.out,
        TrainCommand::Composer(args) => &args.out,
        TrainCommand::Encoder(args) => &args.out,
        TrainCommand::Kinds(args) => &args.out,
        TrainCommand::Pager(args) => &args.out,
        TrainCommand::Ranker(args) => &args.out,
        TrainCommand::Work(args) => &args.out,
        TrainCommand::Transformer(_) => return None,
    })
}
