//! Measures how well a router finds, composes and shows skills.
//!
//! ```text
//! dataset -> system -> evaluate -> metric -> stats -> report
//! ```
//!
//! - [`dataset`]: tasks with what is right for them, from files of eight shapes;
//! - [`system`]: what is measured, from plain baselines to the whole router, named by a short text;
//! - [`evaluate`]: asks a system all tasks, on all cores, and keeps a journal;
//! - [`execute`]: carries out plans with mock executors;
//! - [`metric`]: functions of one task and its answer, each with its formula and source;
//! - [`stats`]: intervals of means, and tests of two systems;
//! - [`report`]: what came out, for terminals, programs and pages, and as a folder to keep.
//!
//! A dataset knows no system, and a metric knows neither. [`cluster`] finds near-duplicates, so
//! that a copy of the right skill is right as well, and [`Run`] and [`Qrels`] read what other tools
//! write. No model is named here: systems ask those that they are given (see [`skillmux::model`]).
//!
//! From a dataset to a report:
//!
//! ```
//! use std::{path::Path, time::Duration};
//!
//! use skillmux::{
//!     index::{Index, UpdateOptions},
//!     library::Library,
//!     route::Router,
//! };
//! use skillmux_eval::{
//!     dataset::{Aliases, Dataset, DatasetLibrary, DatasetOptions},
//!     evaluate::{EvaluateOptions, evaluate},
//!     report::{Report, ReportOptions, TaskScores},
//!     system::{SystemContext, SystemSpec},
//! };
//!
//! # let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/eval");
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("index");
//! // Tasks, and the skills to choose from.
//! let mut dataset = Dataset::open(&fixtures.join("skillrouter"), None, DatasetOptions::default())?;
//! let Some(DatasetLibrary::Paths(paths)) = dataset.library.take() else { panic!("it brings skills") };
//! Index::update(&path, &Library::open(&paths)?, &UpdateOptions::default(), &mut |_| {})?;
//! let router = Router::open(&path)?;
//! let index = router.index();
//! dataset.bind(&Aliases::of(&index)?);
//!
//! // What systems say to the tasks; the clock is the caller's.
//! let context = SystemContext::new(&router, &index);
//! let options = EvaluateOptions {
//!     depth: 50,
//!     library: "",
//!     journal: None,
//!     clock: || Duration::ZERO,
//!     on_done: &|_| (),
//! };
//! let mut evaluations = Vec::new();
//! for spec in ["bm25", "tfidf"] {
//!     let system = SystemSpec::parse(spec)?.open(&context)?;
//!     evaluations.push(evaluate(system.as_ref(), &dataset, &options)?);
//! }
//!
//! // Every measure of every task, and what that says.
//! let scores = TaskScores::new(&dataset, &evaluations, None)?;
//! let report = Report::new(&scores, &ReportOptions::default())?;
//! assert_eq!((report.baseline.as_str(), report.headline[0].as_str()), ("bm25", "nDCG@10"));
//! assert!(report.to_text(80).contains("tfidf"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod answer;
pub mod cluster;
pub mod dataset;
mod error;
pub mod evaluate;
pub mod execute;
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
mod trec;

pub use error::{Error, ModelPort};
pub use fault::{Fault, Place};
pub use qrels::Qrels;
pub use run::Run;
pub use task::Gold;
pub use trec::TrecFormat;
