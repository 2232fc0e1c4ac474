//! What the commands print.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::home::{Done, Home, fixtures, library};

const TASK: &str = "Pull the price list on pages 4-9 of catalogue.pdf into a CSV.";

/// Replaces times and sizes, and rounds what has more than three decimals: the last bits of a
/// logarithm differ from system to system.
fn settled(text: &str) -> String {
    let mut settled = String::new();
    for line in text.split_inclusive('\n') {
        let words: Vec<&str> = line.split(' ').collect();
        let words = words.iter().enumerate().map(|(at, word)| {
            let next = words.get(at + 1).map_or("", |next| next.trim_end_matches(['\n', ')']));
            let (open, word) = word.split_at(usize::from(word.starts_with('(')));
            let (number, rest) = word.split_at(word.find([',', '\n']).unwrap_or(word.len()));
            let decimals = number.split_once('.').map_or("", |(_, decimals)| decimals);
            let number = match number.parse::<f64>() {
                Ok(_) if ["ms", "s"].contains(&next) => "[TIME]".to_owned(),
                Ok(_) if ["B", "KiB", "MiB"].contains(&next) => "[SIZE]".to_owned(),
                Ok(_) if at > 0 && words[at - 1] == "\"time_us\":" => "[TIME]".to_owned(),
                Ok(value) if decimals.len() > 3 => format!("{value:.3}"),
                _ => number.to_owned(),
            };
            format!("{open}{number}{rest}")
        });
        settled += &words.collect::<Vec<_>>().join(" ");
    }
    settled
}

fn shown(home: &Home, done: &Done) -> String {
    settled(&home.filtered(&format!("{}{}", done.stdout, done.stderr)))
}

#[test]
fn help() {
    let home = Home::new();
    let done = home.run(&["--help"]);
    assert_eq!(done.code, 0);
    assert_snapshot!(done.stdout);
}

#[test]
fn help_of_each_command() {
    let home = Home::new();
    let commands = [
        "index",
        "route",
        "search",
        "page",
        "stats",
        "eval",
        "mcp",
        "doctor",
        "compile",
        "init",
        "uninit",
        "hook",
        "completions",
        "man",
    ];
    let help: Vec<String> =
        commands.iter().map(|command| home.run(&[command, "--help"]).stdout).collect();
    assert_snapshot!(help.join(&format!("\n{}\n\n", "=".repeat(80))));
}

#[test]
fn help_of_synth() {
    let home = Home::new();
    let commands = [
        &["synth"][..],
        &["synth", "queries"],
        &["synth", "distractors"],
        &["synth", "composer"],
        &["synth", "reject"],
    ];
    let help = commands.map(|command| home.run(&[command, &["--help"]].concat()).stdout);
    assert_snapshot!(help.join(&format!("\n{}\n\n", "=".repeat(80))));
}

#[test]
fn help_of_eval_gate() {
    let home = Home::new();
    assert_snapshot!(home.run(&["eval", "gate", "--help"]).stdout);
}

/// The sample tasks, of two kinds, with what is right for them.
fn tasks_of_two_kinds() -> String {
    let read = |name| fs::read_to_string(fixtures().join(name)).unwrap();
    let mut tasks = String::new();
    let qrels = read("qrels.trec");
    for line in read("tasks.jsonl").lines() {
        let task: Value = serde_json::from_str(line).unwrap();
        let id = task["query_id"].as_str().unwrap();
        let of_task = qrels.lines().filter(|line| line.split(' ').next() == Some(id));
        let skills: Vec<&str> = of_task.filter_map(|line| line.split(' ').nth(2)).collect();
        let kind = if ("t12"..="t35").contains(&id) { "long" } else { "short" };
        let query = &task["query"];
        let task = json!({"task_id": id, "query": query, "skills": skills, "kind": kind});
        if !skills.is_empty() {
            tasks += &task.to_string();
            tasks.push('\n');
        }
    }
    tasks
}

