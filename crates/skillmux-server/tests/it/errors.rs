//! What a model reads when a call goes wrong.

use std::time::{Duration, Instant};

use rmcp::{
    ServiceError,
    model::{CallToolRequestParams, ErrorCode},
};
use serde_json::{Value, json};

use crate::{Session, structured, text};

/// Calls a tool that must fail, and returns its text.
async fn failure(tool: &'static str, arguments: Value) -> String {
    let session = Session::start().await;
    let result = session.call(tool, arguments).await;
    assert_eq!(result.is_error, Some(true));
    assert_eq!(result.structured_content, None);
    text(&result).to_owned()
}

#[tokio::test]
async fn an_unknown_id_leads_back_to_find_skills() {
    let text = failure("read_skill", json!({ "skill_id": "documents/pdf-form-fill" })).await;
    assert!(
        text.starts_with(
            "no skill has the id `documents/pdf-form-fill`\nhint: call find_skills with the task"
        ),
        "{text}"
    );
    assert!(text.contains("`documents/pdf-form-filling`"), "{text}");
}

#[tokio::test]
async fn blanks_around_an_id_are_no_part_of_it() {
    let session = Session::start().await;
    for (tool, arguments) in [
        ("read_skill", json!({ "skill_id": " data/csv-cleaning\n" })),
        ("explain_route", json!({ "skill_id": " data/csv-cleaning\n", "task": "clean a CSV" })),
    ] {
        assert!(structured(&session.call(tool, arguments).await).is_object(), "{tool}");
    }
}

#[tokio::test]
async fn a_blank_need_is_told_by_its_number() {
    let arguments = json!({ "skill_id": "data/csv-cleaning", "needs": ["read CSV", ""] });
    let text = failure("read_skill", arguments).await;
    assert!(text.starts_with("need 2 has no letter or digit\nhint: pass short phrases"), "{text}");
    let blank = json!({ "skill_id": "data/csv-cleaning", "needs": [""] });
    assert!(failure("read_skill", blank).await.starts_with("need 1 has no letter or digit"));
}

#[tokio::test]
async fn an_id_of_any_length_is_refused_at_once() {
    let begun = Instant::now();
    let text = failure("read_skill", json!({ "skill_id": "x".repeat(4_000_000) })).await;
    assert!(text.starts_with("no skill has the id `xxxx"), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn an_empty_task_asks_for_a_sentence() {
    for task in ["", "  \n", "\t"] {
        let text = failure("find_skills", json!({ "task": task })).await;
        assert!(text.starts_with("the task is empty\nhint: "), "{text}");
    }
}

#[tokio::test]
async fn a_task_that_is_too_long_names_the_limit() {
    for (tool, arguments) in [
        ("find_skills", json!({ "task": "word ".repeat(1_000_000) })),
        (
            "read_skill",
            json!({ "skill_id": "data/csv-cleaning", "query": "word ".repeat(1_000_000) }),
        ),
    ] {
        let text = failure(tool, arguments).await;
        assert!(text.starts_with("the task is 5000000 bytes, but the limit is "), "{text}");
        assert!(text.contains("\nhint: "), "{text}");
    }
}

#[tokio::test]
async fn a_number_out_of_range_names_the_range() {
    let id = "data/csv-cleaning";
    for (tool, arguments, expected) in [
        (
            "find_skills",
            json!({ "task": "clean a CSV", "max_skills": 21 }),
            "`max_skills` is 21, but must be a whole number from 1 to 20",
        ),
        (
            "find_skills",
            json!({ "task": "clean a CSV", "max_skills": 0 }),
            "`max_skills` is 0, but must be a whole number from 1 to 20",
        ),
        (
            "find_skills",
            json!({ "task": "clean a CSV", "budget_tokens": -1 }),
            "`budget_tokens` is -1, but must be a whole number from 0 to 50000",
        ),
        (
            "read_skill",
            json!({ "skill_id": id, "budget_tokens": 199 }),
            "`budget_tokens` is 199, but must be a whole number from 200 to 50000",
        ),
        (
            "read_skill",
            json!({ "skill_id": id, "budget_tokens": "many" }),
            "`budget_tokens` is a string, but must be a whole number from 200 to 50000",
        ),
    ] {
        let text = failure(tool, arguments).await;
        assert_eq!(text.lines().next(), Some(expected));
        assert!(text.contains("\nhint: call again with "), "{text}");
    }
}

#[tokio::test]
async fn arguments_of_another_shape_are_explained() {
    for (tool, arguments, expected) in [
        ("find_skills", json!({}), "`task` is missing"),
        (
            "find_skills",
            json!({ "task": "a", "needs": [1] }),
            "`needs` must be an array of strings",
        ),
        ("find_skills", json!({ "task": 7 }), "`task` is a number, but must be a string"),
        ("find_skills", json!({ "query": "x" }), "there is no argument `query`"),
        ("read_skill", json!({ "query": "x" }), "`skill_id` is missing"),
        ("explain_route", json!({ "skill_id": "a" }), "`task` is missing"),
        ("explain_route", json!({ "task": "" }), "the task is empty"),
        ("explain_route", json!({ "task": "a", "skill_id": "csv" }), "no skill has the id `csv`"),
        (
            "read_skill",
            json!({ "skill_id": ["a"] }),
            "`skill_id` is an array, but must be a string",
        ),
    ] {
        let text = failure(tool, arguments).await;
        assert_eq!(text.lines().next(), Some(expected));
        assert!(text.contains("\nhint: "), "{text}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error() {
    let session = Session::start().await;
    let error = session.client.call_tool(CallToolRequestParams::new("drop_table")).await;
    let Err(ServiceError::McpError(error)) = error else { panic!("{error:?}") };
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert!(error.message.ends_with("explain_route, find_skills, read_skill"), "{}", error.message);
}

#[tokio::test]
async fn a_failed_call_does_not_spoil_the_next_one() {
    let session = Session::start().await;
    session.call("find_skills", json!({ "task": "" })).await;
    let result = session.call("find_skills", json!({ "task": "clean a messy CSV file" })).await;
    assert_eq!(structured(&result)["decision"], "load");
}
