//! What users type, over a library of 130 skills: which tasks load something, and whether it is
//! right.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::home::{Home, fixtures};

#[derive(Deserialize)]
struct Task {
    query_id: String,
    kind: String,
    decision: String,
    /// For each need the skills that serve it.
    skills: Vec<Vec<String>>,
}

/// How many tasks of a kind are right.
#[derive(Default)]
struct Count {
    n: usize,
    decision: usize,
    first: usize,
    all: usize,
}

impl Count {
    fn add(&mut self, task: &Task, route: &Value) {
        let steps = route["steps"].as_array().unwrap().iter();
        let skills = steps.flat_map(|step| step["skills"].as_array().unwrap());
        let loaded: Vec<&str> = skills.map(|skill| skill["id"].as_str().unwrap()).collect();
        let is_decided = route["decision"].as_str() == Some(&task.decision);
        let serves = |need: &Vec<String>, id: &str| need.iter().any(|skill| skill == id);
        let needs: Vec<&Vec<String>> = task.skills.iter().filter(|need| !need.is_empty()).collect();
        let best = best(route);
        let is_first = match best {
            Some(best) if !needs.is_empty() => needs.iter().any(|need| serves(need, best)),
            _ => needs.is_empty() && is_decided,
        };
        let has = |need: &&Vec<String>| loaded.iter().any(|id| serves(need, id));
        self.n += 1;
        self.decision += usize::from(is_decided);
        self.first += usize::from(is_first);
        self.all += usize::from(if needs.is_empty() { is_decided } else { needs.iter().all(has) });
    }

    fn shares(&self) -> [f64; 3] {
        [self.decision, self.first, self.all].map(|right| right as f64 / self.n as f64)
    }
}

/// Returns the loaded skill of the highest score.
fn best(route: &Value) -> Option<&str> {
    let steps = route["steps"].as_array()?.iter();
    let skills = steps.flat_map(|step| step["skills"].as_array().into_iter().flatten());
    let score = |skill: &&Value| skill["score"].as_f64().unwrap_or(f64::MIN);
    let best = skills.max_by(|a, b| score(a).total_cmp(&score(b)))?;
    best["id"].as_str()
}

fn lines<T: for<'a> Deserialize<'a>>(text: &str) -> Vec<T> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the queries of lines with tasks, without their needs.
fn without_needs(tasks: &str) -> String {
    let mut queries = String::new();
    for task in lines::<Value>(tasks) {
        let query = json!({ "query_id": task["query_id"], "query": task["query"] });
        let _ = writeln!(queries, "{query}");
    }
    queries
}

