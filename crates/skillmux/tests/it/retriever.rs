//! The contract of [`Retriever`], checked for every configuration.

use std::{collections::HashSet, path::Path, sync::OnceLock};

use skillmux::{
    explain::Explanation,
    index::{Index, UpdateMode},
    library::Library,
    rerank::{FeatureWeight, FeatureWeights, Ranker, RankerWeights},
    retrieve::{
        Bm25Config, Bm25Retriever, Candidate, DenseRetriever, HybridConfig, HybridRetriever, Query,
        Ranking, Retriever,
    },
};

use crate::{
    library::{options, tempdir},
    term_encoder::TermEncoder,
};

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

/// Returns weights by which every feature counts, some of them for and some against a skill.
fn weights() -> RankerWeights {
    let weight = |at: usize| FeatureWeight {
        base: 1.0 - (at % 3) as f32,
        length: 0.5 - (at % 2) as f32,
        spaceless: 0.25,
    };
    let weights = FeatureWeights::new(std::array::from_fn(weight));
    RankerWeights { with_vectors: weights.clone(), without_vectors: weights }
}

/// Runs a check over every implementation.
fn for_each_retriever(check: impl Fn(&dyn Retriever)) {
    for config in [Bm25Config::default(), Bm25Config::joined_text()] {
        check(&Bm25Retriever::new(index(), config));
    }
    let encoder = TermEncoder::new("1");
    check(&DenseRetriever::new(index(), &encoder).unwrap());
    check(&HybridRetriever::new(index(), &encoder, HybridConfig::default()).unwrap());
    let weights = weights();
    check(&Ranker::new(index(), Some(&encoder), &weights).unwrap());
    check(&Ranker::new(index(), None, &weights).unwrap());
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
        let query = Query::new("the of and").unwrap();
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

#[test]
fn a_skill_that_shares_no_word_is_left_out_of_a_lexical_ranking() {
    let retriever = Bm25Retriever::new(index(), Bm25Config::default());
    let query = Query::new("zzqx 鑫鑫").unwrap();
    assert!(retrieve(&retriever, &query, 10).candidates().is_empty());
}

#[test]
fn a_hybrid_score_is_the_share_and_the_weighted_cosine() {
    let encoder = TermEncoder::new("1");
    let weight = 0.3;
    let hybrid =
        HybridRetriever::new(index(), &encoder, HybridConfig { dense_weight: weight }).unwrap();
    let dense = DenseRetriever::new(index(), &encoder).unwrap();
    let query = Query::new("merge the pages of a pdf report").unwrap();
    let cosines = retrieve(&dense, &query, usize::MAX);
    let skill = |c: &Candidate| (*c, index().skill(c.skill).unwrap().skill);
    let ranking = retrieve(&hybrid, &query, 5);
    for (candidate, text) in ranking.candidates().iter().map(skill) {
        let explanation = hybrid.explain(&query, &[(candidate, &text)]).unwrap().remove(0);
        let of = |prefix: &str| -> f32 {
            let parts = explanation.contributions.iter();
            parts.filter(|part| part.feature.starts_with(prefix)).map(|part| part.value).sum()
        };
        assert!((of("bm25.") - explanation.score_share).abs() < 1e-5);
        let known = cosines.candidates().iter().find(|known| known.skill == candidate.skill);
        if let Some(known) = known {
            assert!((of("dense.") - weight * known.score).abs() < 1e-5);
        }
        assert_eq!(explanation.contributions.len(), 5);
    }
}

#[test]
fn signals_are_what_explanations_say() {
    let encoder = TermEncoder::new("1");
    let config = HybridConfig::default();
    let hybrid = HybridRetriever::new(index(), &encoder, config).unwrap();
    for query in queries() {
        let ranking = retrieve(&hybrid, &query, 20);
        let candidates = ranking.candidates();
        let signals = hybrid.signals(&query, candidates).unwrap();
        assert_eq!(signals.len(), candidates.len());
        for (candidate, signals) in candidates.iter().zip(signals) {
            let skill = index().skill(candidate.skill).unwrap().skill;
            let explanation = hybrid.explain(&query, &[(*candidate, &skill)]).unwrap().remove(0);
            let cosines = signals.dense.map(|cosine| config.dense_weight * cosine / 2.0);
            let expected = signals.lexical.into_iter().chain(cosines);
            for (part, expected) in explanation.contributions.iter().zip(expected) {
                assert!(
                    (part.value - expected).abs() < 1e-5,
                    "{} of {}",
                    part.feature,
                    query.text()
                );
            }
            assert_eq!(signals.is_named, explanation.contributions.len() == 6);
        }
    }
}

/// Returns the best skill's explanation.
fn explained(retriever: &dyn Retriever, query: &Query) -> Explanation {
    let best = retrieve(retriever, query, 1).candidates()[0];
    let skill = index().skill(best.skill).unwrap().skill;
    retriever.explain(query, &[(best, &skill)]).unwrap().remove(0)
}

#[test]
fn talk_around_a_request_does_not_lower_the_mass_of_its_clause() {
    let bm25 = Bm25Retriever::new(index(), Bm25Config::default());
    let alone = Query::new("Fill in the PDF form.").unwrap();
    let in_talk =
        Query::new("Good evening everybody.\nFill in the PDF form.\nLovely weather, was it?")
            .unwrap();
    let (alone, in_talk) = (explained(&bm25, &alone), explained(&bm25, &in_talk));
    assert!(in_talk.score_share < 0.8 * alone.score_share);
    assert!(alone.grounds.clause_mass > 0.1);
    assert!((alone.grounds.clause_mass - in_talk.grounds.clause_mass).abs() < 1e-4);
    assert!(alone.grounds.body_terms > 0);
}

#[test]
fn a_ranker_says_how_near_the_vectors_are() {
    let encoder = TermEncoder::new("1");
    let (weights, query) = (weights(), Query::new("merge the pages of a pdf report").unwrap());
    let with = explained(&Ranker::new(index(), Some(&encoder), &weights).unwrap(), &query).grounds;
    assert!(0.0 < with.cosine_rise && with.cosine_rise < with.best_cosine);
    assert!(with.best_cosine <= 1.0 && (0.0..=1.0).contains(&with.vector_rank));
    let without = explained(&Ranker::new(index(), None, &weights).unwrap(), &query).grounds;
    assert!(without.best_cosine == 0.0 && without.cosine_rise == 0.0 && without.vector_rank == 0.0);
}
