//! Brings an index up to date with a library, in one atomic commit.

mod before;
mod builder;
mod encode;
mod options;
mod previous;
mod texts;
mod update;
mod vectors;
mod written;

pub use encode::{EncodeReport, EncodeStep};
pub use options::{Progress, UpdateMode, UpdateOptions, UpdateOutcome, UpdateReport};
pub(crate) use texts::whole_text;
