//! What the tools say about themselves, and what they answer.

use rmcp::model::{CacheScope, Tool};
use serde_json::{Value, json};
use skillmux::{
    library::{SkillPlaces, Source},
    text::estimate_tokens,
};

use crate::{
    Session,
    library::{SampleIndex, fixtures},
    structured, text,
};

const FORM_TASK: &str = "fill in the fields of a PDF form";
const FORM_SKILL: &str = "documents/pdf-form-filling";

#[tokio::test]
async fn the_tool_set_is_small_fixed_and_read_only() {
    let session = Session::start().await;
    let tools = session.client.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["explain_route", "find_skills", "read_skill"]);
    for tool in &tools {
        let hints = serde_json::to_value(tool.annotations.as_ref().unwrap()).unwrap();
        assert_eq!(hints, json!({ "readOnlyHint": true, "openWorldHint": false }));
    }
    assert_eq!(tools, session.client.list_all_tools().await.unwrap());
}

#[tokio::test]
async fn a_model_pays_little_for_the_tools() {
    let session = Session::start().await;
    let list = session.client.list_tools(None).await.unwrap();
    assert_eq!((list.ttl_ms, list.cache_scope), (Some(3_600_000), Some(CacheScope::Public)));
    // The bar is 900 tokens. `o200k_base` counts 876, some more than this estimate, hence the
    // margin.
    let n_tokens = estimate_tokens(&serde_json::to_string(&list).unwrap());
    assert!(n_tokens <= 870, "{n_tokens}");
}

