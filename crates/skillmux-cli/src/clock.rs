//! The clocks of the program; the engine reads none.

use std::{
    sync::OnceLock,
    time::{Duration, Instant, SystemTime},
};

/// Returns the time since the first call.
pub(crate) fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Returns what time it is: only for what is kept in the cache, and for no answer.
#[expect(clippy::disallowed_methods, reason = "how old files are depends on nothing else")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}
