//! Metrics of the decision whether to load a skill, and of the confidence behind it.

use serde::{Deserialize, Serialize};

use super::{measure::Case, ranking::indicator};

/// A confidence, and whether some skill helps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Estimate in `[0, 1]`; not NaN.
    pub confidence: f32,
    /// Whether the query is answerable.
    pub answerable: bool,
}

/// A point of the trade between loading for tasks that need a skill and for those that do not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OperatingPoint {
    /// Lowest confidence at which a skill is loaded.
    pub threshold: f32,
    /// Share of the answerable queries that load.
    pub coverage: f64,
    /// Share of the unanswerable queries that load all the same.
    pub false_load_rate: f64,
}

/// A confidence, and whether loading was right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Loading {
    /// Estimate in `[0, 1]`; not NaN.
    pub confidence: f32,
    /// Whether the first skill helps; false for a task that none helps with.
    pub is_right: bool,
}

/// A point of the risk-coverage curve (El-Yaniv and Wiener 2010, §2).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RiskPoint {
    /// Lowest confidence at which a skill is loaded.
    pub threshold: f32,
    /// Share of all tasks that load.
    pub coverage: f64,
    /// Share of the loading tasks that load the wrong skill.
    pub risk: f64,
}

/// Bins of equal width of [`balanced_calibration_error`].
const N_BINS: usize = 10;

/// Returns the chance that an answerable query is more confident than an unanswerable one; ties
/// count half. NaN without one of each.
pub fn auroc(judged: &[Judged]) -> f64 {
    let mut sorted = judged.to_vec();
    sorted.sort_by(|a, b| a.confidence.total_cmp(&b.confidence));
    let (mut wins, mut n_below) = (0.0, 0.0);
    for ties in sorted.chunk_by(|a, b| a.confidence.total_cmp(&b.confidence).is_eq()) {
        let n_answerable = ties.iter().filter(|judged| judged.answerable).count() as f64;
        let n_unanswerable = ties.len() as f64 - n_answerable;
        wins += n_answerable * (n_below + n_unanswerable / 2.0);
        n_below += n_unanswerable;
    }
    wins / (n_below * (judged.len() as f64 - n_below))
}

/// Returns what a threshold does; a rate of no queries is 0.
fn at_threshold(judged: &[Judged], threshold: f32) -> OperatingPoint {
    let rate = |answerable: bool| {
        let of_class = || judged.iter().filter(|judged| judged.answerable == answerable);
        let n_loaded = of_class().filter(|judged| judged.confidence >= threshold).count();
        n_loaded as f64 / of_class().count().max(1) as f64
    };
    OperatingPoint { threshold, coverage: rate(true), false_load_rate: rate(false) }
}

/// Returns the point of the highest threshold that covers at least this share of the answerable.
pub fn at_coverage(judged: &[Judged], coverage: f64) -> OperatingPoint {
    let answerable = judged.iter().filter(|judged| judged.answerable);
    let mut confidences: Vec<f32> = answerable.map(|judged| judged.confidence).collect();
    confidences.sort_by(|a, b| b.total_cmp(a));
    let enough = |n: &usize| *n as f64 >= coverage * confidences.len() as f64;
    let n_covered = (1..=confidences.len()).find(enough).unwrap_or(0);
    let threshold = n_covered.checked_sub(1).map_or(1.0, |last| confidences[last]);
    at_threshold(judged, threshold)
}

/// Returns the risk of each coverage that a threshold can reach, from the highest threshold to the
/// lowest (risk-coverage curve, El-Yaniv and Wiener 2010, §2).
///
/// The risk is the share of errors among what is loaded, so that the last point, where every task
/// loads, has the error rate of a router that never abstains.
pub(crate) fn coverage_risk(loadings: &[Loading]) -> Vec<RiskPoint> {
    let mut sorted = loadings.to_vec();
    sorted.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let (mut n_loaded, mut n_wrong) = (0, 0);
    let point = |ties: &[Loading]| {
        n_loaded += ties.len();
        n_wrong += ties.iter().filter(|loading| !loading.is_right).count();
        RiskPoint {
            threshold: ties[0].confidence,
            coverage: n_loaded as f64 / loadings.len() as f64,
            risk: n_wrong as f64 / n_loaded as f64,
        }
    };
    sorted.chunk_by(|a, b| a.confidence.total_cmp(&b.confidence).is_eq()).map(point).collect()
}

/// Returns 1 if something is loaded for a task that some skill helps with, else 0; its mean is the
/// coverage.
///
/// `None` for other tasks, and for a system that only ranks.
pub(crate) fn coverage(case: &Case<'_>) -> Option<f64> {
    if case.task.some_skill_helps() { loads(case) } else { None }
}

/// Returns 1 if something is loaded for a task that no skill helps with, else 0; its mean is the
/// false-load rate.
///
/// `None` for other tasks, and for a system that only ranks.
pub(crate) fn false_load(case: &Case<'_>) -> Option<f64> {
    if case.task.needs_no_skill() { loads(case) } else { None }
}

/// Returns 1 if a skill is loaded that is known to be wrong for the task, else 0.
///
/// The first skill counts as loaded if the system only ranks. `None` if the task rejects no skill,
/// and for a system that neither loads nor ranks.
pub(crate) fn rejected_load(case: &Case<'_>) -> Option<f64> {
    let rejected = &case.task.rejected;
    let is_loaded = if let Some(loaded) = &case.answer.loaded {
        loaded.iter().any(|id| rejected.contains(id))
    } else {
        let first = case.answer.ranking.as_ref()?.first();
        first.is_some_and(|best| rejected.contains(&best.skill_id))
    };
    (!rejected.is_empty()).then(|| indicator(is_loaded))
}

