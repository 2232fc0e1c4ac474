//! Whole answers.

use skillmux::{
    Error,
    compose::{Calibration, Calibrations, Decision, Features},
    decompose::{ByClause, Decomposer},
    query::Query,
    retrieve::RankingIdentity,
    route::{RouteOptions, Router, Stages},
    skill::SkillId,
};

use crate::library::{Line, Workshop, sample};

fn json(router: &Router, task: &str) -> String {
    let query = Query::new(task).unwrap();
    serde_json::to_string(&router.route(&query, &RouteOptions::default()).unwrap()).unwrap()
}

#[test]
fn the_same_query_gives_the_same_bytes() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let again = Router::new(workshop.open().unwrap(), Stages::default()).unwrap();
    for task in ["fill in the form and clean the tables", "整理发票", "nothing of the kind"] {
        assert_eq!(json(&router, task), json(&router, task));
        assert_eq!(json(&router, task), json(&again, task));
    }
}

#[test]
fn a_route_survives_a_round_trip_through_json() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let query = Query::new("fill in the PDF form").unwrap();
    let route = router.route(&query, &RouteOptions::default()).unwrap();
    let text = serde_json::to_string(&route).unwrap();
    assert_eq!(serde_json::from_str::<skillmux::route::Route>(&text).unwrap(), route);
}

#[test]
fn pages_stay_within_the_budget() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let query = Query::new("fill in the PDF form, clean the tables and build slides").unwrap();
    for budget_tokens in [0, 1, 5, 20, 100, u32::MAX] {
        let options = RouteOptions { budget_tokens, ..RouteOptions::default() };
        let route = router.route(&query, &options).unwrap();
        let n_tokens: u32 = route.pages.iter().map(|page| page.n_tokens).sum();
        assert!(n_tokens <= budget_tokens, "{n_tokens} of {budget_tokens}");
        assert_eq!(route.pages.is_empty(), budget_tokens == 0);
    }
    let none = RouteOptions { max_skills: Some(0), ..RouteOptions::default() };
    assert!(router.route(&query, &none).unwrap().pages.is_empty());
    let all = RouteOptions { max_skills: Some(usize::MAX), ..RouteOptions::default() };
    router.route(&query, &all).unwrap();
}

#[test]
fn an_unknown_skill_comes_with_ids_that_look_alike() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let page =
        |id: &str| router.page(&SkillId::new(id), None, 100, skillmux::page::PartList::none());
    let error = page("docs/pdf-form").unwrap_err();
    let Error::SkillUnknown { nearest, .. } = &error else { panic!("{error}") };
    assert_eq!(nearest[0].as_str(), "docs/pdf-forms");
    assert!(error.hint().unwrap().contains("`docs/pdf-forms`"));
    page("docs/pdf-forms").unwrap();
}

#[test]
fn a_name_stands_for_an_id_where_one_skill_has_it() {
    let mut lines = sample();
    lines.push(Line::new("lib/only", "Only One", "Does one thing", "text"));
    lines.push(Line::new("lib/same", "Only One", "Does one thing", "text"));
    lines.push(Line::new("lib/a", "twice", "Does this", "the first text of that name"));
    lines.push(Line::new("lib/b", "twice", "Does that", "another text, which is not the same"));
    let workshop = Workshop::with(&lines);
    let router = Router::open(&workshop.index_path()).unwrap();
    for text in ["lib/only", "Only One", "only-one", "lib/same"] {
        assert_eq!(router.resolve(text).unwrap(), SkillId::new("lib/only"));
    }
    let Err(Error::SkillUnknown { nearest, .. }) = router.resolve("twice") else { panic!() };
    assert_eq!(nearest, [SkillId::new("lib/a"), SkillId::new("lib/b")]);
    let Err(Error::SkillUnknown { nearest, .. }) = router.resolve("lib/onli") else { panic!() };
    assert_eq!(nearest[0], SkillId::new("lib/only"));
}

#[test]
fn a_ranking_without_a_calibration_has_no_confidence() {
    let workshop = Workshop::with(&sample());
    let query = Query::new("fill in the PDF form").unwrap();
    let route_by = |calibrations| {
        let stages = Stages { calibrations, ..Stages::default() };
        let router = Router::new(workshop.open().unwrap(), stages).unwrap();
        router.route(&query, &RouteOptions::default()).unwrap()
    };
    let calibration = |ranking, threshold| {
        let (bias, weights) = (0.0, Features::default());
        Calibrations::new([Calibration {
            ranking,
            bias,
            weights,
            verifier: None,
            threshold,
            large_threshold: None,
        }])
    };
    let uncalibrated = route_by(Calibrations::default());
    assert_eq!((uncalibrated.decision, uncalibrated.confidence), (Decision::Load, None));
    let other = route_by(calibration(RankingIdentity::new("another"), 1.0));
    assert_eq!(other, uncalibrated);
    let own = Stages::default().ranker.identity();
    let judged = route_by(calibration(own, 1.0));
    assert_eq!((judged.decision, judged.confidence), (Decision::Abstain, Some(0.5)));
    assert!(judged.steps[0].skills.is_empty());
}

#[test]
fn each_clause_with_a_skill_of_its_own_is_a_step() {
    let workshop = Workshop::with(&sample());
    let decomposer: Box<dyn Decomposer> = Box::new(ByClause::default());
    let stages = Stages { decomposer, ..Stages::default() };
    let router = Router::new(workshop.open().unwrap(), stages).unwrap();
    let task =
        "Fill in the PDF form. Then clean the messy tables. Then fill in the PDF form again.";
    let route = router.route(&Query::new(task).unwrap(), &RouteOptions::default()).unwrap();
    let subtasks: Vec<&str> = route.steps.iter().map(|step| step.subtask.as_str()).collect();
    // The third has its skill from the first, and is no step.
    assert_eq!(subtasks, ["Fill in the PDF form.", "Then clean the messy tables."]);
    let loaded = |step: usize| -> Vec<&str> {
        route.steps[step].skills.iter().map(|skill| skill.id.as_str()).collect()
    };
    assert_eq!(loaded(0), ["docs/pdf-forms"]);
    assert!(!loaded(1).is_empty() && !loaded(1).contains(&"docs/pdf-forms"));
    assert_eq!(route.pages.len(), route.steps.iter().map(|step| step.skills.len()).sum::<usize>());
}

#[test]
fn only_loaded_skills_are_explained() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let query = Query::new("fill in the PDF form, clean the tables and build slides").unwrap();
    let options = RouteOptions { max_skills: Some(1), ..RouteOptions::default() };
    let route = router.route(&query, &options).unwrap();
    let step = &route.steps[0];
    assert_eq!(step.skills.len(), 1);
    assert!(!step.skills[0].explanation.matched.is_empty());
    assert!(!step.alternatives.is_empty());
    assert!(step.alternatives.iter().all(|skill| !skill.name.is_empty()));
    // What is explained is what a search says of the same skill.
    let found = router.search_explained(&query, 1).unwrap();
    assert_eq!(found[0], step.skills[0]);
}
