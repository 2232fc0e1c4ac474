//! `--composer sequence`: its weights, and what is said without them.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use crate::home::{Home, library};

const TASK: &str = "clean the messy customers.csv, then make a slide deck of it";

#[test]
fn a_sequence_composer_needs_its_weights() {
    let home = Home::with_index();
    home.ask(&["route", TASK, "--composer", "sequence"])
        .assert_error("needs a file of weights", "--composer-weights");
    let path = home.path("none.safetensors");
    let path = path.to_str().unwrap();
    home.ask(&["route", TASK, "--composer", "sequence", "--composer-weights", path])
        .assert_error("cannot read", "--composer-weights");
    fs::write(path, "{}").unwrap();
    home.ask(&["route", TASK, "--composer", "sequence", "--composer-weights", path])
        .assert_error("is no safetensors file", "skillmux train");
}

/// Returns the ids of the fixture library: its folders, two deep.
fn ids() -> Vec<String> {
    let entries = |path: &Path| {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut ids = Vec::new();
    for group in entries(Path::new(&library())).iter().filter(|group| !group.ends_with("broken")) {
        let skills = entries(group);
        let skills = skills.iter().filter(|skill| skill.join("SKILL.md").is_file());
        ids.extend(skills.map(|skill| format!("{}/{}", name(group), name(skill))));
    }
    ids
}

#[test]
fn what_is_trained_is_routed_with() {
    let home = Home::with_index();
    let file = |name: &str| home.path(name).to_str().unwrap().to_owned();
    let ids = ids();
    let mut lines = String::new();
    for (at, first) in ids.iter().enumerate() {
        for second in ids.iter().cycle().skip(at + 1).take(4) {
            let query = format!("{first}, then {second}").replace(['/', '-'], " ");
            let line = serde_json::json!({"query": query, "skill_ids": [first, second]});
            writeln!(lines, "{line}").unwrap();
        }
    }
    fs::write(file("tasks.jsonl"), lines).unwrap();
    let (tasks, run, out) = (file("tasks.jsonl"), file("run"), file("weights.safetensors"));
    let train = |options: &str| {
        home.ask(&[
            "train",
            "composer",
            "--kind",
            "sequence",
            "--tasks",
            &tasks,
            "--run",
            &run,
            "--out",
            &out,
            "--options",
            options,
        ])
    };
    let done = train(r#"{"width": 10, "n_heads": 4}"#);
    done.assert_error("`n_heads` is 4, but must be a divisor of `width`", "leave the option out");
    let done = train(r#"{"width": 8, "n_heads": 2, "n_layers": 1, "n_epochs": 1}"#);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("| sequence |"), "{}", done.stdout);
    let done = home.ask(&[
        "route",
        TASK,
        "--composer",
        "sequence",
        "--composer-weights",
        &out,
        "--budget",
        "0",
    ]);
    assert!(done.code < 2, "{}", done.stderr);
}
