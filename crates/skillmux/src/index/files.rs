//! File operations that an atomic generation is made of.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use memmap2::Mmap;

use super::manifest::FileIdentity;
use crate::error::{Error, Result};

/// Wraps an error of reading `path`.
pub(crate) fn read_error(path: &Path) -> impl FnOnce(io::Error) -> Error + use<'_> {
    move |source| Error::Read { path: path.to_owned(), source }
}

/// Wraps an error of writing `path`.
pub(crate) fn write_error(path: &Path) -> impl FnOnce(io::Error) -> Error + use<'_> {
    move |source| Error::Write { path: path.to_owned(), source }
}

/// Maps a file into memory, read-only.
pub(crate) fn map(path: &Path) -> Result<Mmap> {
    let file = File::open(path).map_err(read_error(path))?;
    // SAFETY: the files of a generation are written once, before any reader can know their name,
    // and are only ever unlinked afterwards, which leaves the mapping intact.
    #[expect(unsafe_code, reason = "the only way to map a file; see the SAFETY comment")]
    unsafe { Mmap::map(&file) }.map_err(read_error(path))
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
            File::open(&path).and_then(|file| file.sync_all()).map_err(write_error(&path))?;
        }
    }
    sync_folder(folder)
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
        Err(_) => {
            let mut source = File::open(from).map_err(read_error(from))?;
            let copy = |mut to| io::copy(&mut source, &mut to);
            File::create_new(to).and_then(copy).map(drop).map_err(write_error(to))
        }
    }
}

/// Returns size and hash of every file at or below a folder, by relative path; of those that are
/// `known`, what is known.
pub(crate) fn identities(
    folder: &Path,
    known: &BTreeMap<String, FileIdentity>,
) -> Result<BTreeMap<String, FileIdentity>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![String::new()];
    while let Some(prefix) = folders.pop() {
        for name in list(&folder.join(&prefix))? {
            let name = format!("{prefix}{name}");
            let path = folder.join(&name);
            if path.is_dir() {
                folders.push(name + "/");
            } else {
                let identity = match known.get(&name) {
                    Some(identity) => identity.clone(),
                    None => FileIdentity::of(&path)?,
                };
                found.insert(name, identity);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

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
