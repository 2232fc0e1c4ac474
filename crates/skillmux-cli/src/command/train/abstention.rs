//! `skillmux train abstention`

mod question;

use std::{fmt::Write as _, path::PathBuf, sync::Arc};

use skillmux::{
    compose::{Calibration, Calibrations},
    index::Index,
    model::Encoder,
};
use skillmux_eval::{
    metric::abstention::{Judged, at_coverage, auroc, expected_calibration_error},
    stats::{Interval, wilson},
};
use skillmux_train::abstention::{COVERAGE, CalibrationExample, fit_calibration};

use self::question::{Example, Kind, Questions, Scope};
use super::write_file;
use crate::{
    Outcome,
    args::{SourceArgs, TrainAbstentionArgs},
    command::{print_text, ranked_router},
    paint::{grouped, styled},
    settings::Settings,
    source,
};

/// Rows of the table of coverage and risk.
const COVERAGES: [f64; 8] = [0.99, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5];

pub(super) fn run(args: &TrainAbstentionArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let questions = Questions::read(&args.answerable, &args.unanswerable, &args.triggers)?;
    let encoder: Arc<dyn Encoder> = Arc::new(skillmux_models::encoder());
    let with_vectors = Examples::ask(&questions, &args.index, settings, Some(&encoder))?;
    let without_vectors = Examples::ask(&questions, &args.index, settings, None)?;
    let calibrations =
        Calibrations { with_vectors: with_vectors.fit(), without_vectors: without_vectors.fit() };
    let rankings = [
        ("with vectors", &with_vectors, calibrations.with_vectors),
        ("words alone", &without_vectors, calibrations.without_vectors),
    ];
    let json = serde_json::to_string_pretty(&calibrations)?;
    write_file(&args.out, format!("{json}\n").as_bytes())?;
    let mut table = "ranking,kind,query_id,n_skills,is_spaceless,confidence\n".to_owned();
    let mut text = format!("written to {}\n", args.out.display());
    for (name, examples, calibration) in rankings {
        examples.add_rows(name, &calibration, &mut table);
        text.push_str(&examples.report(name, &calibration)?);
    }
    if let Some(path) = &args.held_out {
        write_file(path, table.as_bytes())?;
    }
    print_text(&text)?;
    Ok(Outcome::Found)
}

/// All answers of one kind of router.
struct Examples(Vec<Example>);

impl Examples {
    fn ask(
        questions: &Questions,
        paths: &[PathBuf],
        settings: &Settings,
        encoder: Option<&Arc<dyn Encoder>>,
    ) -> anyhow::Result<Self> {
        let mut examples = Vec::new();
        for (position, index) in indexes(paths, settings)?.into_iter().enumerate() {
            let router = ranked_router(index, encoder.cloned())?;
            let scope = if position == 0 { Scope::First } else { Scope::Further };
            examples.extend(questions.ask(&router, scope)?);
        }
        Ok(Self(examples))
    }

    fn fit(&self) -> Calibration {
        let train = self.0.iter().filter(|example| !example.is_held_out);
        let train: Vec<CalibrationExample> = train.filter_map(Example::to_fit).collect();
        fit_calibration(&train)
    }

    /// Returns the held-out examples of an index.
    fn of_size(&self, n_skills: usize) -> impl Iterator<Item = &Example> {
        self.0.iter().filter(move |example| example.is_held_out && example.n_skills == n_skills)
    }

    fn report(&self, name: &str, calibration: &Calibration) -> anyhow::Result<String> {
        let n_train = self.0.iter().filter(|example| !example.is_held_out).count();
        let mut out = format!(
            "\n{name}: {} examples to fit, {} held out; abstains below {:.3}\n",
            grouped(n_train),
            grouped(self.0.len() - n_train),
            calibration.threshold,
        );
        let title = format!(
            "{:>9} {:18} {:>6} {:>6} {:>7} {:21} {}",
            "skills", "queries", "AUROC", "ECE", "FLR@90", "", "loaded at the threshold"
        );
        writeln!(out, "{}", styled(crate::paint::STRONG, &title))?;
        let mut sizes: Vec<usize> = self.0.iter().map(|example| example.n_skills).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.dedup();
        for size in &sizes {
            self.report_size(*size, calibration, &mut out)?;
        }
        if let Some(largest) = sizes.first() {
            let judged: Vec<Judged> = self
                .of_size(*largest)
                .filter(|example| matches!(example.kind, Kind::Answerable | Kind::Unanswerable))
                .map(|example| example.judged(calibration))
                .collect();
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
        }
        Ok(out)
    }

