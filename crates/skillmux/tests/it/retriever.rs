//! The contract of [`Retriever`], checked for every configuration.

use std::{collections::HashSet, path::Path, sync::OnceLock};

use skillmux::{
    index::{Index, UpdateMode},
    library::Library,
    retrieve::{Bm25Config, Bm25Retriever, Candidate, Query, Ranking, Retriever},
};

use crate::library::{options, tempdir};

/// Returns the index of the fixture library.
fn index() -> &'static Index {
    static INDEX: OnceLock<(tempfile::TempDir, Index)> = OnceLock::new();
    let (_, index) = INDEX.get_or_init(|| {
        let dir = tempdir();
        let library = Library::open([fixtures().join("library")]).unwrap();
        Index::update(dir.path(), &library, &options(UpdateMode::Rebuild), &mut |_| {}).unwrap();
        let index = Index::open(dir.path()).unwrap();
        (dir, index)
    });
    index
}

fn fixtures() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"))
}

fn queries() -> Vec<Query> {
    let text = std::fs::read_to_string(fixtures().join("tasks.jsonl")).unwrap();
    let tasks = text.lines().step_by(3).map(|line| {
        let task: serde_json::Value = serde_json::from_str(line).unwrap();
        Query::new(task["query"].as_str().unwrap()).unwrap()
    });
    let edges = ["a", "表", "the of and", "zzqx", "1 1 1 1", "use csv-cleaning", "pdf 发票 pdf"];
    tasks.chain(edges.map(|text| Query::new(text).unwrap())).collect()
}

fn retrieve(retriever: &dyn Retriever, query: &Query, k: usize) -> Ranking {
    retriever.retrieve(query, k).unwrap()
}

/// Runs a check over every implementation.
fn for_each_retriever(check: impl Fn(&dyn Retriever)) {
    for config in [Bm25Config::default(), Bm25Config::joined_text()] {
        check(&Bm25Retriever::new(index(), config));
    }
}

#[test]
fn candidates_are_in_order_finite_and_unique() {
    for_each_retriever(|retriever| {
        for query in queries() {
            let ranking = retrieve(retriever, &query, usize::MAX);
            let candidates = ranking.candidates();
            assert!(candidates.is_sorted_by(|a, b| Candidate::best_first(a, b).is_lt()));
            assert!(candidates.iter().all(|candidate| candidate.score.is_finite()));
            let skills: HashSet<_> = candidates.iter().map(|candidate| candidate.skill).collect();
            assert_eq!(skills.len(), candidates.len(), "{}", query.text());
            assert!(skills.iter().all(|idx| (idx.0 as usize) < index().n_skills()));
        }
    });
}

#[test]
fn the_first_k_do_not_depend_on_k() {
    for_each_retriever(|retriever| {
        for query in queries() {
            let all = retrieve(retriever, &query, usize::MAX);
            for k in [0, 1, 2, 7, 40, 1000] {
                let some = retrieve(retriever, &query, k);
                let expected = &all.candidates()[..k.min(all.candidates().len())];
                assert_eq!(some.candidates(), expected, "{} at {k}", query.text());
            }
        }
    });
}

#[test]
fn skills_that_share_nothing_with_the_query_are_left_out() {
    for_each_retriever(|retriever| {
        let query = Query::new("zzqx 鑫鑫").unwrap();
        assert!(retrieve(retriever, &query, 10).candidates().is_empty());
        let query = Query::new("kubernetes").unwrap();
        let n_found = retrieve(retriever, &query, usize::MAX).candidates().len();
        assert!((1..index().n_skills()).contains(&n_found), "{n_found}");
    });
}

#[test]
fn skills_that_the_query_names_come_before_all_others() {
    let text = "Containers, clusters and pipelines: rollouts, logs, alerts. \
                Then use the fapiao-reimbursement skill and load csv-cleaning.";
    let query = Query::new(text).unwrap();
    for_each_retriever(|retriever| {
        let ranking = retrieve(retriever, &query, 3);
        let named: HashSet<String> = ranking.candidates()[..2]
            .iter()
            .map(|candidate| index().skill(candidate.skill).unwrap().skill.name)
            .collect();
        let expected = ["fapiao-reimbursement", "csv-cleaning"].map(str::to_owned);
        assert_eq!(named, HashSet::from(expected));
    });
}

#[test]
fn the_same_query_gives_the_same_ranking() {
    for_each_retriever(|retriever| {
        for query in queries() {
            assert_eq!(retrieve(retriever, &query, 20), retrieve(retriever, &query, 20));
        }
    });
}

#[test]
fn explanations_add_up_to_the_scores() {
    for_each_retriever(|retriever| {
        for query in queries() {
            let ranking = retrieve(retriever, &query, 20);
            let read = |c: &Candidate| (*c, index().skill(c.skill).unwrap().skill);
            let found: Vec<_> = ranking.candidates().iter().map(read).collect();
            let found: Vec<_> =
                found.iter().map(|(candidate, skill)| (*candidate, skill)).collect();
            let explanations = retriever.explain(&query, &found).unwrap();
            assert_eq!(explanations.len(), found.len());
            for ((candidate, _), explanation) in found.iter().zip(explanations) {
                let sum: f32 = explanation.contributions.iter().map(|part| part.value).sum();
                // Both add some dozens of numbers in single precision, in another order.
                let error = (sum - candidate.score).abs();
                assert!(error <= 1e-4 * candidate.score.abs().max(1.0), "{}", query.text());
                assert!((0.0..=1.0).contains(&explanation.coverage), "{}", explanation.coverage);
            }
        }
    });
}
