//! The report as one HTML page that needs nothing else: no script, no font, no image, no network.

use std::fmt::Write;

use super::{
    number::{NONE, fixed, grouped, p_value, signed},
    plot::{self, Axis, Caption, Differences, Dot, Line, Panel, SERIES},
    scores::View,
    sheet,
    summary::{Measured, Report, SystemReport, ViewReport},
    table::{Align, Table},
    tested::Tested,
    text::{arrow, cardinality_table, good},
    times::Times,
};
use crate::{
    metric::Direction,
    printable::{clipped, html, one_line},
};

/// Measures of the plot of paging systems.
const SUFFICIENCY: &str = "Sufficiency";
/// One less the share of tokens that is shown.
const TOKEN_REDUCTION: &str = "Token reduction";

/// Coverages at which the table beside the curve reads the risk.
const COVERAGES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// A page being written.
struct Page<'a> {
    report: &'a Report,
    out: String,
    n_plots: usize,
}

impl Report {
    /// Returns the report as a page; with times, two runs give different pages.
    pub fn to_html(&self, times: Option<&Times>) -> String {
        let mut page = Page { report: self, out: String::new(), n_plots: 0 };
        page.head();
        for view in self.views() {
            page.view(view);
        }
        page.confidence();
        if let Some(table) = cardinality_table(&self.every_system(), one_line) {
            page.out.push_str("<section>\n<h2>Number of skills</h2>\n");
            page.out
                .push_str(&table.to_html("Mean number of loaded skills and mean Set F1, by id"));
            page.out.push_str("</section>\n");
        }
        if let Some(table) = self.token_table(one_line) {
            page.out.push_str("<section>\n<h2>Tokens</h2>\n");
            page.out.push_str(&table.to_html("1 less shown tokens by those of the whole bodies"));
            page.out.push_str("</section>\n");
        }
        if let Some(times) = times.filter(|times| !times.systems.is_empty()) {
            page.out.push_str("<section>\n<h2>Time</h2>\n");
            page.out.push_str(&times.table(one_line).to_html("Wall-clock time for a task"));
            page.out.push_str("</section>\n");
        }
        page.about();
        page.out.push_str("</main>\n</body>\n</html>\n");
        page.out
    }
}

