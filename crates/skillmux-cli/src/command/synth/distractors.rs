//! `skillmux synth distractors`

use skillmux_train::synth::{DistractorOptions, write_distractors};

use super::rows::{Rows, named_chat};
use crate::{args::SynthDistractorsArgs, outcome::Outcome, settings::Settings, source};

pub(super) fn run(args: &SynthDistractorsArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let chat = named_chat(&args.work, settings)?;
    let opened = source::open(&args.source, settings)?;
    let options = DistractorOptions { n_per_skill: args.per_skill.into() };
    let rows = Rows { what: "distractors", out: &args.out, n: args.n, work: &args.work };
    rows.write(|work| write_distractors(&opened.index, &chat, &options, work))
}
