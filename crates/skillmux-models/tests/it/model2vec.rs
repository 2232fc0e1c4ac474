//! Static models against `model2vec`.

use std::{fs, path::Path};

use safetensors::{Dtype, tensor::TensorView};
use serde::Deserialize;
use serde_json::{Value, json};
use skillmux::model::Encoder;
use skillmux_models::checkpoint::{
    Checkpoint, CheckpointError, Model2VecEncoder, ModelOptions, Preset, open_encoder,
};
use tempfile::TempDir;

use crate::{checkpoint::assert_close, reference::weight};

/// How far numbers may be from those of `model2vec`, of which six digits are recorded.
const TOLERANCE: f32 = 1e-5;

#[derive(Deserialize)]
struct Models {
    texts: Vec<String>,
    dim: usize,
    n_tokens: usize,
    tokenizer: Value,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    config: Value,
    dtype: String,
    n_rows: usize,
    has_weights: bool,
    expected: Vec<Vec<f32>>,
}

impl Models {
    fn read() -> Self {
        serde_json::from_str(include_str!("../reference/model2vec.json")).unwrap()
    }

    fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(String::as_str).collect()
    }

    /// Writes a model by the rule of `model2vec_vectors.py`.
    fn write(&self, case: &Case) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        write(&dir, "config.json", &case.config);
        write(&dir, "tokenizer.json", &self.tokenizer);
        let numbers = weight("embeddings", case.n_rows * self.dim);
        let (dtype, table) = match case.dtype.as_str() {
            "F32" => (Dtype::F32, bytes(&numbers, |x| x.to_le_bytes().to_vec())),
            "F16" => (Dtype::F16, bytes(&numbers, half)),
            _ => (Dtype::I8, bytes(&numbers, |x| vec![whole((x * 200.0).round_ties_even())])),
        };
        let mut tensors = vec![("embeddings", dtype, vec![case.n_rows, self.dim], table)];
        if case.n_rows < self.n_tokens {
            let rows = (0..self.n_tokens).map(|token| i32::try_from(token * 5 % case.n_rows));
            let rows = rows.flat_map(|row| row.unwrap().to_le_bytes()).collect();
            tensors.push(("mapping", Dtype::I32, vec![self.n_tokens], rows));
        }
        if case.has_weights {
            let weights = bytes(&weight("weights", self.n_tokens), |x| x.to_le_bytes().to_vec());
            tensors.push(("weights", Dtype::F32, vec![self.n_tokens], weights));
        }
        write_tensors(dir.path(), &tensors);
        dir
    }

    fn plain(&self) -> TempDir {
        self.write(&self.cases[0])
    }
}

fn write(dir: &TempDir, file: &str, value: &Value) {
    fs::write(dir.path().join(file), value.to_string()).unwrap();
}

fn write_tensors(folder: &Path, tensors: &[(&str, Dtype, Vec<usize>, Vec<u8>)]) {
    let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
        (*name, TensorView::new(*dtype, shape.clone(), bytes).unwrap())
    });
    let file = folder.join("model.safetensors");
    fs::write(file, safetensors::serialize(views, None).unwrap()).unwrap();
}

fn bytes(numbers: &[f32], of: impl Fn(f32) -> Vec<u8>) -> Vec<u8> {
    numbers.iter().flat_map(|x| of(*x)).collect()
}

fn half(x: f32) -> Vec<u8> {
    let tensor = candle_core::Tensor::new(&[x], &candle_core::Device::Cpu).unwrap();
    let tensor = tensor.to_dtype(candle_core::DType::F16).unwrap();
    let mut bytes = Vec::new();
    tensor.write_bytes(&mut bytes).unwrap();
    bytes
}

#[expect(clippy::cast_possible_truncation, reason = "the numbers are within 100 of 0")]
fn whole(x: f32) -> u8 {
    (x as i8).cast_unsigned()
}

#[test]
fn static_models_give_the_vectors_of_model2vec() {
    let models = Models::read();
    for case in &models.cases {
        let dir = models.write(case);
        let encoder = open_encoder(dir.path(), ModelOptions::default()).unwrap();
        let found = encoder.encode(&models.texts()).unwrap();
        assert_close(&found, &case.expected.concat(), TOLERANCE, &case.name);
        assert_eq!(encoder.identity().name, format!("model2vec-{}x{}", case.n_rows, models.dim));
    }
}

