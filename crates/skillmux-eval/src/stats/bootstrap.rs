//! Bootstrap intervals of means.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// How means are resampled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BootstrapConfig {
    /// Number of resamples.
    pub n_resamples: usize,
    /// Share of intervals that are to contain the truth, between 0 and 1.
    pub level: f64,
    /// Seed of the resamples: the same one gives the same numbers on every platform.
    pub seed: u64,
}

impl Default for BootstrapConfig {
    /// 10,000 resamples (`SkillWeaver` appendix G), 95 %, seed 42 (`SkillPager` Table 6).
    fn default() -> Self {
        Self { n_resamples: 10_000, level: 0.95, seed: 42 }
    }
}

/// A mean and where the true one is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean; 0 without values.
    pub mean: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Number of values.
    pub n: usize,
}

/// Returns the mean of some values and its bootstrap interval.
///
/// The interval is bias-corrected and accelerated (`BCa`, Efron and Tibshirani 1993, §14.3), as
/// `scipy.stats.bootstrap` computes it: for rates near 0 or 1 and skewed values, as metrics are, it
/// keeps its level better than the percentile interval. It never leaves the range of the values,
/// and is a point if all are the same.
///
/// # Panics
/// If a value is NaN or infinite.
pub fn bootstrap_mean(values: &[f64], config: &BootstrapConfig) -> Interval {
    let resampled = resampled_means(&[values], config);
    interval(values, resampled.into_iter().flatten().collect(), config.level)
}

/// Returns the mean of each column and its bootstrap interval, as [`bootstrap_mean`] does for the
/// values that are there.
///
/// Columns with equally many values share their draws, so that many metrics of the same tasks cost
/// little more than one. The numbers do not depend on the number of threads.
///
/// # Panics
/// If a value is NaN or infinite.
pub(crate) fn bootstrap_means(
    columns: &[Vec<Option<f64>>],
    config: &BootstrapConfig,
) -> Vec<Interval> {
    let present =
        |column: &Vec<Option<f64>>| -> Vec<f64> { column.iter().flatten().copied().collect() };
    let values: Vec<Vec<f64>> = columns.iter().map(present).collect();
    // Resamples depend on the number of values only: which tasks they are of plays no part.
    let mut by_len: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, values) in values.iter().enumerate() {
        by_len.entry(values.len()).or_default().push(at);
    }
    let mut intervals = vec![Interval::default(); columns.len()];
    for group in by_len.into_values() {
        let samples: Vec<&[f64]> = group.iter().map(|at| values[*at].as_slice()).collect();
        let resampled = resampled_means(&samples, config);
        let found: Vec<Interval> = samples
            .par_iter()
            .zip(resampled)
            .map(|(values, resampled)| interval(values, resampled, config.level))
            .collect();
        for (at, interval) in group.into_iter().zip(found) {
            intervals[at] = interval;
        }
    }
    intervals
}

/// Resamples of one stream of random numbers.
const CHUNK: usize = 64;

/// Columns that are summed at once: a row of them fills a cache line.
const LANES: usize = 8;

/// Returns the means of resamples of each column, in the order of the resamples; none for empty
/// columns.
///
/// The columns have one length. Every chunk of resamples has its own stream of random numbers, and
/// every sum is in the order of the draws, so that neither threads nor other columns change a bit.
///
/// # Panics
/// If a value is NaN or infinite.
pub(super) fn resampled_means(columns: &[&[f64]], config: &BootstrapConfig) -> Vec<Vec<f64>> {
    assert!(
        columns.iter().copied().flatten().all(|value| value.is_finite()),
        "a value is not finite"
    );
    let n_values = columns.first().map_or(0, |column| column.len());
    if n_values == 0 {
        return vec![Vec::new(); columns.len()];
    }
    let blocks: Vec<Vec<[f64; LANES]>> = columns
        .chunks(LANES)
        .map(|block| {
            let value =
                |row: usize, lane| block.get(lane).map_or(0.0, |column: &&[f64]| column[row]);
            let row = |row| std::array::from_fn(|lane| value(row, lane));
            (0..n_values).map(row).collect()
        })
        .collect();
    let starts: Vec<usize> = (0..config.n_resamples).step_by(CHUNK).collect();
    let chunks: Vec<Vec<f64>> = starts
        .par_iter()
        .map(|start| {
            let mut rng = stream(config.seed, (start / CHUNK) as u64);
            let n_resamples = CHUNK.min(config.n_resamples - start);
            let mut draws = vec![0; n_values];
            let mut means = Vec::with_capacity(n_resamples * columns.len());
            for _ in 0..n_resamples {
                draws.fill_with(|| below(n_values, &mut rng));
                for (block, columns) in blocks.iter().zip(columns.chunks(LANES)) {
                    let sums = sums(block, &draws);
                    means.extend(sums[..columns.len()].iter().map(|sum| sum / n_values as f64));
                }
            }
            means
        })
        .collect();
    let of_column = |at| {
        chunks
            .iter()
            .flat_map(move |means| means.iter().skip(at).step_by(columns.len()).copied())
            .collect()
    };
    (0..columns.len()).map(of_column).collect()
}

