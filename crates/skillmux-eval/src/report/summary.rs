//! [`Report`]: what a set of systems scored on a dataset.

use serde::{Deserialize, Serialize};

use super::{confidence::Confidence, scores::View, setting::Setting, tested::Tested};
use crate::{
    metric::{Direction, Measure, set::CardinalityCalibration},
    printable::json,
    stats::{self, BootstrapConfig},
};

/// Version of the report's JSON.
pub(crate) const REPORT_FORMAT: u32 = 1;

/// Ranks of the recall curve.
pub(crate) const CURVE_DEPTH: usize = 50;

/// Measures that head a report if they say something; the first of them is the main one.
pub(crate) const HEADLINE: [&str; 15] = [
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
    /// Version of this form.
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
    /// How the number of loaded skills follows the number of right ones, by id; if the system
    /// loads.
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
    /// What the tasks were divided by, such as `language`; `gold` for the number of right skills
    /// and whether they are known, `step category` for the sub-tasks of one category, of which
    /// there is CatR@1 only.
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
    /// Returns the report as JSON, with a line feed at its end.
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// Returns the views that there are.
    pub(crate) fn views(&self) -> Vec<View> {
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
    pub(crate) fn test(&self, measure: &str) -> Option<&Tested> {
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
    pub(super) fn new(measure: &Measure) -> Self {
        Self {
            name: measure.name.to_owned(),
            source: measure.source.to_owned(),
            formula: measure.formula.to_owned(),
            direction: measure.direction,
        }
    }
}
