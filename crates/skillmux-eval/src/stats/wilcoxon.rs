//! The signed-rank test of Wilcoxon.

use statrs::function::erf::erfc;

/// Most differences for which the exact distribution is used, if they are all different and none
/// is 0.
const MAX_EXACT: usize = 50;

/// Most differences for which the exact distribution is used in any case.
const MAX_EXACT_TIED: usize = 13;

/// Smallest distance of two differences; nearer ones are ties but for rounding.
const RESOLUTION: f64 = 1e-12;

/// Returns the two-sided p-value of the signed-rank test that differences are symmetric about 0
/// (Wilcoxon 1945); 1 if all are 0.
///
/// As `scipy.stats.wilcoxon` with its defaults: differences of 0 are dropped, ties share their mean
/// rank, and the p-value is exact for at most 50 differences without ties and zeros, and for at
/// most 13 otherwise; else it is that of the normal approximation, corrected for ties but not for
/// continuity. Differences are rounded to 1e-12 first, which scipy does not do, so that ties of
/// metrics are ties.
///
/// # Panics
/// If a difference is NaN or infinite.
pub fn wilcoxon_signed_rank(differences: &[f64]) -> f64 {
    assert!(differences.iter().all(|d| d.is_finite()), "a difference is not finite");
    let rounded = differences.iter().map(|d| (d / RESOLUTION).round());
    let mut nonzero: Vec<f64> = rounded.filter(|d| *d != 0.0).collect();
    nonzero.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let n = nonzero.len();
    if n == 0 {
        return 1.0;
    }
    // Twice the rank, so that the mean rank of ties is whole.
    let mut ranks: Vec<usize> = Vec::with_capacity(n);
    let mut rank_sum_above = 0;
    let mut tie_correction = 0.0;
    for ties in nonzero.chunk_by(|a, b| a.abs().total_cmp(&b.abs()).is_eq()) {
        let rank = 2 * ranks.len() + ties.len() + 1;
        rank_sum_above += rank * ties.iter().filter(|d| **d > 0.0).count();
        ranks.extend(ties.iter().map(|_| rank));
        let t = ties.len() as f64;
        tie_correction += t.powi(3) - t;
    }
    let has_ties = tie_correction > 0.0;
    let is_exact = if has_ties || n < differences.len() {
        differences.len() <= MAX_EXACT_TIED
    } else {
        n <= MAX_EXACT
    };
    if is_exact {
        return exact(&ranks, rank_sum_above);
    }
    let n = n as f64;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tie_correction / 48.0;
    let deviation = rank_sum_above as f64 / 2.0 - n * (n + 1.0) / 4.0;
    erfc((deviation / variance.sqrt()).abs() / std::f64::consts::SQRT_2)
}

/// Returns the two-sided p-value of the sum of the ranks above 0, if every difference is as likely
/// above as below.
fn exact(ranks: &[usize], rank_sum_above: usize) -> f64 {
    // Number of the 2^n choices of signs by the rank sum that they give.
    let mut counts = vec![0_u64; ranks.iter().sum::<usize>() + 1];
    counts[0] = 1;
    for rank in ranks {
        for sum in (*rank..counts.len()).rev() {
            counts[sum] += counts[sum - rank];
        }
    }
    let as_low: u64 = counts[..=rank_sum_above].iter().sum();
    let as_high: u64 = counts[rank_sum_above..].iter().sum();
    let n_choices: u64 = counts.iter().sum();
    (2.0 * as_low.min(as_high) as f64 / n_choices as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the 16 choices of signs of ranks 1 to 4, one has a rank sum of 0 and one of 1.
    #[test]
    fn exact_values_worked_by_hand() {
        let close = |p: f64, expected: f64| assert!((p - expected).abs() < 1e-12, "{p}");
        close(wilcoxon_signed_rank(&[1.0, 2.0, 3.0, 4.0]), 2.0 / 16.0);
        close(wilcoxon_signed_rank(&[-1.0, 2.0, 3.0, 4.0]), 4.0 / 16.0);
        close(wilcoxon_signed_rank(&[1.0, 1.0, -1.0, 0.0]), 1.0);
        close(wilcoxon_signed_rank(&[0.0, 0.0]), 1.0);
        close(wilcoxon_signed_rank(&[]), 1.0);
    }

    #[test]
    fn rounding_breaks_no_ties() {
        let third = 1.0 / 3.0;
        let noisy: Vec<f64> = (0..60).map(|n| [third, 1.0 - third - third, -0.5][n % 3]).collect();
        let plain: Vec<f64> = (0..60).map(|n| [1.0, 1.0, -1.5][n % 3]).collect();
        let (a, b) = (wilcoxon_signed_rank(&noisy), wilcoxon_signed_rank(&plain));
        assert!((a - b).abs() < 1e-12, "{a}, not {b}");
    }
}
