//! Two systems on the same tasks.

use serde::{Deserialize, Serialize};

use super::{
    bootstrap::{BootstrapConfig, NOISE, interval, resampled_means},
    wilcoxon::wilcoxon_signed_rank,
};

/// What two systems' values of the same tasks say about their difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedTest {
    /// Number of tasks.
    pub n: usize,
    /// Mean of the second system's value less the first one's; 0 without tasks.
    pub mean_difference: f64,
    /// Lower bound of the mean difference, as of [`bootstrap_mean`](super::bootstrap_mean).
    pub low: f64,
    /// Upper bound of the mean difference.
    pub high: f64,
    /// Two-sided p-value of the bootstrap: how often resamples of differences without a mean have
    /// one at least as large.
    pub p_bootstrap: f64,
    /// Two-sided p-value of [`wilcoxon_signed_rank`].
    pub p_wilcoxon: f64,
    /// Number of tasks with a higher value of the second system.
    pub n_wins: usize,
    /// Number of tasks with a lower value of the second system.
    pub n_losses: usize,
    /// Number of tasks with the same value.
    pub n_ties: usize,
}

/// Compares the second system's values with the first one's, task by task.
///
/// The bootstrap test shifts the differences to mean 0, as if the systems were equal, and counts
/// the resamples with a mean at least as far from 0 as the one that was found (Noreen 1989; Smucker
/// et al. 2007, §2.3): p = (1 + count) / (1 + resamples), so that it is never 0. The signs of the
/// differences are those of `b - a`, whether or not high values are good; values within 1e-12 are
/// the same.
///
/// # Panics
/// If the systems have different numbers of values, or a value is NaN or infinite.
pub fn compare_paired(a: &[f64], b: &[f64], config: &BootstrapConfig) -> PairedTest {
    assert_eq!(a.len(), b.len(), "every task has a value of each system");
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
    let resampled: Vec<f64> =
        resampled_means(&[&differences], config).into_iter().flatten().collect();
    let p_bootstrap = shifted_share(&differences, &resampled);
    let mean = interval(&differences, resampled, config.level);
    let count = |is: fn(f64) -> bool| differences.iter().filter(|d| is(**d)).count();
    PairedTest {
        n: differences.len(),
        mean_difference: mean.mean,
        low: mean.low,
        high: mean.high,
        p_bootstrap,
        p_wilcoxon: wilcoxon_signed_rank(&differences),
        n_wins: count(|d| d > NOISE),
        n_losses: count(|d| d < -NOISE),
        n_ties: count(|d| d.abs() <= NOISE),
    }
}

/// Returns the p-value of the bootstrap test; 1 without differences.
///
/// The mean of a resample of shifted differences is that of the plain ones less their mean.
fn shifted_share(differences: &[f64], resampled: &[f64]) -> f64 {
    let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
    let as_far = |other: &&f64| (**other - mean).abs() >= mean.abs() - NOISE;
    let n_as_far = resampled.iter().filter(as_far).count();
    (1 + n_as_far) as f64 / (1 + resampled.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: BootstrapConfig = BootstrapConfig { n_resamples: 999, level: 0.95, seed: 7 };

    #[test]
    fn wins_and_losses_are_of_the_second() {
        let found = compare_paired(&[0.0, 0.5, 1.0, 0.1 + 0.2], &[1.0, 0.5, 0.5, 0.3], &FAST);
        assert_eq!((found.n_wins, found.n_losses, found.n_ties), (1, 1, 2));
        assert!((found.mean_difference - 0.125).abs() < 1e-12);
        assert!(found.low < 0.0 && found.high > 0.0);
    }

    #[test]
    fn equal_systems_do_not_differ() {
        let found = compare_paired(&[0.0, 1.0, 0.5], &[0.0, 1.0, 0.5], &FAST);
        assert_eq!((found.p_bootstrap, found.p_wilcoxon), (1.0, 1.0));
        assert_eq!((found.mean_difference, found.low, found.high), (0.0, 0.0, 0.0));
        let none = compare_paired(&[], &[], &FAST);
        assert_eq!((none.n, none.p_bootstrap, none.p_wilcoxon), (0, 1.0, 1.0));
    }

    /// Of 60 tasks 20 get better and 5 worse: the sign test has p = 0.0041.
    #[test]
    fn both_tests_find_a_clear_difference() {
        let a: Vec<f64> = (0..60).map(|n| f64::from(u8::from(n < 5))).collect();
        let b: Vec<f64> = (0..60).map(|n| f64::from(u8::from((5..25).contains(&n)))).collect();
        let found = compare_paired(&a, &b, &FAST);
        assert!(found.p_bootstrap < 0.01 && found.p_wilcoxon < 0.01, "{found:?}");
        assert!(found.low > 0.05 && found.high < 0.45, "{found:?}");
        let back = compare_paired(&b, &a, &FAST);
        assert!((back.mean_difference + found.mean_difference).abs() < 1e-12);
        assert!((back.p_wilcoxon - found.p_wilcoxon).abs() < 1e-12);
    }
}
