//! `skillmux mcp`

use skillmux_server::State;

use crate::{
    args::{McpArgs, StageArgs},
    assemble::Models,
    error::engine_hint,
    outcome::Outcome,
    settings::Settings,
    source,
};

pub(crate) fn run(args: &McpArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let models = Models::load(settings)?;
    let opened = source::open(&args.source, settings)?;
    let router = models.router(opened.index, StageArgs::default())?;
    skillmux_server::serve_stdio(State::new(router).with_hints(engine_hint))?;
    Ok(Outcome::Found)
}
