//! [`Confidence`]: how far the confidence of a system can be relied on.

use serde::{Deserialize, Serialize};

use super::scores::{SystemScores, View};
use crate::{
    dataset::Dataset,
    metric::abstention::{
        Judged, Loading, RiskPoint, at_coverage, auroc, balanced_calibration_error, coverage_risk,
    },
};

/// Points of a curve at most.
const MAX_POINTS: usize = 200;

/// Share of the answerable tasks at which the false-load rate is reported.
const COVERAGE: f64 = 0.95;

/// How far the confidence of a system can be relied on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Tasks that some skill helps with.
    pub n_answerable: usize,
    /// Tasks that none helps with.
    pub n_unanswerable: usize,
    /// Chance that an answerable task gets more confidence than one that is not; if there are both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auroc: Option<f64>,
    /// Balanced calibration error; if there are both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration_error: Option<f64>,
    /// Share of the tasks without a right skill that load one, where 95 % of the others do; if
    /// there are both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_load_rate: Option<f64>,
    /// What happens if only the surest answers count, from few to all: the share of tasks that are
    /// answered, and the share of these whose first skill is wrong, by id.
    pub curve: Vec<RiskPoint>,
}

impl Confidence {
    /// Returns nothing if the system gives no confidence.
    pub(crate) fn new(dataset: &Dataset, system: &SystemScores<'_>) -> Option<Self> {
        let (mut judged, mut loadings) = (Vec::new(), Vec::new());
        for (at, (task, row)) in dataset.tasks.iter().zip(&system.rows).enumerate() {
            let Some(confidence) = row.answer.confidence.filter(|c| !c.is_nan()) else { continue };
            if task.gold.is_empty() && !task.needs_no_skill() {
                continue;
            }
            let is_right = system.right_ranks(View::ById, at).first() == Some(&1);
            judged.push(Judged { confidence, answerable: !task.gold.is_empty() });
            loadings.push(Loading { confidence, is_right });
        }
        if judged.is_empty() {
            return None;
        }
        let n_answerable = judged.iter().filter(|judged| judged.answerable).count();
        let n_unanswerable = judged.len() - n_answerable;
        let has_both = n_answerable > 0 && n_unanswerable > 0;
        Some(Self {
            n_answerable,
            n_unanswerable,
            auroc: has_both.then(|| auroc(&judged)),
            calibration_error: has_both.then(|| balanced_calibration_error(&judged)),
            false_load_rate: has_both.then(|| at_coverage(&judged, COVERAGE).false_load_rate),
            curve: thinned(&coverage_risk(&loadings)),
        })
    }
}

/// Returns some of the points, the last among them, so that the curve looks the same.
fn thinned(points: &[RiskPoint]) -> Vec<RiskPoint> {
    let mut kept: Vec<RiskPoint> = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let step = kept.last().map_or(1.0, |last| point.coverage - last.coverage);
        if at + 1 == points.len() || step * MAX_POINTS as f64 >= 1.0 {
            kept.push(*point);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_curve_keeps_its_ends() {
        let point = |n: f64| RiskPoint { threshold: 0.5, coverage: n / 9999.0, risk: n };
        let points: Vec<RiskPoint> = (1..=9999).map(|n| point(f64::from(n))).collect();
        let kept = thinned(&points);
        assert!(kept.len() <= MAX_POINTS + 1, "{}", kept.len());
        assert_eq!((kept[0], *kept.last().unwrap()), (point(1.0), point(9999.0)));
        assert_eq!(thinned(&points[..3]), [point(1.0), point(3.0)]);
    }
}
