//! The folder of an index: `CURRENT`, the lock, and one folder a generation.
//!
//! `CURRENT` holds the name of a generation and the hash of its manifest, and is replaced in one
//! step. A generation is written under a draft name, synced, renamed, and only then named by
//! `CURRENT`; afterwards it never changes. The generation before it is kept, so that a reader
//! that has just read `CURRENT` still finds its files, and so that there is one to go back to.

use std::{
    fs::{self, File},
    io::ErrorKind,
    path::{Path, PathBuf},
};

use super::{
    current::Current,
    damage::{Damage, PartError},
    files,
    generation::Generation,
    layout::{self, CURRENT, CURRENT_DRAFT, LOCK, MANIFEST},
    manifest::Check,
};
use crate::error::{Error, Result};

/// How often a reader starts over when a commit removes the generation that it is opening.
const MAX_OPEN_ATTEMPTS: usize = 5;

/// Folder of an index.
#[derive(Debug, Clone)]
pub(crate) struct IndexFolder {
    path: PathBuf,
}

/// Keeps other writers out until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct WriterLock {
    /// `None` where nothing can be written anyway.
    _file: Option<File>,
}

impl IndexFolder {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads `CURRENT`; `None` if no generation was ever committed here.
    pub(crate) fn current(&self) -> Result<Option<Current>> {
        let bytes = if let Some(bytes) = self.read_current()? {
            bytes
        } else {
            let is_ours = self.is_ours_or_empty()?;
            let newest = self.newest()?;
            // The first commit may have come while the folder was listed.
            match self.read_current()? {
                Some(bytes) => bytes,
                None if !is_ours => return Err(self.foreign()),
                // A first writer that was killed leaves no more than the first generation.
                None if newest <= 1 => return Ok(None),
                None => return Err(self.corrupt(None, &Damage::new(CURRENT, "is missing"))),
            }
        };
        match std::str::from_utf8(&bytes).ok().and_then(Current::parse) {
            Some(current) => Ok(Some(current)),
            None if self.newest()? == 0 => Err(self.foreign()),
            None => Err(self.corrupt(None, &Damage::new(CURRENT, "does not name a generation"))),
        }
    }

