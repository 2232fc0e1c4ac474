//! Metrics of an answer to a task, each with its formula and source.
//!
//! [`measures`] lists those of one task. What needs all tasks at once is in [`abstention`],
//! [`set::CardinalityCalibration`] and [`latency`].
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

pub mod abstention;
pub(crate) mod chain;
pub mod latency;
mod measure;
mod measures;
pub(crate) mod paging;
mod ranking;
pub mod set;

pub use measure::{Case, Direction, Measure};
pub(crate) use measures::GRADED;
pub use measures::measures;
pub(crate) use ranking::indicator;
pub use ranking::{
    full_coverage_at, hit_at, mrr_at, ndcg_at, ndcg_graded_at, recall_at, set_compat,
};
