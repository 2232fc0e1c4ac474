//! Training from the outside.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

#[cfg(feature = "transformer")]
#[expect(dead_code, reason = "what writes them is that of the tests of the models")]
#[path = "../../../skillmux-models/tests/support/reference.rs"]
mod reference;

mod encoder;
mod pager;
#[cfg(feature = "transformer")]
mod sequence;
#[cfg(feature = "transformer")]
mod transformer;
