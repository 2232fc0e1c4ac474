//! [`Tunable`]: a checkpoint whose weights are variables.

use std::{collections::BTreeMap, fs, io, path::Path};

use blake3::Hasher;
use candle_core::{D, Device, Result as TensorResult, Tensor, Var};
use serde::{Deserialize, Serialize};

use super::{
    Checkpoint, CheckpointError, CheckpointUse, InferencePrecision,
    encoder::EncoderNetwork,
    pair_scorer::{PairNetwork, PairReader},
    tokens::{Frame, Sequence, Tokens},
    weights::{self, Place, Stored, Weights},
};
use crate::model_file::{CONFIG, TOKENIZER, WEIGHTS, WEIGHTS_INDEX};

/// In what numbers products of matrices are computed; everything else is in single precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision {
    /// 32 bits.
    #[serde(rename = "f32")]
    Single,
    /// bfloat16: half of the memory, and faster on devices that multiply it. The CPU does not,
    /// here: it widens each number first.
    #[serde(rename = "bf16")]
    Half,
}

/// How a checkpoint is tuned.
#[derive(Debug, Clone)]
pub struct TuneOptions {
    /// Where the network computes.
    pub device: Device,
    /// In what numbers.
    pub precision: Precision,
    /// Most tokens of a query of an encoder, with all around it; at most the checkpoint's own limit
    /// counts.
    pub max_query_tokens: usize,
    /// Most tokens of another text of an encoder, or of a pair.
    pub max_text_tokens: usize,
}

/// A checkpoint whose weights are variables: the network that encodes and scores, with gradients.
///
/// Its numbers are those of [`CheckpointEncoder`](super::CheckpointEncoder) and
/// [`CheckpointScorer`](super::CheckpointScorer) for inputs within the limits, but for rounding.
pub struct Tunable {
    checkpoint: Checkpoint,
    place: Place,
    reader: Reader,
    /// Of the tokenizer that the head of a reranker is made by.
    tokens: Tokens,
    variables: Vec<Variable>,
    /// Tensors that the network does not read.
    unread: Vec<Stored>,
    fingerprint: String,
}

/// A tensor that training changes.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name in the files of the checkpoint.
    pub name: String,
    /// Its numbers, in single precision.
    pub var: Var,
    bare: String,
}

enum Reader {
    Encoder(Box<TextReader>),
    Pairs(Box<PairReader>),
}

/// Makes inputs of the texts of an encoder.
struct TextReader {
    queries: Tokens,
    texts: Tokens,
}

/// The tokens of a text, or of a pair of texts.
#[derive(Debug, Clone)]
pub struct Input(Sequence);

impl Input {
    /// Returns the number of tokens.
    pub fn n_tokens(&self) -> usize {
        self.0.tokens.len()
    }
}

/// Whether results know what they follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gradients {
    /// They do, for a step of training.
    Tracked,
    /// They don't: faster, for scores.
    Ignored,
}

/// The network of a [`Tunable`], of the values that its variables had when it was made.
pub struct TunableNetwork<'t> {
    tunable: &'t Tunable,
    network: Network,
}

enum Network {
    Encoder(EncoderNetwork),
    Pairs(PairNetwork),
}

impl Tunable {
    /// Reads a checkpoint to tune it.
    ///
    /// # Errors
    /// [`CheckpointError`] for files that are missing or damaged.
    pub fn open(checkpoint: &Checkpoint, options: &TuneOptions) -> Result<Self, CheckpointError> {
        let TuneOptions { device, precision, max_query_tokens, max_text_tokens } = options;
        let Checkpoint { folder, settings, .. } = checkpoint;
        let mut hasher = Hasher::new();
        let tokens = checkpoint.tokens(&mut hasher)?;
        let stored = weights::read_stored(folder, device, &mut hasher)?;
        let place = Place { device: device.clone(), precision: *precision };
        let form = |error: tokenizers::Error| folder.form(TOKENIZER, error.to_string());
        let cut =
            |limit: usize| tokens.clone().cut_at(limit.clamp(1, settings.max_tokens)).map_err(form);
        let reader = match checkpoint.purpose() {
            CheckpointUse::Encoder => {
                let (queries, texts) = (cut(*max_query_tokens)?, cut(*max_text_tokens)?);
                Reader::Encoder(Box::new(TextReader { queries, texts }))
            }
            CheckpointUse::PairScorer => {
                let limit = (*max_text_tokens).clamp(1, settings.max_tokens);
                Reader::Pairs(Box::new(PairReader::new(checkpoint, tokens.clone(), limit)?))
            }
        };
        let all = stored.iter().map(|(bare, stored)| (bare.clone(), stored.tensor.clone()));
        let mut left = Weights::of(folder, place.clone(), all);
        Network::take(checkpoint, &tokens, &mut left)?;
        let (unread, read): (BTreeMap<_, _>, BTreeMap<_, _>) =
            stored.into_iter().partition(|(bare, _)| left.has(bare));
        let variable = |(bare, Stored { name, tensor }): (String, Stored)| {
            let var = Var::from_tensor(&tensor).map_err(|source| folder.network(source))?;
            Ok(Variable { name, var, bare })
        };
        let variables = read.into_iter().map(variable).collect::<Result<Vec<_>, _>>()?;
        let fingerprint = hasher.finalize().to_hex().to_string();
        let unread = unread.into_values().collect();
        let checkpoint = checkpoint.clone();
        Ok(Self { checkpoint, place, reader, tokens, variables, unread, fingerprint })
    }

