//! What the names of files and folders say.

use std::{ffi::OsStr, fs, path::Path};

/// Returns the last part of a path, resolving `.` and `..`; `root` for the file system itself.
pub(super) fn file_name(path: &Path) -> String {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    name(path)
        .or_else(|| name(&fs::canonicalize(if path == "" { Path::new(".") } else { path }).ok()?))
        .unwrap_or_else(|| "root".to_owned())
}

/// Returns whether a name can be a part of an id, so that the id leads back to the folder: an id has
/// no control characters, other systems take `\` for `/`, and U+FFFD stands for bytes that are no
/// text.
pub(super) fn is_id_part(name: &str) -> bool {
    let is_other = |c: char| matches!(c, '\\' | char::REPLACEMENT_CHARACTER) || c.is_control();
    !matches!(name, "" | "." | "..") && !name.contains(is_other)
}

/// Returns true for `SKILL.md` in any case.
pub(super) fn is_skill_name(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case("SKILL.md")
}
