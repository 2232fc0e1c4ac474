//! [`ScoreTable`]: the headline scores, a row a system.

use crate::{
    metric::Direction,
    printable::clipped,
    report::{
        number::{fixed, grouped, p_value, signed},
        plot::SERIES,
        scores::View,
        summary::{Measured, Report, SystemReport},
        tested::Tested,
        text::{arrow, good},
    },
};

/// The headline scores, a row a system.
pub(super) struct ScoreTable {
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

/// A measure.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) arrow: &'static str,
    /// Which values are good, in words.
    pub(super) good: &'static str,
}

/// A system.
pub(super) struct Row {
    pub(super) system: String,
    /// Position of its colour.
    pub(super) color: usize,
    pub(super) is_baseline: bool,
    /// One a column; none where the measure says nothing about the system.
    pub(super) cells: Vec<Option<Score>>,
}

/// A mean with its interval.
pub(super) struct Score {
    pub(super) is_best: bool,
    pub(super) n_tasks: String,
    pub(super) mean: String,
    pub(super) mark: Option<Mark>,
    pub(super) low: String,
    pub(super) high: String,
}

/// The mark of a difference from the baseline.
pub(super) struct Mark {
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    /// The difference in words.
    pub(super) text: String,
}

/// Returns the headline scores of a view.
pub(super) fn score_table(report: &Report, view: View) -> ScoreTable {
    let column = |name: &String| {
        let direction = report.direction(name);
        Column { name: name.clone(), arrow: arrow(direction), good: good(direction) }
    };
    let row = |(at, system): (usize, &SystemReport)| Row {
        system: clipped(&system.name, 60),
        color: at % SERIES.len(),
        is_baseline: system.name == report.baseline && report.systems.len() > 1,
        cells: report.headline.iter().map(|name| score(report, view, system, name)).collect(),
    };
    ScoreTable {
        caption: view.caption("Mean over tasks"),
        columns: report.headline.iter().map(column).collect(),
        rows: report.systems.iter().enumerate().map(row).collect(),
    }
}

fn score(report: &Report, view: View, system: &SystemReport, name: &str) -> Option<Score> {
    let of = system.view(view)?;
    let measured = of.measured(name)?;
    let Measured { mean, low, high, n, .. } = measured;
    Some(Score {
        is_best: is_best(report, view, name, measured),
        n_tasks: grouped(*n as u64),
        mean: fixed(*mean),
        mark: of.test(name).and_then(|test| mark(report, name, test)),
        low: fixed(*low),
        high: fixed(*high),
    })
}

/// Returns the mark of a difference from the baseline, if it is hardly by chance.
fn mark(report: &Report, name: &str, test: &Tested) -> Option<Mark> {
    if !test.is_significant {
        return None;
    }
    // Better tasks decide where values near zero are good.
    let is_better = match report.direction(name) {
        Direction::HigherIsBetter => test.difference > 0.0,
        Direction::LowerIsBetter => test.difference < 0.0,
        Direction::NearZeroIsBetter => test.n_wins > test.n_losses,
    };
    let (class, sign, word) =
        if is_better { ("good", "▲", "better") } else { ("bad", "▼", "worse") };
    let (difference, p) = (signed(test.difference), p_value(test.p_holm.unwrap_or(1.0)));
    let text = format!("{word} than {}: {difference}, p {p}", report.baseline);
    Some(Mark { class, sign, text })
}

fn is_best(report: &Report, view: View, name: &str, measured: &Measured) -> bool {
    let merit = |mean: f64| match report.direction(name) {
        Direction::HigherIsBetter => mean,
        Direction::LowerIsBetter => -mean,
        Direction::NearZeroIsBetter => -mean.abs(),
    };
    let of_systems = report.systems.iter().filter_map(|s| s.view(view)?.measured(name));
    let means: Vec<f64> = of_systems.map(|measured| merit(measured.mean)).collect();
    means.len() > 1 && means.iter().all(|other| *other <= merit(measured.mean))
}
