//! Measures skill retrieval: TREC runs and qrels, and the metrics of the field.
//!
//! ```
//! use skillmux_eval::{Qrels, Run, metric};
//!
//! let run = Run::parse("q1 Q0 pdf-merge 1 9.5 demo\nq1 Q0 pdf-forms 2 7.0 demo\n")?;
//! let qrels = Qrels::parse("q1 0 pdf-forms 1\n")?;
//!
//! let mrr = metric::mean(&run, &qrels, |ranking, gold| metric::mrr_at(10, ranking, gold));
//! assert!((mrr - 0.5).abs() < 1e-12);
//! # Ok::<(), skillmux_eval::Error>(())
//! ```

pub mod answer;
pub mod cluster;
pub mod dataset;
mod error;
pub mod evaluate;
mod fault;
mod file;
pub mod metric;
mod printable;
mod qrels;
pub mod report;
pub mod run;
pub mod stats;
pub mod system;
pub mod task;

pub use error::{Error, ModelPort};
pub use fault::{Fault, Place};
pub use qrels::Qrels;
pub use run::Run;
pub use task::Gold;
