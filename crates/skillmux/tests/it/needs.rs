//! Queries that bring their needs.

use skillmux::{
    compose::DropReason,
    query::Query,
    route::{Route, RouteOptions, Router},
};

use crate::{
    library::{Workshop, sample},
    rankers::rankers,
};

const TASK: &str = "put the figures of the survey on slides";

fn query(needs: &[&str]) -> Query {
    Query::new(TASK).unwrap().with_needs(needs).unwrap()
}

fn route(router: &Router, needs: &[&str], max_skills: Option<usize>) -> Route {
    let options = RouteOptions { max_skills, budget_tokens: 0, ..RouteOptions::default() };
    router.route(&query(needs), &options).unwrap()
}

/// Returns what each step loads, after what it is about.
fn loaded(route: &Route) -> Vec<(&str, Vec<&str>)> {
    route
        .steps
        .iter()
        .map(|step| {
            let ids = step.skills.iter().map(|skill| skill.id.as_str()).collect();
            (step.subtask.as_str(), ids)
        })
        .collect()
}

#[test]
fn each_need_is_a_step_with_one_skill_and_what_could_replace_it() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let found = route(&router, &["clean messy CSV tables", "build slides from an outline"], None);
    assert_eq!(
        loaded(&found),
        [
            ("clean messy CSV tables", vec!["data/csv-cleaning"]),
            ("build slides from an outline", vec!["docs/slides"]),
        ]
    );
    for step in &found.steps {
        for left in &step.alternatives {
            let is_told =
                matches!(left.reason, DropReason::Substitute { .. } | DropReason::BelowCut);
            assert!(is_told || left.reason == DropReason::LoadedBefore, "{left:?}");
        }
    }
}

#[test]
fn a_skill_that_serves_two_needs_is_loaded_once() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let found = route(&router, &["clean messy CSV tables", "clean a CSV table of its rows"], None);
    assert_eq!(found.steps[0].skills[0].id.as_str(), "data/csv-cleaning");
    assert!(found.steps[1].skills.is_empty());
    assert_eq!(found.steps[1].alternatives[0].reason, DropReason::LoadedBefore);
}

#[test]
fn there_is_room_for_each_need_unless_the_caller_says_otherwise() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let needs = ["fill in the PDF form", "clean CSV", "build slides", "整理发票"];
    let n_loaded = |found: &Route| found.steps.iter().map(|step| step.skills.len()).sum::<usize>();
    assert_eq!(n_loaded(&route(&router, &needs, None)), 4);
    let found = route(&router, &needs, Some(2));
    assert_eq!(n_loaded(&found), 2);
    assert_eq!(found.steps[3].alternatives[0].reason, DropReason::OverLimit);
}

#[test]
fn every_ranking_is_merged_and_says_which_need_gave_what() {
    let workshop = Workshop::with(&sample());
    let index = workshop.open().unwrap();
    let needs = query(&["clean messy CSV tables", "fill in the fields of a PDF form"]);
    for ranker in rankers() {
        if ranker.check(&index).is_err() {
            continue;
        }
        let alone = ranker.rank(&index, &Query::new(TASK).unwrap(), 10).unwrap();
        let merged = ranker.rank(&index, &needs, 10).unwrap();
        assert_ne!(alone.identity, merged.identity, "a merged ranking has no calibration");
        assert_eq!(merged, ranker.rank(&index, &needs, 10).unwrap());
        let first: Vec<&str> =
            merged.candidates.iter().take(3).map(|found| found.skill.as_str()).collect();
        for id in ["data/csv-cleaning", "docs/pdf-forms"] {
            assert!(first.contains(&id), "{} has {first:?}", ranker.identity());
        }
        for found in &merged.candidates {
            let names = found.signals.names();
            assert_eq!(names, ["task", "need 1", "need 2"]);
            let sum: f32 = found.signals.values().iter().sum();
            assert!((sum - found.score).abs() < 1e-4 || found.signals.is_named);
        }
    }
}

#[test]
fn a_skill_that_a_need_names_comes_first() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let found = router.search_explained(&query(&["build slides", "use pdf-forms"]), 5).unwrap();
    assert_eq!(found[0].id.as_str(), "docs/pdf-forms");
    for skill in &found {
        let sum: f32 = skill.explanation.contributions.iter().map(|part| part.value).sum();
        assert!((sum - skill.score).abs() < 1e-4, "{skill:?}");
    }
}

#[test]
fn a_skill_that_the_task_or_a_need_names_is_loaded() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let task = Query::new("put the survey on slides, with slide-deck").unwrap();
    let query = task.with_needs(["clean messy CSV tables"]).unwrap();
    let found = router.route(&query, &RouteOptions::default()).unwrap();
    let ids: Vec<&str> = loaded(&found).into_iter().flat_map(|(_, ids)| ids).collect();
    assert_eq!(ids, ["data/csv-cleaning", "docs/slides"]);
    let found = route(&router, &["clean tables with pdf-forms"], None);
    assert_eq!(found.steps[0].skills[0].id.as_str(), "docs/pdf-forms");
}

#[test]
fn hints_take_turns_and_hold_no_skill_twice() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let query = query(&["clean messy CSV tables", "fill in the fields of a PDF form"]);
    let hints = |n_hints| {
        let found = router.hints(&query, n_hints).unwrap();
        found.into_iter().map(|hint| hint.id.to_string()).collect::<Vec<_>>()
    };
    assert!(hints(0).is_empty());
    assert_eq!(hints(2), ["data/csv-cleaning", "docs/pdf-forms"]);
    let mut all = hints(15);
    assert_eq!(all[..2], hints(2));
    let n = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), n);
}

#[test]
fn an_answer_hints_at_what_it_does_not_load() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let hints = |n_hints| {
        let options = RouteOptions { n_hints, ..RouteOptions::default() };
        let found = router.route(&query(&["clean messy CSV tables"]), &options).unwrap();
        let loaded: Vec<String> =
            loaded(&found).iter().flat_map(|(_, ids)| ids).map(|id| (*id).to_owned()).collect();
        assert_eq!(loaded, ["data/csv-cleaning"]);
        found.hints.into_iter().map(|hint| hint.id.to_string()).collect::<Vec<_>>()
    };
    assert!(hints(0).is_empty());
    let (one, all) = (hints(1), hints(15));
    assert_eq!(one.len(), 1);
    assert_eq!(one, all[..1]);
    assert!(!all.contains(&"data/csv-cleaning".to_owned()), "{all:?}");
}
