//! The mean of a metric over the queries of a run.

use crate::{qrels::Qrels, run::Run, task::Gold};

/// Returns the mean of a metric over all queries of the qrels; a query that the run does not
/// answer has an empty ranking. 0 if there are no queries.
pub fn mean(run: &Run, qrels: &Qrels, metric: impl Fn(&[String], &Gold) -> f64) -> f64 {
    let sum: f64 = qrels.iter().map(|(id, gold)| metric(run.ranking(id), gold)).sum();
    sum / qrels.n_queries().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::hit_at;

    #[test]
    fn an_unanswered_query_counts_as_zero() {
        let run = Run::parse("q1 Q0 a 1 1 t").unwrap();
        let qrels = Qrels::parse("q1 0 a 1\nq2 0 a 1").unwrap();
        let hit = mean(&run, &qrels, |ranking, gold| hit_at(1, ranking, gold));
        assert!((hit - 0.5).abs() < 1e-12);
    }
}
