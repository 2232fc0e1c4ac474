//! `skillmux route`

use std::{
    error::Error as StdError,
    io::{self, BufWriter, Write as _},
};

use skillmux::{
    Error,
    compose::Decision,
    query::Query,
    route::{NeedsWriter, Route, RouteOptions, Router},
    text::{escaped_json, printable},
};

use crate::{
    args::{DecomposerChoice, PlanFormat, RetrieverChoice, RouteArgs},
    assemble::Models,
    chat::{self, ChatUses},
    outcome::Outcome,
    render::{
        graph::{dot, mermaid},
        print_json, print_text,
        route::text,
    },
    settings::Settings,
    source,
    task::{BatchQuery, Tasks},
};

pub(crate) fn run(args: &RouteArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let tasks = Tasks::read(&args.task)?;
    let writes_needs = args.stages.decomposer == DecomposerChoice::Chat;
    let ChatUses { judge, writer } = chat::uses(&args.judge, writes_needs, settings)?;
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
        Tasks::Batch(queries) => return route_batch(queries, &router, writer.as_ref(), &options),
    };
    let route = route(query, &router, writer.as_ref(), &options)?;
    match args.format {
        PlanFormat::Text => print_text(&text(&route, router.n_skills()))?,
        PlanFormat::Json => print_json(&route)?,
        PlanFormat::Mermaid => print_text(&mermaid(&route))?,
        PlanFormat::Dot => print_text(&dot(&route))?,
    }
    Ok(match route.decision {
        Decision::Load => Outcome::Found,
        Decision::Abstain => Outcome::NothingFound,
    })
}

/// Routes a task with the needs that a chat model writes, if it is asked and the task brings none.
fn route(
    query: Query,
    router: &Router,
    writer: Option<&NeedsWriter>,
    options: &RouteOptions,
) -> anyhow::Result<Route> {
    let Some(writer) = writer.filter(|_| query.needs().is_empty()) else {
        return Ok(router.route(&query, options)?);
    };
    let (query, passes) = match writer.write(router, &query) {
        Ok(passes) => {
            let needs = passes.last().map_or(&[][..], |pass| &pass.needs);
            (query.with_needs(needs)?, passes)
        }
        Err(error @ Error::Chat { .. }) => {
            let cause =
                StdError::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            let note = printable(&format!("{error}{cause}"));
            anstream::eprintln!("note: {note}; the task is split without it");
            (query, Vec::new())
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Route { passes, ..router.route(&query, options)? })
}

fn route_batch(
    queries: Vec<BatchQuery>,
    router: &Router,
    writer: Option<&NeedsWriter>,
    options: &RouteOptions,
) -> anyhow::Result<Outcome> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut outcome = Outcome::NothingFound;
    for BatchQuery { query_id, query } in queries {
        let mut route = route(query, router, writer, options)?;
        route.query_id = Some(query_id);
        if route.decision == Decision::Load {
            outcome = Outcome::Found;
        }
        writeln!(out, "{}", escaped_json(&serde_json::to_string(&route)?))?;
    }
    out.flush()?;
    Ok(outcome)
}
