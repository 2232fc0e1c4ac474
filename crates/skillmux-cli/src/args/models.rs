//! Arguments that name models.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use serde::Deserialize;

use super::shared::Format;

/// Weights of your own, in place of those inside this program.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct ModelArgs {
    /// Encoder that `skillmux train encoder` wrote, or the folder of a published one, such as
    /// all-MiniLM-L6-v2. The index must be made with it, too
    #[arg(long, value_name = "FILE|DIR", help_heading = "Models of your own")]
    pub(crate) encoder: Option<PathBuf>,
    /// Folder of a transformer that `training/transformer/export.py` wrote. The index must be made with
    /// it, too
    #[arg(long, value_name = "DIR", help_heading = "Models of your own")]
    pub(crate) transformer_weights: Option<PathBuf>,
    /// Folder of a published cross-encoder. It orders the first 20 skills again, and takes its time
    #[arg(long, value_name = "DIR", help_heading = "Models of your own")]
    pub(crate) reranker: Option<PathBuf>,
    /// What the cross-encoder reads of a skill [default: start]
    #[arg(long, value_enum, help_heading = "Models of your own")]
    pub(crate) reranker_reads: Option<PassageChoice>,
    /// Weights that `skillmux train ranker` wrote
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) ranker: Option<PathBuf>,
    /// Calibration that `skillmux train abstention` wrote
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) abstention: Option<PathBuf>,
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
