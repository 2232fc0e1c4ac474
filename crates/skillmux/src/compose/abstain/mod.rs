//! Whether the best skill of a ranking helps at all.

mod calibration;
mod evidence;
mod judge;
mod small_talk;
mod words;

pub use calibration::{Calibration, Calibrations};
pub use evidence::{Evidence, Features};
pub use judge::{Judgement, Verdict};

pub(crate) use judge::judge;
pub(crate) use small_talk::is_small_talk;
