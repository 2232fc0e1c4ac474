//! Trains the [`SetWeights`](skillmux::compose::SetWeights) by which a plan adds skills to the best one.
//!
//! Each task gives examples of every candidate of its rankings but the best: beside the best skill alone, and beside all other right
//! skills (teacher forcing). A logistic regression tells those that belong to the task. Every task counts the same in every library that
//! has its skills.

mod data;
mod fit;

pub use data::{SetExamples, SetScores, SetTasks};
