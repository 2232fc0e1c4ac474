//! [`Comparison`]: which tasks two systems differ on, and why.

use std::fmt::Write;

use serde::Serialize;

use super::{
    number::{NONE, fixed, grouped, p_value, signed, signed_score},
    reasons::{ChangedGold, FeatureChange, FeatureLead, changed_gold, worse_in_b},
    scores::{TaskScores, View},
    setting::{Setting, SettingDifference},
    summary::HEADLINE,
    table::{Align, Table},
    tested::{NOISE, Tested, correct, gain},
    text::{MARK, difference, wrapped},
};
use crate::{
    error::Error,
    printable::{clipped, code, json, one_line},
    stats::BootstrapConfig,
};

/// Right skills of a task whose change is explained in words, at most.
const N_EXPLAINED: usize = 3;

/// How two systems are compared.
#[derive(Debug, Clone, Copy)]
pub struct CompareOptions<'a> {
    /// How intervals and tests are drawn.
    pub bootstrap: BootstrapConfig,
    /// What counts as right.
    pub view: View,
    /// Names of the measures that are tested and that make a task count as changed; the first that
    /// says something is the main one, by which tasks are won or lost.
    pub measures: &'a [&'a str],
    /// The settings of both, if they are known: what differs is noted.
    pub settings: Option<(&'a Setting, &'a Setting)>,
}

impl Default for CompareOptions<'_> {
    fn default() -> Self {
        let measures = &HEADLINE;
        Self {
            bootstrap: BootstrapConfig::default(),
            view: View::default(),
            measures,
            settings: None,
        }
    }
}

/// How system `b` differs from system `a`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Name of the dataset.
    pub dataset: String,
    /// What counts as right.
    pub view: View,
    /// The first system.
    pub a: String,
    /// The second system.
    pub b: String,
    /// What was not the same when the two were measured, besides the systems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<SettingDifference>,
    /// Number of tasks.
    pub n_tasks: usize,
    /// Seed, resamples and level of the bootstrap.
    pub seed: u64,
    /// Resamples of the bootstrap.
    pub n_resamples: usize,
    /// Level of the intervals.
    pub level: f64,
    /// The main measure.
    pub main: String,
    /// Means and tests, `b` less `a`.
    pub measures: Vec<ComparedMeasure>,
    /// The tasks that changed, the largest change of the main measure first.
    pub changes: Vec<ChangedTask>,
}

/// A measure of both systems.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedMeasure {
    /// Mean of the first system over the tasks that both have a value for.
    pub a: f64,
    /// Mean of the second.
    pub b: f64,
    /// The paired test, of `b` less `a`.
    pub test: Tested,
}

/// Which system does better on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The second system.
    Won,
    /// The first system.
    Lost,
    /// Neither by the main measure.
    Even,
}

/// A task on which the systems differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedTask {
    /// The task.
    pub task_id: String,
    /// What it asks for.
    pub query: String,
    /// Who does better by the main measure.
    pub outcome: Outcome,
    /// The measures that changed.
    pub values: Vec<ChangedValue>,
    /// The right skills whose rank changed.
    pub gold: Vec<ChangedGold>,
    /// What the first system loads, if both say and they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded_a: Option<Vec<String>>,
    /// What the second system loads then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded_b: Option<Vec<String>>,
}

/// A measure of a task that changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedValue {
    /// Name of the measure.
    pub measure: String,
    /// Value of the first system.
    pub a: f64,
    /// Value of the second.
    pub b: f64,
}

