//! `--judge`: a chat model chooses from a ranking.

use serde_json::Value;

use crate::{
    endpoint::ChatServer,
    home::{Done, Home},
};

const TASK: &str = "clean a messy CSV file";

/// Runs a command with a judge at a server.
fn judged(home: &Home, server: &ChatServer, command: &str) -> Done {
    let endpoint = ["--judge", "--chat-url", &server.url, "--chat-model", "small"];
    home.ask(&[&[command, TASK, "--format", "json"][..], &endpoint].concat())
}

fn ids(skills: &Value) -> Vec<String> {
    let skills = skills.as_array().unwrap().iter();
    skills.map(|skill| skill["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_the_judge_chooses_comes_first_and_is_loaded() {
    let home = Home::with_index();
    let plain = home.ask(&["search", TASK, "--format", "json"]);
    let plain = ids(&serde_json::from_str(&plain.stdout).unwrap());
    let server = ChatServer::start(|_, _| (200, r#"{"skills": [3, 2]}"#.to_owned()));

    let done = judged(&home, &server, "search");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let found = ids(&serde_json::from_str(&done.stdout).unwrap());
    assert_eq!(found[..4], [2, 1, 0, 3].map(|at| plain[at].clone()));

    let done = judged(&home, &server, "route");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let route: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(ids(&route["steps"][0]["skills"]), found[..2]);
    // No calibration was fitted with a judge.
    assert_eq!(route["confidence"], Value::Null);

    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].path, "/v1/chat/completions");
    let question = asked[0].document();
    assert_eq!(question["task"], TASK);
    assert_eq!(question["skills"].as_array().unwrap().len(), 20);
}

#[test]
fn a_judge_that_fails_ends_the_command() {
    let home = Home::with_index();
    let server = ChatServer::start(|_, _| (401, r#"{"error":"no key"}"#.to_owned()));
    judged(&home, &server, "route").assert_error("answered 401", "check the API key");
    let server = ChatServer::start(|_, _| (200, "The third one.".to_owned()));
    judged(&home, &server, "search").assert_error("no list of numbers", "follows instructions");
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_judge_needs_a_model_and_a_model_the_flag() {
    let home = Home::with_index();
    for command in ["route", "search"] {
        home.ask(&[command, TASK, "--judge"]).assert_error("needs a chat model", "--chat-url");
        let unused = [command, TASK, "--chat-url", "http://127.0.0.1:9/v1", "--chat-model", "a"];
        home.ask(&unused).assert_error("nothing asks it", "add --judge");
    }
}
