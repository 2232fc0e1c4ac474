//! Metrics of an answer to a task, each with its formula and source; and their means.
//!
//! [`measures`] lists those of one task. What needs all tasks at once is in [`abstention`],
//! [`set::calibrate_cardinality`] and [`latency`].
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use skillmux_eval::{
//!     answer::Answer,
//!     metric::{Case, measures},
//!     task::Task,
//! };
//!
//! let task = Task { gold: ["pdf-forms"].into_iter().collect(), ..Task::default() };
//! let ranking = [("pdf-merge".to_owned(), 9.5), ("pdf-forms".to_owned(), 7.0)];
//! let answer = Answer::of_ranking(ranking);
//! let case = Case { task: &task, answer: &answer, categories: &BTreeMap::new() };
//!
//! let value = |name| (measures().iter().find(|m| m.name == name).unwrap().of)(&case);
//! assert_eq!(value("MRR@10"), Some(0.5));
//! assert_eq!(value("Set F1"), None, "the answer only ranks");
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Qrels, Run,
    answer::Answer,
    task::{Gold, Task},
};

pub mod abstention;
pub mod chain;
pub mod latency;
mod measures;
pub mod paging;
mod ranking;
pub mod set;

pub(crate) use measures::GRADED;
pub use measures::measures;
pub use ranking::{
    completeness_at, full_coverage_at, hit_at, mrr_at, ndcg_at, ndcg_exponential_at,
    ndcg_graded_at, recall_at, set_compat,
};

/// A task and its answer.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The task.
    pub task: &'a Task,
    /// What a system said to it.
    pub answer: &'a Answer,
    /// Functional category by skill id.
    pub categories: &'a BTreeMap<String, String>,
}

/// Which values of a metric are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Direction {
    /// High ones.
    HigherIsBetter,
    /// Low ones.
    LowerIsBetter,
    /// Those near zero, on either side.
    NearZeroIsBetter,
}

/// A metric of one task.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// Name for tables, such as `Recall@10`.
    pub name: &'static str,
    /// What is computed, in one line for reports.
    pub formula: &'static str,
    /// Where it is defined, such as `SkillRouter §2.1`.
    pub source: &'static str,
    /// Which values are good.
    pub direction: Direction,
    /// Returns the value, or `None` if the metric says nothing about such a task or answer.
    pub of: fn(&Case<'_>) -> Option<f64>,
}

/// Returns the mean of a metric over all queries of the qrels; a query that the run does not
/// answer has an empty ranking. 0 if there are no queries.
pub fn mean(run: &Run, qrels: &Qrels, metric: impl Fn(&[String], &Gold) -> f64) -> f64 {
    let sum: f64 = qrels.iter().map(|(id, gold)| metric(run.ranking(id), gold)).sum();
    sum / qrels.n_queries().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unanswered_query_counts_as_zero() {
        let run = Run::parse("q1 Q0 a 1 1 t").unwrap();
        let qrels = Qrels::parse("q1 0 a 1\nq2 0 a 1").unwrap();
        let hit = mean(&run, &qrels, |ranking, gold| hit_at(1, ranking, gold));
        assert!((hit - 0.5).abs() < 1e-12);
    }
}
