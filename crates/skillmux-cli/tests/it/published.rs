//! Published encoders and cross-encoders: of a folder, and at an endpoint.

use std::fs;

use serde_json::{Value, json};

use crate::{
    endpoint::{Asked, Server},
    home::{Done, Home},
    reference::{Reference, Written},
};

const TASK: &str = "fill in the fields of a PDF form";

/// Writes the tiny checkpoint of a name.
fn checkpoint(name: &str) -> Written {
    Reference::read().write_named(name)
}

fn text(written: &Written) -> String {
    written.path().display().to_string()
}

/// Writes a library of three skills, for an encoder that is slow in tests, and returns its folder.
fn few_skills(home: &Home) -> String {
    for (name, description) in [
        ("pdf-form", "Fill in the form of a pdf"),
        ("merge-tables", "Merge two tables"),
        ("slow-query", "Tune a slow query"),
    ] {
        home.write_skill(&format!("few/{name}"), name, description, "Merge the tables.");
    }
    home.path("few").display().to_string()
}

/// Indexes the library of three skills with an encoder.
fn index_few(home: &Home, encoder: &[&str]) -> Done {
    let library = few_skills(home);
    home.ask(&[&["index", &library, "--transformer", "never"][..], encoder].concat())
}

fn json_of(done: &Done) -> Value {
    assert_eq!(done.code, 0, "{}", done.stderr);
    serde_json::from_str(&done.stdout).unwrap()
}

/// Returns the ids and the scores of a search for more skills than a cross-encoder reads.
fn found(home: &Home, flags: &[&str]) -> Vec<(String, f64)> {
    let search = ["search", TASK, "--format", "json", "-k", "30"];
    let found = json_of(&home.ask(&[&search[..], flags].concat()));
    let line = |skill: &Value| {
        (skill["id"].as_str().unwrap().to_owned(), skill["score"].as_f64().unwrap())
    };
    found.as_array().unwrap().iter().map(line).collect()
}

/// Checks that the first 20 skills came into another order, and that the rest kept theirs.
fn assert_reranked(before: &[(String, f64)], after: &[(String, f64)]) {
    let ids = |found: &[(String, f64)]| -> Vec<String> {
        found.iter().map(|(id, _)| id.clone()).collect()
    };
    let sorted = |mut ids: Vec<String>| {
        ids.sort_unstable();
        ids
    };
    let (before, after_ids) = (ids(before), ids(after));
    assert_ne!(before, after_ids);
    assert_eq!(sorted(before[..20].to_vec()), sorted(after_ids[..20].to_vec()));
    assert_eq!(before[20..], after_ids[20..]);
    assert!(after.is_sorted_by(|a, b| a.1 >= b.1));
}

#[test]
fn an_encoder_of_a_folder_makes_an_index_and_answers_over_it() {
    let home = Home::new();
    let written = checkpoint("bert encoder");
    let encoder = ["--encoder", &text(&written)];
    let done = index_few(&home, &encoder);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let stats = home.ask(&["stats"]);
    assert!(stats.stdout.contains("bert-2x32"), "{}", stats.stdout);

    let search = ["search", "merge two tables", "--retriever", "dense", "--format", "json"];
    let by_meaning = json_of(&home.ask(&[&search[..], &encoder].concat()));
    assert_eq!(by_meaning[0]["id"], "merge-tables");
    let route = ["route", "merge two tables", "--format", "json"];
    let route = json_of(&home.ask(&[&route[..], &encoder].concat()));
    assert_eq!(route["confidence"], Value::Null);

    let page = home.ask(&["page", "merge-tables"]);
    assert_eq!(page.code, 0, "a page needs no encoder: {}", page.stderr);
    let other = home.ask(&search);
    other.assert_error("bert-2x32", "name the encoder that it was built with, by --encoder");
}

#[test]
fn an_encoder_in_bytes_is_another_one() {
    let home = Home::new();
    let written = checkpoint("bert encoder");
    let folder = text(&written);
    let bytes = ["--encoder", &folder, "--precision", "int8"];
    let done = index_few(&home, &bytes);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let search = ["search", "merge two tables", "--retriever", "dense", "--format", "json"];
    let by_flag = home.ask(&[&search[..], &bytes].concat());
    assert_eq!(json_of(&by_flag)[0]["id"], "merge-tables");
    let single = home.ask(&[&search[..], &bytes[..2]].concat());
    single.assert_error(
        "bert-2x32-int8",
        "`encoder` in [models] of the settings file, with --precision int8",
    );
    fs::create_dir_all(home.path(".config/skillmux")).unwrap();
    let settings = format!("[models]\nencoder = \"{folder}\"\nprecision = \"int8\"\n");
    home.write(".config/skillmux/settings.toml", settings);
    assert_eq!(home.ask(&search).stdout, by_flag.stdout);
}