#[test]
fn a_batch_gives_what_one_by_one_gives_and_what_is_not_known_nothing() {
    let models = Models::read();
    let encoder = Model2VecEncoder::open(models.plain().path()).unwrap();
    let texts = ["fill", "", "zebra 表格", "merge two tables", " \n"];
    let batch = encoder.encode(&texts).unwrap();
    let one_by_one: Vec<f32> =
        texts.iter().flat_map(|text| encoder.encode(&[text]).unwrap()).collect();
    assert_eq!(batch, one_by_one);
    assert_eq!(batch[models.dim..3 * models.dim], [0.0; 16]);
    assert_eq!(encoder.encode(&["zebra fill"]).unwrap(), batch[..models.dim]);
    assert!(encoder.encode(&[]).unwrap().is_empty());
    let long = "merge tables ".repeat(100_000);
    assert_eq!(encoder.encode(&[&long]).unwrap().len(), models.dim);
}

#[test]
fn the_identity_follows_the_content() {
    let models = Models::read();
    let identity = |dir: &TempDir| {
        open_encoder(dir.path(), ModelOptions::default()).unwrap().identity().clone()
    };
    let (first, second) = (models.plain(), models.plain());
    assert_eq!(identity(&first), identity(&second));
    let file = first.path().join("model.safetensors");
    let mut weights = fs::read(&file).unwrap();
    *weights.last_mut().unwrap() ^= 1;
    fs::write(file, weights).unwrap();
    assert_ne!(identity(&first), identity(&second));
}

#[test]
fn a_static_model_can_only_be_an_encoder() {
    let models = Models::read();
    let dir = models.plain();
    let folder = dir.path().display();
    for error in [
        Checkpoint::open(dir.path()).unwrap_err(),
        open_encoder(
            dir.path(),
            ModelOptions { preset: Some(Preset::R3), ..ModelOptions::default() },
        )
        .err()
        .unwrap(),
    ] {
        let expected = format!("`{folder}` is a static model, which has no network");
        assert_eq!(error.to_string(), expected);
        assert!(error.hint().unwrap().starts_with("name it as the encoder, without a preset"));
    }
}

#[test]
fn tensors_that_do_not_fit_are_told() {
    let models = Models::read();
    let numbers = |n: usize| bytes(&vec![0.5; n], |x| x.to_le_bytes().to_vec());
    let rows = |row: i32| row.to_le_bytes().repeat(models.n_tokens);
    let table = |n_rows: usize| ("embeddings", Dtype::F32, vec![n_rows, 8], numbers(n_rows * 8));
    let n = models.n_tokens;
    let mapping = |row: i32| ("mapping", Dtype::I32, vec![n], rows(row));
    for (tensors, message) in [
        (vec![("other", Dtype::F32, vec![1], numbers(1))], "have no tensor `embeddings`"),
        (vec![("embeddings", Dtype::F32, vec![8], numbers(8))], "have no table in `embeddings`"),
        (vec![table(n - 1)], "have not a number for each token in `embeddings`"),
        (vec![table(2), mapping(2)], "have a row that is none in `mapping`"),
        (vec![table(2), mapping(-1)], "have no rows in `mapping`"),
        (vec![table(2), ("mapping", Dtype::F32, vec![n], numbers(n))], "have no rows in `mapping`"),
        (vec![table(2), ("mapping", Dtype::F4, vec![2], vec![0])], "have no rows in `mapping`"),
        (
            vec![table(n), ("weights", Dtype::F32, vec![1], numbers(1))],
            "have not a number for each token in `weights`",
        ),
        (
            vec![(
                "embeddings",
                Dtype::F32,
                vec![n, 1],
                bytes(&vec![f32::NAN; n], |x| x.to_le_bytes().to_vec()),
            )],
            "have a number that is none in `embeddings`",
        ),
    ] {
        let dir = models.plain();
        write_tensors(dir.path(), &tensors);
        let error = open_encoder(dir.path(), ModelOptions::default()).err().unwrap();
        assert!(matches!(error, CheckpointError::Tensor { .. }));
        assert_eq!(
            error.to_string(),
            format!("the weights in `{}` {message}", dir.path().display())
        );
    }
    let dir = models.plain();
    let mut tokenizer = models.tokenizer.clone();
    tokenizer["model"]["vocab"]["tables"] = json!(5_000);
    write(&dir, "tokenizer.json", &tokenizer);
    let error = open_encoder(dir.path(), ModelOptions::default()).err().unwrap();
    assert!(error.to_string().contains("have not a number for each token in"), "{error}");
    let dir = models.plain();
    write(&dir, "config.json", &json!({"model_type": "model2vec", "max_length": null}));
    assert!(open_encoder(dir.path(), ModelOptions::default()).is_ok());
    fs::remove_file(dir.path().join("tokenizer.json")).unwrap();
    let error = open_encoder(dir.path(), ModelOptions::default()).err().unwrap();
    assert!(matches!(error, CheckpointError::FileMissing { .. }));
}
