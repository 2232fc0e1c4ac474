//! Metrics of one ranking, each in `[0, 1]`.
//!
//! Rankings are best first and hold a skill at most once; should one hold it again, it counts where
//! it is first. `gold` is not empty. A ranking shorter than `k` is complete: nothing follows.

use std::collections::BTreeSet;

use crate::task::Gold;

/// Returns 1 if one of the first `k` is right, else 0 (Hit@k).
///
/// `SkillRouter` appendix A: with several right skills, any of them counts. `success` in
/// `trec_eval`.
pub fn hit_at<S: AsRef<str>>(k: usize, ranking: &[S], gold: &Gold) -> f64 {
    indicator(ranking.iter().take(k).any(|id| gold.contains(id.as_ref())))
}

/// Returns the share of the right skills that are among the first `k` (Recall@k, `SkillRouter`
/// appendix A).
pub fn recall_at<S: AsRef<str>>(k: usize, ranking: &[S], gold: &Gold) -> f64 {
    n_found(k, ranking, gold) as f64 / gold.len() as f64
}

/// Returns one over the rank of the first right skill among the first `k`, or 0 (MRR@k,
/// `SkillRouter` appendix A).
pub fn mrr_at<S: AsRef<str>>(k: usize, ranking: &[S], gold: &Gold) -> f64 {
    let rank = (1..).zip(ranking).take(k).find(|(_, id)| gold.contains(id.as_ref()));
    rank.map_or(0.0, |(rank, _): (u32, _)| 1.0 / f64::from(rank))
}

/// Returns the normalised discounted cumulative gain of the first `k`, with gain 1 for every right
/// skill (`SkillComposer` §5.2: "binary relevance with logarithmic discount").
///
/// DCG@k = Σ gain / log2(rank + 1) over the first `k`, divided by that of the best ranking.
pub fn ndcg_at<S: AsRef<str>>(k: usize, ranking: &[S], gold: &Gold) -> f64 {
    ndcg(k, ranking, gold, |grade| indicator(grade > 0))
}

/// Returns nDCG@k with the grade as the gain, as `ndcg_cut` of `trec_eval` and `ndcg` of ranx do
/// (Järvelin and Kekäläinen 2002).
///
/// The papers do not say which gain they use with grades, so that the one of the reference tools is
/// the graded nDCG of our reports.
pub fn ndcg_graded_at<S: AsRef<str>>(k: usize, ranking: &[S], gold: &Gold) -> f64 {
    ndcg(k, ranking, gold, f64::from)
}

/// Returns 1 if all right skills are among the first `k`, else 0 (FC@k, `SkillRouter` appendix A).
///
/// COMP@k of the literature on tools is the same number (Qu et al. 2024, "Towards
/// Completeness-Oriented Tool Retrieval for Large Language Models").
pub fn full_coverage_at<S: AsRef<str>>(k: usize, ranking: &[S], gold: &Gold) -> f64 {
    indicator(n_found(k, ranking, gold) == gold.len())
}

/// Returns 1 if the first |gold| skills are exactly the right ones, in any order, else 0; `None`
/// with fewer than two right skills (Set-Compat of R3-Skill).
///
/// We have the paper's abstract only; the definition is that of our issue 3. Equal to "R-precision
/// is 1".
pub fn set_compat<S: AsRef<str>>(ranking: &[S], gold: &Gold) -> Option<f64> {
    (gold.len() >= 2).then(|| full_coverage_at(gold.len(), ranking, gold))
}

fn n_found<S: AsRef<str>>(k: usize, ranking: &[S], gold: &Gold) -> usize {
    let found = ranking.iter().take(k).map(AsRef::as_ref).filter(|id| gold.contains(id));
    found.collect::<BTreeSet<&str>>().len()
}

fn ndcg<S: AsRef<str>>(k: usize, ranking: &[S], gold: &Gold, gain: impl Fn(u32) -> f64) -> f64 {
    let mut ideal: Vec<u32> = gold.iter().map(|(_, grade)| grade).collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let mut counted = BTreeSet::new();
    let found = ranking.iter().map(|id| match gold.grade(id.as_ref()) {
        0 => 0,
        grade if counted.insert(id.as_ref()) => grade,
        _ => 0,
    });
    dcg(found.take(k).map(&gain)) / dcg(ideal.into_iter().take(k).map(&gain))
}

