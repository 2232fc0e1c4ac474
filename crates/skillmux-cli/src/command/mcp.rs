//! `skillmux mcp`

use std::thread;

use skillmux_server::State;

use crate::{
    args::McpArgs, assemble::Models, error::engine_hint, outcome::Outcome, settings::Settings,
    source,
};

pub(crate) fn run(args: &McpArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let models = Models::load(settings)?;
    let opened = source::open(&args.source, settings)?.read_few()?;
    let path = opened.index.path().to_owned();
    if opened.n_waiting() > 0 {
        // Calls are answered without the transformer until it has read all skills. What it cannot do
        // now, because another process does it, is no loss.
        thread::spawn(move || source::encode(&path).map(drop));
    }
    let router = models.lasting_router(opened.index)?.with_places(opened.places);
    skillmux_server::serve_stdio(State::new(router).with_hints(engine_hint))?;
    Ok(Outcome::Found)
}
