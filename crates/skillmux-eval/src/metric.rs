//! Metrics of one ranking, each in `[0, 1]`, and their mean over queries.
//!
//! Rankings are best first; gold sets are not empty.

use crate::{Gold, Qrels, Run};

/// Returns 1 if one of the first `k` is right, else 0 (Hit@k).
pub fn hit_at(k: usize, ranking: &[String], gold: &Gold) -> f64 {
    f64::from(u8::from(ranking.iter().take(k).any(|id| gold.contains(id))))
}

/// Returns the share of the right skills that are among the first `k` (Recall@k).
pub fn recall_at(k: usize, ranking: &[String], gold: &Gold) -> f64 {
    let n_found = ranking.iter().take(k).filter(|id| gold.contains(*id)).count();
    n_found as f64 / gold.len() as f64
}

/// Returns one over the rank of the first right skill among the first `k`, or 0 (MRR@k).
pub fn mrr_at(k: usize, ranking: &[String], gold: &Gold) -> f64 {
    let rank = (1..).zip(ranking).take(k).find(|(_, id)| gold.contains(*id));
    rank.map_or(0.0, |(rank, _): (u32, _)| 1.0 / f64::from(rank))
}

/// Returns the mean of a metric over all queries of the qrels; a query that the run does not
/// answer has an empty ranking. 0 if there are no queries.
pub fn mean(run: &Run, qrels: &Qrels, metric: impl Fn(&[String], &Gold) -> f64) -> f64 {
    let sum: f64 = qrels.iter().map(|(id, gold)| metric(run.ranking(id), gold)).sum();
    sum / qrels.n_queries().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<const N: usize>(ids: [&str; N]) -> Vec<String> {
        ids.map(str::to_owned).to_vec()
    }

    /// Worked by hand: gold {b, d} in the ranking a, b, c, d.
    #[test]
    fn metrics_of_a_ranking_worked_by_hand() {
        let ranking = ids(["a", "b", "c", "d"]);
        let gold: Gold = ids(["b", "d"]).into_iter().collect();
        let close = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-12);
        close(hit_at(1, &ranking, &gold), 0.0);
        close(hit_at(2, &ranking, &gold), 1.0);
        close(recall_at(3, &ranking, &gold), 0.5);
        close(recall_at(10, &ranking, &gold), 1.0);
        close(mrr_at(10, &ranking, &gold), 0.5);
        close(mrr_at(1, &ranking, &gold), 0.0);
    }

    #[test]
    fn an_unanswered_query_counts_as_zero() {
        let run = Run::parse("q1 Q0 a 1 1 t").unwrap();
        let qrels = Qrels::parse("q1 0 a 1\nq2 0 a 1").unwrap();
        let hit = mean(&run, &qrels, |ranking, gold| hit_at(1, ranking, gold));
        assert!((hit - 0.5).abs() < 1e-12);
    }
}