impl Comparison {
    /// Compares the systems at two positions of the scores.
    ///
    /// Measures are judged in the view of the options; ranks of single skills are by id.
    ///
    /// # Errors
    /// [`Error::NoSystem`] if there is none at a position.
    pub fn new(
        scores: &TaskScores<'_>,
        (a, b): (usize, usize),
        options: &CompareOptions<'_>,
    ) -> Result<Self, Error> {
        let system = |at: usize| scores.systems.get(at).ok_or(Error::NoSystem);
        let (a, b) = (system(a)?, system(b)?);
        let known = scores.measures();
        let named = |name: &&str| known.iter().copied().find(|measure| measure.name == *name);
        let measures: Vec<_> = options.measures.iter().filter_map(named).collect();
        let columns: Vec<_> = measures
            .iter()
            .map(|m| (a.column(options.view, m.name), b.column(options.view, m.name)))
            .collect();
        let mut compared: Vec<ComparedMeasure> = Vec::new();
        for (measure, (of_a, of_b)) in measures.iter().zip(&columns) {
            let pairs = of_a.iter().zip(*of_b).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
            let (sum_a, sum_b, n) = pairs.fold((0.0, 0.0, 0_usize), |(sum_a, sum_b, n), (a, b)| {
                (sum_a + a, sum_b + b, n + 1)
            });
            if n > 0 {
                let test = Tested::new(measure, of_b, of_a, &options.bootstrap);
                compared.push(ComparedMeasure { a: sum_a / n as f64, b: sum_b / n as f64, test });
            }
        }
        correct(compared.iter_mut().map(|measure| &mut measure.test));

        let main = compared.first().map(|measure| measure.test.measure.clone());
        let main = measures.iter().position(|measure| Some(measure.name) == main.as_deref());
        let gain = |task: usize, at: usize| match (columns[at].0[task], columns[at].1[task]) {
            (Some(a), Some(b)) => gain(measures[at].direction, a, b),
            _ => 0.0,
        };
        let mut changes: Vec<(f64, f64, ChangedTask)> = Vec::new();
        for (at, task) in scores.dataset.tasks.iter().enumerate() {
            let values = measures.iter().zip(&columns).filter_map(|(measure, (a, b))| {
                let (a, b) = (a[at]?, b[at]?);
                let measure = measure.name.to_owned();
                ((a - b).abs() > NOISE).then_some(ChangedValue { measure, a, b })
            });
            let values: Vec<ChangedValue> = values.collect();
            if values.is_empty() {
                continue;
            }
            let main_gain = main.map_or(0.0, |main| gain(at, main));
            let others: f64 = (0..measures.len()).map(|measure| gain(at, measure).abs()).sum();
            let outcome = match main_gain {
                gain if gain > 0.0 => Outcome::Won,
                gain if gain < 0.0 => Outcome::Lost,
                _ => Outcome::Even,
            };
            let (answer_a, answer_b) = (&a.rows[at].answer, &b.rows[at].answer);
            let both_load = answer_a.loaded.is_some() && answer_b.loaded.is_some();
            let loads_differ = both_load && answer_a.loaded != answer_b.loaded;
            changes.push((
                main_gain.abs(),
                others,
                ChangedTask {
                    task_id: task.id.clone(),
                    query: task.query.clone(),
                    outcome,
                    values,
                    gold: changed_gold(task, answer_a.ranked(), answer_b.ranked()),
                    loaded_a: answer_a.loaded.clone().filter(|_| loads_differ),
                    loaded_b: answer_b.loaded.clone().filter(|_| loads_differ),
                },
            ));
        }
        // The sort is stable: equal changes stay in task order.
        changes.sort_by(|x, y| y.0.total_cmp(&x.0).then(y.1.total_cmp(&x.1)));
        let BootstrapConfig { n_resamples, level, seed, .. } = options.bootstrap;
        Ok(Self {
            dataset: scores.dataset.name.clone(),
            view: options.view,
            a: a.name.to_owned(),
            b: b.name.to_owned(),
            mismatches: options.settings.map_or_else(Vec::new, |(a, b)| a.differences(b)),
            n_tasks: scores.dataset.tasks.len(),
            seed,
            n_resamples,
            level,
            main: main.map_or(String::new(), |main| measures[main].name.to_owned()),
            measures: compared,
            changes: changes.into_iter().map(|(.., change)| change).collect(),
        })
    }

    /// Returns how many tasks have an outcome.
    pub fn n(&self, outcome: Outcome) -> usize {
        self.changes.iter().filter(|change| change.outcome == outcome).count()
    }

