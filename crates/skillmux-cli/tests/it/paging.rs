//! Pages and their reasons, as a user asks for them.

use serde_json::Value;

use crate::home::{Home, fixtures};

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
    done.assert_error("--why tells how `--pager value` chooses", "leave --pager out");
}

#[test]
fn weights_that_were_trained_choose_the_parts() {
    let home = Home::with_index();
    let cases = fixtures().join("eval/intra-skill-bench/cases.jsonl").display().to_string();
    let weights = home.path("pager.json").display().to_string();
    let train = ["train", "pager", "--cases", &cases, "--out", &weights];
    let done = home.ask(&train);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.starts_with("2 cases (0 left out), "), "{}", done.stdout);
    let route = |more: &[&str]| {
        let task = ["route", "why does postgres do a sequential scan", "--budget", "300"];
        let done = home.ask(&[&task[..], &["--format", "json"], more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let mut route: Value = serde_json::from_str(&done.stdout).unwrap();
        route["pages"].take()
    };
    assert_ne!(route(&["--pager-weights", &weights]), route(&[]));
    let none = home.write("none.jsonl", "");
    let empty = ["train", "pager", "--cases", &none, "--out", &weights];
    assert_eq!(home.ask(&empty).code, 2);
}
