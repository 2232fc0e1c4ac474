//! Makes a [`Report`] of scores.

use super::{
    confidence::Confidence,
    context::Context,
    scores::{SystemScores, TaskScores, View},
    summary::{
        CURVE_DEPTH, DifferenceCount, MeasureNote, REPORT_FORMAT, Report, ReportOptions,
        ReportedChange, Statistics, SystemReport, ViewReport,
    },
    tested::{NOISE, SIGNIFICANCE, Tested, correct, gain},
};
use crate::{
    dataset::Dataset,
    error::Error,
    metric::{
        Case, Measure,
        paging::{self, token_reduction},
        set::{CardinalityCalibration, calibrate_cardinality},
    },
    stats::BootstrapConfig,
    task::Task,
};

/// Largest changes of a task that a report lists, of each direction.
const N_CHANGES: usize = 8;

impl Report {
    /// Returns the report on the scores.
    ///
    /// # Errors
    /// [`Error::NoSystem`] if there is none, or none at the position of the baseline.
    pub fn new(scores: &TaskScores<'_>, options: &ReportOptions<'_>) -> Result<Self, Error> {
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
}

impl Context<'_> {
    fn system(&self, system: &SystemScores<'_>) -> SystemReport {
        SystemReport {
            name: system.name.to_owned(),
            config: system.config.to_owned(),
            n_refused: system.rows.iter().filter(|row| row.answer.refused.is_some()).count(),
            n_other_bodies: self
                .cases(system)
                .filter(|case| paging::shown(case) == paging::ShownEvidence::OtherBody)
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
fn recall_curve(scores: &TaskScores<'_>, system: &SystemScores<'_>, view: View) -> Vec<f64> {
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
