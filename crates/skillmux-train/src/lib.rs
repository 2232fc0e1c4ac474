//! Trains the models of `skillmux`, and has chat models write data to train on. Deterministic: the
//! same data, options and seed give the same model.

pub mod abstention;
pub mod encoder;
pub mod error;
mod random;
pub mod ranker;
pub mod synth;

pub use error::{Error, Result};
