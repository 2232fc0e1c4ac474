//! Agreement with `pytrec_eval`, ranx and scipy, see `tests/reference/make_reference.py`.

use std::{collections::BTreeMap, fmt::Write};

use serde::Deserialize;
use skillmux_eval::{
    Gold, Qrels, Run,
    metric::{
        full_coverage_at, hit_at, mrr_at, ndcg_at, ndcg_graded_at, recall_at, set::set_f1,
        set_compat,
    },
    stats::wilcoxon_signed_rank,
};

const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct Reference {
    libraries: BTreeMap<String, String>,
    queries: Vec<Query>,
    paired: Vec<Paired>,
}

#[derive(Deserialize)]
struct Query {
    id: String,
    run: BTreeMap<String, f64>,
    qrels: BTreeMap<String, u32>,
    n_loaded: usize,
    /// Value by metric by library.
    expected: BTreeMap<String, BTreeMap<String, f64>>,
}

#[derive(Deserialize)]
struct Paired {
    name: String,
    a: Vec<f64>,
    b: Vec<f64>,
    p: f64,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("../reference/reference.json")).expect("the file is ours")
}

/// Returns what we say to a metric of the reference, such as `ndcg_graded@10`.
fn value(metric: &str, ranking: &[String], gold: &Gold, n_loaded: usize) -> f64 {
    let (name, k) = metric.split_once('@').unwrap_or((metric, "0"));
    let k = k.parse().expect("a cutoff is a number");
    match name {
        "hit" => hit_at(k, ranking, gold),
        "mrr" => mrr_at(k, ranking, gold),
        "recall" => recall_at(k, ranking, gold),
        "ndcg" => ndcg_at(k, ranking, gold),
        "ndcg_graded" => ndcg_graded_at(k, ranking, gold),
        "r_precision" => recall_at(gold.len(), ranking, gold),
        "set_f1" => set_f1(&ranking[..n_loaded.min(ranking.len())], gold),
        other => panic!("no metric `{other}`"),
    }
}

#[test]
fn metrics_of_rankings_are_those_of_the_libraries() {
    let reference = reference();
    assert_eq!(reference.libraries["pytrec-eval-terrier"], "0.5.11");
    assert_eq!(reference.libraries["ranx"], "0.3.21");
    let (mut run, mut qrels) = (String::new(), String::new());
    for query in &reference.queries {
        for (id, score) in &query.run {
            writeln!(run, "{} Q0 {id} 0 {score} t", query.id).unwrap();
        }
        for (id, grade) in &query.qrels {
            writeln!(qrels, "{} 0 {id} {grade}", query.id).unwrap();
        }
    }
    let (run, qrels) = (Run::parse(&run).unwrap(), Qrels::parse(&qrels).unwrap());
    let gold: BTreeMap<_, _> = qrels.iter().collect();
    let mut n_values = 0;
    for query in &reference.queries {
        let (ranking, gold) = (run.ranking(&query.id), gold[query.id.as_str()]);
        for (library, expected) in &query.expected {
            for (metric, expected) in expected {
                let found = value(metric, ranking, gold, query.n_loaded);
                assert!(
                    (found - expected).abs() < TOLERANCE,
                    "{metric} of {}: {found}, but {library} says {expected}",
                    query.id
                );
                n_values += 1;
            }
        }
    }
    assert_eq!(n_values, 40 * (27 + 27));
}

/// The libraries have neither metric, but what each is a case of.
#[test]
fn full_coverage_and_set_compat_follow_from_recall() {
    let reference = reference();
    for query in &reference.queries {
        let expected = &query.expected["pytrec_eval"];
        let gold: Gold =
            query.qrels.iter().filter(|(_, grade)| **grade > 0).map(|(id, _)| id).collect();
        let mut ranking: Vec<(&String, &f64)> = query.run.iter().collect();
        ranking.sort_by(|a, b| b.1.total_cmp(a.1).then_with(|| b.0.cmp(a.0)));
        let ranking: Vec<&String> = ranking.into_iter().map(|(id, _)| id).collect();
        let all = |recall: f64| f64::from(u8::from(recall > 1.0 - TOLERANCE));
        for k in [10, 50] {
            let expected = all(expected[&format!("recall@{k}")]);
            assert!((full_coverage_at(k, &ranking, &gold) - expected).abs() < TOLERANCE);
        }
        let expected = (gold.len() >= 2).then(|| all(expected["r_precision"]));
        assert_eq!(set_compat(&ranking, &gold), expected);
    }
}

#[test]
fn wilcoxon_p_values_are_those_of_scipy() {
    let reference = reference();
    assert_eq!(reference.libraries["scipy"], "1.17.1");
    assert_eq!(reference.paired.len(), 13);
    for Paired { name, a, b, p } in reference.paired {
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
        let found = wilcoxon_signed_rank(&differences);
        assert!((found - p).abs() < TOLERANCE, "{name}: {found}, but scipy says {p}");
    }
}
