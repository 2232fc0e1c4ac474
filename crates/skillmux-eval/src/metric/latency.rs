//! Percentiles of the time that answers take.

use serde::{Deserialize, Serialize};

/// How long a system took for each task, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Number of times.
    pub n: usize,
    /// Mean.
    pub mean_us: f64,
    /// Median.
    pub p50_us: u64,
    /// 90th percentile.
    pub p90_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// Longest time.
    pub max_us: u64,
}

impl Latency {
    /// Returns the mean and the percentiles of some times, in any order; all 0 without any.
    pub fn of(times_us: impl IntoIterator<Item = u64>) -> Self {
        let mut sorted: Vec<u64> = times_us.into_iter().collect();
        sorted.sort_unstable();
        let at = |percent| percentile(percent, &sorted).unwrap_or(0);
        Self {
            n: sorted.len(),
            mean_us: sorted.iter().map(|us| *us as f64).sum::<f64>() / sorted.len().max(1) as f64,
            p50_us: at(50),
            p90_us: at(90),
            p99_us: at(99),
            max_us: at(100),
        }
    }
}

/// Returns the least of some ascending values that at least `percent` of 100 of them do not exceed
/// (nearest rank: the one at rank ⌈percent · n / 100⌉); `None` without any.
///
/// As in `skillmux search --timings`.
pub(crate) fn percentile(percent: usize, ascending: &[u64]) -> Option<u64> {
    let rank = (ascending.len() * percent).div_ceil(100);
    ascending.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_at_the_nearest_rank() {
        let of = |percent| percentile(percent, &[15, 20, 35, 40, 50]);
        assert_eq!([5, 30, 40, 50, 100].map(of), [15, 20, 20, 35, 50].map(Some));
        assert_eq!(percentile(50, &[]), None);
    }

    #[test]
    fn times_may_be_in_any_order() {
        let found = Latency::of([40, 15, 50, 20, 35]);
        let expected =
            Latency { n: 5, mean_us: 32.0, p50_us: 35, p90_us: 50, p99_us: 50, max_us: 50 };
        assert_eq!(found, expected);
        assert_eq!(Latency::of([]), Latency::default());
    }
}
