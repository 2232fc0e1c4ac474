//! [`Report`]: what a set of systems scored on a dataset.

use serde::{Deserialize, Serialize};

use super::{
    confidence::Confidence,
    scores::{Scores, SystemScores, View},
    setting::Setting,
    tested::{NOISE, SIGNIFICANCE, Tested, correct, gain},
};
use crate::{
    dataset::Dataset,
    error::Error,
    metric::{
        Case, Direction, Measure,
        paging::{self, token_reduction},
        set::{CardinalityCalibration, calibrate_cardinality},
    },
    printable::json,
    stats::{self, BootstrapConfig},
    task::Task,
};

/// Version of the report's JSON.
pub const REPORT_FORMAT: u32 = 1;

/// Ranks of the recall curve.
pub const CURVE_DEPTH: usize = 50;

/// Largest changes of a task that a report lists, of each direction.
const N_CHANGES: usize = 8;

/// Measures that head a report if they say something; the first of them is the main one.
pub const HEADLINE: [&str; 15] = [
    "nDCG@10",
    "Hit@1",
    "MRR@10",
    "Recall@10",
    "FC@10",
    "Set-Compat",
    "Set F1",
    "False load",
    "DA",
    "CatR@1",
    "CatR@10",
    "Chain category",
    "Sufficiency",
    "Judged sufficiency",
    "Token reduction",
];

/// What a report is about.
#[derive(Debug, Clone, Copy)]
pub struct ReportOptions<'a> {
    /// How intervals and tests are drawn.
    pub bootstrap: BootstrapConfig,
    /// Position of the system that the others are tested against.
    pub baseline: usize,
    /// Names of the measures that head the report; the first that says something is the main one,
    /// by which tasks count as won or lost.
    pub headline: &'a [&'a str],
    /// What was measured, besides the systems.
    pub setting: Option<&'a Setting>,
}

impl Default for ReportOptions<'_> {
    fn default() -> Self {
        Self {
            bootstrap: BootstrapConfig::default(),
            baseline: 0,
            headline: &HEADLINE,
            setting: None,
        }
    }
}

/// What a set of systems scored on a dataset; the same scores and options give the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Version of this form, [`REPORT_FORMAT`].
    pub format: u32,
    /// Name of the dataset.
    pub dataset: String,
    /// Tasks that were asked.
    pub n_tasks: usize,
    /// Tasks of the dataset that do not count.
    pub n_unscored: usize,
    /// Tasks that no skill helps with.
    pub n_without_gold: usize,
    /// What was measured, besides the systems.
    #[serde(default)]
    pub setting: Setting,
    /// How intervals and tests were drawn.
    pub statistics: Statistics,
    /// The measures that say something.
    pub measures: Vec<MeasureNote>,
    /// Names of those that head the report, the main one first.
    pub headline: Vec<String>,
    /// Name of the system that the others are tested against.
    pub baseline: String,
    /// The systems, in the order in which they were given.
    pub systems: Vec<SystemReport>,
}

/// How intervals and tests were drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Resamples of the bootstrap.
    pub n_resamples: usize,
    /// Level of the intervals.
    pub level: f64,
    /// Corrected chance of error below which a difference is marked.
    pub significance: f64,
    /// Tests of each view that the correction is over: of the headline measures, for all systems.
    pub n_tests: usize,
}

/// What a measure is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureNote {
    /// Name.
    pub name: String,
    /// Where it is defined.
    pub source: String,
    /// Formula.
    pub formula: String,
    /// Which values are good.
    pub direction: Direction,
}

/// What one system scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemReport {
    /// Name.
    pub name: String,
    /// Configuration.
    pub config: String,
    /// Tasks that the system could not be asked, which count as answers of nothing.
    #[serde(default)]
    pub n_refused: usize,
    /// Tasks for which another version of a skill is shown than the annotated one.
    #[serde(default)]
    pub n_other_bodies: usize,
    /// The scores, by what counts as right.
    pub views: Vec<ViewReport>,
    /// How far the confidence can be relied on, if the system gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// How the number of loaded skills follows the number of right ones, by id; if the system loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cardinality: Option<CardinalityCalibration>,
    /// 1 less the tokens that are shown in all answers together by those of the whole bodies, as
    /// SkillPager's table 4 has it ("aggregate"); if the system shows parts of skills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_reduction: Option<f64>,
}

