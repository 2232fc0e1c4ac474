//! Where a checkpoint lies, and its files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

use super::CheckpointError;

/// A folder with a model in the layout of Hugging Face.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Finds a folder by its path, or in a cache of downloads by the name of a repository.
    pub(super) fn find(name: &Path, hub_cache: Option<&Path>) -> Result<Self, CheckpointError> {
        if name.is_dir() {
            return Ok(Self { path: name.to_owned() });
        }
        let text = name.to_string_lossy();
        let cached = hub_cache.filter(|_| is_repository(&text));
        match cached.and_then(|cache| snapshot(cache, &text)) {
            Some(path) => Ok(Self { path }),
            None => Err(CheckpointError::Missing { name: text.into_owned() }),
        }
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
        CheckpointError::Network { folder: self.path.clone(), source: Box::new(source) }
    }
}

/// Returns whether a name can be that of a repository, `organisation/model`.
pub(super) fn is_repository(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        part.starts_with(|c: char| c.is_ascii_alphanumeric()) && part.chars().all(is_plain)
    };
    name.split_once('/').is_some_and(|(owner, model)| is_part(owner) && is_part(model))
}

/// Returns the newest snapshot of a repository in a cache of downloads, as the Python package
/// `huggingface_hub` keeps one: `models--OWNER--MODEL/refs/main` names a folder of `snapshots/`.
fn snapshot(cache: &Path, repository: &str) -> Option<PathBuf> {
    let folder = cache.join(format!("models--{}", repository.replace('/', "--")));
    if let Ok(revision) = fs::read_to_string(folder.join("refs/main")) {
        let path = folder.join("snapshots").join(revision.trim());
        if path.is_dir() {
            return Some(path);
        }
    }
    let entries = fs::read_dir(folder.join("snapshots")).ok()?;
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
    folders.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_told_from_paths() {
        for name in ["BAAI/bge-m3", "sentence-transformers/all-MiniLM-L6-v2"] {
            assert!(is_repository(name), "{name}");
        }
        for name in ["bge-m3", "./models/bge", "/srv/bge", "../bge", "a/b/c", "a/", "/a", "a/b c"] {
            assert!(!is_repository(name), "{name}");
        }
    }

    #[test]
    fn a_repository_is_found_in_the_cache() {
        let cache = tempfile::tempdir().unwrap();
        let folder = cache.path().join("models--owner--model");
        let name = Path::new("owner/model");
        assert!(Folder::find(name, Some(cache.path())).is_err());
        for revision in ["aaa", "bbb"] {
            fs::create_dir_all(folder.join("snapshots").join(revision)).unwrap();
        }
        let found = || Folder::find(name, Some(cache.path())).unwrap().path().to_owned();
        assert_eq!(found(), folder.join("snapshots/bbb"));
        fs::create_dir_all(folder.join("refs")).unwrap();
        fs::write(folder.join("refs/main"), "aaa\n").unwrap();
        assert_eq!(found(), folder.join("snapshots/aaa"));
        assert!(Folder::find(name, None).is_err());
    }
}
