//! Tuning: gradients against `PyTorch`, and a tuned checkpoint against itself.

use std::collections::BTreeMap;

use candle_core::{Device, Tensor, Var, backprop::GradStore};
use candle_nn::loss::cross_entropy;
use skillmux::model::{Encoder, PairScorer};
use skillmux_models::checkpoint::{
    Checkpoint, CheckpointError, Gradients, Input, Precision, Tunable, TuneOptions,
};

use crate::{
    checkpoint::assert_close,
    reference::{Case, Reference, Written, weight},
};

/// The constants of `make.py`.
const RIGHT: u32 = 4;
const TEMPERATURE: f64 = 0.05;

/// How far a gradient may be from `PyTorch`'s, which has it in double precision.
const TOLERANCE: f32 = 1e-4;

fn open(written: &Written, precision: Precision) -> Tunable {
    let options = TuneOptions {
        device: Device::Cpu,
        precision,
        max_query_tokens: usize::MAX,
        max_text_tokens: usize::MAX,
    };
    Tunable::open(&written.open(), &options).unwrap()
}

/// Returns the loss of `make.py`: of two queries among all texts, or of the right text among all.
fn loss(tunable: &Tunable, reference: &Reference, is_encoder: bool) -> Tensor {
    let network = tunable.network(Gradients::Tracked).unwrap();
    let texts = reference.texts();
    let (logits, right) = if is_encoder {
        let queries = tunable.query_inputs(&[&reference.query, texts[3]]).unwrap();
        let queries = network.vectors(&queries).unwrap();
        let texts = network.vectors(&tunable.text_inputs(&texts).unwrap()).unwrap();
        ((queries.matmul(&texts.t().unwrap()).unwrap() / TEMPERATURE).unwrap(), vec![RIGHT, 0])
    } else {
        let pairs = tunable.pair_inputs(&reference.query, &texts).unwrap();
        (network.logits(&pairs).unwrap().unsqueeze(0).unwrap(), vec![RIGHT])
    };
    cross_entropy(&logits, &Tensor::new(right, &Device::Cpu).unwrap()).unwrap()
}

