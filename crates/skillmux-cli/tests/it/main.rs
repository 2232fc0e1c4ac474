//! The binary, run as its users run it.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

mod batch;
mod endpoint;
mod eval;
mod home;
mod installed;
mod judge;
mod kill;
mod mcp;
mod models;
mod pipes;
mod refusals;
mod snapshot;
mod synth;