    /// Returns the comparison as JSON, with a line feed at its end.
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// Returns the comparison for a terminal of so many columns, with the reasons for the largest
    /// changes.
    pub fn to_text(&self, width: usize, max_tasks: usize) -> String {
        let (a, b) = (one_line(&self.a), one_line(&self.b));
        let n_tasks = grouped(self.n_tasks as u64);
        let mut text = format!("{} · {n_tasks} tasks\n", one_line(&self.dataset));
        let _ = writeln!(text, "A  {a}\nB  {b}\n");
        for line in self.warnings() {
            let _ = writeln!(text, "{}", wrapped(&one_line(&line), width));
        }
        text.push_str(&self.table().to_text());
        let _ = write!(text, "\n{}", wrapped(&self.note(), width));
        let _ = writeln!(text, "\n{}", self.tally());
        for change in self.changes.iter().take(max_tasks) {
            let (sign, id) = (sign(change.outcome), one_line(&change.task_id));
            let values: Vec<String> = change.values.iter().map(value).collect();
            let _ = writeln!(text, "\n{sign} {id}  {}", values.join(" · "));
            let _ = writeln!(text, "    {}", clipped(&change.query, width.saturating_sub(4)));
            for line in change.lines(|id| format!("`{}`", one_line(id))) {
                let _ = writeln!(text, "    {line}");
            }
        }
        text.push_str(&self.rest(max_tasks, |n| format!("\n{n} more changed\n")));
        text
    }

    /// Returns the comparison as Markdown, with the reasons for the largest changes.
    pub fn to_markdown(&self, max_tasks: usize) -> String {
        let (a, b) = (code(&self.a), code(&self.b));
        let mut text = format!("# {}: {a} and {b}\n\n", code(&self.dataset));
        let n_tasks = grouped(self.n_tasks as u64);
        let _ = writeln!(text, "{n_tasks} tasks; A is {a}, B is {b}.\n");
        for line in self.warnings() {
            let _ = writeln!(text, "{}\n", code(&line));
        }
        text.push_str(&self.table().to_markdown());
        let _ = writeln!(text, "\n{}\n\n{}\n", self.note(), self.tally());
        for change in self.changes.iter().take(max_tasks) {
            let values: Vec<String> = change.values.iter().map(value).collect();
            let (sign, id) = (sign(change.outcome), code(&change.task_id));
            let _ = writeln!(text, "- **{sign}** {id}: {}", values.join(" · "));
            let _ = writeln!(text, "  - asks {}", code(&change.query));
            for line in change.lines(code) {
                // What is indented is a part of the line before.
                let depth = line.len() - line.trim_start().len();
                let _ = writeln!(text, "{:depth$}  - {}", "", line.trim_start());
            }
        }
        text.push_str(&self.rest(max_tasks, |n| format!("- {n} more changed\n")));
        text
    }

    fn rest(&self, max_tasks: usize, line: impl Fn(usize) -> String) -> String {
        let n = self.changes.len().saturating_sub(max_tasks);
        if n > 0 { line(n) } else { String::new() }
    }

    fn table(&self) -> Table {
        let corner = (format!("measure ({})", self.view.short_label()), Align::Left);
        let columns = [
            ("A", Align::Right),
            ("B", Align::Right),
            ("difference", Align::Left),
            ("p", Align::Right),
            ("p (Holm)", Align::Right),
            ("won", Align::Right),
            ("lost", Align::Right),
            ("even", Align::Right),
        ];
        let columns = columns.map(|(name, align)| (name.to_owned(), align));
        let mut table = Table::new(std::iter::once(corner).chain(columns));
        for ComparedMeasure { a, b, test } in &self.measures {
            table.push(vec![
                test.measure.clone(),
                fixed(*a),
                fixed(*b),
                difference(test),
                p_value(test.p()),
                test.p_holm.map_or(NONE.to_owned(), p_value),
                grouped(test.n_wins as u64),
                grouped(test.n_losses as u64),
                grouped(test.n_ties as u64),
            ]);
        }
        table
    }