/// What one system scored when one thing counts as right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewReport {
    /// What counts as right.
    pub view: View,
    /// The means over all tasks.
    pub measures: Vec<Measured>,
    /// Recall@k for k = 1, 2, … over the tasks with gold; empty if there are none, or if the system
    /// does not rank.
    pub recall_curve: Vec<f64>,
    /// The headline measures over parts of the tasks.
    pub slices: Vec<Slice>,
    /// Tests against the baseline; empty for the baseline itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Tested>,
    /// How often the main measure differs from the baseline's by how much, in the direction of
    /// better, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<DifferenceCount>,
    /// The tasks with the largest differences of the main measure, gains first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ReportedChange>,
}

/// The mean of a measure with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Name of the measure.
    pub measure: String,
    /// Mean over the tasks that it says something about.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Number of these tasks.
    pub n: usize,
}

/// Scores over a part of the tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// What the tasks were divided by, such as `language`; `gold` for the number of right skills and whether
    /// they are known, `step category` for the sub-tasks of one category, of which there is CatR@1 only.
    pub key: String,
    /// What these have, such as `zh`.
    pub value: String,
    /// Number of tasks.
    pub n_tasks: usize,
    /// The headline measures.
    pub measures: Vec<Measured>,
}

/// How many tasks differ by so much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DifferenceCount {
    /// Difference of the main measure; above 0 the system is better.
    pub difference: f64,
    /// Number of tasks.
    pub n_tasks: usize,
}

/// A task whose main measure differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedChange {
    /// The task.
    pub task_id: String,
    /// What it asks for.
    pub query: String,
    /// The baseline's value.
    pub baseline: f64,
    /// The system's value.
    pub system: f64,
}

impl Report {
    /// Returns the report on the scores.
    ///
    /// # Errors
    /// [`Error::NoSystem`] if there is none, or none at the position of the baseline.
    pub fn new(scores: &Scores<'_>, options: &ReportOptions<'_>) -> Result<Self, Error> {
        let dataset = scores.dataset;
        let measures = scores.measures();
        let named = |name: &&&str| measures.iter().any(|measure| measure.name == **name);
        let headline: Vec<&str> = options.headline.iter().filter(named).copied().collect();
        let baseline = scores.systems.get(options.baseline).ok_or(Error::NoSystem)?;
        let context =
            Context { scores, measures: &measures, headline: &headline, baseline, options };
        let mut systems: Vec<SystemReport> =
            scores.systems.iter().map(|system| context.system(system)).collect();
        let mut n_tests = 0;
        for at in 0..scores.views().len() {
            let of_view = systems.iter_mut().flat_map(|system| &mut system.views[at].tests);
            n_tests = correct(of_view.filter(|test| headline.contains(&test.measure.as_str())));
        }
        let BootstrapConfig { n_resamples, level, seed, .. } = options.bootstrap;
        Ok(Self {
            format: REPORT_FORMAT,
            dataset: dataset.name.clone(),
            n_tasks: dataset.tasks.len(),
            n_unscored: dataset.n_unscored,
            n_without_gold: dataset.tasks.iter().filter(|task| task.needs_no_skill()).count(),
            setting: options.setting.cloned().unwrap_or_default(),
            statistics: Statistics {
                seed,
                n_resamples,
                level,
                significance: SIGNIFICANCE,
                n_tests,
            },
            measures: measures.iter().map(|measure| MeasureNote::new(measure)).collect(),
            headline: headline.iter().map(|name| (*name).to_owned()).collect(),
            baseline: baseline.name.to_owned(),
            systems,
        })
    }

    /// Returns the report as JSON, with a line feed at its end.
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// Returns the views that there are.
    pub fn views(&self) -> Vec<View> {
        let first = self.systems.first();
        first.map_or_else(Vec::new, |system| system.views.iter().map(|view| view.view).collect())
    }

