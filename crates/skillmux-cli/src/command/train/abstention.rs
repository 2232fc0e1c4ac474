//! `skillmux train abstention`

use std::{fmt::Write as _, path::PathBuf};

use skillmux::{
    compose::{Calibration, Evidence},
    index::Index,
    router::{Router, RouterConfig},
};
use skillmux_eval::metric::abstention::{
    Judged, OperatingPoint, at_coverage, at_threshold, auroc, expected_calibration_error,
};
use skillmux_models::train::{COVERAGE, fit_calibration};

use super::write_file;
use crate::{
    Outcome,
    args::{SourceArgs, TrainAbstentionArgs},
    command::print_text,
    paint::{grouped, styled},
    settings::Settings,
    source,
    task::{self, BatchQuery},
};

/// One query in so many is held out.
const HELD_OUT_ONE_IN: u32 = 5;

/// Rows of the table of coverage and risk.
const COVERAGES: [f64; 8] = [0.99, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5];

pub(super) fn run(args: &TrainAbstentionArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let questions =
        Questions { answerable: read(&args.answerable)?, unanswerable: read(&args.unanswerable)? };
    let mut examples = Vec::new();
    for (position, router) in routers(&args.index, settings)?.iter().enumerate() {
        let scope = if position == 0 { Scope::First } else { Scope::Further };
        examples.extend(questions.ask(router, scope)?);
    }
    let train: Vec<(Evidence, bool)> = examples
        .iter()
        .filter(|example| !example.is_held_out)
        .filter_map(|example| Some((example.evidence?, example.answerable)))
        .collect();
    let calibration = fit_calibration(&train);
    let held_out: Vec<&Example> = examples.iter().filter(|example| example.is_held_out).collect();
    write_file(&args.out, format!("{}\n", serde_json::to_string_pretty(&calibration)?).as_bytes())?;
    if let Some(path) = &args.held_out {
        write_file(path, csv(&held_out, &calibration).as_bytes())?;
    }
    print_text(&report(train.len(), &held_out, &calibration, args)?)?;
    Ok(Outcome::Found)
}

/// What a calibration is fitted to.
struct Questions {
    answerable: Vec<BatchQuery>,
    unanswerable: Vec<BatchQuery>,
}

/// Whether queries that do not say which skills answer them are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    First,
    Further,
}

/// One query, asked of one index.
struct Example {
    query_id: String,
    n_skills: usize,
    answerable: bool,
    is_held_out: bool,
    /// `None` where nothing was found.
    evidence: Option<Evidence>,
}

impl Example {
    fn judged(&self, calibration: &Calibration) -> Judged {
        let confidence = self.evidence.map_or(0.0, |evidence| calibration.confidence(&evidence));
        Judged { confidence, answerable: self.answerable }
    }
}

impl Questions {
    fn ask(&self, router: &Router, scope: Scope) -> anyhow::Result<Vec<Example>> {
        let holds_answer = |item: &&BatchQuery| {
            let skills = &item.skill_ids;
            skills.is_empty() && scope == Scope::First
                || skills.iter().any(|id| router.index().find(id).is_ok())
        };
        let answerable = self.answerable.iter().filter(holds_answer).map(|item| (item, true));
        let unanswerable = self.unanswerable.iter().map(|item| (item, false));
        answerable.chain(unanswerable).map(|(item, answer)| example(item, answer, router)).collect()
    }
}

fn example(item: &BatchQuery, answerable: bool, router: &Router) -> anyhow::Result<Example> {
    Ok(Example {
        query_id: item.query_id.clone(),
        n_skills: router.n_skills(),
        answerable,
        is_held_out: is_held_out(item.query.text()),
        evidence: router.evidence(&item.query)?,
    })
}

/// Returns whether a query is kept for the scores; the same for every index and every run.
fn is_held_out(query: &str) -> bool {
    let hash = blake3::hash(query.as_bytes());
    let [a, b, c, d, ..] = *hash.as_bytes();
    u32::from_le_bytes([a, b, c, d]).is_multiple_of(HELD_OUT_ONE_IN)
}

fn routers(indexes: &[PathBuf], settings: &Settings) -> anyhow::Result<Vec<Router>> {
    let router = |index: Index| Router::new(index, RouterConfig::default());
    if indexes.is_empty() {
        let own = SourceArgs { index: None, library: Vec::new() };
        return Ok(vec![router(source::open(&own, settings)?.index)]);
    }
    indexes.iter().map(|path| Ok(router(Index::open(path)?))).collect()
}

fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<BatchQuery>> {
    let mut queries = Vec::new();
    for path in paths {
        queries.extend(task::batch(path)?);
    }
    Ok(queries)
}

fn csv(held_out: &[&Example], calibration: &Calibration) -> String {
    let mut out = "query_id,n_skills,answerable,confidence\n".to_owned();
    for example in held_out {
        let Example { query_id, n_skills, answerable, .. } = example;
        let Judged { confidence, .. } = example.judged(calibration);
        let _ = writeln!(out, "{query_id},{n_skills},{},{confidence:.4}", u8::from(*answerable));
    }
    out
}

fn report(
    n_train: usize,
    held_out: &[&Example],
    calibration: &Calibration,
    args: &TrainAbstentionArgs,
) -> anyhow::Result<String> {
    let mut out = String::new();
    let n_held_out = held_out.len();
    writeln!(out, "{} examples to fit, {} held out", grouped(n_train), grouped(n_held_out))?;
    writeln!(
        out,
        "abstains below {:.3}; written to {}\n",
        calibration.threshold,
        args.out.display()
    )?;

    let title = format!(
        "{:>9} {:>6} {:>6} {:>7} {:>6} | at the threshold",
        "skills", "AUROC", "ECE", "FLR@90", "n"
    );
    writeln!(out, "{}", styled(crate::paint::STRONG, &title))?;
    let mut sizes: Vec<usize> = held_out.iter().map(|example| example.n_skills).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        let of_size = held_out.iter().filter(|example| example.n_skills == size);
        let judged: Vec<Judged> = of_size.map(|example| example.judged(calibration)).collect();
        let OperatingPoint { coverage, false_load_rate, .. } =
            at_threshold(&judged, calibration.threshold);
        writeln!(
            out,
            "{:>9} {:>6.3} {:>6.3} {:>7.3} {:>6} | coverage {coverage:.3}, false loads {false_load_rate:.3}",
            grouped(size),
            auroc(&judged),
            expected_calibration_error(&judged),
            at_coverage(&judged, COVERAGE).false_load_rate,
            grouped(judged.len()),
        )?;
    }

    let largest = held_out.iter().map(|example| example.n_skills).max();
    let of_largest = held_out.iter().filter(|example| Some(example.n_skills) == largest);
    let judged: Vec<Judged> = of_largest.map(|example| example.judged(calibration)).collect();
    let title = format!("{:>9} {:>12} {:>10}", "coverage", "false loads", "threshold");
    writeln!(out, "\nthe largest library\n{}", styled(crate::paint::STRONG, &title))?;
    for coverage in COVERAGES {
        let point = at_coverage(&judged, coverage);
        writeln!(
            out,
            "{:>9.3} {:>12.3} {:>10.3}",
            point.coverage, point.false_load_rate, point.threshold
        )?;
    }
    Ok(out)
}