    /// Adds a row for each kind of query, and for those in Chinese, kana or Hangul.
    fn report_size(
        &self,
        n_skills: usize,
        calibration: &Calibration,
        out: &mut String,
    ) -> anyhow::Result<()> {
        const KINDS: [Kind; 6] = [
            Kind::Answerable,
            Kind::InTalk,
            Kind::Unanswerable,
            Kind::Talk,
            Kind::Absent,
            Kind::Trigger,
        ];
        for (kind, is_spaceless) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)])
        {
            let is_in = |example: &&Example| !is_spaceless || example.is_spaceless();
            let rows: Vec<&Example> = self.of_size(n_skills).filter(is_in).collect();
            let of_kind: Vec<Judged> = rows
                .iter()
                .filter(|example| example.kind == kind)
                .map(|example| example.judged(calibration))
                .collect();
            if of_kind.is_empty() {
                continue;
            }
            let name = if is_spaceless {
                format!("{}, zh", kind.as_str())
            } else {
                kind.as_str().to_owned()
            };
            let mut against = String::new();
            if !kind.is_answerable() {
                let answerable = rows.iter().filter(|example| example.kind == Kind::Answerable);
                let mut both: Vec<Judged> =
                    answerable.map(|example| example.judged(calibration)).collect();
                both.extend(&of_kind);
                let point = at_coverage(&both, COVERAGE);
                let rate = rate(
                    of_kind.iter().filter(|one| one.confidence >= point.threshold).count(),
                    of_kind.len(),
                );
                against = format!(
                    "{:.3} {:>6.3} {rate}",
                    auroc(&both),
                    expected_calibration_error(&both)
                );
            }
            let n_loaded =
                of_kind.iter().filter(|one| one.confidence >= calibration.threshold).count();
            let loaded = rate(n_loaded, of_kind.len());
            write!(out, "{:>9} {name:18} {against:36} {loaded}", grouped(n_skills))?;
            if matches!(kind, Kind::Trigger | Kind::Answerable) {
                let of_kind = rows.iter().filter(|example| example.kind == kind);
                let n_known = of_kind
                    .filter(|example| example.is_best_known)
                    .filter(|example| {
                        example.judged(calibration).confidence >= calibration.threshold
                    })
                    .count();
                write!(out, ", the one of the query first {n_known}")?;
            }
            out.push('\n');
        }
        Ok(())
    }

    fn add_rows(&self, ranking: &str, calibration: &Calibration, out: &mut String) {
        for example in self.0.iter().filter(|example| example.is_held_out) {
            let Example { kind, query_id, n_skills, .. } = example;
            let Judged { confidence, .. } = example.judged(calibration);
            let is_spaceless = u8::from(example.is_spaceless());
            let kind = kind.as_str();
            let _ = writeln!(
                out,
                "{ranking},{kind},{query_id},{n_skills},{is_spaceless},{confidence:.4}"
            );
        }
    }
}

/// Returns a rate with its interval.
fn rate(n_hits: usize, n: usize) -> String {
    let Interval { mean, low, high, .. } = wilson(n_hits, n);
    format!("{n_hits}/{n} = {mean:.2} [{low:.2}, {high:.2}]")
}

impl Example {
    fn judged(&self, calibration: &Calibration) -> Judged {
        let confidence = self.evidence.map_or(0.0, |evidence| calibration.confidence(&evidence));
        Judged { confidence, answerable: self.kind.is_answerable() }
    }

    fn to_fit(&self) -> Option<CalibrationExample> {
        Some(CalibrationExample {
            evidence: self.evidence?,
            is_answerable: self.kind.is_answerable(),
            importance: self.kind.importance()?,
        })
    }

    fn is_spaceless(&self) -> bool {
        self.evidence.is_some_and(|evidence| evidence.features.character_share > 0.5)
    }
}

fn indexes(paths: &[PathBuf], settings: &Settings) -> anyhow::Result<Vec<Index>> {
    if paths.is_empty() {
        let own = SourceArgs { index: None, library: Vec::new() };
        return Ok(vec![source::open(&own, settings)?.index]);
    }
    paths.iter().map(|path| Ok(Index::open(path)?)).collect()
}