    /// Returns which values of a measure are good.
    pub(crate) fn direction(&self, measure: &str) -> Direction {
        let note = self.measures.iter().find(|note| note.name == measure);
        note.map_or(Direction::HigherIsBetter, |note| note.direction)
    }
}

impl SystemReport {
    /// Returns what the system scored in a view.
    pub fn view(&self, view: View) -> Option<&ViewReport> {
        self.views.iter().find(|report| report.view == view)
    }
}

impl ViewReport {
    /// Returns the mean of a measure, if it says something about the system.
    pub fn measured(&self, measure: &str) -> Option<&Measured> {
        self.measures.iter().find(|measured| measured.measure == measure)
    }

    /// Returns the test of a measure against the baseline.
    pub fn test(&self, measure: &str) -> Option<&Tested> {
        self.tests.iter().find(|test| test.measure == measure)
    }
}

impl Measured {
    pub(super) fn new(measure: &str, interval: &stats::Interval) -> Self {
        let stats::Interval { mean, low, high, n, .. } = *interval;
        Self { measure: measure.to_owned(), mean, low, high, n }
    }
}

impl MeasureNote {
    fn new(measure: &Measure) -> Self {
        Self {
            name: measure.name.to_owned(),
            source: measure.source.to_owned(),
            formula: measure.formula.to_owned(),
            direction: measure.direction,
        }
    }
}

/// What every part of a report is made from.
pub(super) struct Context<'a> {
    pub(super) scores: &'a Scores<'a>,
    measures: &'a [&'static Measure],
    pub(super) headline: &'a [&'a str],
    baseline: &'a SystemScores<'a>,
    pub(super) options: &'a ReportOptions<'a>,
}

