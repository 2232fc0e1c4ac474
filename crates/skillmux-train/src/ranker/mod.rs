//! Fits the weights of a [`LinearReranker`](skillmux::rerank::LinearReranker) to queries whose
//! skills are known.
//!
//! A query and its candidates are one list. The loss is the listwise cross-entropy of `SkillRouter`
//! (Eq. 2), or its pointwise one (Eq. 3) for comparison. All is decided by skill: a query is held
//! out for the scores, or kept to stop in time, if the name of any of its skills hashes so. The
//! same data, options and index give the same weights.

mod data;
mod fit;
mod libraries;
mod options;
mod scores;
mod train;

pub use data::RankerData;
pub use libraries::SmallLibraries;
pub use options::{NearDuplicates, RankerLoss, RankerOptions};
pub use scores::{Across, QueryScores, QuerySlice, RankerScores};
pub use train::{RankerExamples, TrainedRanker};
