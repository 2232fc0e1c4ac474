//! Pages and their reasons, as a user asks for them.

use std::fs;

use serde_json::Value;

use crate::{
    endpoint::{Asked, ChatServer, Said},
    home::{Home, fixtures},
};

const SKILL: &str = "databases/postgres-query-tuning";
const QUERY: &str = "a join is slow, it uses a nested loop";

#[test]
fn reasons_tell_of_each_part_whether_it_is_shown() {
    let home = Home::with_index();
    let ask = |format: &str| {
        let done =
            home.ask(&["page", SKILL, QUERY, "--budget", "300", "--why", "--format", format]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stdout
    };
    let answer: Value = serde_json::from_str(&ask("json")).unwrap();
    let (page, parts) = (&answer["page"], answer["parts"].as_array().unwrap());
    assert_eq!(parts.len() as u64, page["full_nodes"].as_u64().unwrap());
    let shown: Vec<&Value> = parts.iter().filter(|part| part["is_shown"] == true).collect();
    let nodes = page["nodes"].as_array().unwrap();
    assert_eq!(shown.len(), nodes.len());
    for (part, node) in shown.iter().zip(nodes) {
        assert_eq!(part["position"], node["position"]);
    }
    let likely = |part: &&Value| part["probability"].as_f64().unwrap() > 0.5;
    let likely: Vec<&Value> = parts.iter().filter(likely).collect();
    assert!(!likely.is_empty() && likely.iter().all(|part| part["is_shown"] == true));
    let text = ask("text");
    assert_eq!(text.lines().filter(|line| line.starts_with("*  ")).count(), nodes.len(), "{text}");
}

#[test]
fn reasons_are_those_of_the_value() {
    let home = Home::with_index();
    let done = home.ask(&["page", SKILL, QUERY, "--why", "--pager", "mmr"]);
    done.assert_error(
        "--why tells how `--pager transformer` and `--pager value` choose",
        "leave --pager out",
    );
}

#[test]
fn what_is_said_about_an_empty_task_is_refused() {
    let home = Home::with_index();
    let page = |more: &[&str]| home.ask(&[&["page", SKILL, ""], more].concat());
    for more in [&["--why"][..], &["--need", "!!!"], &["--kinds", "learned"]] {
        page(more).assert_error("the task is empty", "say in a sentence");
    }
    assert_eq!(page(&[]).code, 0);
}

#[test]
fn weights_that_were_trained_choose_the_parts() {
    let home = Home::with_index();
    let cases = fixtures().join("eval/intra-skill-bench/cases.jsonl").display().to_string();
    let weights = home.path("pager.json").display().to_string();
    let train = ["train", "pager", "--cases", &cases, "--out", &weights];
    let done = home.ask(&train);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.starts_with("2 cases (left out: 0 about"), "{}", done.stdout);
    let route = |more: &[&str]| {
        let task = ["route", "why does postgres do a sequential scan", "--budget", "300"];
        let done = home.ask(&[&task[..], &["--format", "json"], more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let mut route: Value = serde_json::from_str(&done.stdout).unwrap();
        route["pages"].take()
    };
    assert_ne!(route(&["--pager-weights", &weights]), route(&[]));
    let page = |more: &[&str]| {
        let page = ["page", SKILL, QUERY, "--budget", "300"];
        home.ask(&[&page[..], more].concat())
    };
    assert_ne!(page(&["--pager-weights", &weights]).stdout, page(&[]).stdout);
    let mut large: Value = serde_json::from_str(&fs::read_to_string(&weights).unwrap()).unwrap();
    large["tokens"]["bias"] = 1e300.into();
    let large = home.write("large.json", large.to_string());
    let done = page(&["--pager-weights", &large]);
    assert!(done.code == 2 && done.stderr.contains("too large"), "{}", done.stderr);
    let none = home.write("none.jsonl", "");
    let empty = ["train", "pager", "--cases", &none, "--out", &weights];
    assert_eq!(home.ask(&empty).code, 2);
    let lines = fs::read_to_string(&cases).unwrap();
    let other_body = lines.replace("\"body_bytes\": ", "\"body_bytes\": 9");
    assert_ne!(other_body, lines);
    let other_body = home.write("other.jsonl", &other_body);
    let done = home.ask(&["train", "pager", "--cases", &other_body, "--out", &weights]);
    assert!(done.code == 2 && done.stderr.contains("other texts"), "{}", done.stderr);
}

#[test]
fn the_next_page_has_what_is_new() {
    let home = Home::with_index();
    let page = |have: &str| -> Value {
        let page = ["page", SKILL, QUERY, "--budget", "300", "--format", "json", "--have", have];
        serde_json::from_str(&home.ask(&page).stdout).unwrap()
    };
    let positions = |page: &Value| -> Vec<u64> {
        page["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| node["position"].as_u64().unwrap())
            .collect()
    };
    let first = positions(&page(""));
    let have: Vec<String> = first.iter().map(u64::to_string).collect();
    let second = positions(&page(&have.join(",")));
    assert!(!first.is_empty() && !second.is_empty());
    assert!(second.iter().all(|position| !first.contains(position)), "{first:?} {second:?}");
    assert_eq!(page("0-999")["nodes"], serde_json::json!([]));
    let done = home.ask(&["page", SKILL, QUERY, "--have", "1-x"]);
    assert!(done.code == 2 && done.stderr.contains("0-3,7"), "{}", done.stderr);
}

#[test]
fn kinds_are_trained_on_labelled_parts() {
    let home = Home::with_index();
    let page = home.ask(&["page", SKILL, "--budget", "100000", "--format", "json"]);
    let page: Value = serde_json::from_str(&page.stdout).unwrap();
    let nodes = page["nodes"].as_array().unwrap();
    let label = |node: &Value| {
        let (start, end, kind) = (&node["start_byte"], &node["end_byte"], &node["kind"]);
        let label =
            serde_json::json!({ "skill_id": SKILL, "start": start, "end": end, "kind": kind });
        format!("{label}\n")
    };
    let labels = home.write("labels.jsonl", nodes.iter().map(label).collect::<String>());
    let weights = home.path("kinds.json").display().to_string();
    let train = |labels: &str| home.ask(&["train", "kinds", "--labels", labels, "--out", &weights]);
    let done = train(&labels);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.starts_with(&format!("{} parts of ", nodes.len())), "{}", done.stdout);
    assert!(done.stdout.contains("rules: accuracy 1.000"), "{}", done.stdout);
    let first = fs::read(&weights).unwrap();
    train(&labels);
    assert_eq!(fs::read(&weights).unwrap(), first);
    let unknown = "{\"skill_id\":\"none/such\",\"start\":0,\"end\":1,\"kind\":\"step\"}\n";
    let done = train(&home.write("unknown.jsonl", unknown));
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("the index has no part of --labels"), "{}", done.stderr);
}

#[test]
fn learned_kinds_are_an_option() {
    let home = Home::with_index();
    let kinds = |more: &[&str]| -> Vec<Value> {
        let page = ["page", SKILL, QUERY, "--budget", "100000", "--format", "json"];
        let done = home.ask(&[&page[..], more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let page: Value = serde_json::from_str(&done.stdout).unwrap();
        page["nodes"].as_array().unwrap().iter().map(|node| node["kind"].clone()).collect()
    };
    let (rules, learned) = (kinds(&[]), kinds(&["--kinds", "learned"]));
    assert_eq!(kinds(&["--kinds", "rules"]), rules);
    assert_eq!(learned.len(), rules.len());
    assert_ne!(learned, rules);
    assert!(home.ask(&["page", SKILL, QUERY, "--why", "--kinds", "learned"]).code == 0);
}

/// Labels each part an example, in the way that the engine asks for.
fn all_examples(asked: &Asked) -> Said {
    let n_parts = asked.document()["n_parts"].as_u64().unwrap();
    let kinds = vec!["example"; usize::try_from(n_parts).unwrap()];
    (200, format!("The kinds:\n{}", serde_json::json!(kinds)))
}

/// Returns the arguments that name the model of a server.
fn chat_kinds(server: &ChatServer) -> [&str; 6] {
    ["--kinds", "chat", "--chat-url", &server.url, "--chat-model", "small"]
}

#[test]
fn a_chat_model_tells_kinds() {
    let home = Home::with_index();
    let page = ["page", SKILL, QUERY, "--budget", "100000", "--format", "json"];
    let server = ChatServer::start(|_, asked| all_examples(asked));
    let done = home.ask(&[&page[..], &["--why"], &chat_kinds(&server)].concat());
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let answer: Value = serde_json::from_str(&done.stdout).unwrap();
    let nodes = answer["page"]["nodes"].as_array().unwrap();
    assert!(nodes.iter().all(|node| node["kind"] == "example"));
    assert_eq!(answer["parts"][0]["kind"], "example");
    let asked = server.asked();
    let sent: Vec<Value> = asked.iter().map(Asked::document).collect();
    let parts: Vec<&Value> =
        sent.iter().flat_map(|sent| sent["parts"].as_array().unwrap()).collect();
    assert_eq!(parts.len(), nodes.len(), "each part is asked about once");
    assert!(sent.iter().all(|sent| sent["n_parts"].as_u64().unwrap() <= 20));
    assert_eq!(parts[0]["text"], nodes[0]["text"]);
    assert!(asked[0].turn(0).contains("never an instruction"), "{}", asked[0].turn(0));

    let route = ["route", "why does postgres do a sequential scan", "--format", "json"];
    let done = home.ask(&[&route[..], &chat_kinds(&server)].concat());
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let route: Value = serde_json::from_str(&done.stdout).unwrap();
    let nodes = route["pages"][0]["nodes"].as_array().unwrap();
    assert!(!nodes.is_empty() && nodes.iter().all(|node| node["kind"] == "example"));
}

#[test]
fn rules_tell_the_kinds_where_a_chat_model_does_not() {
    let home = Home::with_index();
    let page = ["page", SKILL, QUERY, "--budget", "100000"];
    let plain = home.ask(&page);
    for (status, said, told) in [
        (200, "I cannot do that.", "its answer is no list of"),
        (200, "[\"step\"]", "its answer is no list of"),
        (401, r#"{"error":"no key"}"#, "answered 401"),
    ] {
        let server = ChatServer::start(move |_, _| (status, said.to_owned()));
        let done = home.ask(&[&page[..], &chat_kinds(&server)].concat());
        assert_eq!((done.code, &done.stdout), (0, &plain.stdout), "{}", done.stderr);
        assert!(done.stderr.contains(told), "{}", done.stderr);
        assert!(done.stderr.contains("rules tell the kinds of"), "{}", done.stderr);
    }
}

#[test]
fn chat_kinds_need_a_model_and_a_model_needs_a_use() {
    let home = Home::with_index();
    let page = ["page", SKILL, QUERY];
    let model = ["--chat-url", "http://127.0.0.1:1/v1", "--chat-model", "small"];
    home.ask(&[&page[..], &["--kinds", "chat"]].concat())
        .assert_error("needs a chat model", "--chat-url");
    home.ask(&[&page[..], &model].concat()).assert_error("nothing asks it", "--kinds chat");
    home.ask(&["route", QUERY, "--kinds", "chat"]).assert_error("needs a chat model", "--chat-url");
}

#[test]
fn kinds_that_a_chat_model_left_out_are_not_measured() {
    let home = Home::with_index();
    let cases = fixtures().join("eval/intra-skill-bench/cases.jsonl").display().to_string();
    let (index, out) = (home.index(), home.path("out").display().to_string());
    let run = ["eval", "run", &cases, "--index", &index, "--system", "page:default/300"];
    let run = [&run[..], &["--out", &out]].concat();
    let silent = ChatServer::start(|_, _| (200, "Hm.".to_owned()));
    let done = home.run(&[&run[..], &chat_kinds(&silent)].concat());
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{}", done.stderr);
    assert!(done.stderr.contains("error: the chat model told no kinds of"), "{}", done.stderr);
    let server = ChatServer::start(|_, asked| all_examples(asked));
    let done = home.run(&[&run[..], &chat_kinds(&server)].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!server.asked().is_empty(), "answers of the failed run are not taken up");
}

#[test]
fn a_drawing_has_all_parts_and_marks_those_of_the_page() {
    let home = Home::with_index();
    let page = ["page", SKILL, QUERY, "--budget", "300", "--format"];
    let n_all = |more: &[&str]| {
        let done = home.ask(&[&page[..], more].concat());
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        done.stdout
    };
    let json: Value = serde_json::from_str(&n_all(&["json"])).unwrap();
    let (n_nodes, n_shown) =
        (json["full_nodes"].as_u64().unwrap(), json["nodes"].as_array().unwrap().len());
    let mermaid = n_all(&["mermaid"]);
    assert!(mermaid.starts_with("flowchart TD\n"), "{mermaid}");
    assert_eq!(mermaid.matches("[\"").count() as u64, n_nodes, "{mermaid}");
    assert_eq!(mermaid.matches(":::shown").count(), n_shown, "{mermaid}");
    assert_eq!(mermaid.matches(" --> ").count() as u64, n_nodes - 1, "{mermaid}");
    let dot = n_all(&["dot"]);
    assert!(dot.starts_with("digraph parts {\n") && dot.ends_with("}\n"), "{dot}");
    assert_eq!(dot.matches("penwidth").count(), n_shown, "{dot}");
    let plain = home.ask(&["page", SKILL, "--format", "mermaid"]);
    assert!(plain.code == 0 && !plain.stdout.contains(":::shown"), "{}", plain.stdout);
    home.ask(&[&page[..], &["dot", "--why"]].concat())
        .assert_error("a drawing has no reasons", "leave --why out");
}
