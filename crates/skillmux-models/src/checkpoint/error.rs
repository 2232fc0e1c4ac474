//! [`CheckpointError`]: why a checkpoint cannot be used.

use std::{io, path::PathBuf};

use skillmux::ErrorKind;

use super::{CheckpointUse, settings::OWN_FILE};
use crate::model_file::TOKENIZER;

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// There is no such folder.
    #[error("`{}` is no folder with a model", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The folder lacks a file.
    #[error("`{}` has no `{file}`", folder.display())]
    FileMissing {
        /// The folder.
        folder: PathBuf,
        /// Name of the file.
        file: String,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file holds something else than its name says.
    #[error("cannot use `{}`: {detail}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A file of weights is shorter or longer than its header says.
    #[error("`{}` has {n_bytes} bytes, but its header says {expected_bytes}", path.display())]
    WeightsCut {
        /// The file.
        path: PathBuf,
        /// Bytes that it has.
        n_bytes: u64,
        /// Bytes that it would have whole.
        expected_bytes: u64,
    },
    /// No network of this crate has this architecture.
    #[error("`{}` has the architecture `{architecture}`, which skillmux does not run", folder.display())]
    ArchitectureUnknown {
        /// The folder.
        folder: PathBuf,
        /// Name of the architecture, as the configuration has it.
        architecture: String,
    },
    /// A cross-encoder is asked for vectors, or an encoder for scores of pairs.
    #[error("`{}` is {} (`{architecture}`), not {}", folder.display(), is.with_article(), is.other().with_article())]
    OtherUse {
        /// The folder.
        folder: PathBuf,
        /// Name of the architecture.
        architecture: String,
        /// What it is.
        is: CheckpointUse,
    },
    /// The configuration asks for something that this crate does not compute.
    #[error("`{}` needs {what}, which skillmux does not compute", folder.display())]
    Unsupported {
        /// The folder.
        folder: PathBuf,
        /// What it needs.
        what: String,
    },
    /// A static model is asked for what only a network can do.
    #[error("`{}` is a static model, which has no network", folder.display())]
    Static {
        /// The folder.
        folder: PathBuf,
    },
    /// The weights lack a tensor, or it has another form.
    #[error("the weights in `{}` {detail} `{tensor}`", folder.display())]
    Tensor {
        /// The folder.
        folder: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The tokenizer lacks a token that the model answers with.
    #[error("the tokenizer in `{}` has no token `{token}`", folder.display())]
    TokenMissing {
        /// The folder.
        folder: PathBuf,
        /// The token.
        token: &'static str,
    },
    /// The tokenizer has tokens that the weights have no row for.
    #[error("the tokenizer in `{}` numbers {n_ids} tokens, but the weights have rows for {n_rows}", folder.display())]
    TokensBeyond {
        /// The folder.
        folder: PathBuf,
        /// One more than the highest number of a token.
        n_ids: usize,
        /// Rows of the weights.
        n_rows: usize,
    },
    /// The network could not be made, as for want of memory.
    #[error("cannot make the network of `{}`", folder.display())]
    Network {
        /// The folder.
        folder: PathBuf,
        /// What the tensor library said.
        source: Box<TensorError>,
    },
}

/// What the tensor library says is wrong, on one line: its own text may have a backtrace behind it.
#[derive(Debug, thiserror::Error)]
#[error("{}", first_line(.0))]
pub struct TensorError(pub(crate) candle_core::Error);

fn first_line(error: &candle_core::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

impl CheckpointError {
    /// Returns who can put this right.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { .. } | Self::Write { .. } | Self::Network { .. } => ErrorKind::Environment,
            _ => ErrorKind::Input,
        }
    }

    /// Returns what the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Missing { .. } => {
                "download a model first, as with: hf download BAAI/bge-m3 --local-dir bge-m3; for a \
                 reranker: hf download BAAI/bge-reranker-v2-m3 --local-dir bge-reranker-v2-m3"
            }
            Self::FileMissing { file, .. } if file == TOKENIZER => {
                "fetch it from where the weights are from; for an old tokenizer, \
                 `AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)` of the Python package \
                 transformers writes it"
            }
            Self::FileMissing { file, .. } if file.ends_with(".safetensors") => {
                "fetch the weights as safetensors, or those of Qwen3 as one GGUF file; pickled weights (`pytorch_model.bin`) are not read, for \
                 they can run programs"
            }
            Self::FileMissing { .. } => {
                "fetch the whole folder again: config.json, tokenizer.json and the weights belong \
                 together"
            }
            Self::WeightsCut { .. } => {
                "the download was cut short or mixed up: fetch the file again"
            }
            Self::Form { path, .. } if path.ends_with(OWN_FILE) => {
                "correct or remove skillmux.json; docs/published-models.md lists its fields"
            }
            Self::Form { .. } | Self::Tensor { .. } | Self::TokensBeyond { .. } => {
                "fetch the files again, all of them from one version of the model"
            }
            Self::ArchitectureUnknown { .. } => {
                "it runs BERT, RoBERTa, XLM-RoBERTa and Qwen3, as encoders and as cross-encoders, and model2vec \
                 as encoders"
            }
            Self::OtherUse { is: CheckpointUse::PairScorer, .. } => {
                "name it as the reranker, and another one as the encoder; if it is an encoder all the \
                 same, say so in its folder, in skillmux.json: {\"use\": \"encoder\"}"
            }
            Self::OtherUse { .. } => {
                "name it as the encoder, and another one as the reranker; if it is a reranker all the \
                 same, say so in its folder, in skillmux.json: {\"use\": \"reranker\"}"
            }
            Self::Unsupported { .. } => "choose a model without it",
            Self::Static { .. } => {
                "name it as the encoder, without a preset and a precision; it can neither rerank nor be tuned"
            }
            Self::TokenMissing { .. } => {
                "a reranker answers with `yes` or `no`: fetch the tokenizer that belongs to it"
            }
            Self::Network { .. } => "free some memory: each weight takes four bytes",
            Self::Read { .. } | Self::Write { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tensor_library_is_quoted_in_one_line() {
        let error = candle_core::Error::Msg("no row 108\n   0: <unknown>\n".to_owned());
        assert_eq!(TensorError(error).to_string(), "no row 108");
    }
}