impl Page<'_> {
    fn head(&mut self) {
        let report = self.report;
        let dataset = html(&report.dataset);
        let line = html(&report.head_line());
        let notes = report.notes(["Small numbers", "▲ ▼"], |name| format!("“{name}”"));
        let notes: Vec<String> =
            notes.iter().map(|note| format!("<p>{}</p>\n", html(note))).collect();
        let notes = notes.concat();
        let _ = write!(
            self.out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{dataset} · skillmux eval</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n\
             <header>\n<p class=\"over\">skillmux eval</p>\n<h1><bdi>{dataset}</bdi></h1>\n\
             <p class=\"lead\">{line}</p>\n<div class=\"notes\">\n{notes}</div>\n</header>\n",
            sheet::style()
        );
    }

    fn view(&mut self, view: View) {
        let report = self.report;
        let _ = write!(
            self.out,
            "<section>\n<h2>Scores, {}</h2>\n<p class=\"view\">{}</p>\n",
            view.label(),
            html(match view {
                View::ById => "Only the skills that the gold names are right.",
                View::NearDuplicates => {
                    "A copy or fork of a right skill is right, too."
                }
            })
        );
        self.scores(view);
        self.dots(view);
        self.recall(view);
        self.tokens(view);
        self.differences(view);
        self.slices(view);
        let others: Vec<&str> = report
            .measures
            .iter()
            .map(|note| note.name.as_str())
            .filter(|name| !report.headline.iter().any(|headline| headline == name))
            .collect();
        if !others.is_empty() {
            let table = report.by_measure(view, &others, &report.every_system(), one_line);
            self.folded("All other measures", &table.to_html(&caption("Other measures", view)));
        }
        self.out.push_str("</section>\n");
    }

    /// Writes the headline scores, a row a system.
    fn scores(&mut self, view: View) {
        let report = self.report;
        let label = html(&caption("Mean over tasks", view));
        let _ = write!(
            self.out,
            "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\n\
             <table class=\"scores\">\n<caption>{label}</caption>\n<thead><tr><th scope=\"col\">system</th>"
        );
        for name in &report.headline {
            let direction = report.direction(name);
            let (name, mark) = (html(name), arrow(direction));
            let _ = write!(
                self.out,
                "<th scope=\"col\" class=\"n\" title=\"{}\">{name}{mark}</th>",
                good(direction)
            );
        }
        self.out.push_str("</tr></thead>\n<tbody>\n");
        for (at, system) in report.systems.iter().enumerate() {
            let is_baseline = system.name == report.baseline && report.systems.len() > 1;
            let _ = write!(
                self.out,
                "<tr><th scope=\"row\"><i class=\"key s{}\"></i><bdi>{}</bdi>{}</th>",
                at % SERIES.len(),
                html(&clipped(&system.name, 60)),
                if is_baseline { " <small>baseline</small>" } else { "" }
            );
            for name in &report.headline {
                let cell = system.view(view).and_then(|of| Some((of, of.measured(name)?)));
                let Some((of, measured)) = cell else {
                    let _ = write!(self.out, "<td class=\"n\">{NONE}</td>");
                    continue;
                };
                let class = if self.is_best(view, name, measured) { "n best" } else { "n" };
                let Measured { mean, low, high, n, .. } = measured;
                let _ = write!(
                    self.out,
                    "<td class=\"{class}\" title=\"{} tasks\"><span class=\"mean\">{}{}</span>\
                     <small>{} – {}</small></td>",
                    grouped(*n as u64),
                    fixed(*mean),
                    of.test(name).map_or(String::new(), |test| self.mark(name, test)),
                    fixed(*low),
                    fixed(*high)
                );
            }
            self.out.push_str("</tr>\n");
        }
        self.out.push_str("</tbody>\n</table>\n</div>\n");
    }

    /// Returns the mark of a difference from the baseline.
    fn mark(&self, name: &str, test: &Tested) -> String {
        if !test.is_significant {
            return String::new();
        }
        // Better tasks decide where values near zero are good.
        let is_better = match self.report.direction(name) {
            Direction::HigherIsBetter => test.difference > 0.0,
            Direction::LowerIsBetter => test.difference < 0.0,
            Direction::NearZeroIsBetter => test.n_wins > test.n_losses,
        };
        let (class, sign, word) =
            if is_better { ("good", "▲", "better") } else { ("bad", "▼", "worse") };
        let (difference, p) = (signed(test.difference), p_value(test.p_holm.unwrap_or(1.0)));
        let text = format!("{word} than {}: {difference}, p {p}", self.report.baseline);
        format!(
            "<span class=\"{class}\" role=\"img\" aria-label=\"{0}\" title=\"{0}\">{sign}</span>",
            html(&text)
        )
    }

    fn is_best(&self, view: View, name: &str, measured: &Measured) -> bool {
        let merit = |mean: f64| match self.report.direction(name) {
            Direction::HigherIsBetter => mean,
            Direction::LowerIsBetter => -mean,
            Direction::NearZeroIsBetter => -mean.abs(),
        };
        let of_systems = self.report.systems.iter().filter_map(|s| s.view(view)?.measured(name));
        let means: Vec<f64> = of_systems.map(|measured| merit(measured.mean)).collect();
        means.len() > 1 && means.iter().all(|other| *other <= merit(measured.mean))
    }

    fn dots(&mut self, view: View) {
        let report = self.report;
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
            return;
        }
        let systems: Vec<&str> = report.systems.iter().map(|s| s.name.as_str()).collect();
        let baseline = systems.iter().position(|name| *name == report.baseline).unwrap_or(0);
        let text = "Dots are means, lines their intervals; the upright line is the baseline. Axes do \
                    not begin at zero. A hollow dot does not differ \
                    significantly from the baseline; where that has no value, all are filled.";
        self.figure("Measures by system", view, text, |caption| {
            plot::dots(caption, &systems, &panels, baseline)
        });
        let table = report.test_table(view, usize::MAX, one_line);
        if let Some(table) = table {
            let title = caption(&format!("Differences from {}", report.baseline), view);
            self.folded("Tests against the baseline", &table.to_html(&title));
        }
    }

    fn recall(&mut self, view: View) {
        // Ranks are drawn by their logarithm: the first ten matter most.
        let x_of = |rank: usize| (rank as f64).ln();
        let mut lines = Vec::new();
        for (at, system) in self.report.systems.iter().enumerate() {
            let curve = system.view(view).map_or(&[][..], |of| of.recall_curve.as_slice());
            let points = (1..).zip(curve).map(|(rank, recall)| (x_of(rank), *recall)).collect();
            if !curve.is_empty() {
                lines.push(Line { name: system.name.clone(), system: at, points });
            }
        }
        let depth = lines.iter().map(|line| line.points.len()).max().unwrap_or(0);
        if depth < 2 {
            return;
        }
        let values: Vec<f64> = lines.iter().flat_map(|l| &l.points).map(|p| p.1).collect();
        let y = Axis::around("Recall@k, mean over tasks", &values, 6);
        let ranks = [1, 2, 3, 5, 10, 20, 30, 50].into_iter().filter(|rank| *rank <= depth);
        let ticks = ranks.map(|rank| (x_of(rank), rank.to_string())).collect();
        let x = Axis { title: "k", low: 0.0, high: x_of(depth), ticks };
        let text = "Share of the right skills among the first k; k by its logarithm.";
        self.figure("Recall curve", view, text, |caption| {
            plot::curves(caption, &lines, (&x, &y), false)
        });
        if let Some(table) = self.report.curve_table(view, one_line) {
            self.out.push_str(&table.to_html(&caption("Recall@k", view)));
        }
    }

    fn tokens(&mut self, view: View) {
        let mut systems = Vec::new();
        for (at, system) in self.report.systems.iter().enumerate() {
            let Some(of) = system.view(view) else { continue };
            let pair = of.measured(TOKEN_REDUCTION).zip(of.measured(SUFFICIENCY));
            let Some((reduction, sufficiency)) = pair else { continue };
            let Measured { mean, low, high, .. } = reduction;
            let shown =
                Dot { mean: 1.0 - mean, low: 1.0 - high, high: 1.0 - low, is_marked: false };
            systems.push((system.name.clone(), at, shown, dot(sufficiency)));
        }
        if systems.is_empty() {
            return;
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
        self.figure("Tokens against sufficiency", view, text, |caption| {
            plot::crosses(caption, &systems, (&x, &y))
        });
        let columns = ["shown tokens", "sufficiency"].map(|name| (name.to_owned(), Align::Left));
        let head = std::iter::once(("system".to_owned(), Align::Left));
        let mut table = Table::new(head.chain(columns));
        let cell =
            |dot: &Dot| format!("{} [{}, {}]", fixed(dot.mean), fixed(dot.low), fixed(dot.high));
        for (name, _, shown, sufficiency) in &systems {
            table.push(vec![one_line(name), cell(shown), cell(sufficiency)]);
        }
        self.out.push_str(&table.to_html(&caption("Tokens against sufficiency", view)));
    }

    fn differences(&mut self, view: View) {
        let report = self.report;
        let Some(main) = report.headline.first() else { return };
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
            return;
        }
        let title = format!("Tasks won and lost against {}", clipped(&report.baseline, 40));
        let text = format!(
            "Each task that differs is a bar as high as its gain (up) or loss (down) of {main}, in \
             falling order; the numbers below count tasks, and equal ones are left out."
        );
        self.figure(&title, view, &text, |caption| plot::differences(caption, &panels));
        for (system, of) in rows.into_iter().filter(|(_, of)| !of.changes.is_empty()) {
            let names = ["task", "query", "baseline", "system", "difference"];
            let columns = names.into_iter().enumerate().map(|(at, name)| {
                (name.to_owned(), if at < 2 { Align::Left } else { Align::Right })
            });
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
            let caption = caption(&format!("{main}: largest gains and losses"), view);
            self.folded(&label, &table.to_html(&caption));
        }
    }

    fn slices(&mut self, view: View) {
        let keys = self.report.slice_keys(view);
        for key in keys {
            if let Some(table) =
                self.report.slice_table(view, &key, &self.report.every_system(), one_line)
            {
                let measure = self.report.slice_measure(&key).unwrap_or_default();
                let title = format!("{measure} by {}", clipped(&key, 40));
                self.folded(&title, &table.to_html(&caption(&title, view)));
            }
        }
    }

    fn confidence(&mut self) {
        let report = self.report;
        let Some(table) = report.confidence_table(one_line) else { return };
        self.out.push_str("<section>\n<h2>Confidence</h2>\n");
        let mut lines = Vec::new();
        for (at, system) in report.systems.iter().enumerate() {
            let Some(confidence) = &system.confidence else { continue };
            let points = confidence.curve.iter().map(|p| (p.coverage, p.risk)).collect();
            lines.push(Line { name: system.name.clone(), system: at, points });
        }
        let risks: Vec<f64> = lines.iter().flat_map(|l| &l.points).map(|p| p.1).collect();
        let y =
            Axis::around("risk: share of the answered tasks whose first skill is wrong", &risks, 5);
        let x = Axis::between("coverage: share of the tasks that are answered", 0.0, 1.0, 5);
        let text = "Only answers above a confidence count; the lower the bar, the further to the \
                    right. A lower curve is better. Right means right by id; it is wrong to answer a \
                    task that no skill helps with.";
        self.figure("Coverage and risk", View::ById, text, |caption| {
            plot::curves(caption, &lines, (&x, &y), true)
        });
        let columns =
            COVERAGES.map(|coverage| (format!("risk at {:.0} %", coverage * 100.0), Align::Right));
        let mut risk =
            Table::new(std::iter::once(("system".to_owned(), Align::Left)).chain(columns));
        for line in &lines {
            let at = |coverage: &f64| {
                let point = line.points.iter().find(|point| point.0 >= coverage - 1e-9);
                point.map_or(NONE.to_owned(), |point| fixed(point.1))
            };
            let cells = COVERAGES.iter().map(at);
            risk.push(std::iter::once(one_line(&line.name)).chain(cells).collect());
        }
        self.out.push_str(&risk.to_html("Risk at a coverage of at least so much, by id"));
        self.out.push_str(&table.to_html("How far confidences can be relied on"));
        self.out.push_str("</section>\n");
    }

    fn about(&mut self) {
        let report = self.report;
        self.out.push_str("<section>\n<h2>What was measured</h2>\n");
        self.out.push_str(&report.measure_table(one_line).to_html("Measures"));
        let mut table =
            Table::new(["system", "configuration"].map(|n| (n.to_owned(), Align::Left)));
        for system in report.systems.iter().filter(|system| !system.config.is_empty()) {
            table.push(vec![one_line(&system.name), one_line(&system.config)]);
        }
        if !table.is_empty() {
            self.out.push_str(&table.to_html("Systems"));
        }
        self.out.push_str("</section>\n");
    }

    /// Writes a plot with its caption.
    fn figure(
        &mut self,
        title: &str,
        view: View,
        text: &str,
        draw: impl FnOnce(Caption<'_>) -> String,
    ) {
        self.n_plots += 1;
        let description = format!("{text} A table beside it has the numbers.");
        let caption = Caption { id: self.n_plots, title, description: &description };
        let svg = draw(caption);
        let _ = write!(
            self.out,
            "<figure>\n<figcaption><h3>{}</h3>\n<p>{} <span class=\"of\">({})</span></p></figcaption>\n\
             {svg}</figure>\n",
            html(title),
            html(text),
            html(view.label()),
        );
    }

    /// Writes something that is opened on demand, without a script.
    fn folded(&mut self, title: &str, inner: &str) {
        let _ =
            write!(self.out, "<details>\n<summary>{}</summary>\n{inner}</details>\n", html(title));
    }
}

fn dot(measured: &Measured) -> Dot {
    let Measured { mean, low, high, .. } = *measured;
    Dot { mean, low, high, is_marked: false }
}

fn caption(title: &str, view: View) -> String {
    format!("{title}, {}", view.label())
}
