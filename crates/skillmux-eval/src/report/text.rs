//! The report for a terminal, and as Markdown.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::{
    number::{NONE, fixed, grouped, p_value, signed},
    scores::View,
    slices::slice_keys,
    summary::{Measured, Report, SystemReport, ViewReport},
    table::{Align, Table},
    tested::Tested,
};
use crate::{
    metric::{Direction, set::CardinalityCalibration},
    printable::{clipped, code, one_line},
};

/// Mark of a difference that is hardly by chance.
pub(crate) const MARK: &str = "*";

/// Slices of a key at most in the text for terminals; the other forms have them all.
const MAX_SLICES: usize = 24;

/// Columns of a name on a terminal at most.
const NAME_WIDTH: usize = 34;

/// Ranks of the recall curve that are printed.
pub(crate) const PRINTED_RANKS: [usize; 6] = [1, 3, 5, 10, 20, 50];

impl Report {
    /// Returns the report for a terminal of so many columns.
    ///
    /// A table that is too wide is turned, and if need be divided.
    pub fn to_text(&self, width: usize) -> String {
        let name = |name: &str| clipped(name, NAME_WIDTH);
        let mut text = wrapped(&one_line(&self.head()), width);
        for view in self.views() {
            let mut push = |tables: Vec<Table>| {
                for table in tables {
                    text.push('\n');
                    text.push_str(&table.to_text());
                }
            };
            push(self.fitting_scores(view, width));
            push(self.test_table(view, 1, name).into_iter().collect());
            // The other forms have the rest of the second view.
            if view != View::ById {
                continue;
            }
            push(self.curve_table(view, name).into_iter().collect());
            for key in self.slice_keys(view) {
                let of = |systems: &[&SystemReport]| {
                    let table = self.slice_table(view, &key, systems, name);
                    table.filter(|table| table.n_rows() <= MAX_SLICES)
                };
                push(fitting(&self.every_system(), width, of));
            }
        }
        if let Some(table) = self.confidence_table(name) {
            let _ = write!(text, "\n{}", table.to_text());
        }
        let loading: Vec<&SystemReport> =
            self.systems.iter().filter(|system| system.cardinality.is_some()).collect();
        let of = |systems: &[&SystemReport]| cardinality_table(systems, name);
        for table in fitting(&loading, width, of) {
            let _ = write!(text, "\n{}", table.to_text());
        }
        if let Some(table) = self.token_table(name) {
            let _ = write!(text, "\n{}", table.to_text());
        }
        for note in self.notes(["Brackets", MARK], |name| format!("`{}`", one_line(name))) {
            let _ = write!(text, "\n{}", wrapped(&note, width));
        }
        text
    }

