//! Models of files, from the outside.

#![cfg(feature = "checkpoint")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

#[path = "../support/reference.rs"]
mod reference;

#[cfg(feature = "hub")]
#[path = "../support/hub.rs"]
mod mock_hub;

mod checkpoint;
#[cfg(feature = "hub")]
mod hub;
mod gguf;
mod model2vec;
mod preset;
mod refused;
mod tuning;