    /// Returns the bytes of `CURRENT`, if there is one.
    fn read_current(&self) -> Result<Option<Vec<u8>>> {
        let path = self.path.join(CURRENT);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) if e.kind() == ErrorKind::NotADirectory => Err(self.foreign()),
            Err(source) => Err(Error::Read { path, source }),
        }
    }

    fn foreign(&self) -> Error {
        Error::IndexForeign { path: self.path.clone() }
    }

    /// Opens what `CURRENT` names with `open`, and starts over if a commit removed it meanwhile.
    pub(crate) fn open_current<T>(
        &self,
        mut open: impl FnMut(Generation) -> Result<T, PartError>,
    ) -> Result<T> {
        let missing = || Error::IndexMissing { path: self.path.clone() };
        let mut current = self.current()?.ok_or_else(missing)?;
        for _ in 0..MAX_OPEN_ATTEMPTS {
            let error = match Generation::open(&self.path, &current).and_then(&mut open) {
                Ok(opened) => return Ok(opened),
                Err(error) => error,
            };
            let newer = self.current()?.ok_or_else(missing)?;
            if newer == current {
                return Err(self.error_of(Some(current.generation), error));
            }
            current = newer;
        }
        // It changes faster than it can be opened.
        Err(Error::IndexLocked { path: self.path.clone() })
    }

    /// Returns the error for a generation of which a part could not be read.
    pub(crate) fn error_of(&self, generation: Option<u64>, error: PartError) -> Error {
        match error {
            PartError::Damaged(damage) => self.corrupt(generation, &damage),
            PartError::Failed(error) => error,
        }
    }

    /// Returns the error for a damaged generation, with the previous one if that is whole; without
    /// a generation it is `CURRENT` that is damaged.
    pub(crate) fn corrupt(&self, generation: Option<u64>, damage: &Damage) -> Error {
        // One that cannot be read is not known to be whole.
        let previous = self.whole_before(generation).ok().flatten();
        Error::IndexCorrupt {
            path: self.path.clone(),
            generation,
            detail: damage.to_string(),
            previous: previous.map(|current| current.generation),
        }
    }

    /// Makes the newest whole generation before the current one the current one.
    ///
    /// Returns its number, or `None` if there is none.
    pub(crate) fn restore(&self, _lock: &WriterLock) -> Result<Option<u64>> {
        let current = match self.current() {
            Ok(Some(current)) => Some(current.generation),
            Ok(None) => return Err(Error::IndexMissing { path: self.path.clone() }),
            Err(Error::IndexCorrupt { .. }) => None,
            Err(e) => return Err(e),
        };
        let Some(whole) = self.whole_before(current)? else { return Ok(None) };
        self.point_to(&whole)?;
        Ok(Some(whole.generation))
    }

    /// Finds the newest generation, or the newest before `generation`, that passes a full check.
    ///
    /// If none does, and one could not be read, the error says why.
    fn whole_before(&self, generation: Option<u64>) -> Result<Option<Current>> {
        let is_older = |number: &u64| generation.is_none_or(|generation| *number < generation);
        let mut older: Vec<u64> = self.generations()?.into_iter().filter(is_older).collect();
        older.sort_unstable();
        let mut failure = None;
        for number in older.into_iter().rev() {
            let checked = Generation::find(&self.path, number).and_then(|found| {
                found.check(Check::Full)?;
                Ok(found.name().clone())
            });
            match checked {
                Ok(whole) => return Ok(Some(whole)),
                Err(PartError::Damaged(_) | PartError::Failed(Error::IndexFormat { .. })) => {}
                Err(PartError::Failed(error)) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// Takes the writer's lock, making the folder if there is none.
    pub(crate) fn lock(&self) -> Result<WriterLock> {
        self.refuse_foreign()?;
        let file = self.writable_lock_file()?;
        self.lock_file(file)
    }

    /// Does as [`lock`](Self::lock), but also where an index is that cannot be written: an update
    /// that finds nothing new need not write.
    pub(crate) fn lock_to_compare(&self) -> Result<WriterLock> {
        self.refuse_foreign()?;
        let refused = match self.writable_lock_file() {
            Ok(file) => return self.lock_file(file),
            Err(error) => error,
        };
        match File::open(self.path.join(LOCK)) {
            Ok(file) => self.lock_file(file),
            // A folder that takes no file takes no draft either.
            Err(e)
                if e.kind() == ErrorKind::NotFound
                    && is_forbidden(&refused)
                    && matches!(self.current(), Ok(Some(_))) =>
            {
                Ok(WriterLock { _file: None })
            }
            Err(_) => Err(refused),
        }
    }

    fn refuse_foreign(&self) -> Result<()> {
        match self.current() {
            Err(foreign @ Error::IndexForeign { .. }) => Err(foreign),
            _ => Ok(()),
        }
    }

    fn writable_lock_file(&self) -> Result<File> {
        fs::create_dir_all(&self.path).map_err(files::write_error(&self.path))?;
        let path = self.path.join(LOCK);
        let mut options = File::options();
        let options = options.create(true).truncate(false).write(true);
        options.open(&path).map_err(files::write_error(&path))
    }

    fn lock_file(&self, file: File) -> Result<WriterLock> {
        match file.try_lock() {
            Ok(()) => Ok(WriterLock { _file: Some(file) }),
            Err(fs::TryLockError::WouldBlock) => {
                Err(Error::IndexLocked { path: self.path.clone() })
            }
            Err(fs::TryLockError::Error(source)) => {
                Err(Error::Write { path: self.path.join(LOCK), source })
            }
        }
    }

    /// Returns an error if the folder holds anything that no writer of ours leaves.
    pub(crate) fn refuse_others(&self) -> Result<()> {
        if self.is_ours_or_empty()? { Ok(()) } else { Err(self.foreign()) }
    }

    /// Removes the folder, unless it holds anything else.
    pub(crate) fn remove(&self, _lock: &WriterLock) -> Result<()> {
        self.refuse_others()?;
        fs::remove_dir_all(&self.path).map_err(files::write_error(&self.path))
    }

    pub(crate) fn generation_path(&self, generation: u64) -> PathBuf {
        self.path.join(layout::generation_name(generation))
    }

    /// Returns the numbers of the generations that are there, in no order.
    pub(crate) fn generations(&self) -> Result<Vec<u64>> {
        let names = match files::list(&self.path) {
            Ok(names) => names,
            Err(Error::Read { source, .. }) if source.kind() == ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(e),
        };
        Ok(names.iter().filter_map(|name| layout::parse_generation(name)).collect())
    }

    /// Returns the highest number of a generation that is there, or 0.
    pub(crate) fn newest(&self) -> Result<u64> {
        Ok(self.generations()?.into_iter().max().unwrap_or(0))
    }

    /// Makes a generation the current one, in one step.
    pub(crate) fn point_to(&self, current: &Current) -> Result<()> {
        files::replace(&self.path.join(CURRENT), current.to_string().as_bytes())
    }

    /// Returns whether the folder holds nothing but what a killed first writer may leave.
    fn is_ours_or_empty(&self) -> Result<bool> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(true),
            Err(e) if e.kind() == ErrorKind::NotADirectory => return Ok(false),
            Err(e) => return Err(files::read_error(&self.path)(e)),
        };
        for entry in entries {
            let entry = entry.map_err(files::read_error(&self.path))?;
            let is_ours = match entry.file_name().to_str() {
                Some(CURRENT | LOCK | CURRENT_DRAFT) => true,
                // Drafts get their name when they are complete.
                Some(name) if layout::parse_generation(name).is_some() => {
                    is_there(&entry.path().join(MANIFEST))?
                }
                Some(name) => layout::parse_draft(name).is_some(),
                None => false,
            };
            if !is_ours {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns whether the system lets nothing be written there, at any time.
fn is_forbidden(error: &Error) -> bool {
    let Error::Write { source, .. } = error else { return false };
    matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

fn is_there(path: &Path) -> Result<bool> {
    match path.metadata() {
        Ok(_) => Ok(true),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(e) => Err(files::read_error(path)(e)),
    }
}
