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
    chat::{self, ChatAsks, ChatUses},
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
    args.stages.check()?;
    args.passes.check(args.stages)?;
    let tasks = Tasks::read(&args.task)?;
    let writes_needs = args.stages.decomposer == DecomposerChoice::Chat;
    let needs = writes_needs.then(|| args.passes.config());
    let asks = ChatAsks { needs, kinds: args.stages.kinds };
    let ChatUses { judge, writer, kinds } = chat::uses(&args.judge, asks, settings)?;
    let models = Models::load(settings)?.with_judge(judge).with_kinds(kinds.classifier);
    let mut opened = source::open(&args.source, settings)?;
    if args.stages.retriever == RetrieverChoice::Transformer {
        opened = opened.read_few()?;
        opened.tell_waiting();
    }
    let trust = settings.trust_policy(&opened.places, Some(&opened.index))?;
    let router = models.router(opened.index, args.stages, trust)?.with_places(opened.places);
    models.tell_uncalibrated(&router, args.stages.retriever);
    let options = RouteOptions {
        max_skills: args.k.map(usize::from),
        budget_tokens: args.budget,
        n_hints: args.hints.into(),
    };
    let mut model = NeedsModel { writer, n_failures: 0 };
    let query = match tasks {
        Tasks::Single(query) => query,
        Tasks::Batch(queries) => return route_batch(queries, &router, model, &options),
    };
    let route = model.route(query, None, &router, &options)?;
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

/// Failures in a row after which a chat model is not asked again.
const MAX_FAILURES: usize = 2;

/// A chat model that says needs, as long as it answers.
struct NeedsModel {
    writer: Option<NeedsWriter>,
    n_failures: usize,
}

impl NeedsModel {
    /// Routes a task with the needs that the model says, if it is asked and the task brings none.
    fn route(
        &mut self,
        query: Query,
        query_id: Option<&str>,
        router: &Router,
        options: &RouteOptions,
    ) -> anyhow::Result<Route> {
        let writer = self.writer.as_ref().filter(|_| query.needs().is_empty());
        let Some(writer) = writer else { return Ok(router.route(&query, options)?) };
        let (query, passes) = match writer.write(router, &query) {
            Ok(passes) => {
                self.n_failures = 0;
                let needs = passes.last().map_or(&[][..], |pass| &pass.needs);
                (query.with_needs(needs)?, passes)
            }
            Err(error @ Error::Chat { .. }) => {
                self.fail(&error, query_id);
                (query, Vec::new())
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Route { passes, ..router.route(&query, options)? })
    }

    /// Tells what went wrong.
    fn fail(&mut self, error: &Error, query_id: Option<&str>) {
        let of_query = query_id.map(|id| format!("query {id}: ")).unwrap_or_default();
        let cause = StdError::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        let note = printable(&format!("{of_query}{error}{cause}"));
        anstream::eprintln!("note: {note}; the task is split without it");
        self.n_failures += 1;
        if query_id.is_some() && self.n_failures == MAX_FAILURES {
            anstream::eprintln!("note: the chat model is not asked about the other tasks");
            self.writer = None;
        }
    }
}

fn route_batch(
    queries: Vec<BatchQuery>,
    router: &Router,
    mut model: NeedsModel,
    options: &RouteOptions,
) -> anyhow::Result<Outcome> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut outcome = Outcome::NothingFound;
    for BatchQuery { query_id, query } in queries {
        let mut route = model.route(query, Some(&query_id), router, options)?;
        route.query_id = Some(query_id);
        if route.decision == Decision::Load {
            outcome = Outcome::Found;
        }
        writeln!(out, "{}", escaped_json(&serde_json::to_string(&route)?))?;
    }
    out.flush()?;
    Ok(outcome)
}
