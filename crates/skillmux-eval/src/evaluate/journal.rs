//! [`Journal`]: the answers of a run as they come, to go on from.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::rows::Row;
use crate::{error::Error, file::parse_line};

/// The first line of a journal: what its answers depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalHead {
    pub(super) format: u32,
    pub(super) system: String,
    pub(super) config: String,
    pub(super) library: String,
    pub(super) tasks: String,
    pub(super) depth: usize,
}

/// Version of the journal.
pub(super) const JOURNAL_FORMAT: u32 = 2;

/// A file of answers, appended to as they come.
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens or begins a journal, and returns the answers that it holds.
    ///
    /// A last line without an end was being written when the process ended, and is cut off. A file
    /// that does not begin with the head is not touched.
    pub(super) fn open(
        path: &Path,
        head: &JournalHead,
    ) -> Result<(BTreeMap<String, Row>, Self), Error> {
        let cannot_write = |source| Error::Write { path: path.to_owned(), source };
        let cannot_read = |source| Error::Read { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(cannot_write)?;
        let mut rows = BTreeMap::new();
        let mut whole_bytes = 0;
        let mut lines = BufReader::new(&file);
        let mut bytes = Vec::new();
        for line in 1_usize.. {
            bytes.clear();
            // A line may be torn within a character.
            let n_bytes = lines.read_until(b'\n', &mut bytes).map_err(cannot_read)?;
            let is_whole = bytes.ends_with(b"\n");
            if line == 1 && n_bytes > 0 {
                let found = serde_json::from_slice(&bytes).ok();
                // The begin of the head is all that a run that ended at once has written.
                let is_torn = !is_whole && line_of(head).starts_with(&bytes);
                if found.as_ref() != Some(head) && !is_torn {
                    return Err(Error::JournalOfAnother { path: path.to_owned() });
                }
            }
            if !is_whole {
                break;
            }
            if line > 1 {
                let row: Row = parse_line(path, line, &bytes)?;
                rows.insert(row.task_id.clone(), row);
            }
            whole_bytes += n_bytes as u64;
        }
        file.set_len(whole_bytes).map_err(cannot_write)?;
        file.seek(SeekFrom::Start(whole_bytes)).map_err(cannot_write)?;
        let journal = Self { path: path.to_owned(), file: Mutex::new(file) };
        if whole_bytes == 0 {
            journal.append(head)?;
        }
        Ok((rows, journal))
    }

    pub(super) fn append(&self, value: &impl Serialize) -> Result<(), Error> {
        let json = line_of(value);
        // One write a line, so that a killed process tears at most the last one.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&json).map_err(|source| Error::Write { path: self.path.clone(), source })
    }
}

/// Returns a value as JSON on one line, with its end.
fn line_of(value: &impl Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec(value).expect("a row has string keys only");
    json.push(b'\n');
    json
}
