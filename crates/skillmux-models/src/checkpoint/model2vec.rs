//! [`Model2VecEncoder`]: a static model of model2vec.

use std::path::Path;

use blake3::Hasher;
use candle_core::{DType, Device, Tensor};
use rayon::prelude::*;
use safetensors::{Dtype, tensor::TensorInfo};
use serde::Deserialize;
use skillmux::{
    Error as EngineError,
    error::Result as EngineResult,
    model::{Encoder, EncoderIdentity},
};

use super::{
    CheckpointError, fingerprint,
    folder::Folder,
    tokens::{Frame, Tokens},
    weights::{for_each_tensor, number_type},
};
use crate::model_file::{CONFIG, TOKENIZER, WEIGHTS};

/// Longest input where the configuration names none, as in model2vec.
const MAX_TOKENS: usize = 512;

/// A static model as model2vec runs it: the mean of the vectors of all tokens, scaled to length 1.
///
/// The vector of a token is a row of a table, times the weight of the token if there are weights.
/// Several tokens may share a row. A token that the tokenizer does not know counts nothing. A text
/// without tokens has the vector zero.
pub struct Model2VecEncoder {
    identity: EncoderIdentity,
    tokens: Tokens,
    unknown: Option<u32>,
    max_chars: usize,
    /// `[n_rows, dim]`.
    table: Vec<f32>,
    /// The row of each token; its own number if there is none.
    rows: Option<Vec<usize>>,
    /// What each token weighs; 1 if there are none.
    weights: Option<Vec<f32>>,
}

/// `config.json`.
#[derive(Deserialize)]
struct ConfigFile {
    /// Not named is something else than `null`, which means no limit.
    #[serde(default = "default_length")]
    max_length: Option<usize>,
}

#[expect(clippy::unnecessary_wraps, reason = "it is the default of an option")]
fn default_length() -> Option<usize> {
    Some(MAX_TOKENS)
}

/// The part of `tokenizer.json` that says which token stands for what is not known.
#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenModel,
}

#[derive(Deserialize)]
struct TokenModel {
    unk_token: Option<String>,
    unk_id: Option<u32>,
}

/// The tensors of a model.
#[derive(Default)]
struct Parts {
    table: Option<(Vec<usize>, Vec<f32>)>,
    rows: Option<Vec<usize>>,
    weights: Option<Vec<f32>>,
}

impl Model2VecEncoder {
    /// Reads a folder with `config.json`, `tokenizer.json` and `model.safetensors`.
    ///
    /// # Errors
    /// [`CheckpointError`] for files that are missing or damaged.
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        let folder = Folder::find(path)?;
        let config: ConfigFile = folder.json(CONFIG)?.ok_or_else(|| folder.missing(CONFIG))?;
        let max_tokens = config.max_length.unwrap_or(usize::MAX).max(1);
        let mut hasher = Hasher::new();
        let tokens = Tokens::read(&folder, max_tokens, &mut hasher)?;
        let Parts { table, rows, weights } = Parts::read(&folder, &mut hasher)?;
        let (shape, table) = table.ok_or_else(|| wrong(&folder, "embeddings", "have no tensor"))?;
        let (n_rows, dim) = match shape[..] {
            [n_rows, dim] if dim > 0 => (n_rows, dim),
            _ => return Err(wrong(&folder, "embeddings", "have no table in")),
        };
        check(&folder, tokens.n_ids(), n_rows, rows.as_deref(), weights.as_deref())?;
        let unknown = folder.json::<TokenizerFile>(TOKENIZER)?.and_then(|file| {
            let by_name = file.model.unk_token.and_then(|token| tokens.id(&token));
            by_name.or(file.model.unk_id)
        });
        let name = format!("model2vec-{n_rows}x{dim}");
        let dim = u32::try_from(dim).map_err(|_| folder.form(WEIGHTS, "a size in it is none"))?;
        let fingerprint = fingerprint(hasher, max_tokens, &[]);
        let identity = EncoderIdentity { name, dim, fingerprint };
        // What model2vec cuts a text at before it is split into tokens.
        let max_chars = max_tokens.saturating_mul(tokens.median_chars());
        Ok(Self { identity, tokens, unknown, max_chars, table, rows, weights })
    }

    /// Returns the vector of the tokens of a text.
    fn vector(&self, tokens: &[u32]) -> Vec<f32> {
        let mut vector = vec![0.0; self.dim()];
        for token in tokens.iter().filter(|token| Some(**token) != self.unknown) {
            let token = *token as usize;
            let row = self.rows.as_ref().map_or(token, |rows| rows[token]);
            let weight = self.weights.as_ref().map_or(1.0, |weights| weights[token]);
            let row = &self.table[row * vector.len()..][..vector.len()];
            for (sum, x) in vector.iter_mut().zip(row) {
                *sum += weight * x;
            }
        }
        // The mean has the direction of the sum.
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            for x in &mut vector {
                *x /= length;
            }
        }
        vector
    }
}

