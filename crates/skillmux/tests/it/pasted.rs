//! Tasks with pasted material: what is asked is what counts.

use skillmux::{
    compose::Decision,
    query::Query,
    route::{RouteOptions, Router},
};

use crate::library::{Workshop, sample};

/// What a user pastes: a log that soon goes on in words of another skill.
fn log() -> String {
    let start = "2026-03-01 10:22:06 INFO [worker-3] picked up job 4471 of queue nightly\n";
    let line = "2026-03-01 10:22:07 ERROR [worker-3] building slides from outline.md failed: \
                slides theme 4 has no outline\n";
    start.repeat(4) + &line.repeat(12)
}

#[test]
fn the_request_is_ranked_and_not_the_words_of_a_log() {
    let workshop = Workshop::with(&sample());
    let router = Router::open(&workshop.index_path()).unwrap();
    let asked = "clean the messy CSV tables that this job leaves behind";
    for task in [format!("{asked}\n\n{}", log()), format!("{}\n{asked}", log())] {
        let query = Query::new(&task).unwrap();
        let route = router.route(&query, &RouteOptions::default()).unwrap();
        assert_eq!(route.decision, Decision::Load);
        assert_eq!(route.request.as_deref(), Some(asked));
        let [step] = &route.steps[..] else { panic!("{:?}", route.steps) };
        assert_eq!(step.subtask, asked);
        assert_eq!(step.skills[0].id.as_str(), "data/csv-cleaning");
        let ranking = router.search(&query, 3).unwrap();
        assert_eq!(ranking.candidates[0].skill.as_str(), "data/csv-cleaning");
        assert_eq!(router.search(&query, 1).unwrap().candidates.len(), 1);
        for skill in router.search_explained(&query, 3).unwrap() {
            let parts = skill.explanation.contributions.iter();
            let sum: f32 = parts.map(|part| part.value).sum();
            assert!((sum - skill.score).abs() < 1e-3, "{sum} is not {}", skill.score);
        }
    }
    let route = router.route(&Query::new(asked).unwrap(), &RouteOptions::default()).unwrap();
    assert_eq!(route.request, None);
}
