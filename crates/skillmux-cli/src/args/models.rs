//! Arguments that name models.

use std::path::PathBuf;

use clap::{
    Args as ClapArgs, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde::Deserialize;
use skillmux_models::checkpoint::{InferencePrecision, Preset};

use super::shared::Format;
use crate::model_place::ModelPlace;

/// Weights of your own, in place of those inside this program.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct ModelArgs {
    /// Encoder: a file that `skillmux train encoder` wrote, the folder of a published one, its id
    /// on the Hugging Face Hub such as sentence-transformers/all-MiniLM-L6-v2, or the URL of an
    /// endpoint. The index must be made with it, too
    #[arg(long, value_name = "FILE|DIR|ID|URL", help_heading = "Models of your own")]
    pub(crate) encoder: Option<ModelPlace>,
    /// Name of the encoder at the URL. Without it the endpoint is one of text-embeddings-inference
    #[arg(long, value_name = "NAME", help_heading = "Models of your own")]
    pub(crate) encoder_model: Option<String>,
    /// Cross-encoder: the folder of a published one, its id on the Hugging Face Hub, or the URL of
    /// an endpoint. It puts the best 20 skills into a new order. This makes answers slower
    #[arg(long, value_name = "DIR|ID|URL", help_heading = "Models of your own")]
    pub(crate) reranker: Option<ModelPlace>,
    /// Name of the cross-encoder at the URL. Without it the endpoint is one of
    /// text-embeddings-inference
    #[arg(long, value_name = "NAME", help_heading = "Models of your own")]
    pub(crate) reranker_model: Option<String>,
    /// What the cross-encoder reads of a skill [default: start]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Models of your own")]
    pub(crate) reranker_reads: Option<PassageChoice>,
    /// Words that the encoder and the cross-encoder of a folder or an id were trained with
    #[arg(long, value_name = "NAME", value_parser = preset_parser(), help_heading = "Models of your own")]
    pub(crate) preset: Option<Preset>,
    /// Numbers in which the encoder and the cross-encoder of a folder or an id are computed
    /// [default: f32]. The index must be made with it, too
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Models of your own")]
    pub(crate) precision: Option<InferenceChoice>,
    /// Folder of a transformer that `training/transformer/export.py` wrote. The index must be made
    /// with it, too
    #[arg(long, value_name = "DIR", help_heading = "Models of your own")]
    pub(crate) transformer_weights: Option<PathBuf>,
    /// Weights that `skillmux train ranker` wrote
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) ranker: Option<PathBuf>,
    /// Calibration that `skillmux train abstention` wrote
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) abstention: Option<PathBuf>,
    /// Weights that `skillmux train asking` wrote
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) asking_weights: Option<PathBuf>,
    /// Weights that `skillmux train composer` wrote
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) composer_weights: Option<PathBuf>,
    /// Weights that `skillmux train pager` wrote
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) pager_weights: Option<PathBuf>,
    /// Weights that `skillmux train work` wrote
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) work_weights: Option<PathBuf>,
}

/// Returns what reads the name of a preset.
pub(super) fn preset_parser() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(Preset::ALL.map(Preset::name)).try_map(|name| name.parse::<Preset>())
}

/// In what numbers a network of the user's own is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InferenceChoice {
    /// Single precision
    F32,
    /// Bytes: faster, with nearly the same numbers
    Int8,
}

impl From<InferenceChoice> for InferencePrecision {
    fn from(choice: InferenceChoice) -> Self {
        match choice {
            InferenceChoice::F32 => Self::Single,
            InferenceChoice::Int8 => Self::Int8,
        }
    }
}

/// What a cross-encoder reads of a skill, after its name and description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PassageChoice {
    /// The first 2,000 characters of the body
    #[default]
    Start,
    /// The parts of the body that fit the task, up to 300 tokens
    Page,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the models with their size and training data
    List {
        /// Format of the list
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
}
