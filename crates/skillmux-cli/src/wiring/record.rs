//! [`Records`]: what was changed, and how the files were before.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use skillmux::library::agents::{SettingsField, SettingsFormat};

use super::{error::SettingsFileError, file};

/// Up to the first version, paths below the home folder were absolute; they are still read.
const VERSION: u32 = 2;

/// How long to wait for another process that changes settings.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// What skillmux added to settings files, kept in its state folder.
pub(crate) struct Records {
    folder: PathBuf,
    home: PathBuf,
    /// With absolute paths.
    files: Vec<FileRecord>,
    /// Keeps other processes out until it is dropped.
    _lock: Option<File>,
}

#[derive(Serialize, Deserialize)]
struct RecordFile {
    version: u32,
    /// Paths below the home folder are relative to it: a home that is moved or copied takes its
    /// records along, and they never mean the files of another one.
    files: Vec<FileRecord>,
}

/// What skillmux added to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileRecord {
    /// The agent that reads the file.
    pub(super) agent: String,
    pub(super) path: PathBuf,
    pub(super) format: SettingsFormat,
    /// Hash of the file as skillmux left it.
    pub(super) after: String,
    pub(super) original: Original,
    pub(super) additions: Vec<Addition>,
}

/// What a file was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Original {
    /// It was not there.
    Missing { had_folder: bool },
    /// A copy of it is in the state folder.
    Kept { copy: String, hash: String },
    /// It changed between two additions, so that no copy is what the user wants back.
    Outdated,
}

/// One thing that skillmux added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Addition {
    /// An MCP server.
    Server {
        keys: Vec<String>,
        fields: Vec<SettingsField>,
        /// Tables that were made for it.
        n_made: usize,
    },
    /// A command on an event.
    Hook {
        event: String,
        command: String,
        /// Tables and lists that were made for it.
        n_made: usize,
    },
}

impl Records {
    /// Opens the records of a state folder to change settings, once no other process changes any.
    ///
    /// # Errors
    /// [`SettingsFileError::Locked`] if another one does so for longer than [`MAX_WAIT`].
    pub(crate) fn lock(state: &Path, home: &Path) -> Result<Self, SettingsFileError> {
        let path = state.join("agents.lock");
        let failed = |source| SettingsFileError::Write { path: path.clone(), source };
        fs::create_dir_all(state).map_err(failed)?;
        let lock = File::create(&path).map_err(failed)?;
        let started = Instant::now();
        while let Err(error) = lock.try_lock() {
            match error {
                TryLockError::Error(source) => return Err(failed(source)),
                TryLockError::WouldBlock if started.elapsed() > MAX_WAIT => {
                    return Err(SettingsFileError::Locked { path });
                }
                TryLockError::WouldBlock => thread::sleep(Duration::from_millis(50)),
            }
        }
        // What they hold is read after the lock is there.
        Ok(Self { _lock: Some(lock), ..Self::open(state, home)? })
    }

    /// Opens the records of a state folder to look at them; there are none where the folder is not
    /// there.
    pub(crate) fn open(state: &Path, home: &Path) -> Result<Self, SettingsFileError> {
        let (folder, home) = (state.join("agents"), home.to_owned());
        let path = folder.join("record.json");
        let Some(text) = file::read(&path)? else {
            return Ok(Self { folder, home, files: Vec::new(), _lock: None });
        };
        let refused = |detail: String| SettingsFileError::Record { path: path.clone(), detail };
        let record: RecordFile =
            serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
        if !(1..=VERSION).contains(&record.version) {
            let version = record.version;
            return Err(refused(format!("it has version {version}, and {VERSION} is known")));
        }
        let of_home = |file: FileRecord| FileRecord { path: home.join(&file.path), ..file };
        let files = record.files.into_iter().map(of_home).collect();
        Ok(Self { folder, home, files, _lock: None })
    }

    /// Returns the folder with the copies of files as they were.
    pub(crate) fn copies(&self) -> PathBuf {
        self.folder.join("copies")
    }

    /// Returns the ids of the agents whose settings were changed, in the order of the changes.
    pub(crate) fn agents(&self) -> Vec<&str> {
        let mut agents: Vec<&str> = Vec::new();
        for file in &self.files {
            if !agents.contains(&file.agent.as_str()) {
                agents.push(&file.agent);
            }
        }
        agents
    }

    pub(super) fn of_agent(&self, agent: &str) -> impl Iterator<Item = &FileRecord> {
        self.files.iter().filter(move |file| file.agent == agent)
    }

    pub(super) fn of_file(&self, path: &Path) -> Option<&FileRecord> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Keeps a copy of the text of a file, for its owner alone.
    pub(super) fn keep(&self, path: &Path, text: &str) -> Result<Original, SettingsFileError> {
        let hash = hash(text);
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let copy = format!("{}-{name}", &hash[..16]);
        let target = self.copies().join(&copy);
        file::write(&target, text.as_bytes())
            .map_err(|source| SettingsFileError::Write { path: target, source })?;
        Ok(Original::Kept { copy, hash })
    }

    /// Returns the text of a file as it was, if the copy is whole.
    pub(super) fn kept(&self, copy: &str, expected: &str) -> Option<String> {
        let text = fs::read_to_string(self.copies().join(copy)).ok()?;
        (hash(&text) == expected).then_some(text)
    }

    /// Puts a record in the place of the one of its file, if there is one, and saves all.
    pub(super) fn put(&mut self, record: FileRecord) -> Result<(), SettingsFileError> {
        match self.files.iter_mut().find(|file| file.path == record.path) {
            Some(present) => *present = record,
            None => self.files.push(record),
        }
        self.save()
    }

    /// Forgets a file, and its copy.
    pub(super) fn forget(&mut self, path: &Path) -> Result<(), SettingsFileError> {
        let Some(at) = self.files.iter().position(|file| file.path == path) else { return Ok(()) };
        let gone = self.files.remove(at);
        self.save()?;
        self.remove_copy(&gone.original);
        if self.files.is_empty() {
            let _ = fs::remove_dir(self.copies());
            let _ = fs::remove_dir(&self.folder);
        }
        Ok(())
    }

    /// Removes the copy of a file as it was, unless a record needs it: it may hold secrets.
    pub(super) fn remove_copy(&self, original: &Original) {
        let Original::Kept { copy, .. } = original else { return };
        let is_needed = |file: &FileRecord| matches!(&file.original, Original::Kept { copy: other, .. } if other == copy);
        if !self.files.iter().any(is_needed) {
            // What cannot be removed is no reason to stop.
            let _ = fs::remove_file(self.copies().join(copy));
        }
    }

    fn save(&self) -> Result<(), SettingsFileError> {
        let path = self.folder.join("record.json");
        let failed = |source| SettingsFileError::Write { path: path.clone(), source };
        if self.files.is_empty() {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
                _ => Ok(()),
            };
        }
        let below_home = |file: &FileRecord| {
            let path = file.path.strip_prefix(&self.home).unwrap_or(&file.path);
            FileRecord { path: path.to_owned(), ..file.clone() }
        };
        let files = self.files.iter().map(below_home).collect();
        let record = RecordFile { version: VERSION, files };
        let json = serde_json::to_string_pretty(&record)
            .map_err(|error| failed(io::Error::other(error)))?;
        file::write(&path, json.as_bytes()).map(drop).map_err(failed)
    }
}

/// Returns the hash by which a text is known again.
pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
