//! Fits the embedded models. Deterministic: the same examples give the same model.

mod calibration;

pub use calibration::{COVERAGE, fit_calibration};