    /// Returns what the model is for.
    pub fn purpose(&self) -> CheckpointUse {
        self.checkpoint.purpose()
    }

    /// Returns the hash of the tokenizer and the weights that were read, in 64 digits.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns what training changes: every tensor that the network reads, in a fixed order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns the device that the variables are on.
    pub fn device(&self) -> &Device {
        &self.place.device
    }

    /// Returns what an encoder reads of queries.
    ///
    /// # Errors
    /// [`CheckpointError`] if the checkpoint is a cross-encoder, or a text cannot be split into
    /// tokens.
    pub fn query_inputs(&self, queries: &[&str]) -> Result<Vec<Input>, CheckpointError> {
        let Reader::Encoder(reader) = &self.reader else { return Err(self.other_use()) };
        self.inputs(&reader.queries, &self.checkpoint.settings.query_prefix, queries)
    }

    /// Returns what an encoder reads of other texts.
    ///
    /// # Errors
    /// As [`Self::query_inputs`].
    pub fn text_inputs(&self, texts: &[&str]) -> Result<Vec<Input>, CheckpointError> {
        let Reader::Encoder(reader) = &self.reader else { return Err(self.other_use()) };
        self.inputs(&reader.texts, &self.checkpoint.settings.text_prefix, texts)
    }

    /// Returns what a cross-encoder reads of a query with each text.
    ///
    /// # Errors
    /// [`CheckpointError`] if the checkpoint is an encoder, or a text cannot be split into tokens.
    pub fn pair_inputs(&self, query: &str, texts: &[&str]) -> Result<Vec<Input>, CheckpointError> {
        let Reader::Pairs(reader) = &self.reader else { return Err(self.other_use()) };
        let sequences = reader.sequences(query, texts).map_err(|error| self.form(&error))?;
        Ok(sequences.into_iter().map(Input).collect())
    }

