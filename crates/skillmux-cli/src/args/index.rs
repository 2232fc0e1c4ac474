//! Arguments of `skillmux index` and `skillmux stats`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use skillmux::index::VectorKind;
use skillmux_models::checkpoint::Preset;

use super::{
    models::{InferenceChoice, preset_parser},
    shared::{Format, SourceArgs},
};
use crate::model_place::ModelPlace;

#[derive(Debug, ClapArgs)]
pub(crate) struct IndexArgs {
    /// Where to read skills: a folder of SKILL.md files, a .jsonl[.gz|.zst] file or a folder of
    /// them, or the README.md of a list of MCP servers. Without any source: the sources of the
    /// index, or the skills of the agents on this computer
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<PathBuf>,
    /// Folder of the index. With a source, and without this option, the index is the default index:
    /// skillmux and your agents then answer from it, and not from the skills of your agents
    #[arg(long, value_name = "DIR")]
    pub(crate) index: Option<PathBuf>,
    /// Make the index from nothing. This also replaces an index of another format
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Go back to the index before the last update
    #[arg(long, conflicts_with_all = ["sources", "rebuild", "transformer", "verbose", "encoder", "encoder_model", "preset", "precision", "vectors", "transformer_weights"])]
    pub(crate) restore: bool,
    /// When the transformer reads the skills. The transformer finds skills by meaning. It reads
    /// some 50 to 180 skills a second. Until it has read all of them, skillmux answers without it
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", num_args = 0..=1, default_missing_value = "always")]
    pub(crate) transformer: TransformerChoice,
    /// List all skills that were merged, noted or skipped
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Format of the report
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
    /// Encoder in place of the one inside this program: a file that `skillmux train encoder` wrote,
    /// the folder of a published one, its id on the Hugging Face Hub, or the URL of an endpoint,
    /// which then reads all skills
    #[arg(long, value_name = "FILE|DIR|ID|URL")]
    pub(crate) encoder: Option<ModelPlace>,
    /// Name of the encoder at the URL. Without it the endpoint is one of text-embeddings-inference
    #[arg(long, value_name = "NAME")]
    pub(crate) encoder_model: Option<String>,
    /// Preset: the prompts and limits that a published encoder was trained with (an encoder from a
    /// folder or an id)
    #[arg(long, value_name = "NAME", value_parser = preset_parser())]
    pub(crate) preset: Option<Preset>,
    /// Number format for computing with an encoder from a folder or an id [default: f32]. Name the
    /// same format when you search
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) precision: Option<InferenceChoice>,
    /// Numbers that the vectors of the encoder are stored as [default: as in the index; int8 in a
    /// new one]. If you name another kind than the index has, skillmux rebuilds the whole index
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) vectors: Option<VectorChoice>,
    /// Folder of a transformer that `training/transformer/export.py` wrote, in place of the one
    /// inside this program
    #[arg(long, value_name = "DIR")]
    pub(crate) transformer_weights: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VectorChoice {
    /// One byte a number
    Int8,
    /// Half precision, two bytes a number
    F16,
    /// Single precision, four bytes a number
    F32,
}

impl From<VectorChoice> for VectorKind {
    fn from(choice: VectorChoice) -> Self {
        match choice {
            VectorChoice::Int8 => Self::Int8,
            VectorChoice::F16 => Self::F16,
            VectorChoice::F32 => Self::F32,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransformerChoice {
    /// For a library of up to 100,000 skills
    Auto,
    /// For a library of any size; `--transformer` alone means this, too
    Always,
    /// Never. Vectors that the index already has are removed
    Never,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Check every byte of the index
    #[arg(long)]
    pub(crate) verify: bool,
    /// Format of the description
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}
