//! Files and folders that commands write.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use anyhow::Context as _;

use crate::error::CliError;

/// What the names of drafts begin with, but for those that a caller removes again.
pub(crate) const DRAFT_PREFIX: &str = ".skillmux-";

/// What the names of drafts end with.
pub(crate) const DRAFT_SUFFIX: &str = ".draft";

/// Makes a folder, with all above it.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot make the folder `{}`", path.display()))
}

/// Checks that a file can lie at a place: in a folder that is there and can be written to, and where
/// no folder is.
pub(crate) fn check_place(path: &Path) -> Result<(), CliError> {
    let folder = folder_of(path);
    if path.is_dir() || !folder.is_dir() {
        return Err(CliError::OutPlace { path: path.to_owned() });
    }
    if is_special(path) {
        return Ok(());
    }
    let path = path.to_owned();
    tempfile::tempfile_in(folder).map(drop).map_err(|source| CliError::OutFolder { path, source })
}

/// Refuses a file for output that is among the inputs, whose text would be lost.
pub(crate) fn refuse_overwriting<'a>(
    inputs: impl IntoIterator<Item = &'a Path>,
    out: &Path,
) -> Result<(), CliError> {
    // What is not there yet is no input.
    let Ok(file) = fs::canonicalize(out) else { return Ok(()) };
    let is_out = |input: &Path| fs::canonicalize(input).is_ok_and(|input| input == file);
    if inputs.into_iter().any(is_out) {
        return Err(CliError::OutIsInput { path: out.to_owned() });
    }
    Ok(())
}

/// Writes a file that anyone may read whom the user lets read new files. After a crash it is the
/// old one or the new one, but for a pipe or a device, which is written to.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || {
        if is_special(path) {
            return fs::write(path, bytes);
        }
        // A link stays a link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        replace_file(&target, bytes, NewFile::Shared, DRAFT_PREFIX)
    };
    write().with_context(|| format!("cannot write `{}`", path.display()))
}

/// Who may read a file that was not there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewFile {
    /// Its owner alone.
    Private,
    /// Whoever may read other new files of its owner.
    Shared,
}

/// Replaces a file in one step, or makes it; owner and permissions of one that is there stay. Once it
/// returns, neither the text nor the name can be lost any more. Until then the text is in a draft
/// beside it, whose name begins with `prefix`.
pub(crate) fn replace_file(
    path: &Path,
    bytes: &[u8],
    new: NewFile,
    prefix: &str,
) -> io::Result<()> {
    let folder = folder_of(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(DRAFT_SUFFIX);
    #[cfg(unix)]
    if new == NewFile::Shared {
        use std::os::unix::fs::PermissionsExt as _;
        // As for any other file, the mask of the user takes away from these.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    #[cfg(not(unix))]
    let _ = new;
    let mut draft = builder.tempfile_in(folder)?;
    draft.write_all(bytes)?;
    if let Ok(present) = fs::metadata(path) {
        #[cfg(unix)]
        keep_owner(draft.as_file(), &present)?;
        draft.as_file().set_permissions(present.permissions())?;
    }
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    // Windows has no handle for a folder that could be synced, and needs none. Some file systems
    // refuse; the file is written nevertheless.
    if cfg!(unix) {
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// Gives a file to the owner of another one: whoever runs `sudo` must not take a file away.
#[cfg(unix)]
fn keep_owner(file: &fs::File, present: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    let own = file.metadata()?;
    if own.gid() != present.gid() {
        // Not all groups can be given to a file; the owner can read it all the same.
        let _ = fchown(file, None, Some(present.gid()));
    }
    if own.uid() != present.uid() {
        fchown(file, Some(present.uid()), None)?;
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns whether something is there that is no plain file, such as a pipe or a device.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|present| !present.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_read_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let [data, other, new] = ["data", "other", "new"].map(|name| dir.path().join(name));
        fs::write(&data, "rows").unwrap();
        fs::write(&other, "rows").unwrap();
        let inputs = || [data.as_path(), new.as_path()];
        refuse_overwriting(inputs(), &other).unwrap();
        refuse_overwriting(inputs(), &new).unwrap();
        let same = dir.path().join("./data");
        let error = refuse_overwriting(inputs(), &same).unwrap_err();
        assert!(matches!(error, CliError::OutIsInput { .. }), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_stays_with_its_owner() {
        use std::os::unix::fs::{MetadataExt as _, chown};

        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "old").unwrap();
        // Only root may give files away.
        if chown(&file, Some(1234), Some(5678)).is_err() {
            return;
        }
        write_file(&file, b"new").unwrap();
        let found = fs::metadata(&file).unwrap();
        assert_eq!((found.uid(), found.gid()), (1234, 5678));
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_replaced_whole_and_a_link_stays() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

        let dir = tempfile::tempdir().unwrap();
        let [file, link, plain] = ["file", "link", "plain"].map(|name| dir.path().join(name));
        fs::write(&file, "old").unwrap();
        fs::write(&plain, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        let before = fs::metadata(&file).unwrap();
        write_file(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        let after = fs::metadata(&file).unwrap();
        // Another file took its place, so whoever reads the old one reads it to its end.
        assert_ne!(before.ino(), after.ino());
        assert_eq!(after.permissions(), before.permissions());

        let made = dir.path().join("made");
        write_file(&made, b"new").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&made), mode(&plain));
        write_file(Path::new("/dev/null"), b"gone").unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
    }
}
