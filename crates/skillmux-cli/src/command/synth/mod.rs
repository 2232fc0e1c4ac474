//! `skillmux synth`

mod distractors;
mod queries;
mod report;
mod rows;

use crate::{args::SynthCommand, outcome::Outcome, settings::Settings};

pub(crate) fn run(command: &SynthCommand, settings: &Settings) -> anyhow::Result<Outcome> {
    match command {
        SynthCommand::Queries(args) => queries::run(args, settings),
        SynthCommand::Distractors(args) => distractors::run(args, settings),
    }
}
