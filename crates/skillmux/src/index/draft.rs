//! [`Draft`]: a generation that is being written.

use std::{collections::BTreeMap, fs, path::PathBuf};

use super::{
    current::Current,
    files,
    folder::{IndexFolder, WriterLock},
    layout::{self, MANIFEST},
    manifest::{FileIdentity, IndexManifest},
};
use crate::error::{Error, Result};

/// Which generation a commit keeps beside the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The one that was current.
    Previous,
    /// The one before that: the new one says the same as the one that was current, and more.
    BeforePrevious,
}

/// A generation that is being written; removed again unless it is committed.
#[derive(Debug)]
pub(crate) struct Draft {
    folder: IndexFolder,
    pub(crate) generation: u64,
    pub(crate) path: PathBuf,
    renamed: bool,
}

impl Draft {
    /// Starts a generation after removing what a killed writer left behind.
    pub(crate) fn start(folder: &IndexFolder, lock: &WriterLock) -> Result<Self> {
        let generation = Self::clear(folder, lock)? + 1;
        let path = folder.path().join(layout::draft_name(generation));
        fs::create_dir(&path).map_err(files::write_error(&path))?;
        Ok(Self { folder: folder.clone(), generation, path, renamed: false })
    }

    /// Removes what a killed writer left behind, and returns the number of the current generation.
    ///
    /// A damaged `CURRENT` is no obstacle; nothing is removed then that may have been committed.
    pub(crate) fn clear(folder: &IndexFolder, _lock: &WriterLock) -> Result<u64> {
        let current = match folder.current() {
            Ok(current) => current.map_or(0, |current| current.generation),
            Err(Error::IndexCorrupt { .. }) => folder.newest()?,
            Err(e) => return Err(e),
        };
        for name in files::list(folder.path())? {
            let is_newer = layout::parse_generation(&name).is_some_and(|number| number > current);
            if is_newer || layout::parse_draft(&name).is_some() {
                let path = folder.path().join(&name);
                fs::remove_dir_all(&path).map_err(files::write_error(&path))?;
            }
        }
        Ok(current)
    }

    pub(crate) fn folder(&self) -> &IndexFolder {
        &self.folder
    }

    /// Makes the draft durable and current, and drops all generations but one before it.
    ///
    /// `manifest.generation` and the files that `manifest.files` does not have are filled in here;
    /// it may have files that are no longer there.
    pub(crate) fn commit(mut self, mut manifest: IndexManifest, kept: Kept) -> Result<()> {
        let written = files::list_tree(&self.path)?;
        let new: Vec<&String> =
            written.iter().filter(|name| !manifest.files.contains_key(*name)).collect();
        manifest.generation = self.generation;
        manifest.files = self.identities(&written, &manifest.files)?;
        let mut bytes = serde_json::to_vec_pretty(&manifest).expect("manifests always serialise");
        bytes.push(b'\n');
        let manifest_path = self.path.join(MANIFEST);
        files::replace(&manifest_path, &bytes)?;
        // tantivy lets nobody but the owner read some of its files.
        for name in new {
            files::take_mode(&self.path.join(name), &manifest_path)?;
        }
        files::sync_tree(&self.path)?;

        let path = self.folder.generation_path(self.generation);
        fs::rename(&self.path, &path).map_err(files::write_error(&path))?;
        // From here on `CURRENT` may name it. If it never does, the next writer removes it.
        self.renamed = true;
        files::sync_folder(self.folder.path())?;
        self.folder.point_to(&Current::of(self.generation, &bytes))?;

        // What cannot be removed now, such as a file that Windows holds open, is removed later.
        let mut earlier = self.folder.generations()?;
        earlier.retain(|number| *number < self.generation);
        earlier.sort_unstable_by(|a, b| b.cmp(a));
        let position = match kept {
            Kept::Previous => 0,
            Kept::BeforePrevious => 1,
        };
        for (at, number) in earlier.into_iter().enumerate() {
            if at != position {
                fs::remove_dir_all(self.folder.generation_path(number)).ok();
            }
        }
        Ok(())
    }

    /// Returns size and hash of every file; of those that are `known`, what is known.
    fn identities(
        &self,
        names: &[String],
        known: &BTreeMap<String, FileIdentity>,
    ) -> Result<BTreeMap<String, FileIdentity>> {
        let identity = |name: &String| match known.get(name) {
            Some(identity) => Ok(identity.clone()),
            None => FileIdentity::of(&self.path.join(name)),
        };
        names.iter().map(|name| Ok((name.clone(), identity(name)?))).collect()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.renamed {
            fs::remove_dir_all(&self.path).ok();
        }
    }
}
