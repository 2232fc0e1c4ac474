//! Settings files on disk: whole or not at all.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::error::SettingsFileError;
use crate::folder::{DRAFT_SUFFIX, NewFile, replace_file};

/// What the names of drafts of settings begin with: those of other commands are left alone.
const SETTINGS_DRAFT: &str = ".skillmux-settings-";

/// Returns the text of a file; `None` if it is not there.
pub(super) fn read(path: &Path) -> Result<Option<String>, SettingsFileError> {
    // To read a pipe may take forever.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(SettingsFileError::NoFile { path: path.to_owned() });
    }
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|error| {
            let start = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            SettingsFileError::Malformed {
                path: path.to_owned(),
                line: start.split(|byte| *byte == b'\n').count(),
                detail: "not valid UTF-8".to_owned(),
            }
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(SettingsFileError::DeadLink { path: path.to_owned() });
            }
            Ok(None)
        }
        Err(source) => Err(SettingsFileError::Read { path: path.to_owned(), source }),
    }
}

/// Checks that the permissions of a file let somebody write to it. The system may let the
/// administrator do so all the same, but its owner does not want that.
pub(super) fn check_writable(path: &Path) -> Result<(), SettingsFileError> {
    if fs::metadata(path).is_ok_and(|found| found.permissions().readonly()) {
        return Err(SettingsFileError::ReadOnly { path: path.to_owned() });
    }
    Ok(())
}

/// Replaces the text of a file in one step, or removes the file for `None`, after a check that it
/// still has the text `before`.
///
/// A link stays a link: the file that it leads to is replaced. It goes with that file. Permissions
/// stay as they are, and a file that nobody may write to is refused; a new file is for its owner
/// alone. Returns whether the folder of the file had to be made.
pub(super) fn replace(
    path: &Path,
    before: Option<&str>,
    after: Option<&str>,
) -> Result<bool, SettingsFileError> {
    if read(path)?.as_deref() != before {
        return Err(SettingsFileError::Changed { path: path.to_owned() });
    }
    // It would be replaced all the same.
    check_writable(path)?;
    let failed = |source| SettingsFileError::Write { path: path.to_owned(), source };
    let target =
        if before.is_some() { fs::canonicalize(path).map_err(failed)? } else { path.to_owned() };
    let Some(after) = after else {
        // First: if the rest fails, a file is left over, and no link to nothing.
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            fs::remove_file(path).map_err(failed)?;
        }
        fs::remove_file(&target).map_err(failed)?;
        return Ok(false);
    };
    write(&target, after.as_bytes()).map_err(failed)
}

/// Writes a file in one step, and returns whether its folder had to be made. Only who holds the lock
/// of the records may do so: another's draft would be removed.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let folder = path.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    let makes_folder = !folder.exists();
    if makes_folder {
        fs::create_dir_all(&folder)?;
    }
    remove_drafts(&folder);
    replace_file(path, bytes, NewFile::Private, SETTINGS_DRAFT)?;
    Ok(makes_folder)
}

/// Removes the drafts of runs that were killed: they may hold what is in the settings.
fn remove_drafts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(SETTINGS_DRAFT) && name.ends_with(DRAFT_SUFFIX) {
            // What cannot be removed is no reason to stop.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_meanwhile_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        fs::write(&path, "mine").unwrap();
        let result = replace(&path, Some("old"), Some("new"));
        assert!(matches!(result, Err(SettingsFileError::Changed { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        replace(&path, Some("mine"), Some("new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        replace(&path, Some("new"), None).unwrap();
        assert!(!path.exists());
        assert!(replace(&dir.path().join("b/c.json"), None, Some("new")).unwrap());
    }

    #[test]
    fn drafts_of_a_killed_run_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".skillmux-settings-x1.draft"), "old").unwrap();
        fs::write(dir.path().join(".skillmux-x1.draft"), "of another command").unwrap();
        write(&dir.path().join("a.json"), b"{}").unwrap();
        let mut names: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [".skillmux-x1.draft", "a.json"]);
    }

    #[test]
    fn a_line_that_is_no_text_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        fs::write(&path, b"{\n\xff}").unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, SettingsFileError::Malformed { line: 2, .. }), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("dotfiles/a"), dir.path().join("a"));
        fs::create_dir(dir.path().join("dotfiles")).unwrap();
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("dotfiles/a", &link).unwrap();
        replace(&link, Some("old"), Some("new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);

        fs::set_permissions(&target, fs::Permissions::from_mode(0o444)).unwrap();
        let refused = replace(&link, Some("new"), Some("newer"));
        assert!(matches!(refused, Err(SettingsFileError::ReadOnly { .. })), "{refused:?}");

        fs::remove_file(&target).unwrap();
        assert!(matches!(read(&link), Err(SettingsFileError::DeadLink { .. })));

        fs::write(&target, "new").unwrap();
        replace(&link, Some("new"), None).unwrap();
        assert!(read(&link).unwrap().is_none() && !target.exists());
    }
}
