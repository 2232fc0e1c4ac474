//! `skillmux route`

use std::io::{self, BufWriter, Write as _};

use skillmux::{
    compose::Decision,
    route::{RouteOptions, Router},
    text::escaped_json,
};

use crate::{
    args::{Format, RetrieverChoice, RouteArgs},
    assemble::Models,
    chat,
    outcome::Outcome,
    render::{print_json, print_text, route::text},
    settings::Settings,
    source,
    task::{BatchQuery, Tasks},
};

pub(crate) fn run(args: &RouteArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let tasks = Tasks::read(&args.task)?;
    let judge = chat::judge(&args.judge, settings)?;
    let models = Models::load(settings)?.with_judge(judge);
    let mut opened = source::open(&args.source, settings)?;
    if args.stages.retriever == RetrieverChoice::Transformer {
        opened = opened.read_few()?;
        opened.tell_waiting();
    }
    let router = models.router(opened.index, args.stages)?;
    let options = RouteOptions {
        max_skills: args.k.map(usize::from),
        budget_tokens: args.budget,
        n_hints: args.hints.into(),
    };
    let query = match tasks {
        Tasks::Single(query) => query,
        Tasks::Batch(queries) => return route_batch(queries, &router, &options),
    };
    let route = router.route(&query, &options)?;
    match args.format {
        Format::Text => print_text(&text(&route, router.n_skills()))?,
        Format::Json => print_json(&route)?,
    }
    Ok(match route.decision {
        Decision::Load => Outcome::Found,
        Decision::Abstain => Outcome::NothingFound,
    })
}

fn route_batch(
    queries: Vec<BatchQuery>,
    router: &Router,
    options: &RouteOptions,
) -> anyhow::Result<Outcome> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut outcome = Outcome::NothingFound;
    for BatchQuery { query_id, query } in queries {
        let mut route = router.route(&query, options)?;
        route.query_id = Some(query_id);
        if route.decision == Decision::Load {
            outcome = Outcome::Found;
        }
        writeln!(out, "{}", escaped_json(&serde_json::to_string(&route)?))?;
    }
    out.flush()?;
    Ok(outcome)
}
