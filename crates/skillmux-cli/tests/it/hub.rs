//! Published models by their ids, and the words of a preset.

use std::fs;

use serde_json::Value;

use crate::{
    home::{Done, Home},
    mock_hub::{HubReply, HubRequest, MockHub},
    reference::{Reference, Written},
};

fn checkpoint(name: &str) -> Written {
    Reference::read().write_named(name)
}

/// Runs a command that may ask a hub.
fn run_online(home: &Home, hub: &MockHub, arguments: &[&str]) -> Done {
    let mut command = home.command(arguments);
    command.env_remove("HF_HUB_OFFLINE").env("HF_ENDPOINT", &hub.url);
    command.output().unwrap().into()
}

fn library(home: &Home) -> String {
    home.write_skill("few/pdf-form", "pdf-form", "Fill in the form of a pdf", "Merge the tables.");
    home.write_skill("few/merge-tables", "merge-tables", "Merge two tables", "Fill in the form.");
    home.path("few").display().to_string()
}

const SEARCH: [&str; 6] =
    ["search", "merge two tables", "--retriever", "dense", "--format", "json"];

fn first(done: &Done) -> Value {
    assert_eq!(done.code, 0, "{}", done.stderr);
    serde_json::from_str::<Value>(&done.stdout).unwrap()[0]["id"].clone()
}

#[test]
fn an_encoder_of_an_id_is_downloaded_once_and_works_offline_after_that() {
    let home = Home::new();
    let hub = MockHub::of(checkpoint("bert encoder").path());
    let encoder = ["--encoder", "tiny/model", "--index", &home.index()];
    let index = ["index", &library(&home), "--transformer", "never"];
    let done = run_online(&home, &hub, &[&index[..], &encoder].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let n_asked = hub.asked().len();
    assert_eq!(first(&run_online(&home, &hub, &[&SEARCH[..], &encoder].concat())), "merge-tables");
    assert_eq!(hub.asked().len(), n_asked);
    assert!(home.path("cache/huggingface/hub/models--tiny--model/refs/main").is_file());

    assert_eq!(first(&home.run(&[&SEARCH[..], &encoder].concat())), "merge-tables");
    home.write(".config/skillmux/settings.toml", "[models]\nencoder = \"tiny/model\"\n");
    assert_eq!(first(&home.ask(&SEARCH)), "merge-tables");
    // A folder of this name goes before the id.
    fs::create_dir_all(home.path("project/tiny/model")).unwrap();
    home.run(&[&SEARCH[..], &encoder].concat())
        .assert_error("has no `config.json`", "whole folder");
}

#[test]
fn a_reranker_of_an_id_is_downloaded() {
    let home = Home::with_index();
    let hub = MockHub::of(checkpoint("bert reranker").path());
    let index = home.index();
    let search = ["search", "fill in a form", "--reranker", "tiny/model", "--index", &index];
    let done = run_online(&home, &hub, &search);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(home.run(&search).stdout, done.stdout);
}

#[test]
fn a_model_that_cannot_be_had_is_refused() {
    let home = Home::with_index();
    let index = home.index();
    let search = |id| ["search", "fill in a form", "--reranker", id, "--index", &index];
    home.run(&search("BAAI/bge-m3"))
        .assert_error("`BAAI/bge-m3` is not in the cache", "hf download BAAI/bge-m3");
    for (status, message, hint) in [
        (404, "has no model `tiny/model`", "for a folder of yours write ./tiny/model"),
        (401, "it is private or gated, or there is no such model", "HF_TOKEN"),
    ] {
        let answer = move |_: &HubRequest, _| Some(HubReply::status(status));
        let hub = MockHub::answering(checkpoint("bert reranker").path(), answer);
        run_online(&home, &hub, &search("tiny/model")).assert_error(message, hint);
    }
    let mut command = home.command(&search("tiny/model"));
    command.env_remove("HF_HUB_OFFLINE").env("HF_ENDPOINT", "http://hub.example.com");
    command.env("HF_TOKEN", "hf_secret");
    let done: Done = command.output().unwrap().into();
    done.assert_error("would show the token to everyone", "https://huggingface.co");
    assert!(!done.stderr.contains("hf_secret"));
}

#[test]
fn a_preset_is_a_part_of_the_encoder() {
    let home = Home::new();
    let written = checkpoint("qwen3 encoder");
    let folder = written.path().display().to_string();
    let encoder = ["--encoder", &folder, "--index", &home.index()];
    let index = ["index", &library(&home), "--transformer", "never", "--preset", "skillrouter"];
    let done = home.run(&[&index[..], &encoder].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let search = |preset: &[&str]| home.run(&[&SEARCH[..], &encoder, preset].concat());
    assert_eq!(search(&["--preset", "skillrouter"]).code, 0);
    search(&["--preset", "r3"])
        .assert_error("qwen3-2x32", "name the encoder that it was built with");
    let settings = format!("[models]\nencoder = \"{folder}\"\npreset = \"skillrouter\"\n");
    home.write(".config/skillmux/settings.toml", settings);
    assert_eq!(home.ask(&SEARCH).code, 0);
    let done = search(&["--preset", "skillruter"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("skillweaver"), "the names are listed: {}", done.stderr);
}
