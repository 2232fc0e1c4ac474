//! The engine from the outside: indexes on disk, and the contracts of the stages.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

#[path = "../support/term_encoder.rs"]
mod term_encoder;

mod composer;
mod concurrent;
mod copies;
mod corrupt;
mod encode;
mod encoder;
mod folder;
mod golden;
mod incremental;
mod library;
mod needs;
mod page;
mod pasted;
mod rankers;
mod rerankers;
mod retriever;
mod route;
mod trust;
