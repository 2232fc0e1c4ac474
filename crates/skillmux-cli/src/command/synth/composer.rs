//! `skillmux synth composer`

use skillmux_train::synth::{Meaning, SetTaskOptions, SetTaskWriter, write_set_tasks};

use super::{
    report::GraphLines,
    rows::{Rows, named_chat},
};
use crate::{
    args::SynthComposerArgs, outcome::Outcome, own_model::encoder, settings::Settings, source,
};

pub(super) fn run(args: &SynthComposerArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let chat = args.queries.is_empty().then(|| named_chat(&args.work, settings)).transpose()?;
    let writer = match &chat {
        Some(chat) => SetTaskWriter::Chat(chat),
        None => SetTaskWriter::Queries(&args.queries),
    };
    let opened = source::open(&args.source, settings)?;
    let encoder = encoder(settings)?;
    let meaning = Meaning { encoder: encoder.as_ref(), max_cosine: args.max_cosine };
    let options = SetTaskOptions {
        tasks: args.tasks.clone(),
        share_single: args.share_single,
        share_dependency: args.share_dependency,
        share_zh: args.share_zh,
    };
    let rows = Rows { what: "tasks", out: &args.out, n: args.n, work: &args.work };
    rows.write_with(
        |work| write_set_tasks(&opened.index, meaning, writer, &options, work),
        |report| {
            let graph = GraphLines::of(&report);
            (report.work, Some(graph))
        },
    )
}
