//! Training the value of parts of skills.

use std::{path::Path, sync::Arc};

use skillmux::{
    index::{Index, UpdateOptions},
    library::Library,
    page::{LeftOutValue, NodeFeatures, ValuePager},
    route::{Router, Stages},
};
use skillmux_eval::dataset::{Dataset, DatasetKind, DatasetOptions};
use skillmux_train::pager::PagerExamples;

fn examples(cases: &Path) -> (PagerExamples, Router) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folder = tempfile::tempdir().unwrap();
    let library = Library::open([fixtures.join("library")]).unwrap();
    Index::update(folder.path(), &library, &UpdateOptions::default(), &mut |_| ()).unwrap();
    let router = Router::new(Index::open(folder.path()).unwrap(), Stages::default()).unwrap();
    let (weights, encoder) = (skillmux_models::pager().texts, skillmux_models::encoder());
    let pager = ValuePager::new(weights, Arc::new(encoder));
    let kind = Some(DatasetKind::IntraSkillBench);
    let cases = Dataset::open(cases, kind, DatasetOptions::default()).unwrap();
    let examples = PagerExamples::read(&cases, &router, pager).unwrap();
    (examples, router)
}

#[test]
fn parts_that_answer_are_told_from_the_others() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let (examples, router) = examples(&fixtures.join("eval/intra-skill-bench/cases.jsonl"));
    assert_eq!((examples.n_cases(), examples.n_skills()), ([2, 0, 0], 1));
    let [n_nodes, n_needed] = examples.n_nodes();
    assert!(n_needed >= 2 && n_nodes > 5 * n_needed, "{n_needed} of {n_nodes}");
    let (weights, scores) = examples.fit(&router);
    let answer = NodeFeatures { best_line: 1.0, place_by_words: 1.0, ..NodeFeatures::default() };
    let other = NodeFeatures { meaning: -0.5, ..NodeFeatures::default() };
    assert!(weights.probability(&answer) > 4.0 * weights.probability(&other), "{weights:?}");
    let sufficiency = weights.sufficiency.unwrap();
    let half = LeftOutValue { sum: 1.0, largest: 1.0, share: 0.5 };
    assert!((0.0..=1.0).contains(&sufficiency.probability(&half)), "{sufficiency:?}");
    for score in [scores.value, scores.sufficiency, scores.sufficiency_error] {
        assert!((0.0..=1.0).contains(&score), "{scores:?}");
    }
}

#[test]
fn a_case_about_another_body_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let cases = folder.path().join("cases.jsonl");
    let line = |id: &str| {
        format!(
            "{{\"case_id\": \"{id}\", \"skill_id\": \"{id}\", \"query\": \"read it\", \"body_bytes\": 9, \"evidence\": [[0, 5]]}}\n"
        )
    };
    std::fs::write(&cases, line("data/csv-cleaning") + &line("no/such-skill")).unwrap();
    let (examples, _) = examples(&cases);
    assert_eq!((examples.n_cases(), examples.n_nodes()), ([0, 1, 1], [0, 0]));
}
