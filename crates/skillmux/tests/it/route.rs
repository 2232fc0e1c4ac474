//! Whole answers.

use skillmux::{
    Error,
    retrieve::Query,
    route::{RouteOptions, Router, RouterConfig},
    skill::SkillId,
};

use crate::library::{Workshop, sample};

fn json(router: &Router, task: &str) -> String {
    let query = Query::new(task).unwrap();
    serde_json::to_string(&router.route(&query, &RouteOptions::default()).unwrap()).unwrap()
}

#[test]
fn the_same_query_gives_the_same_bytes() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let again = Router::new(workshop.open().unwrap(), RouterConfig::default());
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
    let none = RouteOptions { max_skills: 0, ..RouteOptions::default() };
    assert!(router.route(&query, &none).unwrap().pages.is_empty());
    let all = RouteOptions { max_skills: usize::MAX, ..RouteOptions::default() };
    router.route(&query, &all).unwrap();
}

#[test]
fn an_unknown_skill_comes_with_ids_that_look_alike() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let page = |id: &str| router.page(&SkillId::new(id), None, 100);
    let error = page("docs/pdf-form").unwrap_err();
    let Error::SkillUnknown { nearest, .. } = &error else { panic!("{error}") };
    assert_eq!(nearest[0].as_str(), "docs/pdf-forms");
    assert!(error.hint().unwrap().contains("`docs/pdf-forms`"));
    page("docs/pdf-forms").unwrap();
}
