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
    files,
    manifest::{Check, FORMAT_VERSION, IndexManifest},
};
use crate::error::{Error, Result};

const CURRENT: &str = "CURRENT";
const CURRENT_DRAFT: &str = "CURRENT.tmp";
const LOCK: &str = "LOCK";
const DRAFT_SUFFIX: &str = ".draft";
pub(crate) const MANIFEST: &str = "manifest.json";

/// How often a reader starts over when a commit removes the generation that it is opening.
const MAX_OPEN_ATTEMPTS: usize = 5;

/// Folder of an index.
#[derive(Debug, Clone)]
pub(crate) struct IndexFolder {
    path: PathBuf,
}

/// What `CURRENT` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Current {
    pub(crate) generation: u64,
    manifest_hash: String,
}

/// A generation whose manifest was read.
#[derive(Debug, Clone)]
pub(crate) struct Generation {
    pub(crate) path: PathBuf,
    pub(crate) manifest: IndexManifest,
    manifest_hash: String,
}

/// Keeps other writers out until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct WriterLock {
    _file: File,
}

/// A generation that is being written; removed again unless it is committed.
#[derive(Debug)]
pub(crate) struct Draft {
    folder: IndexFolder,
    pub(crate) generation: u64,
    pub(crate) path: PathBuf,
    renamed: bool,
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
                None => return Err(self.corrupt(None, format!("{CURRENT} is missing"))),
            }
        };
        match std::str::from_utf8(&bytes).ok().and_then(Current::parse) {
            Some(current) => Ok(Some(current)),
            None if self.newest()? == 0 => Err(self.foreign()),
            None => Err(self.corrupt(None, format!("{CURRENT} does not name a generation"))),
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
        mut open: impl FnMut(&Generation) -> Result<Result<T, String>>,
    ) -> Result<T> {
        let missing = || Error::IndexMissing { path: self.path.clone() };
        let mut current = self.current()?.ok_or_else(missing)?;
        for _ in 0..MAX_OPEN_ATTEMPTS {
            let outcome = match self.manifest_of(&current)? {
                Ok(generation) => open(&generation).unwrap_or_else(|e| Err(describe(&e))),
                Err(detail) => Err(detail),
            };
            let detail = match outcome {
                Ok(opened) => return Ok(opened),
                Err(detail) => detail,
            };
            let newer = self.current()?.ok_or_else(missing)?;
            if newer == current {
                return Err(self.corrupt(Some(current.generation), detail));
            }
            current = newer;
        }
        let detail = "it changes faster than it can be opened".to_owned();
        Err(self.corrupt(Some(current.generation), detail))
    }

    /// Reads the manifest that `current` names; `Err(detail)` inside if it is damaged.
    fn manifest_of(&self, current: &Current) -> Result<Result<Generation, String>> {
        let path = self.generation_path(current.generation);
        let Ok(bytes) = fs::read(path.join(MANIFEST)) else {
            return Ok(Err(format!("{MANIFEST} cannot be read")));
        };
        if blake3::hash(&bytes).to_hex().as_str() != current.manifest_hash {
            return Ok(Err(format!("{MANIFEST} is not what was written")));
        }
        self.parse_manifest(path, &bytes)
    }

    fn parse_manifest(&self, path: PathBuf, bytes: &[u8]) -> Result<Result<Generation, String>> {
        #[derive(serde::Deserialize)]
        struct FormatOnly {
            format: u32,
        }
        let Ok(FormatOnly { format }) = serde_json::from_slice(bytes) else {
            return Ok(Err(format!("{MANIFEST} has no format version")));
        };
        if format != FORMAT_VERSION {
            return Err(Error::IndexFormat {
                path: self.path.clone(),
                found: format,
                expected: FORMAT_VERSION,
            });
        }
        let manifest: IndexManifest = match serde_json::from_slice(bytes) {
            Ok(manifest) => manifest,
            Err(e) => return Ok(Err(format!("{MANIFEST}: {e}"))),
        };
        let manifest_hash = blake3::hash(bytes).to_hex().to_string();
        Ok(Ok(Generation { path, manifest, manifest_hash }))
    }

    /// Returns the error for a damaged generation, with the previous one if that is whole; without
    /// a generation it is `CURRENT` that is damaged.
    pub(crate) fn corrupt(&self, generation: Option<u64>, detail: String) -> Error {
        let previous = self.whole_before(generation).map(|(generation, _)| generation);
        let generation = generation.unwrap_or(0);
        Error::IndexCorrupt { path: self.path.clone(), generation, detail, previous }
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
        let Some((generation, manifest)) = self.whole_before(current) else {
            return Ok(None);
        };
        self.point_to(generation, &manifest)?;
        Ok(Some(generation))
    }

    /// Finds the newest generation, or the newest before `generation`, that passes a full check.
    fn whole_before(&self, generation: Option<u64>) -> Option<(u64, Vec<u8>)> {
        let is_older = |number: &u64| generation.is_none_or(|generation| *number < generation);
        let mut older: Vec<u64> = self.generations().ok()?.into_iter().filter(is_older).collect();
        older.sort_unstable();
        older.into_iter().rev().find_map(|number| {
            let path = self.generation_path(number);
            let bytes = fs::read(path.join(MANIFEST)).ok()?;
            let found = self.parse_manifest(path, &bytes).ok()?.ok()?;
            found.manifest.check_files(&found.path, Check::Full).ok()?;
            Some((number, bytes))
        })
    }

    /// Takes the writer's lock, making the folder if there is none.
    pub(crate) fn lock(&self) -> Result<WriterLock> {
        if let Err(foreign @ Error::IndexForeign { .. }) = self.current() {
            return Err(foreign);
        }
        fs::create_dir_all(&self.path).map_err(files::write_error(&self.path))?;
        let path = self.path.join(LOCK);
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(files::write_error(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(WriterLock { _file: file }),
            Err(fs::TryLockError::WouldBlock) => {
                Err(Error::IndexLocked { path: self.path.clone() })
            }
            Err(fs::TryLockError::Error(source)) => Err(Error::Write { path, source }),
        }
    }

    /// Starts a generation after removing what a killed writer left behind.
    ///
    /// A damaged `CURRENT` is no obstacle; nothing is removed then that may have been committed.
    pub(crate) fn draft(&self, _lock: &WriterLock) -> Result<Draft> {
        let current = match self.current() {
            Ok(current) => current.map_or(0, |current| current.generation),
            Err(Error::IndexCorrupt { .. }) => self.newest()?,
            Err(e) => return Err(e),
        };
        for name in files::list(&self.path)? {
            let is_leftover = match name.strip_suffix(DRAFT_SUFFIX) {
                Some(draft) => parse_generation(draft).is_some(),
                None => parse_generation(&name).is_some_and(|number| number > current),
            };
            if is_leftover {
                let path = self.path.join(&name);
                fs::remove_dir_all(&path).map_err(files::write_error(&path))?;
            }
        }
        let generation = current + 1;
        let path = self.path.join(format!("{}{DRAFT_SUFFIX}", generation_name(generation)));
        fs::create_dir(&path).map_err(files::write_error(&path))?;
        Ok(Draft { folder: self.clone(), generation, path, renamed: false })
    }

    pub(crate) fn generation_path(&self, generation: u64) -> PathBuf {
        self.path.join(generation_name(generation))
    }

    fn generations(&self) -> Result<Vec<u64>> {
        if !self.path.exists() {
            return Ok(Vec::new());
        }
        Ok(files::list(&self.path)?.iter().filter_map(|name| parse_generation(name)).collect())
    }

    /// Returns the highest number of a generation that is there, or 0.
    fn newest(&self) -> Result<u64> {
        Ok(self.generations()?.into_iter().max().unwrap_or(0))
    }

    fn point_to(&self, generation: u64, manifest: &[u8]) -> Result<()> {
        let hash = blake3::hash(manifest).to_hex();
        let text = format!("{} {hash}\n", generation_name(generation));
        files::replace(&self.path.join(CURRENT), text.as_bytes())
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
                Some(name) => match name.strip_suffix(DRAFT_SUFFIX) {
                    Some(name) => parse_generation(name).is_some(),
                    // Drafts get their name when they are complete.
                    None => {
                        parse_generation(name).is_some() && entry.path().join(MANIFEST).exists()
                    }
                },
                None => false,
            };
            if !is_ours {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Generation {
    /// Returns whether `CURRENT` names this generation, and not another one of the same number.
    pub(crate) fn is_named_by(&self, current: &Current) -> bool {
        current.generation == self.manifest.generation
            && current.manifest_hash == self.manifest_hash
    }

    /// Compares the files with the manifest, as far as it is cheap enough for every opening.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.manifest.check_files(&self.path, Check::Open)
    }
}

impl Draft {
    pub(crate) fn folder(&self) -> &IndexFolder {
        &self.folder
    }

    /// Makes the draft durable and current, and drops all but the generation before it.
    ///
    /// `manifest.generation` and the files that `manifest.files` does not have are filled in here;
    /// it may have files that are no longer there.
    pub(crate) fn commit(mut self, mut manifest: IndexManifest) -> Result<()> {
        manifest.generation = self.generation;
        manifest.files = files::identities(&self.path, &manifest.files)?;
        let mut bytes = serde_json::to_vec_pretty(&manifest).expect("manifests always serialise");
        bytes.push(b'\n');
        files::replace(&self.path.join(MANIFEST), &bytes)?;
        files::sync_tree(&self.path)?;

        let path = self.folder.generation_path(self.generation);
        fs::rename(&self.path, &path).map_err(files::write_error(&path))?;
        // From here on `CURRENT` may name it. If it never does, the next writer removes it.
        self.renamed = true;
        files::sync_folder(self.folder.path())?;
        self.folder.point_to(self.generation, &bytes)?;

        // What cannot be removed now, such as a file that Windows holds open, is removed later.
        for number in self.folder.generations()? {
            if number + 1 < self.generation {
                fs::remove_dir_all(self.folder.generation_path(number)).ok();
            }
        }
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.renamed {
            fs::remove_dir_all(&self.path).ok();
        }
    }
}

impl Current {
    fn parse(text: &str) -> Option<Self> {
        let (name, hash) = text.trim_end().split_once(' ')?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then_some(())?;
        Some(Self { generation: parse_generation(name)?, manifest_hash: hash.to_owned() })
    }
}

fn generation_name(generation: u64) -> String {
    format!("gen-{generation:06}")
}

fn parse_generation(name: &str) -> Option<u64> {
    let generation = name.strip_prefix("gen-")?.parse().ok()?;
    // Another spelling of a number is not ours.
    (name == generation_name(generation)).then_some(generation)
}

/// Writes out an error with its causes, for the detail of a corruption.
fn describe(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
