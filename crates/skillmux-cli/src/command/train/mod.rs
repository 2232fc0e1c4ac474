//! `skillmux train`

mod abstention;
mod encoder;
mod ranker;

use std::{fs, path::Path};

use anyhow::Context;

use crate::{Outcome, args::TrainCommand, settings::Settings};

pub(crate) fn run(command: &TrainCommand, settings: &Settings) -> anyhow::Result<Outcome> {
    match command {
        TrainCommand::Abstention(args) => abstention::run(args, settings),
        TrainCommand::Encoder(args) => encoder::run(args),
        TrainCommand::Ranker(args) => ranker::run(args),
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}
