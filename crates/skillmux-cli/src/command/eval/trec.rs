//! `skillmux eval RUN --qrels FILE`

use std::{collections::BTreeSet, path::Path};

use serde::Serialize;
use skillmux_eval::{
    Error, Gold, Qrels, Run,
    answer::Answer,
    dataset::Dataset,
    evaluate::{Evaluation, Row},
    report::{Report, ReportOptions, TaskScores, View},
    system::SystemSpec,
    task::Task,
};

use crate::{
    args::{EvalTrecArgs, Format},
    outcome::Outcome,
    render::{
        paint::{NOTE, grouped, styled},
        print_json, print_text, width,
    },
};

/// What `--format json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    n_queries: usize,
    hit_at_1: f64,
    hit_at_10: f64,
    recall_at_10: f64,
    recall_at_50: f64,
    mrr_at_10: f64,
    ndcg_at_10: f64,
    report: &'a Report,
}

pub(super) fn run(args: &EvalTrecArgs) -> anyhow::Result<Outcome> {
    let (Some(run_path), Some(qrels_path)) = (&args.run, &args.qrels) else {
        // The command line asks for both where no subcommand is named.
        return Ok(Outcome::NothingFound);
    };
    let run = Run::read(run_path)?;
    let qrels = Qrels::read(qrels_path)?;
    // As in `trec_eval`, a query that only has wrong skills is not scored.
    let task = |(query_id, gold): (&str, &Gold)| Task {
        id: query_id.to_owned(),
        gold: gold.clone(),
        rejected: qrels.rejected(query_id).cloned().unwrap_or_default(),
        ..Task::default()
    };
    let tasks: Vec<Task> = qrels.iter().map(task).collect();
    if tasks.is_empty() {
        return Err(Error::NoTasks { path: qrels_path.clone() }.into());
    }
    note_unanswered(run_path, &run, &tasks);
    let row = |task: &Task| {
        let ranking = run.ranking(&task.id).iter().cloned();
        let answer = Answer::of_ranking(ranking.zip(run.scores(&task.id).iter().copied()));
        Row { task_id: task.id.clone(), answer, time_us: 0 }
    };
    let rows = tasks.iter().map(row).collect();
    let dataset = Dataset { name: "trec".to_owned(), tasks, ..Dataset::default() };
    let system = run_path.display().to_string();
    let evaluations = [Evaluation { system, rows, ..Evaluation::default() }];
    let scores = TaskScores::new(&dataset, &evaluations, None)?;
    let report = Report::new(&scores, &ReportOptions::default())?;

    let of_run = report.systems.first().and_then(|system| system.view(View::ById));
    let mean = |measure| of_run.and_then(|view| view.measured(measure)).map_or(0.0, |of| of.mean);
    let hit_at_10 = mean("Hit@10");
    match args.format {
        Format::Json => print_json(&Summary {
            n_queries: qrels.n_queries(),
            hit_at_1: mean("Hit@1"),
            hit_at_10,
            recall_at_10: mean("Recall@10"),
            recall_at_50: mean("Recall@50"),
            mrr_at_10: mean("MRR@10"),
            ndcg_at_10: mean("nDCG@10"),
            report: &report,
        })?,
        Format::Text => print_text(&report.to_text(width()))?,
    }
    Ok(if hit_at_10 > 0.0 { Outcome::Found } else { Outcome::NothingFound })
}

/// Says of every run that systems take rankings from which tasks it lacks.
pub(super) fn note_runs(specs: &[SystemSpec], tasks: &[Task]) -> Result<(), Error> {
    let paths: BTreeSet<&Path> = specs.iter().flat_map(SystemSpec::runs).collect();
    for path in paths {
        note_unanswered(path, &Run::read(path)?, tasks);
    }
    Ok(())
}

/// Says how many queries with a right skill a run has no line of: a run of other queries would be
/// all zeros.
fn note_unanswered(path: &Path, run: &Run, tasks: &[Task]) {
    let scored: Vec<&Task> = tasks.iter().filter(|task| !task.gold.is_empty()).collect();
    let n_unanswered = scored.iter().filter(|task| run.ranking(&task.id).is_empty()).count();
    if n_unanswered > 0 {
        anstream::eprintln!(
            "{} the run `{}` lacks {} of {} queries with a right skill; they count as nothing found",
            styled(NOTE, "note:"),
            path.display(),
            grouped(n_unanswered),
            grouped(scored.len())
        );
    }
}
