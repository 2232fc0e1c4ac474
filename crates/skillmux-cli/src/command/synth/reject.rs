//! `skillmux synth reject`

use skillmux_train::synth::{RejectOptions, write_rejects};

use super::rows::{Rows, named_chat};
use crate::{
    args::SynthRejectArgs, assemble::Models, outcome::Outcome, settings::Settings, source,
};

pub(super) fn run(args: &SynthRejectArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let chat = named_chat(&args.work, settings)?;
    let models = Models::load(settings)?;
    let opened = source::open(&args.source, settings)?;
    let router = models.untranslated_router(opened.index)?;
    let options = RejectOptions { tasks: args.tasks.clone(), n_candidates: args.candidates.into() };
    let rows = Rows { what: "tasks", out: &args.out, n: args.n, work: &args.work };
    rows.write(|work| write_rejects(&router, &chat, &options, work))
}