impl Encoder for Model2VecEncoder {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn encode(&self, texts: &[&str]) -> EngineResult<Vec<f32>> {
        let cut = |text: &&str| {
            let end = text.char_indices().nth(self.max_chars).map_or(text.len(), |(at, _)| at);
            text[..end].to_owned()
        };
        let texts: Vec<String> = texts.iter().map(cut).collect();
        let failed = |source| {
            let name = self.identity.name.clone();
            EngineError::Encoder { name, hint: None, source }
        };
        let sequences = self.tokens.of_texts(&texts, Frame::Bare).map_err(failed)?;
        let vectors = sequences.par_iter().map(|sequence| self.vector(&sequence.tokens));
        Ok(vectors.collect::<Vec<_>>().concat())
    }
}

impl Parts {
    fn read(folder: &Folder, hasher: &mut Hasher) -> Result<Self, CheckpointError> {
        let mut parts = Self::default();
        for_each_tensor(folder, WEIGHTS, hasher, &mut |name, info, bytes| {
            match name.as_str() {
                "embeddings" => {
                    parts.table =
                        Some((info.shape.clone(), fractions(folder, &name, info, &bytes)?));
                }
                "weights" => parts.weights = Some(fractions(folder, &name, info, &bytes)?),
                "mapping" => {
                    let rows = whole_numbers(info.dtype, &bytes);
                    parts.rows = Some(rows.ok_or_else(|| wrong(folder, &name, "have no rows in"))?);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(parts)
    }
}

/// Checks that each number of a token has a row and a weight.
fn check(
    folder: &Folder,
    n_ids: usize,
    n_rows: usize,
    rows: Option<&[usize]>,
    weights: Option<&[f32]>,
) -> Result<(), CheckpointError> {
    let few = |tensor| wrong(folder, tensor, "have not a number for each token in");
    match rows {
        None if n_rows < n_ids => return Err(few("embeddings")),
        Some(rows) if rows.len() < n_ids => return Err(few("mapping")),
        Some(rows) if rows.iter().any(|row| *row >= n_rows) => {
            return Err(wrong(folder, "mapping", "have a row that is none in"));
        }
        _ => {}
    }
    if weights.is_some_and(|weights| weights.len() < n_ids) {
        return Err(few("weights"));
    }
    Ok(())
}

fn wrong(folder: &Folder, tensor: &str, detail: &str) -> CheckpointError {
    CheckpointError::Tensor {
        folder: folder.path().to_owned(),
        tensor: tensor.to_owned(),
        detail: detail.to_owned(),
    }
}

/// Returns the numbers of a tensor in single precision; those of an int8 model are whole.
fn fractions(
    folder: &Folder,
    name: &str,
    info: &TensorInfo,
    bytes: &[u8],
) -> Result<Vec<f32>, CheckpointError> {
    if info.dtype == Dtype::I8 {
        return Ok(bytes.iter().map(|byte| f32::from(byte.cast_signed())).collect());
    }
    let dtype =
        number_type(info.dtype).ok_or_else(|| wrong(folder, name, "have no fractions in"))?;
    let tensor = Tensor::from_raw_buffer(bytes, dtype, &info.shape, &Device::Cpu);
    let numbers = tensor.and_then(|t| t.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>());
    let numbers = numbers.map_err(|source| folder.network(source))?;
    if numbers.iter().all(|x| x.is_finite()) {
        return Ok(numbers);
    }
    Err(wrong(folder, name, "have a number that is none in"))
}

/// Returns the numbers of a tensor of whole numbers; `None` if it is of another kind, or one is
/// negative.
fn whole_numbers(dtype: Dtype, bytes: &[u8]) -> Option<Vec<usize>> {
    let is_signed = match dtype {
        Dtype::I16 | Dtype::I32 | Dtype::I64 => true,
        Dtype::U16 | Dtype::U32 | Dtype::U64 => false,
        // Some of the others have less than a byte for a number.
        _ => return None,
    };
    let number = |bytes: &[u8]| {
        let negative = is_signed && bytes.last()? >> 7 == 1;
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        (!negative).then(|| usize::try_from(u64::from_le_bytes(wide)).ok())?
    };
    bytes.chunks_exact(dtype.bitsize() / 8).map(number).collect()
}
