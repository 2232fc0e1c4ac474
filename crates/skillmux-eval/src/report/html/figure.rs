//! The plots of the page, each with the table that has its numbers.

use super::block::{Block, Figure};
use crate::{
    printable::{clipped, one_line},
    report::{
        number::{NONE, fixed, signed},
        plot::{self, Axis, Curve, Differences, Dot, Drawing, Joint, Panel},
        scores::View,
        summary::{Measured, Report, SystemReport, ViewReport},
        table::{Align, Table},
        text::arrow,
    },
};

/// Measures of the plot of paging systems.
const SUFFICIENCY: &str = "Sufficiency";
/// One less the share of tokens that is shown.
const TOKEN_REDUCTION: &str = "Token reduction";

/// Coverages at which the table beside the curve reads the risk.
const COVERAGES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// Returns every measure of every system as a dot; nothing if there is no headline measure.
pub(super) fn dots(report: &Report, view: View) -> Vec<Block> {
    let dot = |system: &SystemReport, name: &str| {
        let of = system.view(view)?;
        let is_marked = of.test(name).is_none_or(|test| test.is_significant);
        Some(Dot { is_marked, ..dot(of.measured(name)?) })
    };
    let panels: Vec<Panel> = report
        .headline
        .iter()
        .map(|name| Panel {
            title: format!("{name}{}", arrow(report.direction(name))),
            dots: report.systems.iter().map(|system| dot(system, name)).collect(),
        })
        .collect();
    if panels.is_empty() {
        return Vec::new();
    }
    let systems: Vec<&str> = report.systems.iter().map(|s| s.name.as_str()).collect();
    let baseline = systems.iter().position(|name| *name == report.baseline).unwrap_or(0);
    let text = "Dots are means, lines their intervals; the upright line is the baseline. Axes do \
                not begin at zero. A hollow dot does not differ \
                significantly from the baseline; where that has no value, all are filled.";
    let drawing = plot::dots(&systems, &panels, baseline);
    let mut blocks = vec![figure("Measures by system", view, text, drawing)];
    if let Some(table) = report.test_table(view, usize::MAX, one_line) {
        let caption = view.caption(&format!("Differences from {}", report.baseline));
        blocks.push(Block::folded("Tests against the baseline", caption, &table));
    }
    blocks
}

/// Returns the share of right skills by rank; nothing if no system ranks two skills or more.
pub(super) fn recall(report: &Report, view: View) -> Vec<Block> {
    // Ranks are drawn by their logarithm: the first ten matter most.
    let x_of = |rank: usize| (rank as f64).ln();
    let mut lines = Vec::new();
    for (at, system) in report.systems.iter().enumerate() {
        let curve = system.view(view).map_or(&[][..], |of| of.recall_curve.as_slice());
        let points = (1..).zip(curve).map(|(rank, recall)| (x_of(rank), *recall)).collect();
        if !curve.is_empty() {
            let (name, labels) = (system.name.clone(), Vec::new());
            lines.push(Curve { name, system: at, points, labels });
        }
    }
    let depth = lines.iter().map(|line| line.points.len()).max().unwrap_or(0);
    if depth < 2 {
        return Vec::new();
    }
    let values: Vec<f64> = lines.iter().flat_map(|l| &l.points).map(|p| p.1).collect();
    let y = Axis::around("Recall@k, mean over tasks", &values, 6);
    let ranks = [1, 2, 3, 5, 10, 20, 30, 50].into_iter().filter(|rank| *rank <= depth);
    let ticks = ranks.map(|rank| (x_of(rank), rank.to_string())).collect();
    let x = Axis { title: "k", low: 0.0, high: x_of(depth), ticks };
    let text = "Share of the right skills among the first k; k by its logarithm.";
    let drawing = plot::curves(&lines, (&x, &y), Joint::Line);
    let mut blocks = vec![figure("Recall curve", view, text, drawing)];
    let table = report.curve_table(view, one_line);
    blocks.extend(table.map(|table| Block::table(view.caption("Recall@k"), &table)));
    blocks
}

/// Returns how many tasks see what they need, in how many tokens; nothing if no system is measured
/// so.
pub(super) fn tokens(report: &Report, view: View) -> Vec<Block> {
    let mut systems = Vec::new();
    for (at, system) in report.systems.iter().enumerate() {
        let Some(of) = system.view(view) else { continue };
        let pair = of.measured(TOKEN_REDUCTION).zip(of.measured(SUFFICIENCY));
        let Some((reduction, sufficiency)) = pair else { continue };
        let Measured { mean, low, high, .. } = reduction;
        let shown = Dot { mean: 1.0 - mean, low: 1.0 - high, high: 1.0 - low, is_marked: false };
        systems.push((system.name.clone(), at, shown, dot(sufficiency)));
    }
    if systems.is_empty() {
        return Vec::new();
    }
    let bounds = |dots: Vec<Dot>| -> Vec<f64> {
        dots.into_iter().flat_map(|dot| [dot.low, dot.high]).collect()
    };
    let on_x = bounds(systems.iter().map(|(.., shown, _)| *shown).collect());
    let on_y = bounds(systems.iter().map(|(.., sufficiency)| *sufficiency).collect());
    let x = Axis::around("share of the tokens that is shown", &on_x, 6);
    let y = Axis::around("share of the tasks with all that they need", &on_y, 6);
    let text = "Towards the upper left is better: more tasks see all that they need, in fewer \
                tokens.";
    let drawing = plot::crosses(&systems, (&x, &y));
    let columns = ["shown tokens", "sufficiency"].map(|name| (name.to_owned(), Align::Left));
    let head = std::iter::once(("system".to_owned(), Align::Left));
    let mut table = Table::new(head.chain(columns));
    let cell = |dot: &Dot| format!("{} [{}, {}]", fixed(dot.mean), fixed(dot.low), fixed(dot.high));
    for (name, _, shown, sufficiency) in &systems {
        table.push(vec![one_line(name), cell(shown), cell(sufficiency)]);
    }
    let title = "Tokens against sufficiency";
    vec![figure(title, view, text, drawing), Block::table(view.caption(title), &table)]
}