    /// Returns the report as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n", code(&self.dataset), self.head_line());
        for view in self.views() {
            let _ = write!(text, "\n## Scores, {}\n", view.label());
            let mut push = |table: Option<Table>| {
                if let Some(table) = table.filter(|table| !table.is_empty()) {
                    text.push('\n');
                    text.push_str(&table.to_markdown());
                }
            };
            let all: Vec<&str> = self.measures.iter().map(|note| note.name.as_str()).collect();
            let headline: Vec<&str> = self.headline.iter().map(String::as_str).collect();
            push(Some(self.by_measure(view, &headline, &self.every_system(), code)));
            let others: Vec<&str> =
                all.into_iter().filter(|name| !headline.contains(name)).collect();
            push(Some(self.by_measure(view, &others, &self.every_system(), code)));
            push(self.curve_table(view, code));
            for key in self.slice_keys(view) {
                push(self.slice_table(view, &key, &self.every_system(), code));
            }
            push(self.test_table(view, usize::MAX, code));
        }
        if let Some(table) = self.confidence_table(code) {
            let _ = write!(text, "\n## Confidence\n\n{}", table.to_markdown());
        }
        if let Some(table) = cardinality_table(&self.every_system(), code) {
            let _ = write!(text, "\n## Number of skills\n\n{}", table.to_markdown());
        }
        if let Some(table) = self.token_table(code) {
            let _ = write!(text, "\n## Tokens\n\n{}", table.to_markdown());
        }
        text.push_str("\n## Notes\n\n");
        for note in self.notes(["Brackets", r"\*"], code) {
            let _ = writeln!(text, "- {note}");
        }
        for system in self.systems.iter().filter(|system| !system.config.is_empty()) {
            let _ = writeln!(text, "- {}: {}", code(&system.name), code(&system.config));
        }
        let _ = write!(text, "\n## Measures\n\n{}", self.measure_table(code).to_markdown());
        text
    }

    /// Returns what the measures are.
    pub(super) fn measure_table(&self, text_of: impl Fn(&str) -> String) -> Table {
        let names = ["measure", "formula", "values", "source"];
        let mut table = Table::new(names.map(|name| (name.to_owned(), Align::Left)));
        for note in &self.measures {
            let values = good(note.direction).to_owned();
            let [name, formula, source] = [&note.name, &note.formula, &note.source];
            table.push(vec![text_of(name), text_of(formula), values, text_of(source)]);
        }
        table
    }

    /// Returns what was measured, on one line.
    fn head(&self) -> String {
        format!("{} · {}", self.dataset, self.head_line())
    }

    /// Returns the numbers of the first line.
    pub(crate) fn head_line(&self) -> String {
        let mut line = format!("{} tasks", grouped(self.n_tasks as u64));
        if self.n_without_gold > 0 {
            let _ = write!(line, ", {} without a right skill", grouped(self.n_without_gold as u64));
        }
        if self.n_unscored > 0 {
            let _ = write!(line, " · {} more are not scored", grouped(self.n_unscored as u64));
        }
        line + &self.setting.line()
    }

    /// Returns what a reader must know; `marks` names intervals and significant differences.
    pub(super) fn notes(&self, marks: [&str; 2], name: impl Fn(&str) -> String) -> Vec<String> {
        let [intervals, mark] = marks;
        let statistics = &self.statistics;
        let percent = statistics.level * 100.0;
        let n_resamples = grouped(statistics.n_resamples as u64);
        let mut notes = vec![format!(
            "{intervals} are {percent:.0} % intervals of the mean over tasks: bootstrap, \
             {n_resamples} resamples, seed {}.",
            statistics.seed
        )];
        if statistics.n_tests > 0 {
            notes.push(format!(
                "{mark} differs from {}: p < {} in both the paired bootstrap and Wilcoxon's \
                 signed-rank test, Holm-corrected over the {} tests of a view (headline measures of \
                 all systems), which p is; won and lost count tasks.",
                name(&self.baseline),
                statistics.significance,
                statistics.n_tests
            ));
        }
        notes.extend(self.setting.clusters_note());
        if self.systems.iter().any(|system| system.confidence.is_some()) {
            notes.push(
                "False loads at 95 %: share of the tasks without gold that load a skill, at the \
                 confidence that 95 % of the tasks with gold reach."
                    .to_owned(),
            );
            notes.push(
                "Balanced ECE: expected calibration error, with the tasks with and without gold \
                 counting half each."
                    .to_owned(),
            );
        }
        for system in &self.systems {
            if system.n_refused > 0 {
                notes.push(format!(
                    "{} could not be asked {} of the tasks, as those without words; these count as \
                     answers of nothing.",
                    name(&system.name),
                    grouped(system.n_refused as u64)
                ));
            }
            if system.n_other_bodies > 0 {
                notes.push(format!(
                    "{} shows another version of the skill than the annotated one for {} tasks; \
                     measures of what is shown leave these out.",
                    name(&system.name),
                    grouped(system.n_other_bodies as u64)
                ));
            }
        }
        notes
    }

    pub(crate) fn every_system(&self) -> Vec<&SystemReport> {
        self.systems.iter().collect()
    }

    /// Returns the keys by which tasks were divided.
    pub(crate) fn slice_keys(&self, view: View) -> Vec<String> {
        let keys = self.systems.iter().filter_map(|system| system.view(view)).flat_map(slice_keys);
        let keys: BTreeSet<&str> = keys.collect();
        keys.into_iter().map(str::to_owned).collect()
    }

    /// Returns the headline scores in tables that are no wider than asked for, if that can be.
    fn fitting_scores(&self, view: View, width: usize) -> Vec<Table> {
        let names: Vec<&str> = self.headline.iter().map(String::as_str).collect();
        let by_system = self.by_system(view, &names);
        if by_system.width() <= width {
            return vec![by_system];
        }
        let name = |name: &str| clipped(name, NAME_WIDTH);
        let of = |systems: &[&SystemReport]| Some(self.by_measure(view, &names, systems, name));
        fitting(&self.every_system(), width, of)
    }

    /// Returns a table with a line for each system.
    fn by_system(&self, view: View, names: &[&str]) -> Table {
        let corner = (format!("system ({})", view.short_label()), Align::Left);
        let columns = names.iter().map(|name| {
            let arrow = arrow(self.direction(name));
            (format!("{}{arrow}", one_line(name)), Align::Left)
        });
        let mut table = Table::new(std::iter::once(corner).chain(columns));
        for system in &self.systems {
            let mut row = vec![clipped(&system.name, NAME_WIDTH)];
            row.extend(names.iter().map(|name| cell(system.view(view), name)));
            table.push(row);
        }
        table
    }

    /// Returns a table with a line for each measure.
    pub(super) fn by_measure(
        &self,
        view: View,
        names: &[&str],
        systems: &[&SystemReport],
        name_of: impl Fn(&str) -> String,
    ) -> Table {
        let corner = (format!("measure ({})", view.short_label()), Align::Left);
        let columns = systems.iter().map(|system| (name_of(&system.name), Align::Left));
        let mut table = Table::new(std::iter::once(corner).chain(columns));
        for name in names {
            let mut row = vec![format!("{}{}", one_line(name), arrow(self.direction(name)))];
            row.extend(systems.iter().map(|system| cell(system.view(view), name)));
            table.push(row);
        }
        table
    }

    /// Returns Recall@k at some ranks.
    pub(super) fn curve_table(
        &self,
        view: View,
        name_of: impl Fn(&str) -> String,
    ) -> Option<Table> {
        let with_curve: Vec<(&SystemReport, &Vec<f64>)> = self
            .systems
            .iter()
            .filter_map(|system| Some((system, &system.view(view)?.recall_curve)))
            .filter(|(_, curve)| !curve.is_empty())
            .collect();
        let depth = with_curve.iter().map(|(_, curve)| curve.len()).max()?;
        let ranks = PRINTED_RANKS.iter().filter(|rank| **rank <= depth);
        let corner = (format!("Recall@k ({})", view.short_label()), Align::Left);
        let columns = ranks.clone().map(|rank| (rank.to_string(), Align::Right));
        let mut table = Table::new(std::iter::once(corner).chain(columns));
        for (system, curve) in with_curve {
            let at = |rank: &usize| curve.get(rank - 1).map_or(NONE.to_owned(), |r| fixed(*r));
            table.push(
                std::iter::once(name_of(&system.name)).chain(ranks.clone().map(at)).collect(),
            );
        }
        Some(table)
    }

    /// Returns a measure over the parts of one key: the main one, or that of sub-tasks.
    pub(super) fn slice_table(
        &self,
        view: View,
        key: &str,
        systems: &[&SystemReport],
        name_of: impl Fn(&str) -> String,
    ) -> Option<Table> {
        let measure = self.slice_measure(key)?;
        let values: BTreeMap<&str, usize> = systems
            .iter()
            .filter_map(|system| system.view(view))
            .flat_map(|report| &report.slices)
            .filter(|slice| slice.key == key)
            .map(|slice| (slice.value.as_str(), slice.n_tasks))
            .collect();
        let corner = format!("{measure} by {} ({})", one_line(key), view.short_label());
        let head = [(corner, Align::Left), ("tasks".to_owned(), Align::Right)];
        let columns = systems.iter().map(|system| (name_of(&system.name), Align::Left));
        let mut table = Table::new(head.into_iter().chain(columns));
        for (value, n_tasks) in values {
            let measured = |system: &&SystemReport| {
                let mut slices = system.view(view)?.slices.iter();
                let same = slices.find(|other| other.key == key && other.value == value)?;
                same.measures.iter().find(|measured| measured.measure == measure).map(interval)
            };
            let cells: Vec<Option<String>> = systems.iter().map(measured).collect();
            if cells.iter().any(Option::is_some) {
                let mut row = vec![name_of(value), grouped(n_tasks as u64)];
                row.extend(cells.into_iter().map(|cell| cell.unwrap_or_else(|| NONE.to_owned())));
                table.push(row);
            }
        }
        (!table.is_empty()).then_some(table)
    }

    /// Returns the tests of the first headline measures against the baseline.
    pub(super) fn test_table(
        &self,
        view: View,
        n_measures: usize,
        name_of: impl Fn(&str) -> String,
    ) -> Option<Table> {
        let corner = format!("against {} ({})", name_of(&self.baseline), view.short_label());
        let names = ["measure", "difference", "p", "won", "lost", "even"];
        let aligns =
            [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
        let columns = names.into_iter().map(str::to_owned).zip(aligns);
        let mut table = Table::new(std::iter::once((corner, Align::Left)).chain(columns));
        for system in &self.systems {
            let Some(report) = system.view(view) else { continue };
            let names = self.headline.iter().take(n_measures);
            for test in names.filter_map(|name| report.test(name)) {
                table.push(vec![
                    name_of(&system.name),
                    test.measure.clone(),
                    difference(test),
                    test.p_holm.map_or(NONE.to_owned(), p_value),
                    grouped(test.n_wins as u64),
                    grouped(test.n_losses as u64),
                    grouped(test.n_ties as u64),
                ]);
            }
        }
        (!table.is_empty()).then_some(table)
    }

    /// Returns how many tokens of skills are saved over all tasks together.
    pub(super) fn token_table(&self, name_of: impl Fn(&str) -> String) -> Option<Table> {
        let head = ("token reduction of all pages together".to_owned(), Align::Left);
        let mut table = Table::new([head, ("aggregate".to_owned(), Align::Right)]);
        for system in &self.systems {
            if let Some(reduction) = system.token_reduction {
                table.push(vec![name_of(&system.name), fixed(reduction)]);
            }
        }
        (!table.is_empty()).then_some(table)
    }

    /// Returns how far confidences can be relied on.
    pub(super) fn confidence_table(&self, name_of: impl Fn(&str) -> String) -> Option<Table> {
        let names = ["AUROC", "balanced ECE", "false loads at 95 %", "with gold", "without"];
        let columns = names.map(|name| (name.to_owned(), Align::Right));
        let head = std::iter::once(("confidence".to_owned(), Align::Left));
        let mut table = Table::new(head.chain(columns));
        for system in &self.systems {
            let Some(confidence) = &system.confidence else { continue };
            let text = |value: Option<f64>| value.map_or(NONE.to_owned(), fixed);
            table.push(vec![
                name_of(&system.name),
                text(confidence.auroc),
                text(confidence.calibration_error),
                text(confidence.false_load_rate),
                grouped(confidence.n_answerable as u64),
                grouped(confidence.n_unanswerable as u64),
            ]);
        }
        (!table.is_empty()).then_some(table)
    }
}

