//! `skillmux synth distractors`

use skillmux_models::synth::{DistractorOptions, write_distractors};

use super::{named_chat, write_rows};
use crate::{Outcome, args::SynthDistractorsArgs, settings::Settings, source};

pub(super) fn run(args: &SynthDistractorsArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let chat = named_chat(&args.work, settings)?;
    let opened = source::open(&args.source, settings)?;
    let options = DistractorOptions { n_per_skill: args.per_skill.into() };
    write_rows(&args.work, "distractors", &args.out, args.n, |work| {
        write_distractors(&opened.index, &chat, &args.out, &options, work)
    })
}
