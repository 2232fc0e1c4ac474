//! The contract of rerankers, and what those that ask a model do.

use std::sync::Arc;

use skillmux::{
    Error,
    model::{PairScorer, PairScorerIdentity},
    query::Query,
    rerank::{KeepOrder, LinearReranker, PairReranker, RerankRequest, Reranker, SkillStart},
    retrieve::{Bm25Retriever, Candidate, Contribution, PoolRetriever, Retriever},
    route::{Ranker, RouteOptions},
    skill::SkillId,
};

use crate::{
    rankers::{CHOICE, asking, asking_rankers, by_pairs, encoder, judge},
    retriever::{
        assert_explained, assert_in_order, assert_ranks, index, queries, rank, retrieve, router,
        router_over,
    },
};

/// Returns queries for rerankers that ask a model: few, for they read skills, which takes most of
/// the time of the tests.
fn few_queries() -> Vec<Query> {
    let texts = ["merge the pages of a pdf report", "use csv-cleaning", "the of and"];
    texts.map(|text| Query::new(text).unwrap()).into()
}

#[test]
fn rerankers_return_every_candidate_once_with_its_signals() {
    let (_dir, index) = index();
    let weights = skillmux_models::ranker().with_vectors;
    let linear = || -> Box<dyn Reranker> { Box::new(LinearReranker::new(weights.clone())) };
    let keep = || -> Box<dyn Reranker> { Box::new(KeepOrder) };
    let mut rerankers = vec![(keep(), queries()), (linear(), queries())];
    for reranker in asking(linear).into_iter().chain(asking(keep)) {
        rerankers.push((reranker, few_queries()));
    }
    let pool = PoolRetriever::new(Some(encoder()));
    for (reranker, queries) in rerankers {
        for query in queries {
            let found = retrieve(&pool, &index, &query, &[], usize::MAX);
            let request = RerankRequest { index: &index, query: &query };
            let ranked = reranker.rerank(&request, found.clone()).unwrap();
            assert_in_order(&ranked);
            assert_eq!(ranked.len(), found.len());
            for candidate in &ranked {
                let before = found.iter().find(|found| found.skill == candidate.skill).unwrap();
                assert_eq!(candidate.signals, before.signals);
            }
            let n_measured = found.iter().filter(|found| found.signals.is_measured()).count();
            // Where none has signals, each may come first.
            if n_measured == 0 {
                continue;
            }
            assert!(ranked[..n_measured].iter().all(|found| found.signals.is_measured()));
            assert_eq!(ranked[n_measured..].len(), found[n_measured..].len());
            let order = |found: &[Candidate]| -> Vec<SkillId> {
                found[n_measured..].iter().map(|found| found.skill.clone()).collect()
            };
            assert_eq!(order(&ranked), order(&found));
        }
    }
}

#[test]
fn rankings_that_ask_a_model_do_not_depend_on_k_and_their_scores_are_explained() {
    let (_dir, index) = index();
    let query = Query::new("use csv-cleaning to merge the tables of a report").unwrap();
    for ranker in asking_rankers() {
        assert_ranks(&ranker, &index, &query, &[1, 4, 10]);
        assert_explained(&router_over(&index, ranker), &query, 10);
    }
}

#[test]
fn a_cross_encoder_orders_the_first_and_leaves_the_rest() {
    let (_dir, index) = index();
    for query in few_queries() {
        let found = retrieve(&Bm25Retriever::default(), &index, &query, &[], usize::MAX);
        let request = RerankRequest { index: &index, query: &query };
        for reranker in by_pairs(|| Box::new(KeepOrder)) {
            let ranked = reranker.rerank(&request, found.clone()).unwrap();
            assert_in_order(&ranked);
            let ids = |found: &[Candidate]| -> Vec<SkillId> {
                found.iter().map(|found| found.skill.clone()).collect()
            };
            let n_asked = found.len().min(7);
            let sorted = |mut ids: Vec<SkillId>| {
                ids.sort_unstable();
                ids
            };
            assert_eq!(sorted(ids(&ranked[..n_asked])), sorted(ids(&found[..n_asked])));
            assert_eq!(ids(&ranked[n_asked..]), ids(&found[n_asked..]));
        }
    }
}

/// Gives one score too few, or one that is none.
struct BrokenPairs(PairScorerIdentity, Vec<f32>);

