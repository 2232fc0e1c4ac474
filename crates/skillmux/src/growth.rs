//! How the time of a function grows with the size of what it is given, for tests.

use std::time::{Duration, Instant};

/// Runs of each size; the shortest counts, for others had to wait for the machine.
const N_RUNS: usize = 5;

/// Trials before a function counts as too slow: the machine may be busy for all runs of one size.
const N_TRIALS: usize = 4;

/// Sizes are so many times apart. A function that is linear takes as many times longer, a quadratic
/// one that many squared: the bound is between the two.
const FACTOR: usize = 4;
const BOUND: u32 = 10;

/// A text that grows in its middle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growing<'a> {
    pub(crate) head: &'a str,
    /// What repeats.
    pub(crate) unit: &'a str,
    pub(crate) tail: &'a str,
}

/// Checks that `f` of a text of so many bytes takes about a fourth of the time for a fourth of
/// them.
pub(crate) fn assert_linear(unit: &str, n_bytes: usize, f: impl FnMut(&str)) {
    assert_linear_in(Growing { head: "", unit, tail: "" }, n_bytes, f);
}

/// Does the same for a text with a begin and an end; the bytes are those between.
pub(crate) fn assert_linear_in(growing: Growing<'_>, n_bytes: usize, mut f: impl FnMut(&str)) {
    let Growing { head, unit, tail } = growing;
    let mut shortest = |n_bytes: usize| {
        let text = format!("{head}{}{tail}", unit.repeat(n_bytes / unit.len()));
        let run = |_| {
            let started = Instant::now();
            f(&text);
            started.elapsed()
        };
        (0..N_RUNS).map(run).min().unwrap_or_default()
    };
    // Below this the clock, the caches and the memory of a busy machine say more than the function;
    // a quadratic one takes far more than ten times as long.
    let floor = Duration::from_millis(4);
    let mut seen = Vec::new();
    for _ in 0..N_TRIALS {
        let (small, large) = (shortest(n_bytes / FACTOR), shortest(n_bytes));
        if large < small.max(floor) * BOUND {
            return;
        }
        seen.push((small, large));
    }
    panic!("{growing:?}: {seen:?}");
}
