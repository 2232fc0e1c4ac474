//! Files and folders that commands write.

use std::{fs, path::Path};

use anyhow::Context;

/// Makes a folder, with all above it.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot make the folder `{}`", path.display()))
}

/// Writes a file.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}
