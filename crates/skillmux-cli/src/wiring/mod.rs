//! What skillmux adds to the settings of agents, and takes away again.
//!
//! ```text
//! profile of the agent + its files -> plan -> consent -> files + record
//! record + files -> undoing -> consent -> files as before
//! ```

mod document;
mod entry;
mod error;
mod file;
mod half_pairs;
mod json;
mod lines;
mod plan;
mod program;
mod record;
mod table;
mod undo;

pub(crate) use error::SettingsFileError;
pub(crate) use plan::{AgentPlan, Wired, Wiring, wired};
pub(crate) use program::program;
pub(crate) use record::Records;
pub(crate) use undo::{Undoing, undo};
