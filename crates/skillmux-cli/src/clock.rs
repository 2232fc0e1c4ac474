//! The clock of the program; the engine reads none.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

/// Returns the time since the first call.
pub(crate) fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