    /// Returns the network of the variables as they are now.
    ///
    /// # Errors
    /// [`CheckpointError::Network`] for want of memory.
    pub fn network(&self, gradients: Gradients) -> Result<TunableNetwork<'_>, CheckpointError> {
        let value = |variable: &Variable| {
            let tensor = match gradients {
                Gradients::Tracked => variable.var.as_tensor().clone(),
                Gradients::Ignored => variable.var.as_detached_tensor(),
            };
            (variable.bare.clone(), tensor)
        };
        let values = self.variables.iter().map(value);
        let mut weights = Weights::of(&self.checkpoint.folder, self.place.clone(), values);
        let network = Network::take(&self.checkpoint, &self.tokens, &mut weights)?;
        Ok(TunableNetwork { tunable: self, network })
    }

    /// Writes the checkpoint with the present values into a folder, which [`Checkpoint::open`]
    /// reads: the weights in one file in single precision, under the names of the base, and all
    /// JSON and text files of the base.
    ///
    /// # Errors
    /// [`CheckpointError::Write`], also for the folder of the base.
    pub fn save(&self, folder: &Path) -> Result<(), CheckpointError> {
        let from = self.checkpoint.folder.path();
        let failed = |source| CheckpointError::Write { path: folder.to_owned(), source };
        // A file that is copied to itself is empty.
        let is_base = fs::canonicalize(folder)
            .is_ok_and(|folder| fs::canonicalize(from).is_ok_and(|from| folder == from));
        if is_base {
            let message = "it is the folder of the base";
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, message)));
        }
        copy_texts(from, folder).map_err(failed)?;
        for entry in fs::read_dir(from).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            // The pooling is a level down.
            if path.is_dir() && path.join(CONFIG).is_file() {
                copy_texts(&path, &folder.join(path.file_name().unwrap_or_default()))
                    .map_err(failed)?;
            }
        }
        let tuned = self.variables.iter().map(|v| (v.name.as_str(), v.var.as_tensor()));
        let unread = self.unread.iter().map(|stored| (stored.name.as_str(), &stored.tensor));
        let path = folder.join(WEIGHTS);
        // It is what Python's transformers asks a file for.
        let format = [("format".to_owned(), "pt".to_owned())].into();
        safetensors::serialize_to_file(tuned.chain(unread), Some(format), &path)
            .map_err(|error| failed(io::Error::other(error)))?;
        // The file was made for its owner alone.
        let like = fs::metadata(folder.join(CONFIG)).map_err(failed)?;
        fs::set_permissions(&path, like.permissions()).map_err(failed)
    }

    fn inputs(
        &self,
        tokens: &Tokens,
        prefix: &str,
        texts: &[&str],
    ) -> Result<Vec<Input>, CheckpointError> {
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let sequences =
            tokens.of_texts(&texts, Frame::OfTokenizer).map_err(|error| self.form(&error))?;
        Ok(sequences.into_iter().map(Input).collect())
    }

    fn form(&self, error: &tokenizers::Error) -> CheckpointError {
        self.checkpoint.folder.form(TOKENIZER, error.to_string())
    }

    fn other_use(&self) -> CheckpointError {
        let Checkpoint { folder, config, .. } = &self.checkpoint;
        let (folder, architecture) = (folder.path().to_owned(), config.architecture.clone());
        CheckpointError::OtherUse { folder, architecture, is: self.purpose() }
    }
}

impl TunableNetwork<'_> {
    /// Returns the vectors of at least one text, `[n, dim]`, each of length 1.
    ///
    /// # Errors
    /// [`CheckpointError`] if the checkpoint is a cross-encoder, or for want of memory.
    pub fn vectors(&self, inputs: &[Input]) -> Result<Tensor, CheckpointError> {
        let Network::Encoder(network) = &self.network else {
            return Err(self.tunable.other_use());
        };
        let vectors = || -> TensorResult<Tensor> {
            let pooled = network.pooled(&sequences(inputs))?;
            let lengths = pooled.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?;
            pooled.broadcast_div(&lengths.clamp(f32::MIN_POSITIVE, f32::MAX)?)
        };
        vectors().map_err(|source| self.tunable.checkpoint.folder.network(source))
    }

    /// Returns the log-odds of at least one pair, `[n]`.
    ///
    /// # Errors
    /// [`CheckpointError`] if the checkpoint is an encoder, or for want of memory.
    pub fn logits(&self, inputs: &[Input]) -> Result<Tensor, CheckpointError> {
        let Network::Pairs(network) = &self.network else { return Err(self.tunable.other_use()) };
        let logits = network.logits(&sequences(inputs), 0);
        logits.map_err(|source| self.tunable.checkpoint.folder.network(source))
    }
}

impl Network {
    fn take(
        checkpoint: &Checkpoint,
        tokens: &Tokens,
        weights: &mut Weights,
    ) -> Result<Self, CheckpointError> {
        // Bytes have no gradient.
        let precision = InferencePrecision::Single;
        Ok(match checkpoint.purpose() {
            CheckpointUse::Encoder => {
                Self::Encoder(EncoderNetwork::take(checkpoint, precision, weights)?)
            }
            CheckpointUse::PairScorer => {
                Self::Pairs(PairNetwork::take(checkpoint, precision, tokens, weights)?)
            }
        })
    }
}

fn sequences(inputs: &[Input]) -> Vec<Sequence> {
    inputs.iter().map(|input| input.0.clone()).collect()
}

/// Copies the JSON and text files of a folder, but no index of weights.
fn copy_texts(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let is_text = path.extension().is_some_and(|kind| kind == "json" || kind == "txt");
        let name = path.file_name().unwrap_or_default();
        if is_text && path.is_file() && name != WEIGHTS_INDEX {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