fn loads(case: &Case<'_>) -> Option<f64> {
    case.answer.loaded.as_ref().map(|loaded| indicator(!loaded.is_empty()))
}

/// Returns the balanced calibration error: the mean distance between confidence and truth over ten
/// bins of equal width, with the answerable and the unanswerable queries counting half each.
///
/// The expected calibration error (Naeini et al. 2015, §2) counts each query the same. It would
/// change with the share of unanswerable queries, which a dataset chooses freely.
pub fn balanced_calibration_error(judged: &[Judged]) -> f64 {
    let n_answerable = judged.iter().filter(|judged| judged.answerable).count() as f64;
    let n_unanswerable = judged.len() as f64 - n_answerable;
    let mut gaps = [0.0; N_BINS];
    for Judged { confidence, answerable } in judged {
        let n_of_class = if *answerable { n_answerable } else { n_unanswerable };
        let truth = indicator(*answerable);
        let is_above = |edge: &usize| confidence * N_BINS as f32 >= *edge as f32;
        let bin = (1..N_BINS).take_while(is_above).count();
        gaps[bin] += (f64::from(*confidence) - truth) / (2.0 * n_of_class);
    }
    gaps.iter().map(|gap| gap.abs()).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{answer::Answer, task::Task};

    fn judged(answerable: &[f32], unanswerable: &[f32]) -> Vec<Judged> {
        let of = |confidences: &[f32], answerable| -> Vec<Judged> {
            confidences.iter().map(|c| Judged { confidence: *c, answerable }).collect()
        };
        [of(answerable, true), of(unanswerable, false)].concat()
    }

    #[test]
    fn auroc_counts_pairs_in_order_and_ties_half() {
        assert!((auroc(&judged(&[0.9, 0.8], &[0.1, 0.2])) - 1.0).abs() < 1e-12);
        assert!((auroc(&judged(&[0.5], &[0.5])) - 0.5).abs() < 1e-12);
        assert!((auroc(&judged(&[0.9, 0.3], &[0.5, 0.3])) - 0.625).abs() < 1e-12);
    }

    #[test]
    fn coverage_is_reached_by_the_highest_threshold() {
        let point = at_coverage(&judged(&[0.9, 0.8, 0.7, 0.2], &[0.75, 0.1]), 0.75);
        let expected = OperatingPoint { threshold: 0.7, coverage: 0.75, false_load_rate: 0.5 };
        assert_eq!(point, expected);
    }

    #[test]
    fn calibration_error_is_zero_where_confidence_is_the_rate() {
        let fair = judged(&[0.75, 0.75, 0.75, 0.25], &[0.25, 0.25, 0.25, 0.75]);
        assert!(balanced_calibration_error(&fair) < 1e-6);
        let sure = judged(&[1.0], &[1.0]);
        assert!((balanced_calibration_error(&sure) - 0.5).abs() < 1e-6);
    }

    /// One right at 0.9; one right and one wrong at 0.7; one wrong at 0.1.
    #[test]
    fn risk_worked_by_hand() {
        let loading = |confidence, is_right| Loading { confidence, is_right };
        let loadings =
            [loading(0.7, true), loading(0.1, false), loading(0.9, true), loading(0.7, false)];
        let point = |threshold, coverage, risk| RiskPoint { threshold, coverage, risk };
        let expected = [point(0.9, 0.25, 0.0), point(0.7, 0.75, 1.0 / 3.0), point(0.1, 1.0, 0.5)];
        assert_eq!(coverage_risk(&loadings), expected);
    }

    #[test]
    fn loads_are_judged_by_task() {
        let judge_with = |rejected: &[&str], gold: &[&str], answer: &Answer| {
            let task = Task {
                gold: gold.iter().copied().collect(),
                rejected: rejected.iter().map(|id| (*id).to_owned()).collect(),
                ..Task::default()
            };
            let case = Case { task: &task, answer, categories: &BTreeMap::new() };
            (coverage(&case), false_load(&case), rejected_load(&case))
        };
        let judge = |gold: &[&str], answer: &Answer| judge_with(&["bad"], gold, answer);
        let loads = |ids: &[&str]| Answer {
            loaded: Some(ids.iter().map(|id| (*id).to_owned()).collect()),
            ..Answer::of_ranking([("bad".to_owned(), 1.0)])
        };
        assert_eq!(judge(&["a"], &loads(&["b"])), (Some(1.0), None, Some(0.0)));
        assert_eq!(judge(&["a"], &loads(&[])), (Some(0.0), None, Some(0.0)));
        assert_eq!(judge_with(&[], &[], &loads(&["b"])), (None, Some(1.0), None));
        assert_eq!(judge_with(&[], &[], &loads(&[])), (None, Some(0.0), None));
        // Another skill may be right where only one is known to be wrong.
        assert_eq!(judge(&[], &loads(&["b", "bad"])), (None, None, Some(1.0)));
        let ranks = Answer::of_ranking([("bad".to_owned(), 1.0)]);
        assert_eq!(judge(&["a"], &ranks), (None, None, Some(1.0)));
    }
}
