//! Metrics of the skills that are loaded, whatever their order.
//!
//! A loaded skill counts once, however often it occurs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{measure::Case, ranking::indicator};
use crate::task::Gold;

/// Returns the harmonic mean of precision and recall, 2 |loaded ∩ gold| / (|loaded| + |gold|) (Set
/// F1, `SkillComposer` §5.2).
///
/// 1 if both are empty, as for unanswerable questions in `SQuAD` 2.0: a task without gold gives 1
/// to who loads nothing and 0 to who loads something. The papers' tasks all have gold.
pub fn set_f1<S: AsRef<str>>(loaded: &[S], gold: &Gold) -> f64 {
    let loaded = distinct(loaded);
    f1(loaded.iter().filter(|id| gold.contains(id)).count(), loaded.len(), gold.len())
}

/// Returns [`set_f1`] of the number of skills that are loaded and right, of those that are loaded,
/// and of those that are right.
pub(crate) fn f1(n_both: usize, n_loaded: usize, n_gold: usize) -> f64 {
    match n_loaded + n_gold {
        0 => 1.0,
        n => 2.0 * n_both as f64 / n as f64,
    }
}

/// Returns 1 if exactly the right skills are loaded, else 0 (Set EM, `SkillComposer` §5.2).
///
/// Loading nothing is right if no skill is.
pub(crate) fn set_em<S: AsRef<str>>(loaded: &[S], gold: &Gold) -> f64 {
    let loaded = distinct(loaded);
    indicator(loaded.len() == gold.len() && loaded.iter().all(|id| gold.contains(id)))
}

/// Returns |loaded| - |gold|: above 0 if too many skills are loaded, below 0 if too few.
///
/// The papers give no such number; its mean tells the direction of what `SkillComposer` Fig. 4
/// shows by |gold|, see [`calibrate_cardinality`].
pub(crate) fn cardinality_difference<S: AsRef<str>>(loaded: &[S], gold: &Gold) -> f64 {
    distinct(loaded).len() as f64 - gold.len() as f64
}

/// The tasks with the same number of right skills.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CardinalityBucket {
    /// Number of right skills; 0 for tasks that no skill helps with.
    pub n_gold: usize,
    /// Number of such tasks.
    pub n_tasks: usize,
    /// Mean number of loaded skills.
    pub mean_loaded: f64,
    /// Mean [`set_f1`].
    pub mean_set_f1: f64,
}

/// How the number of loaded skills follows the number of right ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardinalityCalibration {
    /// One for each number of right skills, ascending.
    pub buckets: Vec<CardinalityBucket>,
    /// Mean of [`CardinalityBucket::mean_set_f1`] over the buckets, each with the same weight; 0
    /// without any.
    pub macro_set_f1: f64,
}

/// Returns Set F1 and the mean number of loaded skills by the number of right ones, and the macro
/// average of Set F1 (`SkillComposer` §5.3 and Fig. 4).
///
/// Answers of a system that only ranks are left out.
pub(crate) fn calibrate_cardinality<'a>(
    cases: impl IntoIterator<Item = Case<'a>>,
) -> CardinalityCalibration {
    let mut sums: BTreeMap<usize, (usize, f64, f64)> = BTreeMap::new();
    for Case { task, answer, .. } in cases {
        if let Some(loaded) = answer.loaded.as_ref().filter(|_| task.gold_is_known()) {
            let (n_tasks, n_loaded, f1) = sums.entry(task.gold.len()).or_default();
            *n_tasks += 1;
            *n_loaded += distinct(loaded).len() as f64;
            *f1 += set_f1(loaded, &task.gold);
        }
    }
    let buckets: Vec<CardinalityBucket> = sums
        .into_iter()
        .map(|(n_gold, (n_tasks, n_loaded, f1))| CardinalityBucket {
            n_gold,
            n_tasks,
            mean_loaded: n_loaded / n_tasks as f64,
            mean_set_f1: f1 / n_tasks as f64,
        })
        .collect();
    let sum: f64 = buckets.iter().map(|bucket| bucket.mean_set_f1).sum();
    CardinalityCalibration { macro_set_f1: sum / buckets.len().max(1) as f64, buckets }
}

fn distinct<S: AsRef<str>>(ids: &[S]) -> BTreeSet<&str> {
    ids.iter().map(AsRef::as_ref).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{answer::Answer, task::Task};

    fn gold(ids: &[&str]) -> Gold {
        ids.iter().copied().collect()
    }

    /// Loaded a, b, c against b, d: precision 1/3, recall 1/2.
    #[test]
    fn f1_worked_by_hand() {
        let close = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-12);
        close(set_f1(&["a", "b", "c"], &gold(&["b", "d"])), 0.4);
        close(set_f1(&["d", "b", "b"], &gold(&["b", "d"])), 1.0);
        close(set_f1::<&str>(&[], &gold(&["b"])), 0.0);
        close(set_f1(&["b"], &gold(&[])), 0.0);
        close(set_f1::<&str>(&[], &gold(&[])), 1.0);
    }

    #[test]
    fn exact_match_ignores_order_and_repeats() {
        let em = |loaded: &[&str], right: &[&str]| set_em(loaded, &gold(right)) > 0.5;
        assert!(em(&["d", "b", "d"], &["b", "d"]));
        assert!(!em(&["b"], &["b", "d"]));
        assert!(!em(&["b", "d", "e"], &["b", "d"]));
        assert!(em(&[], &[]));
        assert!(!em(&["b"], &[]));
    }

    #[test]
    fn too_many_is_above_zero() {
        let off = |loaded: &[&str], right: &[&str]| cardinality_difference(loaded, &gold(right));
        assert!((off(&["a", "b", "c"], &["a"]) - 2.0).abs() < 1e-12);
        assert!((off(&[], &["a"]) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn buckets_weigh_the_same_in_the_macro_average() {
        let categories = BTreeMap::new();
        let case = |right: &[&str], loaded: Option<&[&str]>| {
            let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
            let task = Task { gold: gold(right), ..Task::default() };
            (task, Answer { loaded: loaded.map(owned), ..Answer::default() })
        };
        let cases = [
            case(&["a"], Some(&["a"])),
            case(&["a"], Some(&["a", "b", "c"])),
            case(&["a", "b"], Some(&["c"])),
            case(&["a", "b"], None),
        ];
        let found = calibrate_cardinality(cases.iter().map(|(task, answer)| Case {
            task,
            answer,
            categories: &categories,
        }));
        let bucket = |n_gold, n_tasks, mean_loaded, mean_set_f1| CardinalityBucket {
            n_gold,
            n_tasks,
            mean_loaded,
            mean_set_f1,
        };
        assert_eq!(found.buckets, [bucket(1, 2, 2.0, 0.75), bucket(2, 1, 1.0, 0.0)]);
        assert!((found.macro_set_f1 - 0.375).abs() < 1e-12);
    }
}
