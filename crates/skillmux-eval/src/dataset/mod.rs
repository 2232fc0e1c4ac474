//! Datasets: tasks with what is right for them, and the skills to choose from.
//!
//! `docs/datasets.md` describes every format field by field.
//!
//! ```
//! use skillmux_eval::dataset::{Dataset, DatasetOptions};
//! use std::path::Path;
//!
//! # let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/eval");
//! // The kind is told from the files in the folder.
//! let dataset = Dataset::open(&fixtures.join("skillrouter"), None, DatasetOptions::default())?;
//!
//! assert_eq!(dataset.name, "skillrouter");
//! assert!(dataset.tasks[0].gold.contains("databases/postgres-query-tuning"));
//! # Ok::<(), skillmux_eval::Error>(())
//! ```

mod aliases;
mod bilingual;
pub mod build;
mod comp_skill_bench;
mod composition;
mod contents;
mod entries;
mod intra_skill_bench;
mod kind;
mod language;
mod needs;
mod open;
mod pairs;
mod r3;
mod record;
pub(crate) mod shard;
mod skillrouter;
pub mod split;
mod task_list;
mod trec;

pub use aliases::{Aliases, Lookup};
pub use bilingual::BilingualSplit;
pub use contents::{Binding, Dataset, DatasetLibrary};
pub use kind::DatasetKind;
pub use needs::Needs;
pub use open::DatasetOptions;
pub use shard::write_shard;
pub use skillrouter::Tier;
pub use trec::Unjudged;

#[cfg(test)]
mod tests;
