//! `--decomposer chat`: a chat model says what a task needs; and plans as graphs.

use serde_json::Value;

use crate::{
    endpoint::ChatServer,
    home::{Done, Home},
};

const TASK: &str = "clean the messy customers.csv, then make a slide deck of it";

/// Routes the task with the needs of a server.
fn routed(home: &Home, server: &ChatServer, more: &[&str]) -> Done {
    let endpoint = ["--decomposer", "chat", "--chat-url", &server.url, "--chat-model", "small"];
    home.ask(&[&["route", TASK, "--budget", "0"][..], &endpoint, more].concat())
}

#[test]
fn a_chat_model_says_the_needs_and_says_them_again_after_it_saw_skills() {
    let home = Home::with_index();
    let server = ChatServer::start(|n_before, _| match n_before {
        0 => (200, r#"["tidy a table", "make slides"]"#.to_owned()),
        _ => (200, "Better:\n[\"clean messy CSV files\", \"build a slide deck\"]".to_owned()),
    });
    let done = routed(&home, &server, &["--format", "json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let route: Value = serde_json::from_str(&done.stdout).unwrap();
    let subtasks: Vec<_> =
        route["steps"].as_array().unwrap().iter().map(|step| step["subtask"].clone()).collect();
    assert_eq!(subtasks, ["clean messy CSV files", "build a slide deck"]);
    let passes = route["passes"].as_array().unwrap();
    assert_eq!(passes.len(), 2);
    assert_eq!(passes[0]["needs"][0], "tidy a table");
    let hints = passes[1]["hints"].as_array().unwrap();
    assert!(!hints.is_empty() && hints.len() <= 15, "{hints:?}");

    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].document(), serde_json::json!({ "task": TASK }));
    let second = asked[1].document();
    assert_eq!(second["needs"][1], "make slides");
    assert_eq!(second["skills"].as_array().unwrap().len(), hints.len());
}

#[test]
fn a_model_that_says_no_needs_is_told_and_done_without() {
    let home = Home::with_index();
    let plain = home.ask(&["route", TASK, "--budget", "0", "--format", "mermaid"]);
    for (status, said, told) in [
        (200, "First clean it.", "no needs in its answer"),
        (200, "[]", "no needs in its answer"),
        (401, r#"{"error":"no key"}"#, "answered 401"),
    ] {
        let server = ChatServer::start(move |_, _| (status, said.to_owned()));
        let done = routed(&home, &server, &["--format", "mermaid"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(done.stdout, plain.stdout);
        assert!(done.stderr.contains(told), "{}", done.stderr);
        assert!(done.stderr.contains("split without it"), "{}", done.stderr);
    }
}

#[test]
fn needs_of_the_caller_are_not_asked_for() {
    let home = Home::with_index();
    let server = ChatServer::start(|_, _| (500, String::new()));
    let done = routed(&home, &server, &["--need", "build a slide deck"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(server.asked().is_empty());
}

#[test]
fn a_chat_decomposer_needs_a_model() {
    let home = Home::with_index();
    home.ask(&["route", TASK, "--decomposer", "chat"])
        .assert_error("needs a chat model", "--chat-url");
    home.ask(&["route", TASK, "--chat-url", "http://127.0.0.1:1/v1", "--chat-model", "small"])
        .assert_error("nothing asks it", "--decomposer chat");
}

#[test]
fn a_plan_is_drawn_with_its_order() {
    let home = Home::with_index();
    let needs = ["--need", "clean messy CSV files", "--need", "then build a slide deck from them"];
    let ask = |format: &str| {
        let done = home.ask(&[&["route", TASK, "--format", format][..], &needs].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stdout
    };
    let mermaid = ask("mermaid");
    assert!(mermaid.starts_with("flowchart LR\n    s0[\"clean messy CSV files<br>"), "{mermaid}");
    assert!(mermaid.ends_with("    s0 --> s1\n"), "{mermaid}");
    let dot = ask("dot");
    assert!(dot.contains("s0 -> s1;"), "{dot}");
    let text = ask("text");
    assert!(text.contains("step 2, after 1: then build a slide deck from them"), "{text}");
}

#[test]
fn a_run_keeps_the_needs_that_a_model_said() {
    let home = Home::with_index();
    let task = "{\"query_id\": \"a\", \"query\": \"tidy the list and make slides\"}\n";
    let tasks = home.write("tasks.jsonl", task);
    home.write("qrels.trec", "a 0 data/csv-cleaning 1\n");
    let server = ChatServer::start(|_, _| (200, r#"["clean messy CSV files"]"#.to_owned()));
    let index = home.index();
    let out = home.path("out").display().to_string();
    let run =
        ["eval", "run", &tasks, "--index", &index, "--decomposer", "chat", "--chat-passes", "1"];
    let endpoint = ["--chat-url", &server.url, "--chat-model", "small"];
    let done = home.run(&[&run[..], &["--out", &out], &endpoint].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("needs of 1"), "{}", done.stdout);
    assert_eq!(server.asked().len(), 1);

    let kept = home.path("out/needs.jsonl").display().to_string();
    let again = home.run(&[&run[..], &["--needs", &kept], &endpoint].concat());
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(server.asked().len(), 1, "a task with needs is asked for none");
    home.run(&run).assert_error("needs a chat model", "--chat-url");

    let broken = ChatServer::start(|_, _| (401, "{}".to_owned()));
    let endpoint = ["--chat-url", &broken.url, "--chat-model", "small"];
    let done = home.run(&[&run[..], &endpoint].concat());
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{}", done.stderr);
}

#[test]
fn the_answer_says_what_is_not_wanted_and_what_no_skill_serves() {
    let home = Home::with_index();
    let task =
        "Clean the messy customers.csv. Then water the tomatoes on the balcony. No slides, please.";
    let done = home.ask(&["route", task, "--budget", "0", "--format", "json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let route: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(route["ruled_out"], serde_json::json!(["slides"]));
    let steps = route["steps"].as_array().unwrap();
    let subtasks: Vec<_> = steps.iter().map(|step| step["subtask"].clone()).collect();
    assert_eq!(
        subtasks,
        ["Clean the messy customers.csv.", "Then water the tomatoes on the balcony."]
    );
    let n_skills = |step: &Value| step["skills"].as_array().unwrap().len();
    assert!(n_skills(&steps[0]) > 0 && n_skills(&steps[1]) == 0, "{}", done.stdout);

    let text = home.ask(&["route", task, "--budget", "0"]).stdout;
    assert!(
        text.contains("not wanted: slides") && text.contains("no skill for this step"),
        "{text}"
    );
}
