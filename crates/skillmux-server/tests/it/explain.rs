//! What `explain_route` says of a route.

use serde_json::json;
use skillmux::text::estimate_tokens;

use crate::{Session, structured, text};

const TASK: &str = "clean a messy CSV file";

#[tokio::test]
async fn the_skills_of_each_step_have_their_grounds() {
    let session = Session::start().await;
    let needs = [TASK, "make a PowerPoint deck"];
    let arguments = json!({ "task": "tidy sales.csv, and slides by noon", "needs": needs });
    let result = session.call("explain_route", arguments).await;
    let answer = structured(&result);
    let steps = answer["steps"].as_array().unwrap();
    assert_eq!([&steps[0]["subtask"], &steps[1]["subtask"]], needs);
    let skill = &steps[0]["skills"][0];
    assert_eq!(skill["skill_id"], "data/csv-cleaning");
    let parts: Vec<f64> = skill["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["value"].as_f64().unwrap().abs())
        .collect();
    assert!((1..=5).contains(&parts.len()), "{parts:?}");
    assert!(parts.is_sorted_by(|a, b| a >= b), "{parts:?}");
    assert!(skill["matched"].as_array().unwrap().contains(&json!("CSV")), "{skill}");
    for left_out in steps[0]["left_out"].as_array().unwrap() {
        assert!(!left_out["reason"].as_str().unwrap().is_empty());
        assert!(left_out["score"].as_f64() <= skill["score"].as_f64(), "{left_out}");
    }
    let text = text(&result);
    assert!(text.starts_with("decision: load (confidence "), "{text}");
    assert!(text.contains(&format!("): {TASK}\n+ data/csv-cleaning\n  score ")), "{text}");
    assert!(text.contains("\n  matched: "), "{text}");
}

#[tokio::test]
async fn a_skill_that_was_not_chosen_has_its_place_and_what_it_lacks() {
    let session = Session::start().await;
    let arguments = json!({ "task": TASK, "skill_id": "documents/pdf-table-extraction" });
    let result = session.call("explain_route", arguments).await;
    let skill = &structured(&result)["skill"];
    assert_eq!(skill["is_chosen"], false);
    let standing = &skill["standing"];
    assert!(standing["place"].as_u64().unwrap() > 1, "{standing}");
    assert!(standing["score"].as_f64() < standing["best_score"].as_f64(), "{standing}");
    assert!(!standing["lacks"].as_array().unwrap().is_empty(), "{standing}");
    assert!(standing["missing"].as_array().unwrap().contains(&json!("messy")), "{standing}");
    let text = text(&result);
    assert!(text.contains("\nasked about: documents/pdf-table-extraction: "), "{text}");
    assert!(text.contains("\n  the best has more of: "), "{text}");
}

#[tokio::test]
async fn a_skill_that_another_one_displaced_says_which() {
    let session = Session::start().await;
    let arguments = json!({ "task": "write release notes", "skill_id": "writing/release-notes" });
    let result = session.call("explain_route", arguments).await;
    let reason = &structured(&result)["skill"]["reason"];
    assert_eq!(reason, "it has the name of `git/release-notes`");
}

#[tokio::test]
async fn a_skill_that_the_task_does_not_want_says_so() {
    let session = Session::start().await;
    let task = "clean the messy CSV, but do not use csv-cleaning";
    let arguments = json!({ "task": task, "skill_id": "csv-cleaning" });
    let result = session.call("explain_route", arguments).await;
    let reason = &structured(&result)["skill"]["reason"];
    assert_eq!(reason, "it is what the task does not want (`csv-cleaning`)");
}

#[tokio::test]
async fn a_skill_that_was_chosen_says_for_which_step() {
    let session = Session::start().await;
    let arguments = json!({ "task": TASK, "skill_id": "data/csv-cleaning" });
    let skill = structured(&session.call("explain_route", arguments).await)["skill"].clone();
    assert_eq!((&skill["is_chosen"], &skill["standing"]["place"]), (&json!(true), &json!(1)));
    assert_eq!(skill["reason"], "it is chosen for step 1");
    assert_eq!(skill["standing"].get("lacks"), None);
}

#[tokio::test]
async fn a_skill_that_has_no_word_of_the_task_is_not_ranked() {
    let session = Session::start().await;
    let arguments = json!({ "task": "数据库", "skill_id": "data/csv-cleaning" });
    let result = session.call("explain_route", arguments).await;
    let skill = &structured(&result)["skill"];
    assert_eq!(skill["reason"], "it is not among the first 100 skills");
    assert_eq!((&skill["missing"], skill.get("standing")), (&json!(["数据库"]), None));
}

#[tokio::test]
async fn an_explanation_is_short() {
    let session = Session::start().await;
    let needs = [TASK, "make a PowerPoint deck", "fill in a PDF form"];
    let arguments =
        json!({ "task": "three things", "needs": needs, "skill_id": "data/csv-cleaning" });
    let result = session.call("explain_route", arguments).await;
    let n_tokens = estimate_tokens(text(&result));
    assert!(n_tokens < 1_500, "{n_tokens}");
}