/// Returns the random numbers of a chunk.
fn stream(seed: u64, chunk: u64) -> ChaCha8Rng {
    // `seed_from_u64` may change with the crate; a seed in full does not.
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut rng = ChaCha8Rng::from_seed(bytes);
    rng.set_stream(chunk);
    rng
}

/// Returns a random number below `n`, which fits 32 bits.
///
/// Multiply and shift (Lemire 2019, without the rejection): the chances of two numbers differ by
/// less than `n / 2^32` of themselves. The ranges of `rand` may change with the crate.
fn below(n: usize, rng: &mut ChaCha8Rng) -> usize {
    ((u64::from(rng.next_u32()) * n as u64) >> 32) as usize
}

fn sums(rows: &[[f64; LANES]], draws: &[usize]) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for draw in draws {
        for (sum, value) in sums.iter_mut().zip(&rows[*draw]) {
            *sum += value;
        }
    }
    sums
}

/// Returns the mean of the values, and the interval from the means of their resamples.
pub(super) fn interval(values: &[f64], mut resampled: Vec<f64>, level: f64) -> Interval {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n.max(1) as f64;
    let deviations = || values.iter().map(|value| value - mean);
    let variation: f64 = deviations().map(|deviation| deviation.powi(2)).sum();
    if resampled.is_empty() || variation.sqrt() <= NOISE * mean.abs() {
        return Interval { mean, low: mean, high: mean, n };
    }
    resampled.sort_by(f64::total_cmp);
    // Efron and Tibshirani Eq. 14.15 for the mean, whose jackknife values need no jackknife.
    let acceleration =
        deviations().map(|deviation| deviation.powi(3)).sum::<f64>() / (6.0 * variation.powf(1.5));
    // Eq. 14.14; a resample with the same mean counts half.
    let noise = NOISE * mean.abs().max(variation.sqrt() / n as f64);
    let n_below = resampled.partition_point(|other| *other < mean - noise);
    let n_not_above = resampled.partition_point(|other| *other <= mean + noise);
    let n_halves = (n_below + n_not_above).clamp(1, 2 * resampled.len() - 1);
    let normal = Normal::standard();
    let bias = normal.inverse_cdf(n_halves as f64 / (2 * resampled.len()) as f64);
    // Eq. 14.10; the acceleration of a mean is at most 1/6, so that only levels near 1 need the
    // limit.
    let bound = |share: f64| {
        let z = bias + normal.inverse_cdf(share);
        let stretch = (1.0 - acceleration * z).max(f64::EPSILON);
        quantile(&resampled, normal.cdf(bias + z / stretch))
    };
    let tail = (1.0 - level) / 2.0;
    Interval { mean, low: bound(tail), high: bound(1.0 - tail), n }
}

/// Largest difference, as a share, that is taken for an error of rounding.
pub(super) const NOISE: f64 = 1e-12;

