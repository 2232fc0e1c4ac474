//! Tiny checkpoints, and what `transformers` computes for them: `tests/reference/make.py`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use safetensors::{Dtype, tensor::TensorView};
use serde::Deserialize;
use serde_json::Value;
use skillmux_models::checkpoint::Checkpoint;

/// All checkpoints, and the texts that they read.
#[derive(Deserialize)]
pub(crate) struct Reference {
    pub(crate) query: String,
    pub(crate) texts: Vec<String>,
    tokenizers: BTreeMap<String, Value>,
    cases: Vec<Case>,
}

/// A checkpoint, without its weights: they follow from the names of the tensors.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) config: Value,
    tokenizer: String,
    files: BTreeMap<String, Value>,
    tensors: BTreeMap<String, Vec<usize>>,
    pub(crate) expected: Value,
    /// Of each tensor: the norm of its gradient, a product with numbers of the rule, the first
    /// three numbers.
    pub(crate) gradients: Value,
}

/// A checkpoint in a folder of its own.
pub(crate) struct Written {
    dir: tempfile::TempDir,
    pub(crate) tensors: Vec<(String, Vec<usize>)>,
}

impl Reference {
    pub(crate) fn read() -> Self {
        serde_json::from_str(include_str!("../reference/expected.json")).unwrap()
    }

    /// Returns the checkpoints whose names hold a word.
    pub(crate) fn cases(&self, word: &str) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(move |case| case.name.contains(word))
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(String::as_str).collect()
    }

    /// Writes a checkpoint.
    pub(crate) fn write(&self, case: &Case) -> Written {
        let dir = tempfile::tempdir().unwrap();
        let tensors = case.tensors.iter().map(|(name, shape)| (name.clone(), shape.clone()));
        let written = Written { dir, tensors: tensors.collect() };
        written.write("config.json", &case.config);
        written.write("tokenizer.json", &self.tokenizers[&case.tokenizer]);
        for (file, value) in &case.files {
            written.write(file, value);
        }
        written.write_weights("model.safetensors", &written.tensors);
        written
    }

    /// Writes the one checkpoint of this name.
    pub(crate) fn write_named(&self, name: &str) -> Written {
        self.write(self.cases(name).next().unwrap())
    }
}

impl Written {
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn file(&self, file: &str) -> PathBuf {
        self.path().join(file)
    }

    pub(crate) fn open(&self) -> Checkpoint {
        Checkpoint::open(self.path()).unwrap()
    }

    pub(crate) fn write(&self, file: &str, value: &Value) {
        fs::create_dir_all(self.file(file).parent().unwrap()).unwrap();
        fs::write(self.file(file), value.to_string()).unwrap();
    }

    /// Writes tensors in single precision.
    pub(crate) fn write_weights(&self, file: &str, tensors: &[(String, Vec<usize>)]) {
        let named =
            tensors.iter().map(|(name, shape)| (name.clone(), name.as_str(), shape.clone()));
        self.write_as(file, &named.collect::<Vec<_>>(), Dtype::F32, |x| x.to_le_bytes().to_vec());
    }

    /// Writes tensors under names, with the numbers of other names, in a type.
    pub(crate) fn write_as(
        &self,
        file: &str,
        tensors: &[(String, &str, Vec<usize>)],
        dtype: Dtype,
        bytes_of: impl Fn(f32) -> Vec<u8>,
    ) {
        let bytes = |(_, rule, shape): &(String, &str, Vec<usize>)| -> Vec<u8> {
            weight(rule, shape.iter().product()).into_iter().flat_map(&bytes_of).collect()
        };
        let data: Vec<Vec<u8>> = tensors.iter().map(bytes).collect();
        let views = tensors.iter().zip(&data).map(|((name, _, shape), bytes)| {
            (name.clone(), TensorView::new(dtype, shape.clone(), bytes).unwrap())
        });
        // Published files hold the positions, too, as whole numbers.
        let positions = [0_u8; 16];
        let positions = TensorView::new(Dtype::I64, vec![1, 2], &positions).unwrap();
        let all = views.chain([("embeddings.position_ids".to_owned(), positions)]);
        fs::write(self.file(file), safetensors::serialize(all, None).unwrap()).unwrap();
    }
}

/// Returns the numbers of a tensor, by the rule of `make.py`.
pub(crate) fn weight(name: &str, n: usize) -> Vec<f32> {
    let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |seed, byte| {
        (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let unit = |at: u64| {
        let x = seed.wrapping_add(at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 40) as f32 / (1_u32 << 24) as f32 - 0.5
    };
    let scaled = |unit: f32| {
        if name.to_lowercase().contains("norm") && name.ends_with("weight") {
            1.0 + unit / 2.0
        } else if name.ends_with("bias") {
            unit / 4.0
        } else if name.contains("embed") {
            unit
        } else {
            unit / 2.0
        }
    };
    (0..n as u64).map(|at| scaled(unit(at))).collect()
}
