//! `skillmux synth queries`

use skillmux_train::synth::{QueryKind, QueryOptions, write_queries};

use super::{Rows, named_chat};
use crate::{
    Outcome,
    args::{QueryKindChoice, SynthQueriesArgs},
    settings::Settings,
    source,
};

pub(super) fn run(args: &SynthQueriesArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let chat = named_chat(&args.work, settings)?;
    let opened = source::open(&args.source, settings)?;
    let kind = match args.kind {
        QueryKindChoice::Short => QueryKind::Short,
        QueryKindChoice::Long => QueryKind::Long,
        QueryKindChoice::Multi => QueryKind::Multi,
    };
    let options = QueryOptions { kind, share_zh: args.share_zh };
    let rows = Rows { what: "tasks", out: &args.out, n: args.n, work: &args.work };
    rows.write(|work| write_queries(&opened.index, &chat, &options, work))
}
