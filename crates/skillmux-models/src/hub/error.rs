//! [`HubError`]: why a model could not be fetched.

use std::{io, path::PathBuf};

use skillmux::ErrorKind;

use super::ModelId;
use crate::model_file::{TOKENIZER, WEIGHTS};

/// Why a model could not be fetched. No message holds the token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// The URL of the hub cannot be used.
    #[error("the URL of the hub {problem}")]
    Endpoint {
        /// What is wrong with it; the URL itself may hold a password.
        problem: &'static str,
    },
    /// The token cannot be sent in a header.
    #[error("the token of the hub holds characters that an HTTP header cannot")]
    Token,
    /// The cache lacks a model, and the hub may not be asked.
    #[error("`{id}` is not in the cache at `{}`, and no connection is allowed", cache.display())]
    Offline {
        /// The model.
        id: ModelId,
        /// Folder of the cache.
        cache: PathBuf,
    },
    /// No answer came.
    #[error("no answer from `{url}`")]
    Unreachable {
        /// Where the request went.
        url: String,
        /// What the client said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The hub has no such model, or not at this revision.
    #[error("`{host}` has no model `{id}`")]
    Unknown {
        /// The hub.
        host: String,
        /// The model.
        id: ModelId,
    },
    /// The hub does not show a model to everyone.
    #[error(
        "`{host}` answered {status} for `{id}`: it is private or gated, or there is no such model"
    )]
    Denied {
        /// The hub.
        host: String,
        /// The model.
        id: ModelId,
        /// HTTP status, 401 or 403.
        status: u16,
    },
    /// The answer is another error.
    #[error("`{url}` answered {status}")]
    Status {
        /// Where the request went.
        url: String,
        /// HTTP status.
        status: u16,
    },
    /// The answer is no list of the files of a model.
    #[error("`{url}` answered something else than a list of files")]
    Protocol {
        /// Where the request went.
        url: String,
    },
    /// The model lacks a file that is needed.
    #[error("`{id}` has no `{file}`")]
    FileMissing {
        /// The model.
        id: ModelId,
        /// Name of the file.
        file: &'static str,
    },
    /// The bytes that came are not those that the hub names. They were removed.
    #[error(
        "`{file}` of `{id}` was damaged on the way: its SHA-256 is not the one that the hub names"
    )]
    Damaged {
        /// The model.
        id: ModelId,
        /// Name of the file.
        file: String,
    },
    /// The cache cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl HubError {
    /// Returns who can put this right.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Endpoint { .. }
            | Self::Token
            | Self::Offline { .. }
            | Self::Unknown { .. }
            | Self::Denied { .. }
            | Self::FileMissing { .. } => ErrorKind::Input,
            Self::Unreachable { .. }
            | Self::Status { .. }
            | Self::Protocol { .. }
            | Self::Damaged { .. }
            | Self::Write { .. } => ErrorKind::Environment,
        }
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::Endpoint { .. } => "it reads https://huggingface.co, or is the URL of a mirror",
            Self::Token => "give the token alone, without blanks or line ends",
            Self::Offline { id, .. } => {
                return format!(
                    "fetch it with: hf download {}; or allow connections by unsetting HF_HUB_OFFLINE; \
                     for a folder of yours write ./{}",
                    id.repository(),
                    id.repository()
                );
            }
            Self::Unreachable { .. } => {
                "check the network; or fetch the model on another machine and name its folder"
            }
            Self::Unknown { id, .. } => {
                return format!(
                    "check the owner, the name and the revision; for a folder of yours write ./{}",
                    id.repository()
                );
            }
            Self::Denied { host, id, .. } => {
                return format!(
                    "check the name; if it is right, accept the terms at {host}/{} and put a token of \
                     yours into HF_TOKEN",
                    id.repository()
                );
            }
            Self::Status { status: 429, .. } => "the hub limits requests: go on later",
            Self::Status { .. } | Self::Protocol { .. } => {
                "go on later; if HF_ENDPOINT names a mirror, check that it answers as the hub does"
            }
            Self::FileMissing { file: TOKENIZER, .. } => {
                "choose a model with this file; for an old tokenizer, \
                 `AutoTokenizer.from_pretrained(ID).save_pretrained(DIR)` of the Python package \
                 transformers writes it into a folder of yours"
            }
            Self::FileMissing { file: WEIGHTS, .. } => {
                "choose a model with weights as safetensors; pickled weights (`pytorch_model.bin`) are not \
                 read, for they can run programs"
            }
            Self::FileMissing { .. } => "choose a model of the transformers library",
            Self::Damaged { .. } => {
                "it was removed: run the command again; if this happens again, do not trust the hub or \
                 the mirror"
            }
            Self::Write { .. } => {
                "check who owns the cache and how much space is left; HF_HUB_CACHE names another folder"
            }
        };
        hint.to_owned()
    }
}