/// Returns how many skills are loaded by how many are right.
pub(super) fn cardinality_table(
    systems: &[&SystemReport],
    name_of: impl Fn(&str) -> String,
) -> Option<Table> {
    let calibrations = systems.iter().filter_map(|s| Some((*s, s.cardinality.as_ref()?)));
    let counts: BTreeSet<(usize, usize)> = calibrations
        .clone()
        .flat_map(|(_, calibration)| &calibration.buckets)
        .map(|bucket| (bucket.n_gold, bucket.n_tasks))
        .collect();
    if counts.is_empty() {
        return None;
    }
    let head = ["loaded skills; Set F1 (by id)", "tasks"].map(str::to_owned);
    let head = head.into_iter().zip([Align::Left, Align::Right]);
    let columns = calibrations.clone().map(|(system, _)| (name_of(&system.name), Align::Left));
    let mut table = Table::new(head.chain(columns));
    for (n_gold, n_tasks) in counts {
        let cell = |calibration: &CardinalityCalibration| {
            let bucket = calibration.buckets.iter().find(|bucket| bucket.n_gold == n_gold);
            bucket.map_or(NONE.to_owned(), |bucket| {
                format!("{:.2}; {}", bucket.mean_loaded, fixed(bucket.mean_set_f1))
            })
        };
        let mut row = vec![format!("{n_gold} right"), grouped(n_tasks as u64)];
        row.extend(calibrations.clone().map(|(_, calibration)| cell(calibration)));
        table.push(row);
    }
    let mut row = vec!["mean of these rows".to_owned(), String::new()];
    let macro_f1 = |(_, of): (&SystemReport, &CardinalityCalibration)| fixed(of.macro_set_f1);
    row.extend(calibrations.map(macro_f1));
    table.push(row);
    Some(table)
}

