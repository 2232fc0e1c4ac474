//! The contracts of retrievers, rerankers and rankings, checked for every implementation.

use std::{collections::HashSet, path::Path, sync::Arc};

use skillmux::{
    Error,
    explain::Explanation,
    index::{Index, UpdateMode},
    library::Library,
    model::{PairScorer, PairScorerIdentity},
    query::Query,
    rerank::{KeepOrder, LinearReranker, PairReranker, RerankRequest, Reranker, SkillStart},
    retrieve::{
        Bm25Config, Bm25Retriever, Candidate, Contribution, DenseRetriever, HybridConfig,
        HybridRetriever, PoolRetriever, RetrieveRequest, Retriever, Tier,
    },
    route::{Ranker, RouteOptions, Router, Stages},
    skill::SkillId,
};

use crate::{
    library::{options, tempdir},
    rankers::{CHOICE, by_pairs, encoder, judge, rankers, retrievers},
};

/// Returns the fixture library as an index.
fn index() -> (tempfile::TempDir, Index) {
    let dir = tempdir();
    let library = Library::open([fixtures().join("library")]).unwrap();
    Index::update(dir.path(), &library, &options(UpdateMode::Rebuild), &mut |_| {}).unwrap();
    let index = Index::open(dir.path()).unwrap();
    (dir, index)
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

/// Returns what a retriever finds for a query that names these skills.
fn retrieve(
    retriever: &dyn Retriever,
    index: &Index,
    query: &Query,
    named: &[SkillId],
    k: usize,
) -> Vec<Candidate> {
    retriever.retrieve(&RetrieveRequest { index, query, named, k }).unwrap()
}

fn rank(ranker: &Ranker, index: &Index, query: &Query, k: usize) -> Vec<Candidate> {
    ranker.rank(index, query, k).unwrap().candidates
}

fn assert_in_order(candidates: &[Candidate]) {
    assert!(candidates.is_sorted_by(|a, b| Candidate::best_first(a, b).is_lt()));
    assert!(candidates.iter().all(|candidate| candidate.score.is_finite()));
    let skills: HashSet<&SkillId> = candidates.iter().map(|candidate| &candidate.skill).collect();
    assert_eq!(skills.len(), candidates.len());
}

#[test]
fn retrievers_find_the_best_and_the_named_in_order() {
    let (_dir, index) = index();
    let named = [SkillId::new("data/csv-cleaning"), SkillId::new("git/commit-messages")];
    let named: Vec<SkillId> = named.into_iter().filter(|id| index.find(id).is_ok()).collect();
    assert!(!named.is_empty());
    for retriever in retrievers() {
        assert_eq!(retriever.tier(), Tier::Exact);
        for query in queries() {
            let all = retrieve(retriever.as_ref(), &index, &query, &[], usize::MAX);
            assert_in_order(&all);
            for k in [0, 1, 7, 40, 1000] {
                let some = retrieve(retriever.as_ref(), &index, &query, &[], k);
                assert!(some.len() >= k.min(all.len()), "{} at {k}", query.text());
                assert_eq!(some, all[..some.len()], "{} at {k}", query.text());
                let with_named = retrieve(retriever.as_ref(), &index, &query, &named, k);
                assert_in_order(&with_named);
                let is_there = |id: &SkillId| with_named.iter().any(|found| found.skill == *id);
                assert!(named.iter().all(is_there), "{} at {k}", query.text());
            }
        }
    }
}

#[test]
fn candidates_have_the_same_signals_or_none() {
    let (_dir, index) = index();
    for retriever in retrievers() {
        for query in queries() {
            let found = retrieve(retriever.as_ref(), &index, &query, &[], usize::MAX);
            let n_measured = found.iter().take_while(|found| found.signals.is_measured()).count();
            let (measured, rest) = found.split_at(n_measured);
            assert!(rest.iter().all(|found| !found.signals.is_measured()));
            if n_measured > 0 {
                assert!(rest.iter().all(|found| (0.0..=1.0).contains(&found.score)));
            }
            for candidate in measured {
                assert_eq!(candidate.signals.names(), measured[0].signals.names());
                assert!(candidate.signals.values().iter().all(|value| value.is_finite()));
            }
        }
    }
}

#[test]
fn rerankers_return_every_candidate_once_with_its_signals() {
    let (_dir, index) = index();
    let weights = skillmux_models::ranker().with_vectors;
    let linear = || Box::new(LinearReranker::new(weights.clone()));
    let rerankers: [Box<dyn Reranker>; 5] = [
        Box::new(KeepOrder),
        linear(),
        Box::new(judge(Box::new(KeepOrder), CHOICE)),
        Box::new(judge(linear(), CHOICE)),
        Box::new(judge(linear(), "[]")),
    ];
    let pool = PoolRetriever::new(Some(encoder()));
    for reranker in rerankers {
        for query in queries() {
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
fn a_cross_encoder_orders_the_first_and_leaves_the_rest() {
    let (_dir, index) = index();
    for query in queries() {
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
        assert!(matches!(error, skillmux::Error::PairScorerAnswer { .. }), "{error}");
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
    assert!(matches!(&error, Error::Chat { name, .. } if name == "parrot"), "{error}");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "no list of numbers in its answer, asked twice");
}

#[test]
fn rankings_are_in_order_and_the_first_k_do_not_depend_on_k() {
    let (_dir, index) = index();
    for ranker in rankers() {
        for query in queries() {
            let all = rank(&ranker, &index, &query, usize::MAX);
            assert_in_order(&all);
            for k in [0, 1, 2, 7, 40, 1000] {
                let some = rank(&ranker, &index, &query, k);
                assert_eq!(some, all[..k.min(all.len())], "{} at {k}", query.text());
            }
            assert_eq!(rank(&ranker, &index, &query, 20), all[..all.len().min(20)]);
        }
    }
}

#[test]
fn skills_that_share_nothing_with_the_query_are_left_out() {
    let (_dir, index) = index();
    for ranker in rankers() {
        let query = Query::new("the of and").unwrap();
        assert_eq!(rank(&ranker, &index, &query, 10), []);
        let query = Query::new("kubernetes").unwrap();
        let n_found = rank(&ranker, &index, &query, usize::MAX).len();
        assert!((1..index.n_skills()).contains(&n_found), "{n_found}");
    }
    let words = Ranker::default();
    assert_eq!(rank(&words, &index, &Query::new("zzqx 鑫鑫").unwrap(), 10), []);
}

#[test]
fn skills_that_the_query_names_come_before_all_others() {
    let (_dir, index) = index();
    let text = "Containers, clusters and pipelines: rollouts, logs, alerts. \
                Then use the fapiao-reimbursement skill and load csv-cleaning.";
    let query = Query::new(text).unwrap();
    for ranker in rankers() {
        let ranking = rank(&ranker, &index, &query, 3);
        let named: HashSet<String> = ranking[..2]
            .iter()
            .map(|found| index.skill(index.find(&found.skill).unwrap()).unwrap().skill.name)
            .collect();
        let expected = ["fapiao-reimbursement", "csv-cleaning"].map(str::to_owned);
        assert_eq!(named, HashSet::from(expected));
        let is_named: Vec<bool> = ranking.iter().map(|found| found.signals.is_named).collect();
        assert_eq!(is_named, [true, true, false]);
    }
}

#[test]
fn rankings_of_one_identity_alone_are_judged_alike() {
    let identities: Vec<_> = rankers().iter().map(Ranker::identity).collect();
    let distinct: HashSet<_> = identities.iter().collect();
    assert_eq!(distinct.len(), identities.len(), "{identities:?}");
    let again: Vec<_> = rankers().iter().map(Ranker::identity).collect();
    assert_eq!(again, identities);
}

/// Returns a router of a ranker over the fixtures.
fn router(ranker: Ranker) -> (tempfile::TempDir, Router) {
    let (dir, index) = index();
    let router = Router::new(index, Stages { ranker, ..Stages::default() }).unwrap();
    (dir, router)
}

#[test]
fn explanations_add_up_to_the_scores() {
    for ranker in rankers() {
        let (_dir, router) = router(ranker);
        for query in queries() {
            for skill in router.search_explained(&query, 20).unwrap() {
                // Both add some dozens of numbers in single precision, in another order.
                let error = (skill.explanation.total() - skill.score).abs();
                assert!(error <= 1e-4 * skill.score.abs().max(1.0), "{}", query.text());
                assert!((0.0..=1.0).contains(&skill.explanation.coverage));
            }
        }
    }
}

#[test]
fn a_hybrid_score_is_the_share_and_the_weighted_cosine() {
    let weight = 0.3;
    let hybrid = HybridRetriever::new(encoder(), HybridConfig { dense_weight: weight });
    let (_dir, router) = router(Ranker::new(Box::new(hybrid), Box::new(KeepOrder)));
    let query = Query::new("merge the pages of a pdf report").unwrap();
    let dense = DenseRetriever::new(encoder());
    let cosines = retrieve(&dense, &router.index(), &query, &[], usize::MAX);
    for skill in router.search_explained(&query, 5).unwrap() {
        let of = |prefix: &str| -> f32 {
            let parts = skill.explanation.contributions.iter();
            parts.filter(|part| part.feature.starts_with(prefix)).map(|part| part.value).sum()
        };
        assert!((of("bm25.") - skill.explanation.score_share).abs() < 1e-5);
        if let Some(known) = cosines.iter().find(|known| known.skill == skill.id) {
            assert!((of("dense.") - weight * known.score).abs() < 1e-5);
        }
        assert_eq!(skill.explanation.contributions.len(), 5);
    }
}

/// Returns the best skill's explanation.
fn explained(ranker: Ranker, query: &Query) -> Explanation {
    let (_dir, router) = router(ranker);
    router.search_explained(query, 1).unwrap().remove(0).explanation
}

#[test]
fn talk_around_a_request_does_not_lower_the_mass_of_its_clause() {
    let alone = Query::new("Fill in the PDF form.").unwrap();
    let in_talk =
        Query::new("Good evening everybody.\nFill in the PDF form.\nLovely weather, was it?")
            .unwrap();
    let [alone, in_talk] = [alone, in_talk].map(|query| explained(Ranker::default(), &query));
    assert!(in_talk.score_share < 0.8 * alone.score_share);
    assert!(alone.grounds.clause_mass > 0.1);
    assert!((alone.grounds.clause_mass - in_talk.grounds.clause_mass).abs() < 1e-4);
    assert!(alone.grounds.body_terms > 0);
}

#[test]
fn a_pool_says_how_near_the_vectors_are() {
    let query = Query::new("merge the pages of a pdf report").unwrap();
    let pool = |encoder| Ranker::new(Box::new(PoolRetriever::new(encoder)), Box::new(KeepOrder));
    let with = explained(pool(Some(encoder())), &query).grounds;
    assert!(0.0 < with.cosine_rise && with.cosine_rise < with.best_cosine);
    assert!(with.best_cosine <= 1.0 && (0.0..=1.0).contains(&with.vector_rank));
    let without = explained(pool(None), &query).grounds;
    assert!(without.best_cosine == 0.0 && without.cosine_rise == 0.0 && without.vector_rank == 0.0);
}

/// Finds what another retriever finds, as an engine elsewhere would: by ids alone.
struct Elsewhere(Arc<dyn Retriever>);

impl Retriever for Elsewhere {
    fn identity(&self) -> skillmux::retrieve::RankingIdentity {
        skillmux::retrieve::RankingIdentity::new("elsewhere")
    }

    fn scale(&self) -> skillmux::retrieve::ScoreScale {
        skillmux::retrieve::ScoreScale::RankOnly
    }

    fn tier(&self) -> Tier {
        Tier::Approximate { recall_at_10: 0.95 }
    }

    fn retrieve(&self, request: &RetrieveRequest<'_>) -> skillmux::Result<Vec<Candidate>> {
        let found = self.0.retrieve(request)?;
        let places = (0..u16::MAX).rev().map(f32::from);
        Ok(found.into_iter().zip(places).map(|(c, place)| Candidate::new(c.skill, place)).collect())
    }

    fn contributions(&self, _candidate: &Candidate) -> Vec<skillmux::retrieve::Contribution> {
        Vec::new()
    }
}

#[test]
fn a_retriever_of_another_engine_needs_no_more_than_ids() {
    let words: Arc<dyn Retriever> = Arc::new(Bm25Retriever::new(Bm25Config::default()));
    let elsewhere = Ranker::new(Box::new(Elsewhere(words)), Box::new(KeepOrder));
    let (_dir, index) = index();
    let query = Query::new("fill in the pdf form").unwrap();
    let ids = |ranker: &Ranker| -> Vec<SkillId> {
        rank(ranker, &index, &query, 5).into_iter().map(|found| found.skill).collect()
    };
    assert_eq!(ids(&elsewhere), ids(&Ranker::default()));
}
