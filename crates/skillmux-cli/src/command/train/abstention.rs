//! `skillmux train abstention`

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use skillmux::{
    compose::{Calibration, Calibrations},
    index::Index,
};
use skillmux_eval::{
    report::csv,
    stats::{Interval, wilson},
};
use skillmux_train::abstention::{AbstentionExamples, KindScores, QuestionKind, Questions};

use crate::{
    args::{SourceArgs, TrainAbstentionArgs},
    assemble::{Models, VectorUse},
    folder::write_file,
    outcome::Outcome,
    render::{
        paint::{STRONG, grouped, styled},
        print_text,
    },
    settings::Settings,
    source,
};

/// Fewer examples than these would let everything load, or nothing.
const MIN_EXAMPLES: usize = 20;

/// Rows of the table of coverage and risk.
const COVERAGES: [f64; 8] = [0.99, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5];

/// What `--held-out` says of each question.
const HELD_OUT_COLUMNS: [&str; 6] =
    ["ranking", "kind", "query_id", "n_skills", "is_spaceless", "confidence"];

pub(super) fn run(args: &TrainAbstentionArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    if args.thresholds.iter().any(|threshold| !(0.0..=1.0).contains(threshold)) {
        bail!("--thresholds takes two numbers from 0 to 1");
    }
    if let [small, large] = &*args.thresholds
        && small > large
    {
        bail!("--thresholds takes the one for small libraries first; it is not above the other");
    }
    let TrainAbstentionArgs { answerable, unanswerable, talk, triggers, .. } = args;
    let questions = Questions::read(answerable, unanswerable, talk, triggers)?;
    let models = Models::load(settings)?;
    let rankings = [
        ("with transformer", VectorUse::Transformer),
        ("with vectors", VectorUse::Static),
        ("words alone", VectorUse::Words),
    ];
    let kept = args.keep.as_deref().map(kept).transpose()?;
    let n_fitted = if kept.is_some() { 1 } else { rankings.len() };
    let rankings = rankings.into_iter().take(n_fitted).map(|(name, vectors)| {
        let examples = ask(&questions, args, settings, &models, vectors)?;
        let n_examples = examples.n_train();
        if n_examples < MIN_EXAMPLES {
            bail!(
                "{n_examples} examples are too few to fit to, {MIN_EXAMPLES} are needed: name files with more \
                 queries, or another index"
            );
        }
        let mut calibration = match kept.as_ref().filter(|_| args.only_verifier) {
            Some(kept) => verified(&examples, kept)?,
            None => examples.fit().context("no index was asked")?,
        };
        if let (VectorUse::Transformer, [small, large]) = (vectors, &*args.thresholds) {
            calibration.threshold = *small;
            calibration.large_threshold = Some(*large);
        }
        anyhow::Ok((name, examples, calibration))
    });
    let rankings: Vec<_> = rankings.collect::<anyhow::Result<_>>()?;
    let fitted = rankings.iter().map(|(_, _, fitted)| fitted.clone());
    let others = kept.iter().flat_map(|kept| kept.iter().skip(1).cloned());
    let calibrations = Calibrations::new(fitted.chain(others));
    let json = serde_json::to_string_pretty(&calibrations)?;
    write_file(&args.out, format!("{json}\n").as_bytes())?;
    let mut table = vec![HELD_OUT_COLUMNS.map(str::to_owned)];
    let mut text = format!("written to {}\n", args.out.display());
    for (name, examples, calibration) in &rankings {
        table.extend(rows(name, examples, calibration));
        report(name, examples, calibration, &mut text)?;
    }
    if let Some(path) = &args.held_out {
        let records = table.iter().map(|row| row.iter().map(String::as_str));
        write_file(path, csv(records).as_bytes())?;
    }
    print_text(&text)?;
    Ok(Outcome::Found)
}

/// Reads calibrations of which the first is that with the transformer.
fn kept(path: &Path) -> anyhow::Result<Calibrations> {
    let text = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    serde_json::from_slice(&text)
        .with_context(|| format!("`{}` holds no calibrations", path.display()))
}

/// Returns the calibration of the ranking that was asked, with what it makes of the verifier fitted
/// anew.
fn verified(examples: &AbstentionExamples, kept: &Calibrations) -> anyhow::Result<Calibration> {
    let ranking = examples.ranking().context("no index was asked")?;
    let known = kept.of(ranking);
    let known = known.context("--keep has no calibration of the ranking with the transformer")?;
    let fitted = examples.fit_verifier(known);
    if fitted.weights.serves <= 0.0 {
        bail!(
            "the verifier tells nothing here: are there indexes of up to 2,000 skills, read by the transformer?"
        );
    }
    Ok(fitted)
}

