//! [`Sweep`]: what pages gain by each number that is turned.

use std::fmt::Write as _;

use super::{
    number::{NONE, fixed},
    plot::{self, Axis, Curve, Joint},
    scores::{SystemScores, TaskScores, View},
    table::{Align, Table},
};
use crate::{
    error::Error,
    metric::paging::token_reduction,
    printable::one_line,
    stats::{BootstrapConfig, Interval, bootstrap_mean},
    system::SpecSeries,
};

/// What pages gain by each number that is turned: sufficiency against tokens, as `SkillPager`
/// Tables 6 and 7 with their figures.
#[derive(Debug, Clone)]
pub struct Sweep {
    series: Vec<(String, Vec<SweepPoint>)>,
    n_tasks: usize,
}

/// One system of a sweep.
#[derive(Debug, Clone, PartialEq)]
struct SweepPoint {
    /// The number that is turned.
    label: String,
    /// Name of the system.
    system: String,
    /// Share of the tasks with all that they need.
    sufficiency: Interval,
    /// Share of the evidence that is shown, mean over tasks.
    coverage: f64,
    /// Shown tokens of all tasks, as a share of those of the whole bodies.
    shown_tokens: f64,
    /// Parts that are shown, mean over pages; `None` if the system does not say.
    n_parts: Option<f64>,
}

impl Sweep {
    /// Returns the sweep over scores of all systems of the series.
    ///
    /// # Errors
    /// [`Error::NotSwept`] if a system was not measured, or shows no pages that can be judged.
    pub fn new(
        scores: &TaskScores<'_>,
        series: &[SpecSeries],
        bootstrap: &BootstrapConfig,
    ) -> Result<Self, Error> {
        let points = |series: &SpecSeries| -> Result<_, Error> {
            let point = |(label, spec): (&String, String)| {
                let system = scores.systems.iter().find(|system| system.name == spec);
                let point = system.and_then(|system| point(system, label, bootstrap));
                point.ok_or(Error::NotSwept { system: spec })
            };
            let specs = series.specs.iter().map(ToString::to_string);
            let points = series.labels.iter().zip(specs).map(point);
            Ok((series.name.clone(), points.collect::<Result<Vec<_>, _>>()?))
        };
        let series = series.iter().map(points).collect::<Result<_, _>>()?;
        Ok(Self { series, n_tasks: scores.dataset.tasks.len() })
    }

    /// Returns a table for each series, in the Markdown of GitHub.
    pub fn to_markdown(&self) -> String {
        let names = ["", "all evidence", "95 % interval", "coverage", "tokens shown", "parts"];
        let mut text = String::new();
        for (name, points) in &self.series {
            let columns =
                names.into_iter().zip([Align::Left; 1].into_iter().chain([Align::Right; 5]));
            let mut table = Table::new(columns.map(|(name, align)| (name.to_owned(), align)));
            for point in points {
                let Interval { mean, low, high, .. } = point.sufficiency;
                let label = if point.label.is_empty() { &point.system } else { &point.label };
                table.push(vec![
                    one_line(label),
                    fixed(mean),
                    format!("[{}, {}]", fixed(low), fixed(high)),
                    fixed(point.coverage),
                    format!("{:.1} %", point.shown_tokens * 100.0),
                    point.n_parts.map_or(NONE.to_owned(), |n| format!("{n:.1}")),
                ]);
            }
            if !text.is_empty() {
                text.push('\n');
            }
            let (name, table) = (one_line(name), table.to_markdown());
            let _ = write!(text, "`{name}`, {} tasks:\n\n{table}", self.n_tasks);
        }
        text
    }

    /// Returns a plot of sufficiency against tokens with a curve for each series, as an SVG file.
    pub fn to_svg(&self) -> String {
        let all = || self.series.iter().flat_map(|(_, points)| points);
        let x: Vec<f64> = all().map(|point| point.shown_tokens).collect();
        let y: Vec<f64> = all().map(|point| point.sufficiency.mean).collect();
        let x = Axis::around("share of the tokens that is shown", &x, 8);
        let y = Axis::around("share of the tasks with all that they need", &y, 8);
        let curve = |(at, (name, points)): (usize, &(String, Vec<SweepPoint>))| Curve {
            name: without_list(name),
            system: at,
            points: points.iter().map(|p| (p.shown_tokens, p.sufficiency.mean)).collect(),
            labels: points.iter().map(|point| one_line(&point.label)).collect(),
        };
        let curves: Vec<Curve> = self.series.iter().enumerate().map(curve).collect();
        plot::curves(&curves, (&x, &y), Joint::Labelled).to_svg("Sufficiency against tokens")
    }
}

/// Returns the name of a series with `…` for its list, whose numbers stand at the points.
fn without_list(name: &str) -> String {
    let parts = name.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?.1)));
    parts.map_or(name.to_owned(), |(head, tail)| format!("{head}…{tail}"))
}

/// Returns the point of a system; `None` if it shows no pages that can be judged.
fn point(
    system: &SystemScores<'_>,
    label: &str,
    bootstrap: &BootstrapConfig,
) -> Option<SweepPoint> {
    let column = |measure: &str| -> Vec<f64> {
        system.column(View::ById, measure).iter().flatten().copied().collect()
    };
    let pages = || system.rows.iter().flat_map(|row| row.answer.shown());
    let (sufficiency, coverage) = (column("Sufficiency"), column("Evidence coverage"));
    let shown_tokens = 1.0 - token_reduction(pages())?;
    if sufficiency.is_empty() {
        return None;
    }
    let n_parts: Option<Vec<f64>> = pages().map(|page| page.n_parts.map(f64::from)).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    Some(SweepPoint {
        label: label.to_owned(),
        system: system.name.to_owned(),
        sufficiency: bootstrap_mean(&sufficiency, bootstrap),
        coverage: mean(&coverage),
        shown_tokens,
        n_parts: n_parts.map(|n_parts| mean(&n_parts)),
    })
}
