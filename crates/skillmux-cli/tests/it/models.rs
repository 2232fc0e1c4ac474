//! Models of the user's own, by flag and by settings file.

use serde_json::Value;

use crate::home::{Done, Home};

const TASK: &str = "fill in the fields of a PDF form";

/// Weights by which the name alone counts, and less than nothing.
const RANKER: &str = r#"{
    "with_vectors": {"bm25.name": {"base": -1.0, "length": 0.0, "spaceless": 0.0}},
    "without_vectors": {}
}"#;

fn json(done: &Done) -> Value {
    assert!(done.code < 2, "{}", done.stderr);
    serde_json::from_str(&done.stdout).unwrap()
}

/// Returns the names of the features that the best skill's score is made of.
fn features(found: &Value) -> Vec<&str> {
    let parts = found["explanation"]["contributions"].as_array().unwrap();
    parts.iter().map(|part| part["feature"].as_str().unwrap()).collect()
}

#[test]
fn weights_of_a_file_rank_and_have_no_calibration() {
    let home = Home::with_index();
    let ranker = home.write("ranker.json", RANKER);
    let route = json(&home.ask(&["route", TASK, "--format", "json", "--ranker", &ranker]));
    assert_eq!((&route["decision"], &route["confidence"]), (&Value::from("load"), &Value::Null));
    let text = home.ask(&["route", TASK, "--ranker", &ranker]);
    assert!(text.stdout.contains("uncalibrated"), "{}", text.stdout);
    assert_eq!(text.stderr.matches("no calibration was fitted").count(), 1, "{}", text.stderr);
    assert!(text.stderr.contains("`skillmux train abstention` fits one"), "{}", text.stderr);
    let unlearned = home.ask(&["route", TASK, "--ranker", &ranker, "--retriever", "fielded"]);
    assert_eq!(unlearned.stderr, "");
    let shipped = home.ask(&["route", TASK, "--format", "json"]);
    assert_eq!(shipped.stderr, "");
    assert!(json(&shipped)["confidence"].as_f64().unwrap() > 0.5);
}

#[test]
fn a_calibration_of_another_ranking_says_whose_it_is() {
    let home = Home::with_index();
    let shipped = skillmux_models::abstention();
    let needed = shipped.iter().next().unwrap().ranking.to_string();
    let shipped = serde_json::to_string(&shipped).unwrap();
    let route = |calibrations: &str| {
        home.write(".config/skillmux/mine.json", calibrations);
        home.ask(&["route", TASK])
    };
    home.write(".config/skillmux/settings.toml", "[models]\nabstention = \"mine.json\"\n");
    assert_eq!(route(&shipped).stderr, "");
    let done = route(&shipped.replace("linear ", "linear 1"));
    assert!(done.stdout.contains("uncalibrated"), "{}", done.stdout);
    let theirs = needed.replace("linear ", "linear 1");
    let path = home.path(".config/skillmux/mine.json").display().to_string();
    let expected = format!(
        "note: `{path}` is for another ranking: it has a calibration for `{theirs}` and 2 more, \
         but `{needed}` is in use, so answers have no confidence"
    );
    assert!(done.stderr.starts_with(&expected), "{}", done.stderr);
    let done = route("[]");
    assert!(done.stderr.contains("mine.json` holds no calibration, so"), "{}", done.stderr);
}

#[test]
fn the_settings_file_names_weights_for_every_command_and_a_flag_comes_first() {
    let home = Home::with_index();
    home.write(".config/skillmux/ranker.json", RANKER);
    home.write(".config/skillmux/settings.toml", "[models]\nranker = \"ranker.json\"\n");
    let search = ["search", "pdf-form-filling tables", "--format", "json", "-k", "40"];
    let by_settings = json(&home.ask(&search));
    for found in by_settings.as_array().unwrap() {
        assert!(features(found).iter().all(|feature| *feature == "bm25.name"), "{found}");
    }
    let other = RANKER.replace("bm25.name", "bm25.body");
    let other = home.write("other.json", other);
    let by_flag = json(&home.ask(&[&search[..], &["--ranker", &other]].concat()));
    assert_eq!(features(&by_flag[by_flag.as_array().unwrap().len() - 1]), ["bm25.body"]);
}

