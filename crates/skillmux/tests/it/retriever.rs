//! The contracts of retrievers and rankings, checked for every implementation.

use std::{collections::HashSet, path::Path, sync::Arc};

use skillmux::{
    explain::Explanation,
    index::{Index, UpdateMode},
    library::Library,
    query::Query,
    rerank::KeepOrder,
    retrieve::{
        Bm25Config, Bm25Retriever, Candidate, DenseRetriever, HybridConfig, HybridRetriever,
        PoolRetriever, RetrieveRequest, Retriever, Tier,
    },
    route::{Ranker, Router, Stages},
    skill::SkillId,
};

use crate::{
    library::{options, tempdir},
    rankers::{asking_rankers, encoder, rankers, retrievers},
};

/// Returns the fixture library as an index.
pub(crate) fn index() -> (tempfile::TempDir, Index) {
    let dir = tempdir();
    let library = Library::open([fixtures().join("library")]).unwrap();
    Index::update(dir.path(), &library, &options(UpdateMode::Rebuild), &mut |_| {}).unwrap();
    let index = Index::open(dir.path()).unwrap();
    (dir, index)
}

fn fixtures() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"))
}

pub(crate) fn queries() -> Vec<Query> {
    let text = std::fs::read_to_string(fixtures().join("tasks.jsonl")).unwrap();
    let tasks = text.lines().step_by(3).map(|line| {
        let task: serde_json::Value = serde_json::from_str(line).unwrap();
        Query::new(task["query"].as_str().unwrap()).unwrap()
    });
    let edges = ["a", "表", "the of and", "zzqx", "1 1 1 1", "use csv-cleaning", "pdf 发票 pdf"];
    tasks.chain(edges.map(|text| Query::new(text).unwrap())).collect()
}

/// Returns what a retriever finds for a query that names these skills.
pub(crate) fn retrieve(
    retriever: &dyn Retriever,
    index: &Index,
    query: &Query,
    named: &[SkillId],
    k: usize,
) -> Vec<Candidate> {
    retriever.retrieve(&RetrieveRequest { index, query, named, k }).unwrap()
}

pub(crate) fn rank(ranker: &Ranker, index: &Index, query: &Query, k: usize) -> Vec<Candidate> {
    ranker.rank(index, query, k).unwrap().candidates
}

pub(crate) fn assert_in_order(candidates: &[Candidate]) {
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
fn requests_together_find_what_each_finds_alone() {
    let (_dir, index) = index();
    for retriever in retrievers() {
        let queries = queries();
        let request = |query| RetrieveRequest { index: &index, query, named: &[], k: 20 };
        let requests: Vec<_> = queries.iter().map(request).collect();
        let together = retriever.retrieve_all(&requests).unwrap();
        let alone = requests.iter().map(|request| retriever.retrieve(request).unwrap());
        assert_eq!(together, alone.collect::<Vec<_>>());
        assert!(retriever.retrieve_all(&[]).unwrap().is_empty());
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

/// Checks that rankings are in order, and that the first `k` of one do not depend on `k`.
pub(crate) fn assert_ranks(ranker: &Ranker, index: &Index, query: &Query, ks: &[usize]) {
    let all = rank(ranker, index, query, usize::MAX);
    assert_in_order(&all);
    for &k in ks {
        let some = rank(ranker, index, query, k);
        assert_eq!(some, all[..k.min(all.len())], "{} at {k}", query.text());
    }
}

#[test]
fn rankings_are_in_order_and_the_first_k_do_not_depend_on_k() {
    let (_dir, index) = index();
    for ranker in rankers() {
        for query in queries() {
            assert_ranks(&ranker, &index, &query, &[0, 1, 2, 7, 20, 40, 1000]);
        }
    }
}

#[test]
fn skills_that_share_nothing_with_the_query_are_left_out() {
    let (_dir, index) = index();
    for ranker in rankers().into_iter().chain(asking_rankers()) {
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
    for ranker in rankers().into_iter().chain(asking_rankers()) {
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
    let identities =
        || -> Vec<_> { rankers().iter().chain(&asking_rankers()).map(Ranker::identity).collect() };
    let (identities, again) = (identities(), identities());
    let distinct: HashSet<_> = identities.iter().collect();
    assert_eq!(distinct.len(), identities.len(), "{identities:?}");
    assert_eq!(again, identities);
}

/// Returns a router of a ranker over the fixtures.
pub(crate) fn router(ranker: Ranker) -> (tempfile::TempDir, Router) {
    let (dir, index) = index();
    let router = router_over(&index, ranker);
    (dir, router)
}

/// Returns a router of a ranker over the same index.
pub(crate) fn router_over(index: &Index, ranker: Ranker) -> Router {
    let index = Index::open(index.path()).unwrap();
    Router::new(index, Stages { ranker, ..Stages::default() }).unwrap()
}

/// Checks that the parts of scores add up to them.
pub(crate) fn assert_explained(router: &Router, query: &Query, k: usize) {
    for skill in router.search_explained(query, k).unwrap() {
        // Both add some dozens of numbers in single precision, in another order.
        let error = (skill.explanation.total() - skill.score).abs();
        assert!(error <= 1e-4 * skill.score.abs().max(1.0), "{}", query.text());
        assert!((0.0..=1.0).contains(&skill.explanation.coverage));
    }
}

#[test]
fn explanations_add_up_to_the_scores() {
    let (_dir, index) = index();
    for ranker in rankers() {
        let router = router_over(&index, ranker);
        for query in queries() {
            assert_explained(&router, &query, 20);
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