    /// Returns what makes the two hard to compare.
    fn warnings(&self) -> Vec<String> {
        let line = |mismatch: &SettingDifference| {
            let SettingDifference { what, a, b } = mismatch;
            format!("not the same {what}: A {a}, B {b}")
        };
        self.mismatches.iter().map(line).collect()
    }

    fn note(&self) -> String {
        format!(
            "Differences are B less A with {:.0} % intervals (paired bootstrap, {} resamples, seed \
             {}); p is the larger of the bootstrap's and Wilcoxon's; {MARK} is below 0.05 after \
             Holm's correction over these {} measures; B won and lost so many tasks.",
            self.level * 100.0,
            grouped(self.n_resamples as u64),
            self.seed,
            self.measures.len()
        )
    }

    fn tally(&self) -> String {
        let main = if self.main.is_empty() { "no measure" } else { &self.main };
        let [won, lost, even] =
            [Outcome::Won, Outcome::Lost, Outcome::Even].map(|of| grouped(self.n(of) as u64));
        format!(
            "By {main}: {won} tasks won by B, {lost} lost; {even} more changed by other measures."
        )
    }
}

impl ChangedTask {
    /// Returns why, a line a reason; names go through `name`.
    fn lines(&self, name: impl Fn(&str) -> String) -> Vec<String> {
        let mut lines = Vec::new();
        let rank = |rank: Option<usize>| rank.map_or("none".to_owned(), |rank| rank.to_string());
        for gold in self.gold.iter().take(N_EXPLAINED) {
            let id = name(&gold.skill_id);
            lines.push(format!("right {id}: rank {} -> {}", rank(gold.rank_a), rank(gold.rank_b)));
            let features = |features: &[FeatureChange], id: &str| {
                features
                    .iter()
                    .map(|change| {
                        let FeatureChange { feature, a, b } = change;
                        let (feature, by) = (one_line(feature), signed_score(b - a));
                        let (a, b) = (score(*a), score(*b));
                        format!("  {feature} of {id} {by} ({a} -> {b})")
                    })
                    .collect::<Vec<_>>()
            };
            lines.extend(features(&gold.features, &id));
            let Some(rival) = &gold.rival else { continue };
            let rival_id = name(&rival.skill_id);
            let (from, to) = (rank(rival.rank_a), rank(rival.rank_b));
            let is_worse = worse_in_b(gold.rank_a, gold.rank_b);
            let above = if is_worse { "now above it" } else { "above it before" };
            lines.push(format!("{above}: {rival_id}: rank {from} -> {to}"));
            lines.extend(features(&rival.features, &rival_id));
            let side = if is_worse { "B" } else { "A" };
            for FeatureLead { feature, gold, rival } in &rival.leads {
                let (feature, lead) = (one_line(feature), signed_score(rival - gold));
                let (gold, rival) = (score(*gold), score(*rival));
                lines.push(format!(
                    "  in {side}, {feature} of {rival_id} {lead} over {id} ({rival}, {gold})"
                ));
            }
        }
        if self.gold.len() > N_EXPLAINED {
            lines.push(format!("{} more right skills moved", self.gold.len() - N_EXPLAINED));
        }
        let list = |ids: &[String]| match ids {
            [] => "none".to_owned(),
            ids => ids.iter().map(|id| name(id)).collect::<Vec<_>>().join(", "),
        };
        if let (Some(a), Some(b)) = (&self.loaded_a, &self.loaded_b) {
            lines.push(format!("loads {} -> {}", list(a), list(b)));
        }
        lines
    }
}

fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Won => "won",
        Outcome::Lost => "lost",
        Outcome::Even => "even",
    }
}

fn value(ChangedValue { measure, a, b }: &ChangedValue) -> String {
    format!("{measure} {} -> {} ({})", fixed(*a), fixed(*b), signed(b - a))
}

fn score(value: f32) -> String {
    ((value * 100.0).round() / 100.0 + 0.0).to_string()
}