fn numbers(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

fn gradient(all: &GradStore, var: &Var) -> Vec<f32> {
    numbers(all.get(var).unwrap())
}

/// Returns what `make.py` records of a gradient: its norm, its product with numbers of the rule,
/// and its first three numbers.
fn summary(name: &str, gradient: &[f32]) -> Vec<f32> {
    let norm = gradient.iter().map(|x| x * x).sum::<f32>().sqrt();
    let probe = weight(&format!("probe {name}"), gradient.len());
    let product: f32 = gradient.iter().zip(&probe).map(|(x, y)| x * y).sum();
    [&[norm, product], &gradient[..gradient.len().min(3)]].concat()
}

fn assert_gradients(reference: &Reference, case: &Case, is_encoder: bool) {
    let tunable = open(&reference.write(case), Precision::Single);
    let gradients = loss(&tunable, reference, is_encoder).backward().unwrap();
    let expected: BTreeMap<String, Vec<f32>> =
        serde_json::from_value(case.gradients.clone()).unwrap();
    let mut names: Vec<&str> = tunable.variables().iter().map(|v| v.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, expected.keys().collect::<Vec<_>>());
    for variable in tunable.variables() {
        let found = summary(&variable.name, &gradient(&gradients, &variable.var));
        assert_close(&found, &expected[&variable.name], TOLERANCE, &variable.name);
    }
}

#[test]
fn gradients_of_encoders_are_those_of_pytorch() {
    let reference = Reference::read();
    for case in reference.cases("encoder") {
        assert_gradients(&reference, case, true);
    }
}

#[test]
fn gradients_of_rerankers_are_those_of_pytorch() {
    let reference = Reference::read();
    for case in reference.cases("reranker") {
        assert_gradients(&reference, case, false);
    }
}

/// Moves every weight a little, so that what is saved is not the base.
fn move_weights(tunable: &Tunable) {
    for variable in tunable.variables() {
        let moved = (variable.var.as_tensor() * 0.9).unwrap();
        variable.var.set(&moved.detach()).unwrap();
    }
}

#[test]
fn a_tuned_encoder_gives_its_vectors_when_it_is_read_back() {
    let reference = Reference::read();
    let texts = reference.texts();
    for case in reference.cases("encoder") {
        let written = reference.write(case);
        let tunable = open(&written, Precision::Single);
        move_weights(&tunable);
        let folder = tempfile::tempdir().unwrap();
        tunable.save(folder.path()).unwrap();
        let encoder = Checkpoint::open(folder.path()).unwrap().encoder().unwrap();
        for gradients in [Gradients::Tracked, Gradients::Ignored] {
            let network = tunable.network(gradients).unwrap();
            let of = |inputs: Vec<Input>| numbers(&network.vectors(&inputs).unwrap());
            let queries = of(tunable.query_inputs(&texts).unwrap());
            assert_close(&queries, &encoder.encode_queries(&texts).unwrap(), 1e-6, "queries");
            let found = of(tunable.text_inputs(&texts).unwrap());
            assert_close(&found, &encoder.encode(&texts).unwrap(), 1e-6, "texts");
        }
    }
}

#[test]
fn a_tuned_model_is_not_saved_over_its_base() {
    let reference = Reference::read();
    let written = reference.write_named("bert encoder");
    let tunable = open(&written, Precision::Single);
    let read = || std::fs::read(written.file("config.json")).unwrap();
    let before = read();
    let error = tunable.save(&written.path().join(".")).unwrap_err();
    assert!(matches!(error, CheckpointError::Write { .. }), "{error}");
    assert!(!before.is_empty() && read() == before);
}

#[test]
fn a_tuned_reranker_gives_its_scores_when_it_is_read_back() {
    let reference = Reference::read();
    let texts = reference.texts();
    for case in reference.cases("reranker") {
        let written = reference.write(case);
        let tunable = open(&written, Precision::Single);
        move_weights(&tunable);
        let folder = tempfile::tempdir().unwrap();
        tunable.save(folder.path()).unwrap();
        let scorer = Checkpoint::open(folder.path()).unwrap().pair_scorer().unwrap();
        let expected = scorer.scores(&reference.query, &texts).unwrap();
        let pairs = tunable.pair_inputs(&reference.query, &texts).unwrap();
        for gradients in [Gradients::Tracked, Gradients::Ignored] {
            let found = tunable.network(gradients).unwrap().logits(&pairs).unwrap();
            assert_close(&numbers(&found), &expected, 1e-5, &scorer.identity().name);
        }
    }
}

#[test]
fn what_the_network_does_not_read_is_kept_and_weights_in_files_become_one() {
    let reference = Reference::read();
    let written = reference.write_named("bert encoder");
    crate::checkpoint::shard(&written);
    let tunable = open(&written, Precision::Single);
    let pooler = "pooler.dense.weight";
    assert!(written.tensors.iter().any(|(name, _)| name == pooler));
    assert!(tunable.variables().iter().all(|variable| variable.name != pooler));
    let folder = tempfile::tempdir().unwrap();
    tunable.save(folder.path()).unwrap();
    assert!(!folder.path().join("model.safetensors.index.json").exists());
    assert!(folder.path().join("1_Pooling/config.json").exists());
    let bytes = std::fs::read(folder.path().join("model.safetensors")).unwrap();
    let saved = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(saved.len(), written.tensors.len());
}

#[test]
fn products_of_half_precision_are_near_those_of_single() {
    let reference = Reference::read();
    for (name, is_encoder) in [("bert encoder", true), ("qwen3 reranker", false)] {
        let written = reference.write_named(name);
        let losses = [Precision::Single, Precision::Half].map(|precision| {
            let tunable = open(&written, precision);
            numbers(&loss(&tunable, &reference, is_encoder))[0]
        });
        assert!((losses[0] - losses[1]).abs() < 0.05, "{name}: {losses:?}");
        assert_ne!(losses[0].to_bits(), losses[1].to_bits(), "{name}");
    }
}

#[test]
fn an_encoder_scores_no_pairs_and_a_reranker_has_no_vectors() {
    let reference = Reference::read();
    let encoder = open(&reference.write_named("bert encoder"), Precision::Single);
    let error = encoder.pair_inputs("fill", &["form"]).unwrap_err();
    assert!(error.to_string().contains("not a reranker"), "{error}");
    let reranker = open(&reference.write_named("bert reranker"), Precision::Single);
    let error = reranker.text_inputs(&["form"]).unwrap_err();
    assert!(error.to_string().contains("not an encoder"), "{error}");
}