/// Returns the discounted sum of the gains of the ranks 1, 2, and so on.
fn dcg(gains: impl Iterator<Item = f64>) -> f64 {
    (1..).zip(gains).map(|(rank, gain): (u32, f64)| gain / f64::from(rank + 1).log2()).sum()
}

/// Returns 1 for true.
pub(crate) fn indicator(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANKING: [&str; 4] = ["a", "b", "c", "d"];

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value}, not {expected}");
    }

    #[test]
    fn metrics_of_a_ranking_worked_by_hand() {
        let gold: Gold = ["b", "d"].into_iter().collect();
        close(hit_at(1, &RANKING, &gold), 0.0);
        close(hit_at(2, &RANKING, &gold), 1.0);
        close(recall_at(3, &RANKING, &gold), 0.5);
        close(recall_at(10, &RANKING, &gold), 1.0);
        close(mrr_at(10, &RANKING, &gold), 0.5);
        close(mrr_at(1, &RANKING, &gold), 0.0);
        close(full_coverage_at(3, &RANKING, &gold), 0.0);
        close(full_coverage_at(4, &RANKING, &gold), 1.0);
    }

    /// Gold b and d: DCG = 1 / log2 3 + 1 / log2 5, ideal 1 / log2 2 + 1 / log2 3.
    #[test]
    fn binary_ndcg_worked_by_hand() {
        let gold: Gold = ["b", "d"].into_iter().collect();
        let expected = (1.0 / 3_f64.log2() + 1.0 / 5_f64.log2()) / (1.0 + 1.0 / 3_f64.log2());
        close(ndcg_at(10, &RANKING, &gold), expected);
        close(ndcg_at(1, &RANKING, &gold), 0.0);
        close(ndcg_at(2, &RANKING, &gold), (1.0 / 3_f64.log2()) / (1.0 + 1.0 / 3_f64.log2()));
    }

    /// Grades b 1, d 3: the ideal ranking is d, b.
    #[test]
    fn graded_ndcg_worked_by_hand() {
        let mut gold = Gold::default();
        gold.insert("b", 1);
        gold.insert("d", 3);
        let (second, fourth) = (1.0 / 3_f64.log2(), 1.0 / 5_f64.log2());
        close(ndcg_graded_at(10, &RANKING, &gold), (second + 3.0 * fourth) / (3.0 + second));
        close(ndcg_graded_at(2, &RANKING, &gold), second / (3.0 + second));
        close(ndcg_graded_at(10, &["d", "b"], &gold), 1.0);
    }

    #[test]
    fn a_set_is_compatible_if_it_fills_the_top() {
        let gold = |ids: &[&str]| ids.iter().copied().collect::<Gold>();
        assert_eq!(set_compat(&RANKING, &gold(&["b", "a"])), Some(1.0));
        assert_eq!(set_compat(&RANKING, &gold(&["a", "c"])), Some(0.0));
        assert_eq!(set_compat(&["a"], &gold(&["a", "c"])), Some(0.0));
        assert_eq!(set_compat(&RANKING, &gold(&["a"])), None);
    }

    #[test]
    fn a_skill_that_recurs_counts_once() {
        let gold: Gold = ["a", "b"].into_iter().collect();
        let again = ["a", "a", "a", "b"];
        close(recall_at(3, &again, &gold), 0.5);
        close(full_coverage_at(2, &again, &gold), 0.0);
        let (second, fourth) = (1.0 / 3_f64.log2(), 1.0 / 5_f64.log2());
        close(ndcg_at(10, &again, &gold), (1.0 + fourth) / (1.0 + second));
    }

    #[test]
    fn an_empty_ranking_finds_nothing() {
        let gold: Gold = ["b"].into_iter().collect();
        let ranking: [&str; 0] = [];
        for metric in [hit_at, recall_at, mrr_at, ndcg_at, ndcg_graded_at, full_coverage_at] {
            close(metric(10, &ranking, &gold), 0.0);
        }
    }
}
