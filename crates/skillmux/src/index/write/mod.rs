//! Brings an index up to date with a library, in one atomic commit.

mod builder;
mod options;
mod previous;
mod update;
mod vectors;

pub use options::{Progress, UpdateMode, UpdateOptions, UpdateOutcome, UpdateReport};
