//! [`ModelCache`]: a model in the cache that programs of the Hugging Face Hub share.
//!
//! ```text
//! models--OWNER--NAME/
//!   blobs/HASH                 the content of a file
//!   snapshots/COMMIT/FILE      a link to a blob
//!   refs/REVISION              the commit of a branch or a tag
//!   .no_exist/COMMIT/FILE      an empty file: the commit has no such file
//! ```

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{
    HubError, ModelId,
    listing::{Listing, NAMED, RemoteFile, is_digest},
};
use crate::model_file::{CONFIG, TOKENIZER, WEIGHTS, WEIGHTS_INDEX};

/// The folder of a model.
pub(super) struct ModelCache {
    folder: PathBuf,
    revision: String,
}

#[derive(Deserialize)]
struct WeightsIndex {
    weight_map: BTreeMap<String, String>,
}

impl ModelCache {
    pub(super) fn new(cache: &Path, id: &ModelId) -> Self {
        Self { folder: cache.join(id.folder()), revision: id.revision().to_owned() }
    }

    /// Returns the snapshot if everything is known of it: each file is there, or is known not to
    /// exist.
    pub(super) fn whole(&self) -> Option<PathBuf> {
        let commit = self.commit()?;
        let absent = self.folder.join(".no_exist").join(&commit);
        let snapshot = self.usable()?;
        let is_known = |name: &&str| snapshot.join(name).is_file() || absent.join(name).is_file();
        let is_indexed = snapshot.join(WEIGHTS_INDEX).is_file();
        let mut names = NAMED.iter().filter(|name| !(is_indexed && **name == WEIGHTS));
        names.all(is_known).then_some(snapshot)
    }

    /// Returns the snapshot if it has what every model needs.
    pub(super) fn usable(&self) -> Option<PathBuf> {
        let snapshot = self.snapshot(&self.commit()?);
        let has = |name: &str| snapshot.join(name).is_file();
        let has_weights = match fs::read(snapshot.join(WEIGHTS_INDEX)) {
            Ok(index) => {
                let index: WeightsIndex = serde_json::from_slice(&index).ok()?;
                index.weight_map.values().all(|file| has(file))
            }
            Err(_) => has(WEIGHTS),
        };
        (has(CONFIG) && has(TOKENIZER) && has_weights).then_some(snapshot)
    }

    /// Returns whether the content of a file is there.
    pub(super) fn has_blob(&self, file: &RemoteFile) -> bool {
        let found = fs::metadata(self.folder.join("blobs").join(&file.blob));
        found.is_ok_and(|found| found.len() == file.n_bytes)
    }

    /// Returns where the content of a file belongs; its folder is there.
    pub(super) fn blob(&self, file: &RemoteFile) -> Result<PathBuf, HubError> {
        let blobs = self.folder.join("blobs");
        fs::create_dir_all(&blobs).map_err(write_error(&blobs))?;
        Ok(blobs.join(&file.blob))
    }

    /// Puts a file, whose content is there, into the snapshot of a commit.
    pub(super) fn link(&self, commit: &str, file: &RemoteFile) -> Result<(), HubError> {
        let path = self.snapshot(commit).join(&file.name);
        let failed = write_error(&path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(&failed)?;
        }
        let linked = link(&self.folder, file, &path);
        match linked {
            // Another process was faster, or the blob was lost and is there again.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked.map_err(&failed),
        }
    }

    /// Notes what the model has not and which commit the revision is; returns the snapshot.
    pub(super) fn finish(&self, listing: &Listing) -> Result<PathBuf, HubError> {
        let absent = self.folder.join(".no_exist").join(&listing.commit);
        // One file of all weights may exist beside several; it was not looked for.
        let is_looked_for = |name: &str| name != WEIGHTS || !listing.has(WEIGHTS_INDEX);
        for name in NAMED.iter().filter(|name| is_looked_for(name) && !listing.has(name)) {
            write(&absent.join(name), "")?;
        }
        if self.revision != listing.commit {
            write(&self.folder.join("refs").join(&self.revision), &listing.commit)?;
        }
        Ok(self.snapshot(&listing.commit))
    }

    /// Returns the commit of the revision, if it is known.
    fn commit(&self) -> Option<String> {
        if is_digest(&self.revision, 40) {
            return Some(self.revision.clone());
        }
        let commit = fs::read_to_string(self.folder.join("refs").join(&self.revision)).ok()?;
        let commit = commit.trim();
        is_digest(commit, 40).then(|| commit.to_owned())
    }

    fn snapshot(&self, commit: &str) -> PathBuf {
        self.folder.join("snapshots").join(commit)
    }
}

/// Links a path of a snapshot to a blob: relative, so that the cache may be moved.
#[cfg(unix)]
fn link(_folder: &Path, file: &RemoteFile, path: &Path) -> io::Result<()> {
    let up = "../".repeat(2 + file.name.matches('/').count());
    std::os::unix::fs::symlink(format!("{up}blobs/{}", file.blob), path)
}

/// Links a path of a snapshot to a blob. Symbolic links need a privilege here.
#[cfg(not(unix))]
fn link(folder: &Path, file: &RemoteFile, path: &Path) -> io::Result<()> {
    fs::hard_link(folder.join("blobs").join(&file.blob), path)
}

fn write(path: &Path, text: &str) -> Result<(), HubError> {
    let written = match path.parent() {
        Some(parent) => fs::create_dir_all(parent).and_then(|()| fs::write(path, text)),
        None => fs::write(path, text),
    };
    written.map_err(write_error(path))
}

/// Returns what makes the error of a path that cannot be written.
pub(super) fn write_error(path: &Path) -> impl Fn(io::Error) -> HubError {
    let path = path.to_owned();
    move |source| HubError::Write { path: path.clone(), source }
}