/// Returns tables with a column for each system, as many in each as fit.
fn fitting(
    systems: &[&SystemReport],
    width: usize,
    table_of: impl Fn(&[&SystemReport]) -> Option<Table>,
) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut rest = systems;
    while !rest.is_empty() {
        let fits = |n: &usize| table_of(&rest[..*n]).is_some_and(|table| table.width() <= width);
        let n_columns = (1..=rest.len()).rev().find(fits).unwrap_or(1);
        let (now, later) = rest.split_at(n_columns);
        tables.extend(table_of(now));
        rest = later;
    }
    tables
}

/// Returns a mean with its interval and mark.
fn cell(view: Option<&ViewReport>, name: &str) -> String {
    let Some(view) = view else { return NONE.to_owned() };
    let Some(measured) = view.measured(name) else { return NONE.to_owned() };
    let is_significant = view.test(name).is_some_and(|test| test.is_significant);
    let mark = if is_significant { format!(" {MARK}") } else { String::new() };
    format!("{}{mark}", interval(measured))
}

/// Returns a mean with its interval.
pub(crate) fn interval(measured: &Measured) -> String {
    let Measured { mean, low, high, .. } = measured;
    format!("{} [{}, {}]", fixed(*mean), fixed(*low), fixed(*high))
}

/// Returns a difference with its interval and mark.
pub(crate) fn difference(test: &Tested) -> String {
    let mark = if test.is_significant { format!(" {MARK}") } else { String::new() };
    let Tested { difference, low, high, .. } = test;
    format!("{} [{}, {}]{mark}", signed(*difference), signed(*low), signed(*high))
}

/// Returns the text with line breaks, no wider than asked for.
pub(crate) fn wrapped(text: &str, max_width: usize) -> String {
    textwrap::fill(text, max_width.max(20)) + "\n"
}

/// Returns the mark of a measure whose high values are not good.
pub(crate) fn arrow(direction: Direction) -> &'static str {
    match direction {
        Direction::HigherIsBetter => "",
        Direction::LowerIsBetter => " ↓",
        Direction::NearZeroIsBetter => " →0",
    }
}

/// Returns in words which values are good.
pub(crate) fn good(direction: Direction) -> &'static str {
    match direction {
        Direction::HigherIsBetter => "higher is better",
        Direction::LowerIsBetter => "lower is better",
        Direction::NearZeroIsBetter => "nearer to 0 is better",
    }
}
