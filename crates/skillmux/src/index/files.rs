//! File operations that an atomic generation is made of.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use memmap2::Mmap;

use super::damage::PartError;
use crate::error::{Error, Result};

/// A file of so many bytes or more is hashed by all threads; a smaller one is done before they begin.
const HASHED_BY_ALL_BYTES: u64 = 1 << 20;

/// Wraps an error of reading `path`.
pub(crate) fn read_error(path: &Path) -> impl FnOnce(io::Error) -> Error + use<'_> {
    move |source| Error::Read { path: path.to_owned(), source }
}

/// Wraps an error of writing `path`.
pub(crate) fn write_error(path: &Path) -> impl FnOnce(io::Error) -> Error + use<'_> {
    move |source| Error::Write { path: path.to_owned(), source }
}

/// Maps a file of a generation into memory, read-only; `name` is relative to its folder.
pub(crate) fn map(folder: &Path, name: &str) -> Result<Mmap, PartError> {
    let path = folder.join(name);
    map_file(&path).map_err(|source| PartError::of_io(name, &path, source))
}

/// Returns size and hash of a file that never changes again, the hash in hexadecimal.
pub(crate) fn hash(path: &Path) -> io::Result<(u64, String)> {
    let n_bytes = path.metadata()?.len();
    let mut hasher = blake3::Hasher::new();
    // An empty file cannot be mapped.
    if n_bytes > 0 {
        let bytes = map_file(path)?;
        if n_bytes < HASHED_BY_ALL_BYTES {
            hasher.update(&bytes);
        } else {
            hasher.update_rayon(&bytes);
        }
    }
    Ok((n_bytes, hasher.finalize().to_hex().to_string()))
}

fn map_file(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: the files of a generation are written once, before any reader can know their name,
    // and are only ever unlinked afterwards, which leaves the mapping intact.
    #[expect(unsafe_code, reason = "the only way to map a file; see the SAFETY comment")]
    unsafe {
        Mmap::map(&file)
    }
}

/// Replaces a small file in one step: readers see the old text or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let draft = path.with_extension("tmp");
    let write = || -> io::Result<()> {
        let mut file = File::create(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    write().map_err(write_error(path))?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Lets everyone read a file who may read `model`.
pub(crate) fn take_mode(path: &Path, model: &Path) -> Result<()> {
    let mode = |path: &Path| path.metadata().map(|metadata| metadata.permissions());
    let wanted = mode(model).map_err(read_error(model))?;
    // Where there are no modes, all of them are the same.
    if mode(path).map_err(read_error(path))? == wanted {
        return Ok(());
    }
    fs::set_permissions(path, wanted).map_err(write_error(path))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    // Windows has no handle for a folder that could be synced, and needs none.
    if cfg!(unix) {
        File::open(path).and_then(|folder| folder.sync_all()).map_err(write_error(path))?;
    }
    Ok(())
}

/// Makes every file and name at or below a folder durable.
pub(crate) fn sync_tree(folder: &Path) -> Result<()> {
    for name in list(folder)? {
        let path = folder.join(name);
        if path.is_dir() {
            sync_tree(&path)?;
        } else {
            // Windows syncs no file that is open for reading alone.
            let file = if cfg!(windows) {
                File::options().write(true).open(&path)
            } else {
                File::open(&path)
            };
            file.and_then(|file| file.sync_all()).map_err(write_error(&path))?;
        }
    }
    sync_folder(folder)
}

/// Returns the paths of all files at or below a folder, relative to it and with `/`, and sorted.
pub(crate) fn list_tree(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(prefix) = folders.pop() {
        for name in list(&folder.join(&prefix))? {
            let name = prefix.clone() + &name;
            if folder.join(&name).is_dir() {
                folders.push(name + "/");
            } else {
                found.push(name);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the names in a folder that are valid Unicode, sorted.
pub(crate) fn list(path: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(read_error(path))? {
        let entry = entry.map_err(read_error(path))?;
        names.extend(entry.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

/// Gives a file a second name, or copies it where the disk has no hard links; what is there
/// already is never written to.
pub(crate) fn link_or_copy(from: &Path, to: &Path) -> Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(write_error(to)(e)),
        Err(_) => copy(from, to),
    }
}

/// Copies a file, with the mode that new files have here; what is there already is never written
/// to.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    let mut source = File::open(from).map_err(read_error(from))?;
    let copy = |mut to| io::copy(&mut source, &mut to);
    File::create_new(to).and_then(copy).map(drop).map_err(write_error(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_file_is_that_of_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for n_bytes in [0, 1, HASHED_BY_ALL_BYTES - 1, HASHED_BY_ALL_BYTES, 3_000_001] {
            let bytes: Vec<u8> = (0..n_bytes).map(|at| (at % 251) as u8).collect();
            fs::write(&path, &bytes).unwrap();
            let expected = (n_bytes, blake3::hash(&bytes).to_hex().to_string());
            assert_eq!(hash(&path).unwrap(), expected);
        }
    }

    #[test]
    fn a_link_does_not_replace_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        assert!(matches!(link_or_copy(&from, &to), Err(Error::Write { .. })));
        assert_eq!(fs::read(&to).unwrap(), b"old");
    }
}
