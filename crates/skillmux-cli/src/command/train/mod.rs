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

use crate::{args::TrainCommand, outcome::Outcome, settings::Settings};

pub(crate) fn run(command: &TrainCommand, settings: &Settings) -> anyhow::Result<Outcome> {
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
