//! Where a checkpoint lies, and its files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

use super::{CheckpointError, TensorError};

/// A folder with a model in the layout of Hugging Face.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(super) fn find(path: &Path) -> Result<Self, CheckpointError> {
        if path.is_dir() {
            return Ok(Self { path: path.to_owned() });
        }
        Err(CheckpointError::Missing { path: path.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file; `None` if there is none.
    pub(super) fn bytes(&self, file: &str) -> Result<Option<Vec<u8>>, CheckpointError> {
        let path = self.path.join(file);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(CheckpointError::Read { path, source }),
        }
    }

    /// Reads a JSON file; `None` if there is none.
    pub(super) fn json<T: DeserializeOwned>(
        &self,
        file: &str,
    ) -> Result<Option<T>, CheckpointError> {
        let Some(bytes) = self.bytes(file)? else { return Ok(None) };
        let value = serde_json::from_slice(&bytes).map_err(|error| CheckpointError::Form {
            path: self.path.join(file),
            detail: error.to_string(),
        })?;
        Ok(Some(value))
    }

    pub(super) fn missing(&self, file: impl Into<String>) -> CheckpointError {
        CheckpointError::FileMissing { folder: self.path.clone(), file: file.into() }
    }

    pub(super) fn form(&self, file: &str, detail: impl Into<String>) -> CheckpointError {
        CheckpointError::Form { path: self.path.join(file), detail: detail.into() }
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> CheckpointError {
        CheckpointError::Unsupported { folder: self.path.clone(), what: what.into() }
    }

    pub(super) fn network(&self, source: candle_core::Error) -> CheckpointError {
        CheckpointError::Network {
            folder: self.path.clone(),
            source: Box::new(TensorError(source)),
        }
    }
}
