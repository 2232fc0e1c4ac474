//! Fits the [`Calibration`](skillmux::compose::Calibration) by which a router abstains.

mod calibration;

pub use calibration::{COVERAGE, CalibrationExample, fit_calibration};
