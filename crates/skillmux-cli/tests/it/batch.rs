//! Where tasks come from, and batches of them.

use serde_json::Value;

use crate::home::{Home, fixtures};

const TASK: &str = "clean a messy CSV file";

/// Returns the ids of the skills that a route in JSON loads.
fn loaded(json: &str) -> Vec<String> {
    let route: Value = serde_json::from_str(json).unwrap();
    let steps = route["steps"].as_array().unwrap();
    let skills = steps.iter().flat_map(|step| step["skills"].as_array().unwrap());
    skills.map(|skill| skill["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_task_comes_from_an_argument_a_file_or_standard_input() {
    let home = Home::with_index();
    let expected = loaded(&home.ask(&["route", TASK, "--format", "json"]).stdout);
    assert_eq!(expected[0], "data/csv-cleaning");
    let file = home.write("task.txt", TASK);
    let done = home.ask(&["route", "--file", &file, "--format", "json"]);
    assert_eq!(loaded(&done.stdout), expected);
    let words = TASK.split(' ');
    let words = ["route"].into_iter().chain(words).chain(["--format", "json"]);
    let done = home.ask(&words.collect::<Vec<_>>());
    assert_eq!(loaded(&done.stdout), expected, "without quotes: {}", done.stderr);
    let index = home.index();
    for dash in [&["-"][..], &[]] {
        let arguments = [&["route"], dash, &["--format", "json", "--index", &index]].concat();
        let done = home.run_with_input(&arguments, TASK.as_bytes());
        assert_eq!(loaded(&done.stdout), expected, "{}", done.stderr);
    }
}

#[test]
fn needs_come_from_arguments_and_from_a_batch() {
    let home = Home::with_index();
    let task = "the sales numbers come as a mess, the boss wants slides";
    let needs = ["clean a messy CSV file", "make a PowerPoint deck"];
    let arguments = [
        "route", task, "--need", needs[0], "--need", needs[1], "--format", "json", "--budget", "0",
    ];
    let done = home.ask(&arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut route: Value = serde_json::from_str(&done.stdout).unwrap();
    let steps: Vec<&Value> = route["steps"].as_array().unwrap().iter().collect();
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0]["subtask"], needs[0]);
    assert_eq!(steps[0]["skills"][0]["id"], "data/csv-cleaning");
    assert!(steps.iter().all(|step| step["skills"].as_array().unwrap().len() <= 1));
    assert!(steps[0]["confidence"].is_number());

    let line = serde_json::json!({ "query_id": "q", "query": task, "needs": needs });
    let file = home.write("batch.jsonl", line.to_string());
    let done = home.ask(&["route", "--queries", &file, "--budget", "0"]);
    let of_batch: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(of_batch["steps"], route["steps"].take());

    let searched = home.ask(&["search", task, "--need", needs[0], "-k", "2"]);
    assert!(searched.stdout.contains("data/csv-cleaning"), "{}", searched.stdout);
    assert!(searched.stdout.contains("need 1"), "{}", searched.stdout);
    let refused = home.ask(&["route", task, "--need", "?"]);
    refused.assert_error("need 1 has no letter or digit", "short phrases");
}

#[test]
fn a_batch_of_routes_is_a_line_of_json_a_query() {
    let home = Home::with_index();
    let queries = fixtures().join("tasks.jsonl").display().to_string();
    let done = home.ask(&["route", "--queries", &queries, "--budget", "0"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let routes: Vec<Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(routes.len(), 60);
    assert_eq!(routes[0]["query_id"], "t01");
    assert_eq!(routes[59]["query_id"], "n08");
}

#[test]
fn a_batch_of_searches_is_a_trec_run_that_eval_scores() {
    let home = Home::with_index();
    let queries = fixtures().join("tasks.jsonl").display().to_string();
    let done = home.ask(&["search", "--queries", &queries, "-k", "5", "--timings"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.starts_with("60 queries, one thread: p50 "), "{}", done.stderr);
    let lines: Vec<Vec<&str>> = done.stdout.lines().map(|line| line.split(' ').collect()).collect();
    assert!(lines.len() > 200);
    for columns in &lines {
        let [_, q0, _, rank, score, tag] = columns[..] else { panic!("{columns:?}") };
        assert_eq!((q0, tag), ("Q0", "skillmux"));
        assert!((1..=5).contains(&rank.parse::<usize>().unwrap()));
        assert!(score.parse::<f32>().unwrap().is_finite());
    }
    // Readers break ties in their own way.
    for pair in lines.windows(2).filter(|pair| pair[0][0] == pair[1][0]) {
        let [better, worse] = [0, 1].map(|at| pair[at][4].parse::<f32>().unwrap());
        assert!(better > worse, "{pair:?}");
    }
    let run = home.write("tasks.run", &done.stdout);
    let qrels = fixtures().join("qrels.trec").display().to_string();
    let done = home.run(&["eval", &run, "--qrels", &qrels, "--format", "json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let scores: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(scores["n_queries"], 52);
    assert!(scores["hit_at_1"].as_f64().unwrap() > 0.8, "{scores}");
}

#[test]
fn a_batch_with_a_bad_line_is_refused_with_its_number_and_prints_nothing() {
    let home = Home::with_index();
    let good = r#"{"query_id": "q1", "query": "clean a CSV file"}"#;
    for (line, message, hint) in [
        ("{\"query\": \"no id\"}", "line 3 of `", "a line reads"),
        ("nonsense", "line 3 of `", "a line reads"),
        (r#"{"query_id": "q2", "query": " "}"#, "the task is empty", "say in a sentence"),
    ] {
        let queries = home.write("queries.jsonl", format!("{good}\n\n{line}\n"));
        for command in ["route", "search"] {
            let done = home.ask(&[command, "--queries", &queries]);
            done.assert_error(message, hint);
            assert!(done.stderr.contains("line 3"), "{}", done.stderr);
            assert!(done.stdout.is_empty(), "{}", done.stdout);
        }
    }
}

#[test]
fn a_batch_that_is_no_text_is_refused_with_the_line_or_the_way_to_unpack_it() {
    let home = Home::with_index();
    let good = r#"{"query_id": "q1", "query": "clean a CSV file"}"#;
    let search = |bytes: &[u8]| {
        let queries = home.write("queries.jsonl", bytes);
        home.ask(&["search", "--queries", &queries])
    };
    let latin = [good.as_bytes(), b"\n{\"query_id\": \"q2\", \"query\": \"caf\xe9\"}\n"].concat();
    search(&latin).assert_error("line 2 of `", "must be UTF-8 text");
    for start in [&b"\x1f\x8b\x08\0"[..], b"\x28\xb5\x2f\xfd\x04"] {
        search(start).assert_error("is compressed", "unpack it first");
    }
}

#[test]
fn ids_that_are_printed_alike_are_refused() {
    let home = Home::with_index();
    let line = |id: &str| format!("{{\"query_id\": \"{id}\", \"query\": \"clean a CSV file\"}}\n");
    let search = |ids: [&str; 2]| {
        let queries = home.write("queries.jsonl", ids.map(line).concat());
        home.ask(&["search", "--queries", &queries])
    };
    search(["a", "a\\u0000"]).assert_error("of an earlier line", "an id of its own");
    search(["a", "\\u0000"]).assert_error("has an empty query_id", "an id of its own");
    assert_eq!(search(["a", "b"]).code, 0);
}

#[test]
fn a_batch_that_starts_with_a_byte_order_mark_is_read() {
    let home = Home::with_index();
    let line = "\u{feff}{\"query_id\": \"q\\u001b1\", \"query\": \"clean a CSV file\"}\r\n";
    let queries = home.write("queries.jsonl", line);
    let done = home.ask(&["search", "--queries", &queries, "-k", "1"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.starts_with("q1 Q0 "), "{}", done.stdout);
}

#[test]
fn nothing_found_is_one() {
    let home = Home::with_index();
    let nothing = "zzqx 鑫鑫";
    let queries =
        home.write("queries.jsonl", format!("{{\"query_id\":\"q\",\"query\":\"{nothing}\"}}\n"));
    for arguments in [
        &["route", nothing][..],
        &["search", nothing],
        &["route", "--queries", &queries],
        &["search", "--queries", &queries],
    ] {
        let done = home.ask(arguments);
        assert_eq!(done.code, 1, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.is_empty(), "{}", done.stderr);
    }
}

#[test]
fn a_batch_without_queries_says_so() {
    let home = Home::with_index();
    let queries = home.write("queries.jsonl", "\n \n");
    for command in ["route", "search"] {
        let done = home.ask(&[command, "--queries", &queries]);
        assert_eq!((done.code, done.stdout.as_str()), (1, ""), "{}", done.stderr);
        assert_eq!(done.stderr, format!("note: `{queries}` has no queries\n"));
    }
}