/// Routes the tasks, and asserts the shares of those with the right decision, with a right skill
/// first and with all skills.
fn assert_right(home: &Home, index: &str, tasks: &[Task], queries: &str, least: [f64; 3]) {
    let done = home.run(&["route", "--queries", queries, "--index", index, "--budget", "0"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let routes: HashMap<String, Value> = lines::<Value>(&done.stdout)
        .into_iter()
        .map(|route| (route["query_id"].as_str().unwrap().to_owned(), route))
        .collect();
    let mut by_kind: BTreeMap<&str, Count> = BTreeMap::new();
    for task in tasks {
        let route = &routes[&task.query_id];
        by_kind.entry(&task.kind).or_default().add(task, route);
        by_kind.entry("all").or_default().add(task, route);
    }
    let mut table = String::new();
    for (kind, count) in &by_kind {
        let [decision, first, all] = count.shares();
        let _ = writeln!(table, "{kind:12} {:4} {decision:.2} {first:.2} {all:.2}", count.n);
    }
    let shares = by_kind["all"].shares();
    assert!(shares.iter().zip(least).all(|(share, least)| *share >= least), "\n{table}");
}

#[test]
fn what_users_type_loads_what_they_need() {
    let home = Home::new();
    let index = home.path("index").display().to_string();
    let library = fixtures().join("user-library.jsonl").display().to_string();
    let path = fixtures().join("user-tasks.jsonl");
    let done = home.run(&["index", &library, "--index", &index]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let text = std::fs::read_to_string(&path).unwrap();
    let tasks: Vec<Task> = lines(&text);
    let alone = home.write("alone.jsonl", without_needs(&text));
    // A little below what `docs/plan.md` says: tasks alone, and tasks with their needs.
    assert_right(&home, &index, &tasks, &alone, [0.90, 0.75, 0.73]);
    let with_needs = path.display().to_string();
    assert_right(&home, &index, &tasks, &with_needs, [0.93, 0.90, 0.86]);
}

#[test]
fn what_users_paste_does_not_hide_what_they_ask() {
    let home = Home::new();
    let index = home.path("index").display().to_string();
    let library = fixtures().join("user-library.jsonl").display().to_string();
    let path = fixtures().with_file_name("datasets").join("pasted-tasks.jsonl");
    let done = home.run(&["index", &library, "--index", &index]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let tasks: Vec<Task> = lines(&std::fs::read_to_string(&path).unwrap());
    // A little below what `docs/plan.md` says.
    let queries = path.display().to_string();
    assert_right(&home, &index, &tasks, &queries, [0.80, 0.68, 0.67]);
}

#[test]
fn what_users_write_at_length_loads_what_they_need() {
    let home = Home::new();
    let index = home.path("index").display().to_string();
    let library = fixtures().join("user-library.jsonl").display().to_string();
    let path = fixtures().with_file_name("datasets").join("long-held.jsonl");
    let done = home.run(&["index", &library, "--index", &index]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let text = std::fs::read_to_string(&path).unwrap();
    let tasks: Vec<Task> = lines(&text);
    let alone = home.write("alone.jsonl", without_needs(&text));
    // A little below what `docs/plan.md` says.
    assert_right(&home, &index, &tasks, &alone, [0.80, 0.65, 0.50]);
}

#[test]
fn formalities_of_a_document_change_no_answer_and_are_told() {
    let home = Home::new();
    let library = fixtures().join("user-library.jsonl").display().to_string();
    let path = fixtures().with_file_name("datasets").join("long-held.jsonl");
    let requests: Vec<Value> = lines(&std::fs::read_to_string(path).unwrap());
    let formalities = "---\nauthor: Ann\ntags: [pdf, invoice, contract]\n---\n\
                       Copyright (c) 2024 Halden AS\n\n\
                       Permission is hereby granted, free of charge, to merge and publish copies.\n\n\
                       Contents\n\n1. Slides for the board\n2. Docker\n\n";
    let answer = |task: &str| -> Value {
        let path = home.write("task.txt", task);
        let options = ["--library", &library, "--format", "json", "--budget", "0"];
        let done = home.run(&[&["route", "--file", &path], &options[..]].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap()
    };
    let loaded = |answer: &Value| -> Value {
        let steps = answer["steps"].as_array().unwrap().iter();
        steps.map(|step| json!([step["subtask"], step["skills"][0]["id"]])).collect()
    };
    for request in requests.iter().filter(|request| request["kind"] == "mail").take(2) {
        let plain = request["query"].as_str().unwrap();
        let expected = answer(plain);
        assert!(loaded(&expected).to_string().contains("user/"), "{expected}");
        let with_formalities = answer(&format!("{formalities}{plain}"));
        assert_eq!(loaded(&with_formalities), loaded(&expected));
        assert_eq!(expected["formalities"], Value::Null);
        assert_eq!(with_formalities["formalities"], json!([formalities.trim()]));
        assert_eq!(with_formalities["request"], expected["request"]);
        let mut asked = expected["request"].as_str().unwrap().lines();
        assert!(asked.all(|piece| plain.contains(piece)), "{expected}");
    }
}

#[test]
fn two_words_of_the_library_in_one_are_read_as_two() {
    let home = Home::new();
    let charts = "Write and review a Helm chart for Kubernetes applications";
    home.write_skill("skills/deploy", "deploy", charts, "Run `helm create`.");
    home.write_skill("skills/tea", "tea", "How to brew a pot of tea", "Boil water.");
    let library = home.path("skills").display().to_string();
    let corrections = |task: &str| {
        let answer = home.run(&["route", task, "--library", &library, "--format", "json"]);
        let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
        answer["corrections"].clone()
    };
    let expected = json!([{ "from": "helmchart", "to": "helm chart" }]);
    assert_eq!(corrections("please review the helmchart of our app"), expected);
    // A word of its own, and one whose parts the library lacks.
    for task in ["please review the flipchart of our app", "please review the notebook of our app"]
    {
        assert_eq!(corrections(task), Value::Null, "{task}");
    }
}

#[test]
fn the_parts_of_a_word_are_not_shown_beside_it() {
    let home = Home::new();
    let decks = "Make PowerPoint decks from notes, also over wi-fi";
    home.write_skill("skills/deck", "deck", decks, "Use python-pptx.");
    let library = home.path("skills").display().to_string();
    let done = home.run(&["search", "make a PowerPoint deck over wi-fi", "--library", &library]);
    let has = done.stdout.lines().find_map(|line| line.trim().strip_prefix("has: "));
    let mut words: Vec<&str> = has.unwrap_or(&done.stdout).split(", ").collect();
    words.sort_unstable();
    assert_eq!(words, ["PowerPoint", "deck", "make", "wi-fi"]);
}

#[test]
fn the_beginning_of_a_long_task_tells_what_it_is_about() {
    let home = Home::new();
    let library = fixtures().join("user-library.jsonl").display().to_string();
    let beginning = "Turn the web pages of our handbook into one PDF file.";
    let detail = "Each chapter starts on a page of its own, and the tables keep their borders. ";
    let changes = |task: &str| -> Vec<f64> {
        let done = home.run(&["search", task, "--library", &library, "--format", "json"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let answer: Value = serde_json::from_str(&done.stdout).unwrap();
        let parts = answer.as_array().unwrap().iter();
        let parts =
            parts.flat_map(|found| found["explanation"]["contributions"].as_array().unwrap());
        let parts = parts.filter(|part| part["feature"] == "readings");
        parts.map(|part| part["value"].as_f64().unwrap()).collect()
    };
    assert_eq!(changes(&format!("{beginning} {}", detail.repeat(8))), [0.0; 0]);
    let long = changes(&format!("{beginning} {}", detail.repeat(20)));
    assert!(!long.is_empty(), "a long task is not ranked by its beginning");
}
