//! Models of files, from the outside.

#![cfg(feature = "checkpoint")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

#[path = "../support/reference.rs"]
mod reference;

mod checkpoint;
mod refused;
mod tuning;