/// How much an index of `--heavy-index` counts.
const HEAVY: f64 = 4.0;

/// Asks the default router over each index, with vectors or by words alone.
fn ask(
    questions: &Questions,
    args: &TrainAbstentionArgs,
    settings: &Settings,
    models: &Models,
    vectors: VectorUse,
) -> anyhow::Result<AbstentionExamples> {
    let mut examples = AbstentionExamples::default();
    for index in indexes(&args.index, settings)? {
        examples.ask(questions, &models.ranked_router(index, vectors)?, 1.0)?;
    }
    for path in &args.heavy_index {
        let index = Index::open(path)?;
        examples.ask(questions, &models.ranked_router(index, vectors)?, HEAVY)?;
    }
    Ok(examples)
}

fn indexes(paths: &[PathBuf], settings: &Settings) -> anyhow::Result<Vec<Index>> {
    if paths.is_empty() {
        let own = SourceArgs { index: None, library: Vec::new() };
        return Ok(vec![source::open(&own, settings)?.index]);
    }
    paths.iter().map(|path| Ok(Index::open(path)?)).collect()
}

/// Adds what a calibration does on each size of library, and the trade on the largest one.
fn report(
    name: &str,
    examples: &AbstentionExamples,
    calibration: &Calibration,
    out: &mut String,
) -> anyhow::Result<()> {
    writeln!(
        out,
        "\n{name}: {} examples to fit, {} held out; abstains below {:.3}",
        grouped(examples.n_train()),
        grouped(examples.held_out().count()),
        calibration.threshold,
    )?;
    let title = format!(
        "{:>9} {:18} {:>6} {:>6} {:>7} {:21} {}",
        "skills", "queries", "AUROC", "BalECE", "FLR@90", "", "loaded at the threshold"
    );
    writeln!(out, "{}", styled(STRONG, &title))?;
    let sizes = examples.sizes();
    for size in &sizes {
        for scores in examples.scores(*size, calibration) {
            report_kind(*size, &scores, out)?;
        }
    }
    if let Some(largest) = sizes.first() {
        let title = format!("{:>9} {:>12} {:>10}", "coverage", "false loads", "threshold");
        writeln!(out, "\nthe largest library\n{}", styled(STRONG, &title))?;
        for point in examples.operating_points(*largest, calibration, &COVERAGES) {
            writeln!(
                out,
                "{:>9.3} {:>12.3} {:>10.3}",
                point.coverage, point.false_load_rate, point.threshold
            )?;
        }
    }
    Ok(())
}

fn report_kind(n_skills: usize, scores: &KindScores, out: &mut String) -> anyhow::Result<()> {
    let KindScores { kind, is_spaceless, n, n_loaded, n_known_loaded, rejection } = *scores;
    let name = format!("{}{}", kind.as_str(), if is_spaceless { ", zh" } else { "" });
    let against = rejection.map_or(String::new(), |scores| {
        let rate = rate(scores.n_loaded_at_coverage, n);
        format!("{:.3} {:>6.3} {rate}", scores.auroc, scores.calibration_error)
    });
    write!(out, "{:>9} {name:18} {against:36} {}", grouped(n_skills), rate(n_loaded, n))?;
    if matches!(kind, QuestionKind::Trigger | QuestionKind::Answerable) {
        write!(out, ", the one of the query first {n_known_loaded}")?;
    }
    out.push('\n');
    Ok(())
}

/// Returns the fields of each held-out question.
fn rows(
    ranking: &str,
    examples: &AbstentionExamples,
    calibration: &Calibration,
) -> impl Iterator<Item = [String; HELD_OUT_COLUMNS.len()]> {
    examples.held_out().map(move |example| {
        [
            ranking.to_owned(),
            example.kind.as_str().to_owned(),
            example.query_id.clone(),
            example.n_skills.to_string(),
            u8::from(example.is_spaceless()).to_string(),
            format!("{:.4}", example.confidence(calibration)),
        ]
    })
}

/// Returns a rate with its interval.
fn rate(n_hits: usize, n: usize) -> String {
    let Interval { mean, low, high, .. } = wilson(n_hits, n);
    format!("{n_hits}/{n} = {mean:.2} [{low:.2}, {high:.2}]")
}