#[test]
fn eval_gate() {
    let home = Home::new();
    home.write("project/mine.jsonl", tasks_of_two_kinds());
    home.write("project/few.jsonl", tasks_of_two_kinds().lines().next().unwrap());
    let (library, resamples) = (library(), "1000");
    let gate = |old, new, datasets: &[&str]| {
        let more = ["--old", old, "--new", new, "--library", &library, "--resamples", resamples];
        home.run(&[&["eval", "gate"], datasets, &more].concat())
    };
    let done = gate("ranked", "dense", &["mine.jsonl", "few.jsonl"]);
    assert_eq!(done.code, 1);
    assert_snapshot!("eval_gate_not_promoted", shown(&home, &done));
    let done = gate("dense", "ranked", &["mine.jsonl"]);
    assert_eq!(done.code, 0);
    assert_snapshot!("eval_gate_promoted", shown(&home, &done));
}

#[test]
fn index_report() {
    let home = Home::new();
    let done = home.run(&["index", &library(), "--index", &home.index()]);
    assert_eq!(done.code, 0);
    assert_snapshot!("index_new", shown(&home, &done));
    let done = home.run(&["index", &library(), "--index", &home.index(), "--verbose"]);
    assert_eq!(done.code, 0);
    assert_snapshot!("index_up_to_date", shown(&home, &done));
}

#[test]
fn index_report_in_json() {
    let home = Home::new();
    let done = home.run(&["index", &library(), "--index", &home.index(), "--format", "json"]);
    assert_eq!(done.code, 0);
    assert_snapshot!(shown(&home, &done));
}

#[test]
fn route_in_text() {
    let home = Home::with_index();
    let done = home.ask(&["route", TASK, "--budget", "300"]);
    assert_eq!(done.code, 0);
    assert_snapshot!(shown(&home, &done));
}

#[test]
fn route_in_chinese() {
    let home = Home::with_index();
    let done = home.ask(&["route", "帮我把这周的工作整理成周报", "--budget", "200"]);
    assert_eq!(done.code, 0);
    assert_snapshot!(shown(&home, &done));
}

#[test]
fn a_step_that_the_limit_left_empty_says_so() {
    let home = Home::with_index();
    let needs = ["--need", "fill in a PDF form", "--need", "optimise a slow SQL query"];
    let route = |k| home.ask(&[&["route", "do it", "-k", k], &needs[..]].concat()).stdout;
    let says_so =
        |text: &str| text.contains("the other steps load as many skills as -k lets through");
    assert!(says_so(&route("1")));
    assert!(!says_so(&route("9")));
}

#[test]
fn route_that_abstains() {
    let home = Home::with_index();
    let done = home.ask(&["route", "What is the capital of Peru and who wrote Don Quixote?"]);
    assert_eq!(done.code, 1);
    assert_snapshot!(shown(&home, &done));
}

#[test]
fn route_in_json() {
    let home = Home::with_index();
    let done = home.ask(&["route", TASK, "-k", "1", "--budget", "100", "--format", "json"]);
    assert_eq!(done.code, 0);
    assert_snapshot!(shown(&home, &done));
}

#[test]
fn search_in_text() {
    let home = Home::with_index();
    let done = home.ask(&["search", TASK, "-k", "3"]);
    assert_eq!(done.code, 0);
    assert_snapshot!(shown(&home, &done));
}

#[test]
fn page_for_a_query() {
    let home = Home::with_index();
    let skill = "databases/postgres-query-tuning";
    let done = home.ask(&["page", skill, "why a sequential scan", "--budget", "200"]);
    assert_eq!(done.code, 0);
    assert_snapshot!("page_for_a_query", shown(&home, &done));
    let done = home.ask(&["page", skill, "--budget", "300"]);
    assert_eq!(done.code, 0);
    assert_snapshot!("page_from_the_top", shown(&home, &done));
}

#[test]
fn stats() {
    let home = Home::with_index();
    let done = home.ask(&["stats", "--verify"]);
    assert_eq!(done.code, 0);
    assert_snapshot!(shown(&home, &done));
}
