//! [`OutFile`]: JSON Lines that are appended to, and gone on with.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// A file of rows that no other run writes to as long as this lives.
pub(super) struct OutFile {
    path: PathBuf,
    file: File,
    /// Bytes of the whole rows.
    whole_bytes: u64,
    /// Whether a part of a row may stand behind them, for the last one could not be written.
    is_torn: bool,
}

impl OutFile {
    /// Opens or begins a file, and returns the rows that it holds.
    ///
    /// A last line without an end was being written when a run ended: it is cut off if it begins as
    /// all rows do. A file with anything else than rows is not touched.
    ///
    /// # Errors
    /// [`Error::OutName`], [`Error::OutLocked`], [`Error::OutForeign`], [`Error::Read`] and
    /// [`Error::Write`].
    pub(super) fn open<T: DeserializeOwned>(
        path: &Path,
        row_begin: &str,
    ) -> Result<(Vec<T>, Self)> {
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            return Err(Error::OutName { path: path.to_owned() });
        }
        let cannot_write = |source| Error::Write { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(cannot_write)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::OutLocked { path: path.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(cannot_write(error)),
        }
        let (rows, whole_bytes) = read_rows(path, &file, row_begin)?;
        file.set_len(whole_bytes).map_err(cannot_write)?;
        file.seek(SeekFrom::Start(whole_bytes)).map_err(cannot_write)?;
        Ok((rows, Self { path: path.to_owned(), file, whole_bytes, is_torn: false }))
    }

    /// Appends a row; what an earlier call has left of a row is cut off first.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub(super) fn append(&mut self, row: &[u8]) -> Result<()> {
        // One write a line, so that a killed process tears at most the last one.
        let line = [row, b"\n"].concat();
        self.write(&line).map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.whole_bytes)?;
            self.file.seek(SeekFrom::Start(self.whole_bytes))?;
        }
        self.is_torn = true;
        self.file.write_all(line)?;
        self.is_torn = false;
        self.whole_bytes += line.len() as u64;
        Ok(())
    }
}

/// Returns the rows of a file, and the number of bytes that they have.
fn read_rows<T: DeserializeOwned>(
    path: &Path,
    file: &File,
    row_begin: &str,
) -> Result<(Vec<T>, u64)> {
    let mut rows = Vec::new();
    let mut whole_bytes = 0;
    let mut lines = BufReader::new(file);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = lines.read_until(b'\n', &mut bytes);
        let n_bytes = read.map_err(|source| Error::Read { path: path.to_owned(), source })? as u64;
        if n_bytes == 0 {
            break;
        }
        let is_whole = bytes.ends_with(b"\n");
        let begin = row_begin.as_bytes();
        if !is_whole && (bytes.starts_with(begin) || begin.starts_with(&bytes)) {
            break;
        }
        match serde_json::from_slice(&bytes) {
            Ok(row) if is_whole => rows.push(row),
            _ => return Err(Error::OutForeign { path: path.to_owned(), line }),
        }
        whole_bytes += n_bytes;
    }
    Ok((rows, whole_bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Row {
        id: String,
    }

    const BEGIN: &str = "{\"id\":\"";

    fn open(path: &Path) -> Result<(Vec<String>, OutFile)> {
        let (rows, out) = OutFile::open::<Row>(path, BEGIN)?;
        Ok((rows.into_iter().map(|row| row.id).collect(), out))
    }

    #[test]
    fn rows_are_kept_wherever_a_run_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let (rows, mut out) = open(&path).unwrap();
        assert!(rows.is_empty());
        for id in ["一", "b"] {
            out.append(format!("{{\"id\":\"{id}\"}}").as_bytes()).unwrap();
        }
        drop(out);
        let bytes = fs::read(&path).unwrap();
        let first_bytes = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for n_left in 0..=bytes.len() {
            fs::write(&path, &bytes[..n_left]).unwrap();
            let (rows, mut out) = open(&path).unwrap();
            let n_whole = usize::from(n_left >= first_bytes) + usize::from(n_left == bytes.len());
            assert_eq!(rows, ["一", "b"][..n_whole], "{n_left}");
            out.append(b"{\"id\":\"c\"}").unwrap();
            drop(out);
            assert_eq!(open(&path).unwrap().0.len(), n_whole + 1);
        }
    }

    #[test]
    fn a_row_is_not_glued_to_a_part_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let (_, mut out) = open(&path).unwrap();
        out.append(b"{\"id\":\"a\"}").unwrap();
        // The disk is full after the half of a row.
        let read_only = File::open(&path).unwrap();
        let mut file = std::mem::replace(&mut out.file, read_only);
        assert!(matches!(out.append(b"{\"id\":\"b\"}"), Err(Error::Write { .. })));
        file.write_all(b"{\"id\":").unwrap();
        assert!(matches!(out.append(b"{\"id\":\"b\"}"), Err(Error::Write { .. })));
        out.file = file;
        for id in ["c", "d"] {
            out.append(format!("{{\"id\":\"{id}\"}}").as_bytes()).unwrap();
        }
        drop(out);
        assert_eq!(open(&path).unwrap().0, ["a", "c", "d"]);
    }

    #[test]
    fn a_file_of_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        for text in ["my notes", "my notes\n", "{\"id\":\"a\"}\n{\"x\":1}\n", "\n", "\u{feff}"] {
            fs::write(&path, text).unwrap();
            assert!(matches!(open(&path), Err(Error::OutForeign { .. })), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn two_runs_do_not_write_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let first = open(&path).unwrap();
        assert!(matches!(open(&path), Err(Error::OutLocked { .. })));
        drop(first);
        assert!(open(&path).is_ok());
    }

    #[test]
    fn a_name_that_would_not_be_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["t.json", "t", "t.jsonl.zst"] {
            let path = folder.path().join(name);
            assert!(matches!(open(&path), Err(Error::OutName { .. })), "{name}");
            assert!(!path.exists());
        }
    }
}
