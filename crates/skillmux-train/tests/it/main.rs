//! Training from the outside.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

mod encoder;
