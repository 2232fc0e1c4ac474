//! `skillmux mcp`

use crate::{
    Outcome,
    args::{ComposerChoice, McpArgs, PagerChoice, RetrieverChoice, StageArgs},
    settings::Settings,
    source,
};

pub(crate) fn run(args: &McpArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let opened = source::open(&args.source, settings)?;
    let stages = StageArgs {
        retriever: RetrieverChoice::Ranked,
        composer: ComposerChoice::ScoreCut,
        pager: PagerChoice::Mmr,
    };
    skillmux_server::serve_stdio(super::router(opened.index, stages)?)?;
    Ok(Outcome::Found)
}
