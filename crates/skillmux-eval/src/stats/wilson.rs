//! [`wilson`]: the interval of a rate.

use super::bootstrap::Interval;

/// The 97.5th percentile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Returns the 95 % score interval of a rate (Wilson 1927); `[0, 1]` of nothing.
pub fn wilson(n_hits: usize, n: usize) -> Interval {
    if n == 0 {
        return Interval { mean: 0.0, low: 0.0, high: 1.0, n };
    }
    let n_all = n;
    let (rate, n) = (n_hits as f64 / n as f64, n as f64);
    let scale = 1.0 + Z * Z / n;
    let centre = (rate + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
    let (low, high) = (f64::max(centre - half, 0.0), f64::min(centre + half, 1.0));
    Interval { mean: rate, low, high, n: n_all }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.binomtest(k, n).proportion_ci(method="wilson")`, to four digits.
    #[test]
    fn intervals_are_those_of_scipy() {
        for (n_hits, n, low, high) in
            [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (17, 130, 0.0833, 0.1995)]
        {
            let interval = wilson(n_hits, n);
            assert!((interval.low - low).abs() < 1e-4, "{n_hits}/{n}: {}", interval.low);
            assert!((interval.high - high).abs() < 1e-4, "{n_hits}/{n}: {}", interval.high);
        }
    }
}
