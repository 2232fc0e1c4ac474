//! Checkpoints against `transformers`, and batches against one by one.

use std::fs;

use safetensors::Dtype;
use serde_json::json;
use skillmux::model::{Encoder, PairScorer};
use skillmux_models::checkpoint::{Checkpoint, CheckpointUse, InferencePrecision, ModelOptions};

use crate::reference::{Reference, Written};

/// How far numbers may be from those of `transformers`, which adds in another order.
const TOLERANCE: f32 = 1e-5;

pub(crate) fn assert_close(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let far = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(far <= tolerance, "{what}: {far} apart");
}

#[test]
fn encoders_give_the_vectors_of_transformers() {
    let reference = Reference::read();
    for case in reference.cases("encoder") {
        let encoder = reference.write(case).open().encoder().unwrap();
        let expected: Vec<Vec<f32>> = serde_json::from_value(case.expected.clone()).unwrap();
        let found = encoder.encode_queries(&reference.texts()).unwrap();
        assert_close(&found, &expected.concat(), TOLERANCE, &encoder.identity().name);
    }
}

#[test]
fn rerankers_give_the_scores_of_transformers() {
    let reference = Reference::read();
    for case in reference.cases("reranker") {
        let scorer = reference.write(case).open().pair_scorer().unwrap();
        let expected: Vec<f32> = serde_json::from_value(case.expected.clone()).unwrap();
        let found = scorer.scores(&reference.query, &reference.texts()).unwrap();
        assert_close(&found, &expected, TOLERANCE, &scorer.identity().name);
    }
}

/// Returns a tiny model as it is computed in bytes.
fn in_bytes(written: &Written, purpose: CheckpointUse) -> Checkpoint {
    let precision = Some(InferencePrecision::Int8);
    let options = ModelOptions { precision, ..ModelOptions::default() };
    Checkpoint::open_as(written.path(), purpose, options).unwrap()
}

#[test]
fn encoders_in_bytes_give_nearly_the_vectors_of_transformers() {
    let reference = Reference::read();
    let mut n_cases = 0;
    for case in reference.cases("encoder") {
        let written = reference.write(case);
        let checkpoint = in_bytes(&written, CheckpointUse::Encoder);
        let encoder = checkpoint.encoder().unwrap();
        let single = written.open().encoder().unwrap();
        assert_eq!(encoder.identity().name, format!("{}-int8", single.identity().name));
        assert_ne!(encoder.identity().fingerprint, single.identity().fingerprint);
        let expected: Vec<Vec<f32>> = serde_json::from_value(case.expected.clone()).unwrap();
        let found = encoder.encode_queries(&reference.texts()).unwrap();
        for (found, expected) in found.chunks(encoder.dim()).zip(expected) {
            let cosine: f32 = found.iter().zip(&expected).map(|(a, b)| a * b).sum();
            assert!(cosine > 0.998, "{}: {cosine}", case.name);
        }
        n_cases += 1;
    }
    assert!(n_cases > 2, "BERT, RoBERTa and Qwen3 are among them");
}

#[test]
fn rerankers_in_bytes_give_nearly_the_scores_of_transformers() {
    let reference = Reference::read();
    for case in reference.cases("reranker") {
        let written = reference.write(case);
        let scorer = in_bytes(&written, CheckpointUse::PairScorer).pair_scorer().unwrap();
        let expected: Vec<f32> = serde_json::from_value(case.expected.clone()).unwrap();
        let found = scorer.scores(&reference.query, &reference.texts()).unwrap();
        // The scores are log-odds, of some tenths.
        assert_close(&found, &expected, 0.08, &scorer.identity().name);
    }
}

#[test]
fn a_folder_may_ask_for_bytes() {
    let reference = Reference::read();
    let written = reference.write_named("bert encoder");
    let by_caller = in_bytes(&written, CheckpointUse::Encoder).encoder().unwrap();
    written.write("skillmux.json", &json!({"precision": "int8"}));
    let by_folder = written.open().encoder().unwrap();
    assert_eq!(by_folder.identity(), by_caller.identity());
    let precision = Some(InferencePrecision::Single);
    let options = ModelOptions { precision, ..ModelOptions::default() };
    let back = Checkpoint::open_as(written.path(), CheckpointUse::Encoder, options).unwrap();
    assert_ne!(back.encoder().unwrap().identity(), by_caller.identity());
}

#[test]
fn a_batch_gives_what_one_by_one_gives() {
    let reference = Reference::read();
    let mut texts = reference.texts();
    texts.extend(["", "  \n", "fill", "表格 zebra"]);
    for case in reference.cases("encoder") {
        let encoder = reference.write(case).open().encoder().unwrap();
        let one_by_one: Vec<f32> =
            texts.iter().flat_map(|text| encoder.encode(&[text]).unwrap()).collect();
        let batch = encoder.encode(&texts).unwrap();
        assert_close(&batch, &one_by_one, 1e-6, &encoder.identity().name);
        assert_eq!(batch, encoder.encode(&texts).unwrap());
        assert!(encoder.encode(&[]).unwrap().is_empty());
    }
    for case in reference.cases("reranker") {
        let scorer = reference.write(case).open().pair_scorer().unwrap();
        let scores = |texts: &[&str]| scorer.scores(&reference.query, texts).unwrap();
        let one_by_one: Vec<f32> = texts.iter().flat_map(|text| scores(&[text])).collect();
        assert_close(&scores(&texts), &one_by_one, 1e-6, &scorer.identity().name);
        assert!(scores(&[]).is_empty());
    }
}

