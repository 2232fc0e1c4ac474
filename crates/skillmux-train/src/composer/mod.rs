//! Trains the [`SetWeights`](skillmux::compose::SetWeights) by which a plan adds skills to the best
//! one.
//!
//! Each task gives examples of every candidate of its rankings but the best: beside the best skill
//! alone, and beside all other right skills (teacher forcing). Boosted trees tell those that
//! belong to the task. Every task counts the same in every library that has its skills. A
//! rejected candidate may weigh more than one of which nothing is known (R3 takes what a language
//! model rejected as grades; how is ours).

mod asked;
mod compare;
mod data;
mod fit;
mod scores;
#[cfg(feature = "transformer")]
pub mod sequence;
mod tasks;

pub use compare::{PlanGroup, PlanScores};
pub use data::{SetExamples, SetScores};
pub use fit::FitOptions;
pub use scores::TaskScores;
pub use tasks::SetTasks;
