//! Published models from a folder: config.json, tokenizer.json and weights as safetensors.
//!
//! | architecture | as an encoder | as a cross-encoder |
//! |---|---|---|
//! | BERT (`MiniLM`, BGE) | `BertModel` | `BertForSequenceClassification` |
//! | `RoBERTa`, XLM-RoBERTa (bge-m3, dense) | `XLMRobertaModel`, `RobertaModel` | `XLMRobertaForSequenceClassification`, `RobertaForSequenceClassification` |
//! | Qwen3 | `Qwen3Model`, and `Qwen3ForCausalLM` with a pooling | `Qwen3ForCausalLM` (yes or no), `Qwen3ForSequenceClassification` |
//!
//! [`open_encoder`] also reads static models of model2vec. Weights of Qwen3 may also be quantised,
//! in one GGUF file in place of safetensors.
//!
//! Everything is computed on the CPU in single precision, whatever the weights are stored in, but
//! for products with quantised matrices, which are computed as llama.cpp does, and those of
//! [`InferencePrecision::Int8`]. A [`Tunable`] is the same network with gradients, on any device.
//!
//! ```no_run
//! use std::path::Path;
//! use skillmux::model::Encoder;
//! use skillmux_models::checkpoint::Checkpoint;
//!
//! let checkpoint = Checkpoint::open(Path::new("models/all-MiniLM-L6-v2"))?;
//! let encoder = checkpoint.encoder()?;
//! let vectors = encoder.encode(&["Fills in PDF forms", "Tunes slow SQL queries"])?;
//! assert_eq!(vectors.len(), 2 * encoder.dim());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod bert;
mod config;
mod encoder;
mod error;
mod folder;
mod gguf;
mod in_place;
mod int8;
mod layer;
mod model2vec;
mod pair_scorer;
mod pooling;
mod precision;
mod preset;
mod qwen3;
mod rectangle;
mod settings;
mod tokens;
mod tunable;
mod weights;

use std::{path::Path, sync::Arc};

use blake3::Hasher;
use serde::Deserialize;
use skillmux::model::Encoder;

use self::{
    config::Config,
    folder::Folder,
    gguf::Gguf,
    settings::{Asked, Settings},
    tokens::Tokens,
    weights::Weights,
};
use crate::model_file::CONFIG;

pub use candle_core::Device;

pub use self::{
    encoder::CheckpointEncoder,
    error::{CheckpointError, TensorError},
    model2vec::Model2VecEncoder,
    pair_scorer::CheckpointScorer,
    precision::InferencePrecision,
    preset::{Preset, PresetUnknown},
    tunable::{Gradients, Input, Precision, Tunable, TunableNetwork, TuneOptions, Variable},
};

/// What a checkpoint is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CheckpointUse {
    /// Vectors of texts.
    Encoder,
    /// Scores of pairs of texts.
    #[serde(rename = "reranker")]
    PairScorer,
}

impl CheckpointUse {
    fn with_article(self) -> &'static str {
        match self {
            Self::Encoder => "an encoder",
            Self::PairScorer => "a reranker",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Encoder => Self::PairScorer,
            Self::PairScorer => Self::Encoder,
        }
    }
}

/// What a caller says of a model, before what its folder says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelOptions {
    /// The words that it was trained with.
    pub preset: Option<Preset>,
    /// In what numbers it is computed.
    pub precision: Option<InferencePrecision>,
}

/// Reads the encoder of a folder, whatever its kind: a network, or a static model of model2vec.
///
/// # Errors
/// [`CheckpointError`] as for [`Checkpoint::open_as`], [`Checkpoint::encoder`] and
/// [`Model2VecEncoder::open`]; [`CheckpointError::Static`] if an option is set for a static model.
pub fn open_encoder(
    path: &Path,
    options: ModelOptions,
) -> Result<Arc<dyn Encoder>, CheckpointError> {
    if options == ModelOptions::default() && config::is_static(&Folder::find(path)?)? {
        return Ok(Arc::new(Model2VecEncoder::open(path)?));
    }
    Ok(Arc::new(Checkpoint::open_as(path, CheckpointUse::Encoder, options)?.encoder()?))
}

/// A folder with a model whose configuration was read; its weights are read when it is asked for
/// the model.
///
/// `skillmux.json` in the folder may say more than the other files do, all of it optional: `use`
/// (`encoder` or `reranker`), `preset` (the name of a [`Preset`]), `pooling` (`first`, `mean`,
/// `last`), `max_tokens`, `query_prefix`, `query_chars` and `text_prefix` of an encoder,
/// `instruction` of a Qwen3 reranker, and `precision` (`f32` or `int8`).
#[derive(Debug, Clone)]
pub struct Checkpoint {
    folder: Folder,
    config: Config,
    settings: Settings,
    /// What the caller asks for.
    precision: Option<InferencePrecision>,
}