#[test]
fn vectors_have_length_one_and_blank_texts_none() {
    let reference = Reference::read();
    for case in reference.cases("encoder") {
        let encoder = reference.write(case).open().encoder().unwrap();
        let long = "merge tables ".repeat(40_000);
        let vectors = encoder.encode(&["fill", "", &long, " \n"]).unwrap();
        let lengths = vectors.chunks(encoder.dim()).map(|row| row.iter().map(|x| x * x).sum());
        assert_close(&lengths.collect::<Vec<f32>>(), &[1.0, 0.0, 1.0, 0.0], 1e-5, "lengths");
    }
}

#[test]
fn a_query_is_read_with_its_instruction_and_a_skill_without() {
    let reference = Reference::read();
    let written = reference.write_named("qwen3 encoder");
    let encoder = written.open().encoder().unwrap();
    let texts = ["merge the query"];
    let [query, skill] =
        [encoder.encode_queries(&texts), encoder.encode(&texts)].map(Result::unwrap);
    assert_ne!(query, skill);
    written.write("skillmux.json", &json!({"query_prefix": ""}));
    let bare = written.open().encoder().unwrap();
    assert_eq!(bare.encode_queries(&texts).unwrap(), skill);
    assert_ne!(bare.identity(), encoder.identity());
}

/// Splits the weights into two files, as large models are published.
pub(crate) fn shard(written: &Written) {
    let (first, second) = written.tensors.split_at(written.tensors.len() / 2);
    let mut map = serde_json::Map::new();
    let files = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    for (file, tensors) in files.into_iter().zip([first, second]) {
        written.write_weights(file, tensors);
        map.extend(tensors.iter().map(|(name, _)| (name.clone(), json!(file))));
    }
    fs::remove_file(written.file("model.safetensors")).unwrap();
    written.write("model.safetensors.index.json", &json!({"weight_map": map}));
}

#[test]
fn weights_may_lie_in_several_files() {
    let reference = Reference::read();
    let texts = reference.texts();
    let written = reference.write_named("bert encoder");
    let whole = written.open().encoder().unwrap().encode(&texts).unwrap();
    shard(&written);
    assert_eq!(written.open().encoder().unwrap().encode(&texts).unwrap(), whole);
}

#[test]
fn weights_may_be_named_with_the_prefix_of_a_wrapper() {
    let reference = Reference::read();
    for (case, prefix) in
        [("bert encoder", "bert."), ("xlm-", "roberta."), ("qwen3 encoder", "model.")]
    {
        let written = reference.write_named(case);
        let texts = reference.texts();
        let bare = written.open().encoder().unwrap().encode(&texts).unwrap();
        let prefixed: Vec<_> = written
            .tensors
            .iter()
            .map(|(name, shape)| (format!("{prefix}{name}"), name.as_str(), shape.clone()))
            .collect();
        written.write_as("model.safetensors", &prefixed, Dtype::F32, |x| x.to_le_bytes().to_vec());
        assert_eq!(written.open().encoder().unwrap().encode(&texts).unwrap(), bare, "{case}");
    }
}

#[test]
fn weights_of_half_precision_are_read() {
    let reference = Reference::read();
    let written = reference.write_named("qwen3 encoder");
    let texts = reference.texts();
    let single = written.open().encoder().unwrap().encode(&texts).unwrap();
    let tensors = written.tensors.iter();
    let named: Vec<_> =
        tensors.map(|(name, shape)| (name.clone(), name.as_str(), shape.clone())).collect();
    // The upper half of a number is its bfloat16, rounded towards zero.
    let upper = |x: f32| x.to_le_bytes()[2..].to_vec();
    written.write_as("model.safetensors", &named, Dtype::BF16, upper);
    let half = written.open().encoder().unwrap().encode(&texts).unwrap();
    assert_close(&half, &single, 0.05, "bfloat16");
    assert_ne!(half, single);
}

#[test]
fn a_text_cannot_end_the_input() {
    let reference = Reference::read();
    let written = reference.write_named("bert reranker");
    let scorer = written.open().pair_scorer().unwrap();
    let scores =
        scorer.scores("fill", &["form [SEP] pdf", "form zebra pdf", "form [ SEP ] pdf"]).unwrap();
    // What the tokenizer makes of the characters: `[`, `SEP` and `]`, which it does not know.
    assert_close(&scores[..1], &scores[2..], 1e-6, "a special token in a text");
    assert!((scores[0] - scores[1]).abs() > 1e-4);
}

#[test]
fn the_identity_follows_the_content_and_not_the_folder() {
    let reference = Reference::read();
    let identity = |written: &Written| written.open().encoder().unwrap().identity().clone();
    let first = reference.write_named("bert encoder");
    let second = reference.write_named("bert encoder");
    assert_eq!(identity(&first), identity(&second));
    assert_eq!(identity(&first).name, "bert-2x32");
    second.write("skillmux.json", &json!({"pooling": "first"}));
    assert_ne!(identity(&first), identity(&second));
    let mut bytes = fs::read(first.file("model.safetensors")).unwrap();
    let before = identity(&first);
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(first.file("model.safetensors"), bytes).unwrap();
    assert_ne!(identity(&first), before);
}

#[test]
fn a_checkpoint_says_what_it_is_for() {
    let reference = Reference::read();
    for (word, purpose) in
        [("encoder", CheckpointUse::Encoder), ("reranker", CheckpointUse::PairScorer)]
    {
        for case in reference.cases(word) {
            assert_eq!(reference.write(case).open().purpose(), purpose);
        }
    }
}
