//! Training data for a library of one's own, written by a chat model and checked: queries that its
//! skills answer, distractors that look like its skills, tasks for sets of them that work together,
//! and what does not work for a task.
//!
//! Skills and answers are untrusted text: a skill reaches the model as a part of a JSON object, an
//! answer is parsed and checked and never acted on. `docs/synth.md` has the rules with their
//! thresholds.
//!
//! ```
//! use skillmux::{
//!     index::{Index, UpdateOptions},
//!     library::Library,
//!     model::{ChatModel, ChatRequest},
//! };
//! use skillmux_train::synth::{QueryOptions, TaskKind, WorkOptions, write_queries};
//!
//! /// A model that has one idea.
//! struct OneIdea;
//!
//! impl ChatModel for OneIdea {
//!     fn name(&self) -> &str {
//!         "one-idea"
//!     }
//!
//!     fn complete(&self, _: &ChatRequest) -> skillmux::Result<String> {
//!         let query = "Fill in claim.pdf from the rows of customers.csv, and list the empty fields.";
//!         Ok(format!("{{\"query\": \"{query}\"}}"))
//!     }
//! }
//!
//! # let folder = tempfile::tempdir()?;
//! # let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/library/documents");
//! # let path = folder.path().join("index");
//! # let out = folder.path().join("tasks.jsonl");
//! Index::update(&path, &Library::open([library])?, &UpdateOptions::default(), &mut |_| ())?;
//! let options = QueryOptions { kind: TaskKind::Short, share_zh: 0.0 };
//! let work = WorkOptions {
//!     out: &out,
//!     n_rows: 1,
//!     seed: 42,
//!     n_parallel: 1,
//!     max_attempts: 3,
//!     model_name: "one-idea",
//!     is_final: &|_| false,
//!     on_row: &|_| (),
//! };
//! let report = write_queries(&Index::open(&path)?, &OneIdea, &options, &work)?;
//! assert_eq!((report.n_written, report.refusals.len()), (1, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod distractor;
#[cfg(test)]
mod fixture;
mod name;
mod out;
mod prompt;
mod query;
mod refusal;
mod reject;
mod sample;
mod set_task;
mod task;
#[cfg(test)]
mod tests;
mod text;
mod work;

pub use distractor::{DistractorOptions, Strategy, write_distractors};
pub use query::{QueryOptions, TaskKind, write_queries};
pub use reject::{RejectOptions, RejectReason, write_rejects};
pub use set_task::{
    DrawReport, GraphSize, Meaning, QueryCounts, SetTaskOptions, SetTaskReport, SetTaskWriter,
    write_set_tasks,
};
pub use work::{WorkOptions, WorkReport};