#[test]
fn a_cross_encoder_of_a_folder_orders_the_first_skills_again() {
    let home = Home::with_index();
    let before = found(&home, &[]);
    for name in ["bert reranker", "qwen3 reranker"] {
        let written = checkpoint(name);
        let folder = text(&written);
        assert_reranked(&before, &found(&home, &["--reranker", &folder]));
    }
    let written = checkpoint("bert reranker");
    let by_flag = found(&home, &["--reranker", &text(&written)]);
    fs::create_dir_all(home.path(".config/skillmux")).unwrap();
    let settings = format!("[models]\nreranker = \"{}\"\n", text(&written));
    home.write(".config/skillmux/settings.toml", settings);
    assert_eq!(found(&home, &[]), by_flag);
    let route = json_of(&home.ask(&["route", TASK, "--format", "json"]));
    assert_eq!((&route["decision"], &route["confidence"]), (&"load".into(), &Value::Null));
    let parts = &route["steps"][0]["skills"][0]["explanation"]["contributions"];
    assert!(parts.as_array().unwrap().iter().any(|part| part["feature"] == "pair"), "{parts}");
}

/// Returns a vector of a text: how often it has some letters.
fn vector(text: &Value) -> Value {
    let text = text.as_str().unwrap();
    "aeimqt ".chars().map(|letter| text.matches(letter).count() + 1).collect()
}

/// Answers by both protocols of encoders.
fn encode(asked: &Asked) -> (u16, String) {
    let vectors = |texts: &Value| texts.as_array().unwrap().iter().map(vector).collect::<Vec<_>>();
    let answer = match asked.path.as_str() {
        "/v1/embeddings" => {
            let vectors = vectors(&asked.body["input"]).into_iter().enumerate();
            let data = vectors.map(|(at, vector)| json!({ "index": at, "embedding": vector }));
            json!({ "data": data.collect::<Vec<_>>() })
        }
        "/embed" => Value::from(vectors(&asked.body["inputs"])),
        _ => return (404, json!({ "error": "no such path" }).to_string()),
    };
    (200, answer.to_string())
}

#[test]
fn an_encoder_at_an_endpoint_makes_an_index_and_answers_over_it() {
    for (path, name) in [("/v1", &["--encoder-model", "small"][..]), ("", &[])] {
        let home = Home::new();
        let server = Server::start(|_, asked| encode(asked));
        let url = server.url(path);
        let encoder = [&["--encoder", &url][..], name].concat();
        let done = index_few(&home, &encoder);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let n_asked = server.asked().len();

        let search = ["search", "Merge two tables", "--retriever", "dense", "--format", "json"];
        let mut command =
            home.command(&[&search[..], &encoder, &["--index", &home.index()]].concat());
        command.env("SKILLMUX_ENCODER_API_KEY", "k-1").env("SKILLMUX_API_KEY", "k-2");
        let found = json_of(&command.output().unwrap().into());
        assert_eq!(found.as_array().unwrap().len(), 3);
        let asked = &server.asked()[n_asked];
        assert_eq!(asked.authorization.as_deref(), Some("Bearer k-1"));
        let is_named = asked.body["model"] == "small";
        assert_eq!(is_named, !name.is_empty(), "{}", asked.body);
    }
}

/// Answers by both protocols of cross-encoders: the longer a text, the better.
fn score(asked: &Asked) -> (u16, String) {
    let lengths = |texts: &Value| -> Vec<usize> {
        texts.as_array().unwrap().iter().map(|text| text.as_str().unwrap().len()).collect()
    };
    let answer = match asked.path.as_str() {
        "/v2/rerank" => {
            let scores = lengths(&asked.body["documents"]).into_iter().enumerate();
            let lines =
                scores.map(|(at, n)| json!({ "index": at, "relevance_score": n as f64 / 1e4 }));
            json!({ "results": lines.collect::<Vec<_>>() })
        }
        "/rerank" => {
            let scores = lengths(&asked.body["texts"]).into_iter().enumerate();
            scores.map(|(at, n)| json!({ "index": at, "score": n })).collect()
        }
        _ => return (404, json!({ "error": "no such path" }).to_string()),
    };
    (200, answer.to_string())
}