/// Returns a quantile of ascending values, with linear interpolation as in numpy.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of the last position is a position"
)]
fn quantile(ascending: &[f64], share: f64) -> f64 {
    let at = share * (ascending.len() - 1) as f64;
    let (low, high) = (ascending[at.floor() as usize], ascending[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const FAST: BootstrapConfig = BootstrapConfig { n_resamples: 199, level: 0.95, seed: 7 };

    /// Values in `[0, 1]`, half of them 0.
    fn skewed(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = stream(seed, u64::MAX);
        (0..n).map(|_| [0.0, 0.0, 0.0, 0.1, 0.5, 1.0][below(6, &mut rng)]).collect()
    }

    /// `scipy.stats.bootstrap(method="BCa")`, with the resamples that it drew.
    #[test]
    fn intervals_are_those_of_scipy() {
        let text = include_str!("../../tests/reference/reference.json");
        let reference: Value = serde_json::from_str(text).unwrap();
        let numbers =
            |value: &Value| -> Vec<f64> { serde_json::from_value(value.clone()).unwrap() };
        for case in reference["bca"].as_array().unwrap() {
            let level = case["level"].as_f64().unwrap();
            let found =
                interval(&numbers(&case["values"]), numbers(&case["resampled_means"]), level);
            assert!((found.low - case["low"].as_f64().unwrap()).abs() < 1e-9, "{found:?}");
            assert!((found.high - case["high"].as_f64().unwrap()).abs() < 1e-9, "{found:?}");
        }
    }

    /// The truth of each of 600 samples is known; the number of hits is within 2.6 standard
    /// deviations of the nominal one, as it is in 99 of 100 runs of a method that keeps its word.
    #[test]
    fn intervals_contain_the_truth_at_the_nominal_rate() {
        const N_SAMPLES: u32 = 600;
        let bernoulli = |seed: u64| -> Vec<f64> {
            let mut rng = stream(seed, u64::MAX);
            (0..120).map(|_| f64::from(u8::from(below(10, &mut rng) < 4))).collect()
        };
        let rates =
            [(bernoulli as fn(u64) -> Vec<f64>, 0.4), (|seed| skewed(120, seed), 1.6 / 6.0)];
        for (sample, truth) in rates {
            // The samples share the draws of their resamples, which keeps the test short.
            let column = |seed| sample(u64::from(seed)).into_iter().map(Some).collect();
            let columns: Vec<_> = (0..N_SAMPLES).map(column).collect();
            let config = BootstrapConfig { n_resamples: 499, ..FAST };
            let found = bootstrap_means(&columns, &config);
            let hits = found.iter().filter(|found| found.low <= truth && truth <= found.high);
            let rate = hits.count() as f64 / f64::from(N_SAMPLES);
            let tolerance = 2.6 * (0.95 * 0.05 / f64::from(N_SAMPLES)).sqrt();
            assert!((rate - 0.95).abs() < tolerance, "{rate} of the intervals contain {truth}");
        }
    }

    #[test]
    fn many_columns_give_what_each_gives_alone() {
        let mut columns: Vec<Vec<Option<f64>>> =
            (0..11).map(|seed| skewed(50, seed).into_iter().map(Some).collect()).collect();
        columns[3][7] = None;
        columns[4] = vec![None; 50];
        columns[5][0] = None;
        let found = bootstrap_means(&columns, &FAST);
        for (column, found) in columns.iter().zip(found) {
            let values: Vec<f64> = column.iter().flatten().copied().collect();
            assert_eq!(found, bootstrap_mean(&values, &FAST));
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let columns = vec![skewed(50, 1).into_iter().map(Some).collect()];
        let on = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| bootstrap_means(&columns, &FAST))
        };
        assert_eq!(on(1), on(3));
    }

    /// The draws are part of what a seed promises.
    #[test]
    fn the_draws_of_a_seed_stay() {
        let draws: Vec<usize> = {
            let mut rng = stream(42, 3);
            (0..8).map(|_| below(1000, &mut rng)).collect()
        };
        assert_eq!(draws, [274, 456, 239, 671, 409, 871, 304, 943]);
    }

    #[test]
    fn equal_values_are_certain() {
        let at = |mean, n| Interval { mean, low: mean, high: mean, n };
        assert_eq!(bootstrap_mean(&[1.0; 9], &FAST), at(1.0, 9));
        assert_eq!(bootstrap_mean(&[0.25], &FAST), at(0.25, 1));
        assert_eq!(bootstrap_mean(&[], &FAST), at(0.0, 0));
        let tenths = bootstrap_mean(&[0.1; 7], &FAST);
        assert!((tenths.high - tenths.low).abs() < 1e-15);
    }

    #[test]
    fn few_resamples_give_an_interval_all_the_same() {
        let values = [0.0, 0.0, 0.0, 1.0];
        for n_resamples in [1, 2, 3] {
            for level in [0.5, 0.999_999] {
                let config = BootstrapConfig { n_resamples, level, ..FAST };
                let found = bootstrap_mean(&values, &config);
                assert!(0.0 <= found.low && found.low <= found.high && found.high <= 1.0);
            }
        }
    }

    #[test]
    #[should_panic(expected = "not finite")]
    fn nan_is_refused() {
        bootstrap_mean(&[0.5, f64::NAN], &FAST);
    }
}