impl PairScorer for BrokenPairs {
    fn identity(&self) -> &PairScorerIdentity {
        &self.0
    }

    fn scores(&self, _query: &str, _texts: &[&str]) -> skillmux::Result<Vec<f32>> {
        Ok(self.1.clone())
    }
}

#[test]
fn a_cross_encoder_that_breaks_its_contract_is_told() {
    let (_dir, index) = index();
    let query = Query::new("merge the pages of a pdf report").unwrap();
    for scores in [vec![], vec![f32::NAN; 5], vec![1.0; 6]] {
        let identity = PairScorerIdentity { name: "broken".to_owned(), fingerprint: String::new() };
        let scorer = Arc::new(BrokenPairs(identity, scores));
        let passage = Box::new(SkillStart::default());
        let pairs = PairReranker::new(Box::new(KeepOrder), scorer, passage).with_n_asked(5);
        let ranker = Ranker::new(Box::<Bm25Retriever>::default(), Box::new(pairs));
        let error = ranker.rank(&index, &query, 3).unwrap_err();
        assert!(matches!(error, Error::PairScorerAnswer { .. }), "{error}");
    }
}

#[test]
fn what_a_judge_chooses_comes_first_and_the_rest_keep_their_order() {
    let (_dir, index) = index();
    let query = Query::new("merge the pages of a pdf report").unwrap();
    let linear = || Box::new(LinearReranker::new(skillmux_models::ranker().with_vectors));
    let ranker = |reranker| Ranker::new(Box::new(PoolRetriever::new(Some(encoder()))), reranker);
    let before = rank(&ranker(linear()), &index, &query, 30);
    let after = rank(&ranker(Box::new(judge(linear(), CHOICE))), &index, &query, 30);
    let chosen = [6, 1, 0];
    let rest = (0..30).filter(|at| !chosen.contains(at));
    let expected: Vec<&SkillId> =
        chosen.into_iter().chain(rest).map(|at| &before[at].skill).collect();
    assert_eq!(after.iter().map(|found| &found.skill).collect::<Vec<_>>(), expected);
    assert!(after[2].score > after[3].score + 1.0 && after[0].score < after[2].score + 0.2);
    assert_eq!(after[3..].iter().map(|found| found.score).collect::<Vec<_>>(), {
        let kept = before.iter().filter(|found| after[3..].iter().any(|f| f.skill == found.skill));
        kept.map(|found| found.score).collect::<Vec<_>>()
    });
    let nothing = rank(&ranker(Box::new(judge(linear(), "[]"))), &index, &query, 30);
    assert_eq!(nothing, before);
}

#[test]
fn what_a_judge_chooses_is_what_is_loaded() {
    let query = Query::new("merge the pages of a pdf report").unwrap();
    for (retriever, inner) in [
        (
            Box::<Bm25Retriever>::default() as Box<dyn Retriever>,
            Box::new(KeepOrder) as Box<dyn Reranker>,
        ),
        (
            Box::new(PoolRetriever::new(Some(encoder()))),
            Box::new(LinearReranker::new(skillmux_models::ranker().with_vectors)),
        ),
    ] {
        let ranker = Ranker::new(retriever, Box::new(judge(inner, "[2, 1]")));
        let (_dir, router) = router(ranker);
        let route = router.route(&query, &RouteOptions::default()).unwrap();
        let best = router.search(&query, 2).unwrap().candidates;
        let loaded: Vec<&SkillId> = route.steps[0].skills.iter().map(|skill| &skill.id).collect();
        assert_eq!(loaded, best.iter().map(|found| &found.skill).collect::<Vec<_>>());
        let judged = |part: &Contribution| part.feature == "judge" && part.value != 0.0;
        let explained = &route.steps[0].skills[0].explanation.contributions;
        assert!(explained.iter().any(judged));
    }
}

#[test]
fn a_judge_that_fails_is_an_error() {
    let (_dir, index) = index();
    let query = Query::new("merge the pages of a pdf report").unwrap();
    let judge = judge(Box::new(KeepOrder), "I would take the second one.");
    let ranker = Ranker::new(Box::<Bm25Retriever>::default(), Box::new(judge));
    let error = ranker.rank(&index, &query, 3).unwrap_err();
    assert!(matches!(&error, Error::Chat { name, .. } if name.starts_with("I would")), "{error}");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "no list of numbers in its answer, asked twice");
}
