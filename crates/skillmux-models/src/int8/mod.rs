//! Layers of BERT whose matrices hold signed bytes.
//!
//! What enters a matrix is rounded to unsigned bytes, so that products are whole numbers. A matrix
//! is cut into groups of inputs: each row of weights and each row of inputs has a scale a group.
//! The narrower the groups, the nearer the result is to that of 32-bit numbers, and the longer it
//! takes.

#[cfg_attr(
    not(feature = "embedded"),
    expect(dead_code, reason = "only the embedded verifier adapts")
)]
mod adapter;
mod layer;
mod linear;
#[cfg(feature = "checkpoint")]
mod rounded;
mod steps;
mod threads;

#[cfg(feature = "embedded")]
pub(crate) use self::adapter::{Adapter, LayerAdapter};
pub use self::linear::multiply_exactly;
#[cfg(feature = "checkpoint")]
pub(crate) use self::rounded::SharedLinear;
pub(crate) use self::{
    layer::{Layer, Norm, Workspace},
    linear::Linear,
    threads::{at_once, on_all_threads},
};