/// Returns the tasks that differ from the baseline; nothing if none is compared.
pub(super) fn differences(report: &Report, view: View) -> Vec<Block> {
    let Some(main) = report.headline.first() else { return Vec::new() };
    let mut panels = Vec::new();
    let mut rows: Vec<(&SystemReport, &ViewReport)> = Vec::new();
    for system in &report.systems {
        let Some(of) = system.view(view).filter(|of| !of.differences.is_empty()) else {
            continue;
        };
        let count = |is_counted: fn(f64) -> bool| -> usize {
            let counted = of.differences.iter().filter(|d| is_counted(d.difference));
            counted.map(|d| d.n_tasks).sum()
        };
        let (won, lost, even) = (count(|d| d > 0.0), count(|d| d < 0.0), count(|d| d == 0.0));
        let name = clipped(&system.name, 26);
        let changed = of.differences.iter().rev().filter(|d| d.difference != 0.0);
        panels.push(Differences {
            title: format!("{name}: {won} better, {lost} worse, {even} equal"),
            counts: changed.map(|d| (d.difference, d.n_tasks)).collect(),
        });
        rows.push((system, of));
    }
    if panels.is_empty() {
        return Vec::new();
    }
    let title = format!("Tasks won and lost against {}", clipped(&report.baseline, 40));
    let text = format!(
        "Each task that differs is a bar as high as its gain (up) or loss (down) of {main}, in \
         falling order; the numbers below count tasks, and equal ones are left out."
    );
    let mut blocks = vec![figure(&title, view, &text, plot::differences(&panels))];
    for (system, of) in rows.into_iter().filter(|(_, of)| !of.changes.is_empty()) {
        let names = ["task", "query", "baseline", "system", "difference"];
        let columns = names
            .into_iter()
            .enumerate()
            .map(|(at, name)| (name.to_owned(), if at < 2 { Align::Left } else { Align::Right }));
        let mut table = Table::new(columns);
        for change in &of.changes {
            table.push(vec![
                one_line(&change.task_id),
                clipped(&change.query, 110),
                fixed(change.baseline),
                fixed(change.system),
                signed(change.system - change.baseline),
            ]);
        }
        let label = format!("Largest changes of {}", clipped(&system.name, 40));
        let caption = view.caption(&format!("{main}: largest gains and losses"));
        blocks.push(Block::folded(label, caption, &table));
    }
    blocks
}

/// Returns the risk by coverage, of the systems that give a confidence.
pub(super) fn coverage(report: &Report) -> Vec<Block> {
    let mut lines = Vec::new();
    for (at, system) in report.systems.iter().enumerate() {
        let Some(confidence) = &system.confidence else { continue };
        let points = confidence.curve.iter().map(|p| (p.coverage, p.risk)).collect();
        let (name, labels) = (system.name.clone(), Vec::new());
        lines.push(Curve { name, system: at, points, labels });
    }
    let risks: Vec<f64> = lines.iter().flat_map(|l| &l.points).map(|p| p.1).collect();
    let y = Axis::around("risk: share of the answered tasks whose first skill is wrong", &risks, 5);
    let x = Axis::between("coverage: share of the tasks that are answered", 0.0, 1.0, 5);
    let text = "Only answers above a confidence count; the lower the bar, the further to the \
                right. A lower curve is better. Right means right by id; it is wrong to answer a \
                task that no skill helps with.";
    let drawing = plot::curves(&lines, (&x, &y), Joint::Step);
    let columns =
        COVERAGES.map(|coverage| (format!("risk at {:.0} %", coverage * 100.0), Align::Right));
    let mut risk = Table::new(std::iter::once(("system".to_owned(), Align::Left)).chain(columns));
    for line in &lines {
        let at = |coverage: &f64| {
            let point = line.points.iter().find(|point| point.0 >= coverage - 1e-9);
            point.map_or(NONE.to_owned(), |point| fixed(point.1))
        };
        let cells = COVERAGES.iter().map(at);
        risk.push(std::iter::once(one_line(&line.name)).chain(cells).collect());
    }
    vec![
        figure("Coverage and risk", View::ById, text, drawing),
        Block::table("Risk at a coverage of at least so much, by id", &risk),
    ]
}

fn dot(measured: &Measured) -> Dot {
    let Measured { mean, low, high, .. } = *measured;
    Dot { mean, low, high, is_marked: false }
}

fn figure(title: &str, view: View, text: &str, drawing: Drawing) -> Block {
    Block::Figure(Figure {
        id: 0,
        title: title.to_owned(),
        text: text.to_owned(),
        of: view.label(),
        drawing,
    })
}
