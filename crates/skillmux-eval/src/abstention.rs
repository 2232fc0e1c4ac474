//! Scores of a confidence that decides whether to load a skill.

/// A confidence, and whether some skill helps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Estimate in `[0, 1]`; not NaN.
    pub confidence: f32,
    /// Whether the query is answerable.
    pub answerable: bool,
}

/// A point of the trade between loading for tasks that need a skill and for those that do not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperatingPoint {
    /// Lowest confidence at which a skill is loaded.
    pub threshold: f32,
    /// Share of the answerable queries that load.
    pub coverage: f64,
    /// Share of the unanswerable queries that load all the same.
    pub false_load_rate: f64,
}

/// Bins of equal width of [`expected_calibration_error`].
const N_BINS: usize = 10;

/// Returns the chance that an answerable query is more confident than an unanswerable one; ties
/// count half. NaN without one of each.
pub fn auroc(judged: &[Judged]) -> f64 {
    let mut sorted = judged.to_vec();
    sorted.sort_by(|a, b| a.confidence.total_cmp(&b.confidence));
    let (mut wins, mut n_below) = (0.0, 0.0);
    for ties in sorted.chunk_by(|a, b| a.confidence.total_cmp(&b.confidence).is_eq()) {
        let n_answerable = ties.iter().filter(|judged| judged.answerable).count() as f64;
        let n_unanswerable = ties.len() as f64 - n_answerable;
        wins += n_answerable * (n_below + n_unanswerable / 2.0);
        n_below += n_unanswerable;
    }
    wins / (n_below * (judged.len() as f64 - n_below))
}

/// Returns what a threshold does; a rate of no queries is 0.
pub fn at_threshold(judged: &[Judged], threshold: f32) -> OperatingPoint {
    let rate = |answerable: bool| {
        let of_class = || judged.iter().filter(|judged| judged.answerable == answerable);
        let n_loaded = of_class().filter(|judged| judged.confidence >= threshold).count();
        n_loaded as f64 / of_class().count().max(1) as f64
    };
    OperatingPoint { threshold, coverage: rate(true), false_load_rate: rate(false) }
}

/// Returns the point of the highest threshold that covers at least this share of the answerable.
pub fn at_coverage(judged: &[Judged], coverage: f64) -> OperatingPoint {
    let answerable = judged.iter().filter(|judged| judged.answerable);
    let mut confidences: Vec<f32> = answerable.map(|judged| judged.confidence).collect();
    confidences.sort_by(|a, b| b.total_cmp(a));
    let enough = |n: &usize| *n as f64 >= coverage * confidences.len() as f64;
    let n_covered = (1..=confidences.len()).find(enough).unwrap_or(0);
    let threshold = n_covered.checked_sub(1).map_or(1.0, |last| confidences[last]);
    at_threshold(judged, threshold)
}

/// Returns the mean distance between confidence and truth over ten bins of equal width, with the
/// answerable and the unanswerable queries counting half each (Naeini et al. 2015, §2).
pub fn expected_calibration_error(judged: &[Judged]) -> f64 {
    let n_answerable = judged.iter().filter(|judged| judged.answerable).count() as f64;
    let n_unanswerable = judged.len() as f64 - n_answerable;
    let mut gaps = [0.0; N_BINS];
    for Judged { confidence, answerable } in judged {
        let n_of_class = if *answerable { n_answerable } else { n_unanswerable };
        let truth = f64::from(u8::from(*answerable));
        let is_above = |edge: &usize| confidence * N_BINS as f32 >= *edge as f32;
        let bin = (1..N_BINS).take_while(is_above).count();
        gaps[bin] += (f64::from(*confidence) - truth) / (2.0 * n_of_class);
    }
    gaps.iter().map(|gap| gap.abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(answerable: &[f32], unanswerable: &[f32]) -> Vec<Judged> {
        let of = |confidences: &[f32], answerable| -> Vec<Judged> {
            confidences.iter().map(|c| Judged { confidence: *c, answerable }).collect()
        };
        [of(answerable, true), of(unanswerable, false)].concat()
    }

    #[test]
    fn auroc_counts_pairs_in_order_and_ties_half() {
        assert!((auroc(&judged(&[0.9, 0.8], &[0.1, 0.2])) - 1.0).abs() < 1e-12);
        assert!((auroc(&judged(&[0.5], &[0.5])) - 0.5).abs() < 1e-12);
        assert!((auroc(&judged(&[0.9, 0.3], &[0.5, 0.3])) - 0.625).abs() < 1e-12);
    }

    #[test]
    fn coverage_is_reached_by_the_highest_threshold() {
        let point = at_coverage(&judged(&[0.9, 0.8, 0.7, 0.2], &[0.75, 0.1]), 0.75);
        let expected = OperatingPoint { threshold: 0.7, coverage: 0.75, false_load_rate: 0.5 };
        assert_eq!(point, expected);
    }

    #[test]
    fn calibration_error_is_zero_where_confidence_is_the_rate() {
        let fair = judged(&[0.75, 0.75, 0.75, 0.25], &[0.25, 0.25, 0.25, 0.75]);
        assert!(expected_calibration_error(&fair) < 1e-6);
        let sure = judged(&[1.0], &[1.0]);
        assert!((expected_calibration_error(&sure) - 0.5).abs() < 1e-6);
    }
}