#[test]
fn the_evaluation_measures_the_weights_that_the_user_named() {
    let home = Home::with_index();
    let ranker = home.write("ranker.json", RANKER);
    let tasks =
        home.write("tasks.jsonl", format!("{{\"query_id\": \"q1\", \"query\": \"{TASK}\"}}\n"));
    let qrels = home.write("qrels.trec", "q1 0 documents/pdf-form-filling 1\n");
    let run = ["eval", "run", &tasks, "--qrels", &qrels, "--system", "ranked", "--format", "csv"];
    let shipped = home.ask(&run);
    let own = home.ask(&[&run[..], &["--ranker", &ranker]].concat());
    assert_eq!((shipped.code, own.code), (0, 0), "{}{}", shipped.stderr, own.stderr);
    assert_ne!(shipped.stdout, own.stdout);
}

#[test]
fn the_evaluation_reads_the_transformer_that_the_user_named() {
    let home = Home::with_index();
    let tasks =
        home.write("tasks.jsonl", format!("{{\"query_id\": \"q1\", \"query\": \"{TASK}\"}}\n"));
    for command in ["run", "sweep"] {
        let done = home.ask(&["eval", command, &tasks, "--transformer-weights", "nowhere"]);
        done.assert_error("cannot read `nowhere/vocabulary.txt`", "training/transformer/export.py");
    }
    let gate = ["eval", "gate", &tasks, "--old", "bm25", "--new", "default"];
    let done = home.ask(&[&gate[..], &["--transformer-weights", "nowhere"]].concat());
    done.assert_error("cannot read `nowhere/vocabulary.txt`", "training/transformer/export.py");
}

#[test]
fn weights_with_the_transformer_are_measured_where_it_has_read_all_skills() {
    let home = Home::with_index();
    let ranker = home.write("ranker.json", RANKER);
    let tasks =
        home.write("tasks.jsonl", format!("{{\"query_id\": \"q1\", \"query\": \"{TASK}\"}}\n"));
    let qrels = home.write("qrels.trec", "q1 0 documents/pdf-form-filling 1\n");
    let measure = |name: &str| {
        let system = format!("{name}:{ranker}");
        home.ask(&["eval", "run", &tasks, "--qrels", &qrels, "--system", &system])
    };
    assert_eq!(measure("transformer").code, 0);
    let index = home.index();
    assert_eq!(home.run(&["index", "--index", &index, "--transformer", "never"]).code, 0);
    assert_eq!(measure("ranked").code, 0);
    measure("transformer").assert_error("it has not read `", "--transformer` lets it read them");
}

#[test]
fn the_kind_of_the_vectors_is_that_of_the_option_and_stays_without_it() {
    let home = Home::with_index();
    let index = home.index();
    let stats = || json(&home.ask(&["stats", "--format", "json"]));
    assert_eq!(stats()["vectors"], Value::Null);
    for (option, expected) in
        [(&["--vectors", "f32"][..], "f32"), (&[], "f32"), (&["--vectors", "f16"], "f16")]
    {
        let update = ["index", "--index", &index, "--transformer", "never"];
        let done = home.run(&[&update[..], option].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(stats()["vectors"], expected);
        let text = home.ask(&["stats"]).stdout;
        assert!(text.contains(&format!("(160, {expected})")), "{text}");
        let found = home.ask(&["search", TASK, "--retriever", "dense", "-k", "1"]);
        assert!(found.stdout.contains("pdf-form-filling"), "{}", found.stdout);
    }
}

#[test]
fn a_file_that_is_no_model_is_refused_with_a_hint() {
    let home = Home::with_index();
    let text = home.write("notes.txt", "not a model");
    for (setting, option) in [
        ("encoder", "--encoder"),
        ("ranker", "--ranker"),
        ("abstention", "--abstention"),
        ("asking", "--asking-weights"),
        ("composer", "--composer-weights"),
        ("pager", "--pager-weights"),
        ("work", "--work-weights"),
    ] {
        let writer = format!("`skillmux train {setting}`");
        let done = home.ask(&["route", TASK, option, &text]);
        done.assert_error("notes.txt", &format!("{writer} writes such a file;"));
        let missing = home.ask(&["route", TASK, option, "nowhere.json"]);
        let hint = format!(
            "{option}, or `{setting}` in the settings file, names a file that {writer} wrote"
        );
        missing.assert_error("cannot read `nowhere.json`", &hint);
        assert_eq!(missing.stderr.matches("--").count(), 1, "{}", missing.stderr);
    }
    home.write(".config/skillmux/settings.toml", "[model]\nranker = \"a\"\n");
    let done = home.ask(&["route", TASK]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("settings.toml"), "{}", done.stderr);
    assert!(done.stderr.contains("[models]"), "{}", done.stderr);
}
