//! Arguments that name models.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::shared::Format;

/// Weights of your own, in place of those inside this program.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct ModelArgs {
    /// Encoder that `skillmux train encoder` wrote. The index must be made with it, too
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) encoder: Option<PathBuf>,
    /// Folder of a transformer that `training/transformer/export.py` wrote. The index must be made with
    /// it, too
    #[arg(long, value_name = "DIR", help_heading = "Models of your own")]
    pub(crate) transformer_weights: Option<PathBuf>,
    /// Weights that `skillmux train ranker` wrote
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) ranker: Option<PathBuf>,
    /// Calibration that `skillmux train abstention` wrote
    #[arg(long, value_name = "FILE", help_heading = "Models of your own")]
    pub(crate) abstention: Option<PathBuf>,
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
