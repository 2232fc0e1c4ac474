//! The binary, run as its users run it.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

#[expect(dead_code, reason = "what writes them is that of the tests of the models")]
#[path = "../../../skillmux-models/tests/support/reference.rs"]
mod reference;

#[path = "../../../skillmux-models/tests/support/hub.rs"]
mod mock_hub;

mod batch;
mod compile;
mod decomposer;
mod doctor;
mod endpoint;
mod eval;
mod home;
mod hook;
mod hub;
mod init;
mod installed;
mod judge;
mod kill;
mod mcp;
mod models;
mod paging;
mod pipes;
mod published;
mod refusals;
mod sequence;
mod shell;
mod snapshot;
mod synth;
mod translation;
mod trust;
mod tuning;
mod user_tasks;