#[test]
fn a_cross_encoder_at_an_endpoint_orders_the_first_skills_again() {
    let home = Home::with_index();
    let before = found(&home, &[]);
    let server = Server::start(|_, asked| score(asked));
    let tei = found(&home, &["--reranker", &server.url("")]);
    assert_reranked(&before, &tei);
    let url = server.url("/v2");
    let cohere = found(&home, &["--reranker", &url, "--reranker-model", "rerank-small"]);
    assert_reranked(&before, &cohere);
    let by_page = found(&home, &["--reranker", &server.url(""), "--reranker-reads", "page"]);
    assert_reranked(&before, &by_page);
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].body["texts"], asked[1].body["documents"]);
    assert_ne!(asked[0].body["texts"], asked[2].body["texts"]);
    assert_eq!((&asked[0].body["query"], &asked[1].body["query"]), (&TASK.into(), &TASK.into()));
    assert_eq!(asked[1].body["model"], "rerank-small");
}

#[test]
fn a_folder_that_is_no_such_model_is_refused() {
    let home = Home::with_index();
    let encoder = checkpoint("bert encoder");
    let reranker = checkpoint("bert reranker");
    let ask = |flag: &str, place: &str| home.ask(&["search", TASK, flag, place]);
    ask("--encoder", &text(&reranker)).assert_error("not an encoder", "name it as the reranker");
    ask("--reranker", &text(&encoder)).assert_error("not a reranker", "name it as the encoder");
    let index = home.run(&["index", &few_skills(&home), "--encoder", &text(&reranker)]);
    index.assert_error("not an encoder", "name it as the reranker");

    ask("--encoder", &text(&encoder)).assert_error("bert-2x32", "; or rebuild it");
    ask("--reranker", "./bge-m3").assert_error("no folder with a model", "hf download");
    ask("--encoder", "./bge-m3").assert_error("cannot read `./bge-m3`", "the folder of");

    let page = "<!doctype html>";
    let config = fs::read_to_string(encoder.file("config.json")).unwrap();
    for (file, content, message, hint) in [
        (
            "config.json",
            Some(config.replace("BertModel", "T5EncoderModel")),
            "T5EncoderModel",
            "Qwen3",
        ),
        ("tokenizer.json", None, "has no `tokenizer.json`", "save_pretrained"),
        (
            "model.safetensors",
            Some(page.to_owned()),
            "it is no safetensors file",
            "fetch the files",
        ),
    ] {
        let written = checkpoint("bert encoder");
        match content {
            Some(content) => fs::write(written.file(file), content).unwrap(),
            None => fs::remove_file(written.file(file)).unwrap(),
        }
        ask("--encoder", &text(&written)).assert_error(message, hint);
    }
    let weights = fs::read(encoder.file("model.safetensors")).unwrap();
    fs::write(encoder.file("model.safetensors"), &weights[..weights.len() / 2]).unwrap();
    ask("--encoder", &text(&encoder)).assert_error("its header says", "cut short");
}

#[test]
fn an_endpoint_that_is_no_such_model_is_refused() {
    let home = Home::with_index();
    let server = Server::start(|_, asked| encode(asked));
    let url = server.url("/v1");
    let ask = |flags: &[&str]| home.ask(&[&["search", TASK], flags].concat());
    ask(&["--encoder", &url]).assert_error("/v1/embed` answered 404", "--encoder-model");
    ask(&["--encoder", &url, "--encoder-model", "small"])
        .assert_error("small at 127.0.0.1", "name the encoder that it was built with");
    ask(&["--reranker", &url]).assert_error("/v1/rerank` answered 404", "--reranker-model");
    ask(&["--reranker", "http://"]).assert_error("the base URL", "http://localhost");

    for (flags, message) in [
        (&["--encoder-model", "small"][..], "--encoder-model is given without an --encoder URL"),
        (&["--encoder", "few", "--encoder-model", "small"], "without an --encoder URL"),
        (&["--reranker-model", "small"], "--reranker-model is given without a --reranker URL"),
        (&["--reranker-reads", "page"], "--reranker-reads is given without a --reranker"),
        (&["--preset", "r3"], "--preset is given without an --encoder or a --reranker of a folder"),
        (&["--preset", "r3", "--reranker", &url], "--preset is given without"),
        (&["--precision", "int8"], "--precision is given without an --encoder or a --reranker"),
    ] {
        ask(flags).assert_error(message, "name both or neither");
    }
}

#[test]
fn a_cross_encoder_and_a_judge_may_both_be_asked() {
    let home = Home::with_index();
    let written = checkpoint("bert reranker");
    let reranker = ["--reranker", &text(&written)];
    let before = found(&home, &reranker);
    let server = crate::endpoint::ChatServer::start(|_, _| (200, "[3]".to_owned()));
    let judge = ["--judge", "--chat-url", &server.url, "--chat-model", "small"];
    let after = found(&home, &[&reranker[..], &judge].concat());
    assert_eq!(after[0].0, before[2].0);
    assert_eq!(after[1..3], before[..2]);
}
