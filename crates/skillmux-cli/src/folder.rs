//! Files and folders that commands write.

use std::{fs, path::Path};

use anyhow::Context as _;

use crate::error::CliError;

/// Makes a folder, with all above it.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot make the folder `{}`", path.display()))
}

/// Checks that a file can lie at a place: in a folder that is there, and where no folder is.
pub(crate) fn check_place(path: &Path) -> Result<(), CliError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(CliError::OutPlace { path: path.to_owned() });
    }
    Ok(())
}

/// Writes a file.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}
