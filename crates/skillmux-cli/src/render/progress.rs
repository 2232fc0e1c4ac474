//! How far a long command is.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use skillmux::text::one_line;

/// Returns a bar on the terminal that shows how much of something is done.
pub(crate) fn progress(n_all: usize, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{spinner} {human_pos} of {human_len} {msg} ({elapsed}, {eta} left)",
    );
    let bar = ProgressBar::new(n_all as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(one_line(what));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
