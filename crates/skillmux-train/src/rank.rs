//! [`best_rank`]: where held-out answers stand.

/// Returns how many others come before the best of the answers. Who ties with it, or has no number
/// for a score, comes before it. Without an answer, or with one whose score is not finite, the rank
/// is the worst: the number of scores.
pub(crate) fn best_rank(scores: &[f32], answers: &[usize]) -> usize {
    if answers.is_empty() || answers.iter().any(|at| !scores[*at].is_finite()) {
        return scores.len();
    }
    let best = answers.iter().map(|at| scores[*at]).fold(f32::NEG_INFINITY, f32::max);
    let is_before =
        |at: &usize| (scores[*at] >= best || scores[*at].is_nan()) && !answers.contains(at);
    (0..scores.len()).filter(is_before).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_answer_counts_and_ties_do_not_help() {
        assert_eq!(best_rank(&[0.5, 0.9, 0.7, 0.7], &[0, 2]), 2);
        assert_eq!(best_rank(&[0.9, 0.5], &[0]), 0);
        assert_eq!(best_rank(&[0.9, 0.5], &[]), 2);
    }

    #[test]
    fn a_score_that_is_no_number_is_never_good_for_an_answer() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(best_rank(&[bad, 0.5, 0.1], &[0]), 3, "{bad}");
            assert_eq!(best_rank(&[bad, 0.5, 0.1], &[0, 1]), 3, "{bad}");
        }
        assert_eq!(best_rank(&[f32::NAN; 3], &[1]), 3);
        assert_eq!(best_rank(&[f32::NAN, 0.5, 0.1], &[1]), 1);
    }
}
