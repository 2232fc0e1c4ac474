//! `skillmux search`

use std::{
    io::{self, BufWriter, Write as _},
    time::{Duration, Instant},
};

use skillmux::{route::Router, text::printable};
use skillmux_eval::{
    metric::latency::Latency,
    run::{RunLine, falling},
};

use crate::{
    args::{Format, RetrieverChoice, SearchArgs, StageArgs},
    assemble::Models,
    chat,
    outcome::Outcome,
    render::{
        paint::{GOOD, grouped, styled},
        print_json, print_text,
        route::skill_text,
    },
    settings::Settings,
    source,
    task::{BatchQuery, Tasks},
};

/// Name of the system in the last column of a TREC run.
const TAG: &str = "skillmux";

pub(crate) fn run(args: &SearchArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let tasks = Tasks::read(&args.task)?;
    let judge = chat::judge(&args.judge, settings)?;
    let models = Models::load(settings)?.with_judge(judge);
    let mut opened = source::open(&args.source, settings)?;
    if args.retriever == RetrieverChoice::Transformer {
        opened = opened.read_few()?;
        opened.tell_waiting();
    }
    let stages = StageArgs { retriever: args.retriever, ..StageArgs::default() };
    let trust = settings.trust_policy(&opened.places, Some(&opened.index))?;
    let router = models.router(opened.index, stages, trust)?.with_places(opened.places);
    let query = match tasks {
        Tasks::Single(query) => query,
        Tasks::Batch(queries) => return search_batch(&queries, &router, args),
    };
    let found = if args.all {
        router.search_explained(&query, args.k.into())?
    } else {
        router.search_distinct(&query, args.k.into())?
    };
    match args.format {
        Format::Text => {
            let mut text = format!(
                "{} of {} skills\n\n",
                styled(GOOD, &found.len().to_string()),
                grouped(router.n_skills())
            );
            for (number, skill) in (1..).zip(&found) {
                text.push_str(&skill_text(number, skill));
            }
            print_text(&text)?;
        }
        Format::Json => print_json(&found)?,
    }
    Ok(if found.is_empty() { Outcome::NothingFound } else { Outcome::Found })
}

/// Prints a TREC run.
fn search_batch(
    queries: &[BatchQuery],
    router: &Router,
    args: &SearchArgs,
) -> anyhow::Result<Outcome> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut outcome = Outcome::NothingFound;
    let mut times = Vec::new();
    for BatchQuery { query_id, query } in queries {
        let started = Instant::now();
        let ranking = router.search(query, args.k.into())?;
        times.push(started.elapsed());
        // Exact duplicates were merged when they were indexed; a run names all of them.
        let mut ids = Vec::new();
        let index = router.index();
        for candidate in ranking.candidates {
            let all_ids = index.all_ids(index.find(&candidate.skill)?)?;
            ids.extend(all_ids.into_iter().map(|id| (id, candidate.score)));
        }
        let scores = falling(ids.iter().map(|(_, score)| *score));
        for (rank, ((id, _), score)) in (1..=usize::from(args.k)).zip(ids.iter().zip(scores)) {
            outcome = Outcome::Found;
            let line = RunLine {
                query_id: printable(query_id),
                document_id: id.to_string(),
                rank,
                score,
                tag: TAG.to_owned(),
            };
            writeln!(out, "{line}")?;
        }
    }
    out.flush()?;
    if args.timings {
        print_timings(&times);
    }
    Ok(outcome)
}

fn print_timings(times: &[Duration]) {
    let times_us = times.iter().map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    let Latency { p50_us, p99_us, .. } = Latency::of(times_us);
    anstream::eprintln!(
        "{} queries, one thread: p50 {:.2} ms, p99 {:.2} ms",
        times.len(),
        p50_us as f64 / 1000.0,
        p99_us as f64 / 1000.0
    );
}
