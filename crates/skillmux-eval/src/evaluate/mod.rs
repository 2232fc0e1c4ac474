//! Asks a system all tasks of a dataset: on all cores, with a journal to go on from.

mod asking;
mod cut;
mod journal;
mod rows;

pub use asking::{EvaluateOptions, evaluate};
pub use cut::apply_cut;
pub use rows::{Evaluation, Row};
