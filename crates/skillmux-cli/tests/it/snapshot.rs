//! What the commands print.

use std::{fs, path::Path};

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

/// Returns the committed text where a text is the same but for scores that are near: sums of
/// floating-point numbers depend on the processor.
fn as_committed(name: &str, text: String) -> String {
    let file = format!("tests/it/snapshots/it__snapshot__{name}.snap");
    let file = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
    let committed = file.as_ref().ok().and_then(|file| file.splitn(3, "---\n").nth(2));
    // A score that rounds to nothing is not told.
    let short = text.replace(", meaning 0.1\n", "\n");
    let near = committed.filter(|committed| {
        [&text, &short].iter().any(|text| is_near(text.trim(), committed.trim()))
    });
    near.map_or(text, str::to_owned)
}

/// Returns whether texts are the same but for numbers that are near.
fn is_near(text: &str, other: &str) -> bool {
    let (pieces, others) = (pieces(text), pieces(other));
    let is_near = |(piece, other): (&&str, &&str)| {
        let decimals = piece.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let most = if decimals == 1 { 0.101 } else { 0.06 };
        let numbers = piece.parse().and_then(|a: f64| Ok((a, other.parse::<f64>()?)));
        piece == other
            || decimals > 0 && numbers.is_ok_and(|(a, b): (f64, f64)| (a - b).abs() < most)
    };
    pieces.len() == others.len() && pieces.iter().zip(&others).all(is_near)
}

/// Returns the numbers of a text and what stands between them.
fn pieces(text: &str) -> Vec<&str> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    text.split_inclusive(|c| !is_digit(c))
        .filter_map(|piece| piece.split_at_checked(piece.trim_end_matches(|c| !is_digit(c)).len()))
        .flat_map(|(number, rest)| [number, rest])
        .collect()
}

#[test]
fn numbers_of_a_snapshot_may_be_near_and_all_else_is_the_same() {
    let text = "score 11.6: words 5.3 (documents/pdf-4) 12 skills";
    for near in [text, "score 11.5: words 5.4 (documents/pdf-4) 12 skills"] {
        assert!(is_near(near, text), "{near}");
    }
    for other in [
        "score 11.4: words 5.3 (documents/pdf-4) 12 skills",
        "score 11.6: words 5.3 (documents/pdf-5) 12 skills",
        "score 11.6: words 5.3 (documents/pdf-4) 13 skills",
        "score 11.6: words 5.3 (documents/pdf-4) 12 skill",
        "score 11.6: words 5.3 (documents/pdf-4) 12 skills 1.0",
        "score 11.6: words -5.3 (documents/pdf-4) 12 skills",
    ] {
        assert!(!is_near(other, text), "{other}");
    }
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
    let generation = |done: &Done| -> Value {
        serde_json::from_str::<Value>(&done.stdout).unwrap()["generation"].take()
    };
    assert_eq!(generation(&done), generation(&home.ask(&["stats", "--format", "json"])));
    assert_snapshot!(shown(&home, &done));
}

#[test]
fn route_in_text() {
    let home = Home::with_index();
    let done = home.ask(&["route", TASK, "--budget", "300"]);
    assert_eq!(done.code, 0);
    assert_snapshot!(as_committed("route_in_text", shown(&home, &done)));
}

#[test]
fn route_in_chinese() {
    let home = Home::with_index();
    let done = home.ask(&["route", "帮我把这周的工作整理成周报", "--budget", "200"]);
    assert_eq!(done.code, 0);
    assert_snapshot!(as_committed("route_in_chinese", shown(&home, &done)));
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
    assert_snapshot!(as_committed("route_that_abstains", shown(&home, &done)));
}

#[test]
fn route_in_json() {
    let home = Home::with_index();
    let done = home.ask(&["route", TASK, "-k", "1", "--budget", "100", "--format", "json"]);
    assert_eq!(done.code, 0);
    // These two have the same score, and so no sure order.
    let mut text = shown(&home, &done);
    for id in ["web/openapi-design", "data/csv-cleaning"] {
        let name = id.split('/').next_back().unwrap();
        text = text.replace(id, "[EQUAL]").replace(name, "[EQUAL]");
    }
    // The verifier answers in log-odds, which differ more between processors.
    let (before, after) = text.split_once("\"serves\": ").unwrap();
    let (serves, after) = after.split_once('\n').unwrap();
    assert!(serves.parse::<f32>().is_ok_and(|log_odds| log_odds.abs() <= 8.0), "{serves}");
    let text = format!("{before}\"serves\": [SERVES]\n{after}");
    assert_snapshot!(as_committed("route_in_json", text));
}

#[test]
fn search_in_text() {
    let home = Home::with_index();
    let done = home.ask(&["search", TASK, "-k", "3"]);
    assert_eq!(done.code, 0);
    assert_snapshot!(as_committed("search_in_text", shown(&home, &done)));
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