impl Context<'_> {
    fn system(&self, system: &SystemScores<'_>) -> SystemReport {
        SystemReport {
            name: system.name.to_owned(),
            config: system.config.to_owned(),
            n_refused: system.rows.iter().filter(|row| row.answer.refused.is_some()).count(),
            n_other_bodies: self
                .cases(system)
                .filter(|case| paging::shown(case) == paging::Shown::OtherBody)
                .count(),
            views: self.scores.views().iter().map(|view| self.view(system, *view)).collect(),
            confidence: Confidence::new(self.scores.dataset, system),
            cardinality: self.cardinality(system),
            token_reduction: token_reduction(
                system.rows.iter().flat_map(|row| row.answer.pages.iter().flatten()),
            ),
        }
    }

    /// Returns the tasks with what a system said to them.
    fn cases<'c>(&'c self, system: &'c SystemScores<'_>) -> impl Iterator<Item = Case<'c>> {
        let Dataset { tasks, categories, .. } = self.scores.dataset;
        let pairs = tasks.iter().zip(&system.rows);
        pairs.map(move |(task, row)| Case { task, answer: &row.answer, categories })
    }

    fn cardinality(&self, system: &SystemScores<'_>) -> Option<CardinalityCalibration> {
        let calibration = calibrate_cardinality(self.cases(system));
        (!calibration.buckets.is_empty()).then_some(calibration)
    }

    fn view(&self, system: &SystemScores<'_>, view: View) -> ViewReport {
        let names: Vec<&str> = self.measures.iter().map(|measure| measure.name).collect();
        let is_baseline = system.name == self.baseline.name;
        let tests = if is_baseline { Vec::new() } else { self.tests(system, view) };
        let (differences, changes) =
            if is_baseline { <_>::default() } else { self.differences(system, view) };
        ViewReport {
            view,
            measures: self.measured(system, view, &names, None),
            recall_curve: recall_curve(self.scores, system, view),
            slices: self.slices(system, view),
            tests,
            differences,
            changes,
        }
    }

    /// Returns the means of measures, over all tasks or those at some positions.
    pub(super) fn measured(
        &self,
        system: &SystemScores<'_>,
        view: View,
        names: &[&str],
        tasks: Option<&[usize]>,
    ) -> Vec<Measured> {
        let column = |name: &&str| {
            let column = system.column(view, name);
            tasks.map_or_else(
                || column.to_vec(),
                |tasks| tasks.iter().map(|task| column[*task]).collect(),
            )
        };
        let (names, columns): (Vec<&str>, Vec<Vec<Option<f64>>>) = names
            .iter()
            .map(|name| (*name, column(name)))
            .filter(|(_, column)| column.iter().any(Option::is_some))
            .unzip();
        let intervals = stats::bootstrap_means(&columns, &self.options.bootstrap);
        let pairs = names.into_iter().zip(intervals);
        pairs.map(|(name, interval)| Measured::new(name, &interval)).collect()
    }

    fn tests(&self, system: &SystemScores<'_>, view: View) -> Vec<Tested> {
        let test = |measure: &&'static Measure| {
            let of_system = system.column(view, measure.name);
            let of_baseline = self.baseline.column(view, measure.name);
            let has_both =
                of_system.iter().zip(of_baseline).any(|(a, b)| a.is_some() && b.is_some());
            let bootstrap = &self.options.bootstrap;
            has_both.then(|| Tested::new(measure, of_system, of_baseline, bootstrap))
        };
        self.measures.iter().filter_map(test).collect()
    }

    fn differences(
        &self,
        system: &SystemScores<'_>,
        view: View,
    ) -> (Vec<DifferenceCount>, Vec<ReportedChange>) {
        let main = self.measures.iter().find(|m| Some(&m.name) == self.headline.first());
        let Some(main) = main else { return <_>::default() };
        let columns =
            system.column(view, main.name).iter().zip(self.baseline.column(view, main.name));
        let pairs = columns.enumerate().filter_map(|(at, pair)| match pair {
            (Some(system), Some(baseline)) => Some((at, *system, *baseline)),
            _ => None,
        });
        let mut pairs: Vec<(f64, usize, f64, f64)> = pairs
            .map(|(at, system, baseline)| {
                (gain(main.direction, baseline, system), at, system, baseline)
            })
            .collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let same =
            |a: &(f64, usize, f64, f64), b: &(f64, usize, f64, f64)| (a.0 - b.0).abs() < NOISE;
        let counted = pairs
            .chunk_by(same)
            .map(|equal| DifferenceCount { difference: equal[0].0, n_tasks: equal.len() });
        let reported = |(_, at, system, baseline): &(f64, usize, f64, f64)| {
            let Task { id, query, .. } = &self.scores.dataset.tasks[*at];
            ReportedChange {
                task_id: id.clone(),
                query: query.clone(),
                baseline: *baseline,
                system: *system,
            }
        };
        let gains = pairs.iter().rev().take(N_CHANGES).filter(|pair| pair.0 > 0.0);
        let mut losses: Vec<_> = pairs.iter().filter(|pair| pair.0 < 0.0).collect();
        losses.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let changes = gains.chain(losses.into_iter().take(N_CHANGES)).map(reported).collect();
        (counted.collect(), changes)
    }
}

/// Returns the mean Recall@k over the tasks with gold for k = 1 to [`CURVE_DEPTH`], or to where the
/// longest ranking of all systems ends.
fn recall_curve(scores: &Scores<'_>, system: &SystemScores<'_>, view: View) -> Vec<f64> {
    let tasks = scores.dataset.tasks.iter().zip(&system.rows).enumerate();
    let with_gold: Vec<(usize, f64)> = tasks
        .filter(|(_, (task, row))| !task.gold.is_empty() && row.answer.ranking.is_some())
        .map(|(at, (task, _))| (at, task.gold.len() as f64))
        .collect();
    if with_gold.is_empty() {
        return Vec::new();
    }
    let rows = scores.systems.iter().flat_map(|system| &system.rows);
    let depth = rows.map(|row| row.answer.ranked().len()).max().unwrap_or(0);
    let at_k = |k: usize| {
        let recall = |(at, n_gold): &(usize, f64)| {
            let ranks = system.right_ranks(view, *at);
            ranks.iter().filter(|rank| **rank <= k).count() as f64 / n_gold
        };
        with_gold.iter().map(recall).sum::<f64>() / with_gold.len() as f64
    };
    (1..=depth.min(CURVE_DEPTH)).map(at_k).collect()
}
