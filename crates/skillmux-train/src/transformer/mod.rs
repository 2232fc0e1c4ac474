//! Tunes published transformers: encoders by contrast, cross-encoders by lists of candidates.
//!
//! A step reads some queries, each with a skill that answers it and with negatives that BM25 finds
//! for it. The loss of an encoder is `InfoNCE` over the skills of its micro-batch (`SkillRouter`
//! §4.2, Eq. 1), that of a cross-encoder the cross-entropy of the right skill among the candidates
//! of its query (§4.3). After some steps comes a round: the held-out queries are scored, the best
//! weights and a checkpoint are written. The same data, options and seed give the same bytes on one
//! machine, whether a run was resumed or not.
//!
//! What is held out is decided by the names of skills, as for the static encoder
//! ([`crate::encoder`]).

mod checkpoint;
mod data;
mod example;
mod log;
mod loss;
mod negative;
mod options;
mod reading;
mod step;
mod train;
mod validation;

pub use data::TransformerData;
pub use log::{TransformerEvent, TransformerLogLine, TransformerScores};
pub use options::TransformerOptions;
pub use train::{TrainedTransformer, TransformerJob, train_transformer};
