//! `skillmux synth`

mod composer;
mod distractors;
mod queries;
mod reject;
mod report;
mod rows;

use crate::{args::SynthCommand, outcome::Outcome, settings::Settings};

pub(crate) fn run(command: &SynthCommand, settings: &Settings) -> anyhow::Result<Outcome> {
    match command {
        SynthCommand::Queries(args) => queries::run(args, settings),
        SynthCommand::Distractors(args) => distractors::run(args, settings),
        SynthCommand::Composer(args) => composer::run(args, settings),
        SynthCommand::Reject(args) => reject::run(args, settings),
    }
}
