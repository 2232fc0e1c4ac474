//! What the names of files and folders say.

use std::{ffi::OsStr, fs, path::Path};

/// Returns the last part of a path, resolving `.` and `..`; `root` for the file system itself.
pub(super) fn file_name(path: &Path) -> String {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    name(path)
        .or_else(|| name(&fs::canonicalize(if path == "" { Path::new(".") } else { path }).ok()?))
        .unwrap_or_else(|| "root".to_owned())
}

/// Returns true for `SKILL.md` in any case.
pub(super) fn is_skill_name(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case("SKILL.md")
}