impl Checkpoint {
    /// Reads the configuration of a folder.
    ///
    /// # Errors
    /// [`CheckpointError`] if there is none, or if its architecture is not one of the table.
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        let folder = Folder::find(path)?;
        let config = match Config::read(&folder)? {
            Some(config) => config,
            None => Gguf::find(&folder)?.ok_or_else(|| folder.missing(CONFIG))?.config()?,
        };
        let settings = Settings::read(&folder, &config, None)?;
        Ok(Self { folder, config, settings, precision: None })
    }

    /// Reads the configuration of a folder, to use the model as the options say.
    ///
    /// # Errors
    /// As for [`open`](Self::open) and [`with_preset`](Self::with_preset).
    pub fn open_as(
        path: &Path,
        purpose: CheckpointUse,
        options: ModelOptions,
    ) -> Result<Self, CheckpointError> {
        let checkpoint = Self { precision: options.precision, ..Self::open(path)? };
        match options.preset {
            Some(preset) => checkpoint.with_preset(preset, purpose),
            None => Ok(checkpoint),
        }
    }

    /// Returns the checkpoint with the words of a preset, to be used as it is asked for.
    ///
    /// # Errors
    /// [`CheckpointError`] for files that cannot be read.
    pub fn with_preset(
        self,
        preset: Preset,
        purpose: CheckpointUse,
    ) -> Result<Self, CheckpointError> {
        let settings = Settings::read(&self.folder, &self.config, Some(Asked { preset, purpose }))?;
        Ok(Self { settings, ..self })
    }

    /// Returns what the model is for.
    pub fn purpose(&self) -> CheckpointUse {
        self.settings.purpose
    }

    /// Reads the model as an encoder.
    ///
    /// # Errors
    /// [`CheckpointError`] if it is a cross-encoder, and for files that are missing or damaged.
    pub fn encoder(&self) -> Result<CheckpointEncoder, CheckpointError> {
        self.check(CheckpointUse::Encoder)?;
        CheckpointEncoder::read(self)
    }

    /// Reads the model as a cross-encoder.
    ///
    /// # Errors
    /// [`CheckpointError`] if it is an encoder, and for files that are missing or damaged.
    pub fn pair_scorer(&self) -> Result<CheckpointScorer, CheckpointError> {
        self.check(CheckpointUse::PairScorer)?;
        CheckpointScorer::read(self)
    }

    /// Returns in what numbers the network is computed.
    fn precision(&self) -> InferencePrecision {
        self.precision.unwrap_or(self.settings.precision)
    }

    fn check(&self, asked: CheckpointUse) -> Result<(), CheckpointError> {
        let is = self.purpose();
        if is == asked {
            return Ok(());
        }
        let (folder, architecture) =
            (self.folder.path().to_owned(), self.config.architecture.clone());
        Err(CheckpointError::OtherUse { folder, architecture, is })
    }

    /// Reads the tokenizer, and adds its bytes to the hash. The network has a row for each token.
    fn tokens(&self, hasher: &mut Hasher) -> Result<Tokens, CheckpointError> {
        let tokens = Tokens::read(&self.folder, self.settings.max_tokens, hasher)?;
        let (n_ids, n_rows) = (tokens.n_own_ids(), self.config.n_vocab);
        if n_ids > n_rows {
            let folder = self.folder.path().to_owned();
            return Err(CheckpointError::TokensBeyond { folder, n_ids, n_rows });
        }
        Ok(tokens)
    }

    /// Reads tokenizer and weights, with the hash of both.
    fn read(&self) -> Result<Parts, CheckpointError> {
        let mut hasher = Hasher::new();
        let tokens = self.tokens(&mut hasher)?;
        let weights = Weights::read(&self.folder, &mut hasher)?;
        hasher.update(format!("{:?}", self.config).as_bytes());
        Ok(Parts { tokens, weights, hasher })
    }
}

/// What both kinds of model are made of.
struct Parts {
    tokens: Tokens,
    weights: Weights,
    hasher: Hasher,
}

/// Returns the fingerprint of a model: 16 digits of the hash of its parts and of what it puts
/// around texts.
fn fingerprint(mut hasher: Hasher, max_tokens: usize, texts: &[&str]) -> String {
    hasher.update(&(max_tokens as u64).to_le_bytes());
    for text in texts {
        // A length keeps ("ab", "c") apart from ("a", "bc").
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}
