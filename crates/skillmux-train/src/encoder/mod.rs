//! Trains the [`StaticEncoder`](skillmux_models::StaticEncoder) by contrast (`SkillRouter` §4.2).
//!
//! A run has rounds. A round mines negatives with the encoder as it is, takes its share of the
//! steps, scores the held-out queries, and writes a checkpoint. The run stops early when the scores
//! no longer rise, and gives the encoder of the best round. The same data, options and seed give
//! the same bytes, whether a run was resumed or not.
//!
//! What is held out is decided by skill: a skill's name (without case and joints) that hashes to 0
//! of ten takes all its queries, and those of the skills that share its name, out of the training.

mod batch;
mod checkpoint;
mod corpus;
mod data;
mod folder;
mod log;
mod loss;
mod matrix;
mod negative;
mod options;
mod pair;
mod plot;
mod row_optimizer;
mod train;
mod validation;
mod weights;

pub use data::EncoderData;
pub use folder::{LOG, PLOT, RunFolder, RunStart};
pub use log::{LogLine, ValidationScores};
pub use negative::NegativeCounts;
pub use options::{EncoderOptions, FalseNegativeFilter};
pub use train::{TrainedEncoder, train_encoder};
