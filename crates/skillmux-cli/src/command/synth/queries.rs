//! `skillmux synth queries`

use skillmux_train::synth::{QueryOptions, TaskKind, write_queries};

use super::rows::{Rows, named_chat};
use crate::{
    args::{SynthQueriesArgs, TaskKindChoice},
    outcome::Outcome,
    settings::Settings,
    source,
};

pub(super) fn run(args: &SynthQueriesArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let chat = named_chat(&args.work, settings)?;
    let opened = source::open(&args.source, settings)?;
    let kind = match args.kind {
        TaskKindChoice::Short => TaskKind::Short,
        TaskKindChoice::Long => TaskKind::Long,
        TaskKindChoice::Multi => TaskKind::Multi,
    };
    let options = QueryOptions { kind, share_zh: args.share_zh };
    let rows = Rows { what: "tasks", out: &args.out, n: args.n, work: &args.work };
    rows.write(|work| write_queries(&opened.index, &chat, &options, work))
}
