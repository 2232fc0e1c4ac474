//! [`OutFolder`]: where a run keeps what it finds.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use skillmux_eval::{
    dataset::Dataset,
    evaluate::Evaluation,
    report::{Results, Setting, file_stem},
};

use crate::{error::CliError, folder::make_folder};

/// Folder of the answers so far, in that of the results.
const JOURNALS: &str = "unfinished";

/// File that is locked while a run writes to the folder.
const LOCK: &str = ".lock";

/// Where a run keeps what it finds; no other run writes there as long as this lives.
pub(super) struct OutFolder {
    path: PathBuf,
    _lock: File,
}

impl OutFolder {
    /// Makes the folder if need be, and locks it.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        make_folder(path)?;
        let lock_path = path.join(LOCK);
        let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.with_context(|| format!("cannot write `{}`", lock_path.display()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                Err(CliError::OutLocked { path: path.to_owned() }.into())
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock `{}`", lock_path.display()))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what systems answered before, to which other systems can be added.
    pub(super) fn earlier(
        &self,
        dataset: &Dataset,
        setting: &Setting,
    ) -> anyhow::Result<Vec<Evaluation>> {
        if !Results::is_in(&self.path) {
            return Ok(Vec::new());
        }
        let results = Results::read(&self.path)?;
        let mut what: Vec<String> = results
            .setting
            .differences(setting)
            .into_iter()
            .map(|difference| difference.what)
            .collect();
        let (old, new) = (&results.dataset, dataset);
        if old.name != new.name || old.tasks != new.tasks || old.categories != new.categories {
            what.insert(0, "dataset".to_owned());
        }
        if what.is_empty() {
            return Ok(results.evaluations);
        }
        Err(CliError::OtherResults { path: self.path.clone(), what }.into())
    }

    /// Returns the file for the answers of a system so far; its folder is made if need be.
    pub(super) fn journal(&self, system: &str) -> anyhow::Result<PathBuf> {
        make_folder(&self.path.join(JOURNALS))?;
        Ok(self.journal_path(system))
    }

    fn journal_path(&self, system: &str) -> PathBuf {
        self.path.join(JOURNALS).join(format!("{}.jsonl", file_stem(system)))
    }

    /// Removes the answers so far of a system; those of others stay for the run that goes on with
    /// them.
    pub(super) fn forget(&self, system: &str) -> anyhow::Result<()> {
        let path = self.journal_path(system);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove `{}`", path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Removes the folder of the answers so far, if there are none.
    pub(super) fn tidy(&self) {
        // It stays if it holds anything, ours or not.
        let _ = fs::remove_dir(self.path.join(JOURNALS));
    }
}