#[tokio::test]
async fn every_answer_has_the_form_that_its_tool_promises() {
    let session = Session::start().await;
    let tools = session.client.list_all_tools().await.unwrap();
    for (tool, arguments) in [
        ("find_skills", json!({ "task": FORM_TASK, "budget_tokens": 500 })),
        ("find_skills", json!({ "task": "congratulate Alice on becoming a grandmother" })),
        ("read_skill", json!({ "skill_id": FORM_SKILL })),
        ("explain_route", json!({ "task": FORM_TASK, "skill_id": "data/csv-cleaning" })),
    ] {
        let result = session.call(tool, arguments).await;
        let answer = structured(&result);
        let promised = tools.iter().find(|it| it.name == tool).unwrap();
        let schema = promised.output_schema.as_ref().unwrap();
        assert_eq!(schema["type"], "object");
        let members = schema["properties"].as_object().unwrap();
        assert!(members.len() >= 4, "{schema:?}");
        for (name, member) in members {
            let found = match &answer[name] {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(number) if number.is_f64() => "number",
                Value::Number(_) => "integer",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            let kinds = &member["type"];
            let is_promised = kinds == found
                || kinds.as_array().is_some_and(|kinds| kinds.contains(&json!(found)));
            assert!(is_promised, "{tool} gives {found} for {name}, but promises {kinds}");
        }
    }
}

#[tokio::test]
async fn an_input_schema_says_all_that_a_call_is_held_to() {
    let session = Session::start().await;
    let tools = session.client.list_all_tools().await.unwrap();
    let mut schemas: Vec<_> = tools.iter().map(Tool::schema_as_json_value).collect();
    for schema in &mut schemas {
        for property in schema["properties"].as_object_mut().unwrap().values_mut() {
            let description = property.as_object_mut().unwrap().remove("description").unwrap();
            assert!(description.as_str().unwrap().ends_with(['.', '?']), "{description}");
        }
    }
    let number = |first: u32, last: u32, default: u32| json!({ "type": "integer", "minimum": first, "maximum": last, "default": default });
    let expected = [
        json!({
            "type": "object",
            "properties": {
                "task": { "type": "string" },
                "needs": { "type": "array", "items": { "type": "string" } },
                "skill_id": { "type": "string" }
            },
            "required": ["task"],
            "additionalProperties": false
        }),
        json!({
            "type": "object",
            "properties": {
                "task": { "type": "string" },
                "needs": { "type": "array", "items": { "type": "string" } },
                "max_skills": { "type": "integer", "minimum": 1, "maximum": 20 },
                "hints": number(0, 15, 0),
                "budget_tokens": number(0, 50_000, 0)
            },
            "required": ["task"],
            "additionalProperties": false
        }),
        json!({
            "type": "object",
            "properties": {
                "skill_id": { "type": "string" },
                "query": { "type": "string" },
                "needs": { "type": "array", "items": { "type": "string" } },
                "budget_tokens": number(200, 50_000, 3000),
                "have": { "type": "string" }
            },
            "required": ["skill_id"],
            "additionalProperties": false
        }),
    ];
    assert_eq!(schemas, expected);
}

#[tokio::test]
async fn find_skills_names_the_skill_and_says_why() {
    let session = Session::start().await;
    let result = session.call("find_skills", json!({ "task": FORM_TASK })).await;
    let answer = structured(&result);
    assert_eq!(answer["decision"], "load");
    let skill = &answer["skills"][0];
    assert_eq!(skill["skill_id"], FORM_SKILL);
    assert_eq!(skill["name"], "pdf-form-filling");
    assert!(!skill["source"].as_str().unwrap().is_empty());
    let matched = skill["why"]["matched"].as_array().unwrap();
    assert!(matched.iter().any(|word| word.as_str().unwrap().eq_ignore_ascii_case("form")));
    assert!(answer.get("pages").is_none());
    assert!(answer["next"].as_str().unwrap().starts_with("call read_skill"));

    let text = text(&result);
    assert!(text.starts_with("decision: load (confidence "), "{text}");
    assert!(text.contains(&format!("\n1. skill_id: {FORM_SKILL}\n")), "{text}");
    assert!(text.contains("\nnext: call read_skill"), "{text}");
}

#[tokio::test]
async fn a_word_that_the_skill_lacks_asks_for_a_second_look() {
    let session = Session::start().await;
    let task = format!("{FORM_TASK} in zebraform");
    let result = session.call("find_skills", json!({ "task": task })).await;
    let answer = structured(&result);
    assert_eq!(answer["skills"][0]["skill_id"], FORM_SKILL);
    assert_eq!(answer["skills"][0]["why"]["missing"], json!(["zebraform"]));
    let next = answer["next"].as_str().unwrap();
    assert!(next.starts_with("use a skill only if its description covers"), "{next}");
    assert!(next.contains("Then call read_skill with skill_id"), "{next}");
}

#[tokio::test]
async fn both_tools_say_where_the_skill_lies_if_that_is_known() {
    let index = SampleIndex::new();
    let router = index.router().with_places(SkillPlaces::new(vec![Source::folder(fixtures())]));
    let session = Session::with(index, router).await;
    let folder = std::path::absolute(fixtures().join(FORM_SKILL)).unwrap().display().to_string();
    let found = session.call("find_skills", json!({ "task": FORM_TASK })).await;
    assert_eq!(structured(&found)["skills"][0]["folder"], folder);
    assert!(text(&found).contains(&format!("\n   folder: {folder}\n")), "{}", text(&found));
    let read = session.call("read_skill", json!({ "skill_id": FORM_SKILL })).await;
    assert_eq!(structured(&read)["folder"], folder);
    assert!(
        text(&read).contains(&format!("\nfolder: {folder}\n<skill_content")),
        "{}",
        text(&read)
    );

    let session = Session::start().await;
    for (tool, arguments) in [
        ("find_skills", json!({ "task": FORM_TASK })),
        ("read_skill", json!({ "skill_id": FORM_SKILL })),
    ] {
        let result = session.call(tool, arguments).await;
        assert!(!structured(&result).to_string().contains("\"folder\""), "{tool}");
        assert!(!text(&result).contains("folder:"), "{tool}");
    }
}

#[tokio::test]
async fn find_skills_abstains_where_no_skill_fits() {
    let session = Session::start().await;
    let task = "congratulate Alice on becoming a grandmother";
    let result = session.call("find_skills", json!({ "task": task })).await;
    let answer = structured(&result);
    assert_eq!(answer["decision"], "abstain");
    assert_eq!(answer["skills"], json!([]));
    assert!(answer["next"].as_str().unwrap().starts_with("do the task without a skill"));
    assert!(text(&result).starts_with("decision: abstain (confidence "));
}

#[tokio::test]
async fn an_uncalibrated_route_says_so() {
    let index = SampleIndex::new();
    let router = index.uncalibrated_router();
    let session = Session::with(index, router).await;
    let result = session.call("find_skills", json!({ "task": FORM_TASK })).await;
    let answer = structured(&result);
    assert_eq!(answer["decision"], "load");
    assert_eq!(answer["confidence"], json!(null));
    assert!(text(&result).starts_with("decision: load (uncalibrated): "), "{}", text(&result));
}

#[tokio::test]
async fn find_skills_returns_at_most_max_skills() {
    let session = Session::start().await;
    let arguments = json!({ "task": "extract tables from a PDF into CSV", "max_skills": 1 });
    let result = session.call("find_skills", arguments).await;
    assert_eq!(structured(&result)["skills"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn find_skills_returns_pages_within_the_budget() {
    let session = Session::start().await;
    let arguments = json!({ "task": FORM_TASK, "max_skills": 2, "budget_tokens": 800 });
    let result = session.call("find_skills", arguments).await;
    let pages = structured(&result)["pages"].as_array().unwrap();
    assert!(!pages.is_empty());
    let n_tokens: u64 = pages.iter().map(|page| page["n_tokens"].as_u64().unwrap()).sum();
    assert!(n_tokens <= 800, "{n_tokens}");
    assert_eq!(pages[0]["skill_id"], FORM_SKILL);
    assert!(text(&result).contains(&format!("<skill_content id=\"{FORM_SKILL}\">")));
}

#[tokio::test]
async fn read_skill_returns_the_parts_that_fit() {
    let session = Session::start().await;
    let arguments = json!({ "skill_id": FORM_SKILL, "query": FORM_TASK, "budget_tokens": 400 });
    let result = session.call("read_skill", arguments).await;
    let page = structured(&result);
    assert_eq!(page["skill_id"], FORM_SKILL);
    assert_eq!(page["truncated"], true);
    assert!(page["n_tokens"].as_u64().unwrap() <= 400);
    assert!(page["full_tokens"].as_u64().unwrap() > 400);
    let starts: Vec<_> = page["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["start_byte"].as_u64().unwrap())
        .collect();
    assert!(starts.is_sorted() && !starts.is_empty(), "{starts:?}");

    let text = text(&result);
    assert!(text.contains(&format!("\n<skill_content id=\"{FORM_SKILL}\">\n")), "{text}");
    assert!(text.contains("\n</skill_content>\nnext: "), "{text}");
    assert!(page["next"].as_str().unwrap().contains("budget_tokens"));
}

#[tokio::test]
async fn read_skill_returns_a_whole_skill_under_a_large_budget() {
    let session = Session::start().await;
    let arguments = json!({ "skill_id": FORM_SKILL, "budget_tokens": 50_000 });
    let result = session.call("read_skill", arguments).await;
    let page = structured(&result);
    assert_eq!(page["truncated"], false);
    assert_eq!(page["n_tokens"], page["full_tokens"]);
    assert!(page["markdown"].as_str().unwrap().contains("## Step 2A: fill AcroForm fields"));
    assert_eq!(page["next"], "apply what serves the task; this is the whole skill");
}

#[tokio::test]
async fn read_skill_without_a_query_starts_at_the_top() {
    let session = Session::start().await;
    let whole = session
        .call("read_skill", json!({ "skill_id": FORM_SKILL, "budget_tokens": 50_000 }))
        .await;
    for query in [json!(null), json!(" ")] {
        let arguments = json!({ "skill_id": FORM_SKILL, "query": query, "budget_tokens": 300 });
        let top = session.call("read_skill", arguments).await;
        let (top, whole) = (structured(&top), structured(&whole));
        assert_eq!(top["truncated"], true);
        assert!(top["n_tokens"].as_u64().unwrap() <= 300);
        let nodes = top["nodes"].as_array().unwrap();
        assert!(!nodes.is_empty());
        assert_eq!(nodes[..], whole["nodes"].as_array().unwrap()[..nodes.len()]);
    }
}

#[tokio::test]
async fn the_same_call_gets_the_same_answer() {
    let session = Session::start().await;
    let arguments = json!({ "task": FORM_TASK, "budget_tokens": 500 });
    let first = session.call("find_skills", arguments.clone()).await;
    assert_eq!(first, session.call("find_skills", arguments).await);
}
