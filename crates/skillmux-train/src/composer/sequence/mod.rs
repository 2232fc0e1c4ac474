//! Trains a [`SequenceModel`](skillmux_models::sequence::SequenceModel): the decoder of
//! `SkillComposer` section 4, over what routers found for tasks.
//!
//! The loss is that of the sequence, plus those of the set head and of the cardinality head. The
//! best epoch on validation tasks is kept; then the weights of Eq. 4.4 are fitted to them, one
//! after the other. Deterministic: the same examples, options and seed give the same bytes, and a
//! run that was stopped goes on as if it had not been.

mod checkpoint;
mod epoch;
mod example;
mod fusion;
mod loss;
mod options;
mod train;

pub use epoch::EpochLine;
pub use options::SequenceOptions;
pub use train::{TrainedSequence, train_sequence};
