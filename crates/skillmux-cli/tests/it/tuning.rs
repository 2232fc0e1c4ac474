//! `skillmux train transformer` on a tiny checkpoint.

use std::fs;

use crate::{
    home::{Done, Home},
    reference::{Reference, Written},
};

/// A home with the index of the fixtures, queries for its skills, and a checkpoint to tune.
struct Bench {
    home: Home,
    base: Written,
    queries: String,
}

impl Bench {
    fn new() -> Self {
        let home = Home::with_index();
        let found = home.ask(&["search", "a pdf form", "-k", "40", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
        let line = |skill: &serde_json::Value| {
            let id = skill["id"].as_str().unwrap();
            format!("{{\"query\": \"the form of {id}\", \"skill_id\": \"{id}\"}}\n")
        };
        let lines: String = found.as_array().unwrap().iter().map(line).collect();
        let queries = home.write("queries.jsonl", lines);
        Self { home, base: Reference::read().write_named("bert encoder"), queries }
    }

    fn path(&self, name: &str) -> String {
        self.home.path(name).display().to_string()
    }

    fn train(&self, changed: &[(&str, &str)], more: &[&str]) -> Done {
        let (base, run, out) =
            (self.base.path().display().to_string(), self.path("run"), self.path("out"));
        let few = r#"{"n_steps_a_round": 1, "n_pairs": 4, "n_held_out": 3, "max_text_tokens": 16}"#;
        let mut flags = vec![
            ("--base", base.as_str()),
            ("--queries", &self.queries),
            ("--run", &run),
            ("--out", &out),
            ("--options", few),
        ];
        for flag in &mut flags {
            flag.1 = changed.iter().find(|(name, _)| *name == flag.0).map_or(flag.1, |new| new.1);
        }
        let flags = flags.iter().flat_map(|(name, value)| [*name, *value]);
        let arguments: Vec<&str> = ["train", "transformer", "--steps", "2"]
            .into_iter()
            .chain(flags)
            .chain(more.iter().copied())
            .collect();
        self.home.ask(&arguments)
    }
}

#[test]
fn a_tuned_encoder_makes_an_index_and_answers_over_it() {
    let bench = Bench::new();
    let done = bench.train(&[], &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("queries to train on"), "{}", done.stdout);
    assert!(done.stderr.contains("round 2, step 2: held out Hit@1"), "{}", done.stderr);
    let out = bench.path("out");
    bench.home.write_skill("few/form", "form", "Fill in the form of a pdf", "Fill it in.");
    let few = ["index", &bench.path("few"), "--encoder", &out, "--transformer", "never"];
    let index = bench.path("few.idx");
    let done = bench.home.run(&[&few[..], &["--index", &index]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let search = ["search", "a pdf form", "--encoder", &out, "--retriever", "dense"];
    let done = bench.home.run(&[&search[..], &["--index", &index]].concat());
    assert!(done.stdout.contains("form"), "{}{}", done.stdout, done.stderr);

    bench.train(&[], &[]).assert_error("is there, and not empty", "--out");
    let other = bench.path("other");
    let resumed = bench.train(&[("--out", &other)], &["--resume", "--seed", "2"]);
    resumed.assert_error("is of a run with other data or options", "--resume");
    let resumed = bench.train(&[("--out", &other)], &["--resume"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let weights = |folder: &str| fs::read(format!("{folder}/model.safetensors")).unwrap();
    assert!(weights(&out) == weights(&other));
}

#[test]
fn what_cannot_be_tuned_is_told() {
    let bench = Bench::new();
    bench
        .train(&[("--base", "BAAI/bge-m3")], &[])
        .assert_error("no folder with a model", "hf download");
    let strange = Reference::read().write_named("bert encoder");
    let config = fs::read_to_string(strange.file("config.json")).unwrap();
    fs::write(strange.file("config.json"), config.replace("BertModel", "T5EncoderModel")).unwrap();
    bench
        .train(&[("--base", &strange.path().display().to_string())], &[])
        .assert_error("T5EncoderModel", "it runs BERT");
    let few = bench.home.write("few.jsonl", "{\"query\": \"a form\", \"skill_id\": \"no/such\"}\n");
    bench
        .train(&[("--queries", &few)], &[])
        .assert_error("0 training pairs are about skills of the index", "index the skills");
    let done = bench.train(&[("--options", "{\"n_stops\": 2}")], &[]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("there is no option `n_stops`"), "{}", done.stderr);
    bench
        .train(&[("--options", "{\"temperature\": 0}")], &[])
        .assert_error("the option `temperature` is 0, but must be", "leave the option out");
}
