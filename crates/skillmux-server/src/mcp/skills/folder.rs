//! [`SkillFolder`]: the files of a skill, and no others.

use std::{
    io::{self, Read as _},
    path::PathBuf,
};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use rmcp::model::SKILL_MD;

use super::{MAX_BYTES, MAX_FILES, address::is_plain};

/// Folders deeper than this are not entered.
const MAX_DEPTH: usize = 16;

/// The folder of a skill, open for reading.
///
/// It follows no link, so that no path leads out of it, also while somebody changes the folder.
/// Links, hidden files (`.NAME`), names that no address can have (`a:b`), folders that are skills of
/// their own and whatever is neither file nor folder are not part of the skill.
pub(super) struct SkillFolder {
    path: PathBuf,
    root: Dir,
}

impl SkillFolder {
    /// Opens a folder.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { path, root })
    }

    /// Returns where a file of the folder lies.
    pub(super) fn path_of(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Returns the paths of all files, sorted, with `/` between names; `None` if they are more, or
    /// larger, than a skill may have.
    ///
    /// # Errors
    /// What the system says of the folder, and where it does not let a folder in it be read.
    pub(super) fn files(&self) -> io::Result<Option<Vec<String>>> {
        let mut files = Vec::new();
        let mut n_bytes = 0;
        let mut folders = vec![(self.root.try_clone()?, String::new(), 0)];
        while let Some((folder, prefix, depth)) = folders.pop() {
            if depth > 0 && unless_gone(is_skill(&folder))?.unwrap_or(true) {
                continue;
            }
            let entries = match folder.entries() {
                Err(error) if depth == 0 => return Err(error),
                entries => unless_gone(entries)?,
            };
            for entry in entries.into_iter().flatten() {
                let entry = entry?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                if name.starts_with('.') || !is_plain(&name) {
                    continue;
                }
                let Some(metadata) = unless_gone(entry.metadata())? else { continue };
                let path = format!("{prefix}{name}");
                if metadata.is_dir() && depth < MAX_DEPTH {
                    let inner = unless_gone(folder.open_dir_nofollow(&name))?;
                    let Some(inner) = inner else { continue };
                    folders.push((inner, format!("{path}/"), depth + 1));
                } else if metadata.is_file() {
                    n_bytes += metadata.len();
                    files.push(path);
                }
                if files.len() > MAX_FILES || folders.len() > MAX_FILES || n_bytes > MAX_BYTES {
                    return Ok(None);
                }
            }
        }
        files.sort_unstable();
        Ok(Some(files))
    }

    /// Reads a file; `None` if there is none that is part of the skill, or if it is larger than a
    /// skill may be.
    ///
    /// # Errors
    /// Where the system does not let it be read.
    pub(super) fn read(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        if path.split('/').any(|name| name.starts_with('.')) {
            return Ok(None);
        }
        Ok(unless_gone(self.read_file(path))?.flatten())
    }

    fn read_file(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        let mut names: Vec<&str> = path.split('/').collect();
        let Some(file) = names.pop() else { return Ok(None) };
        let mut folder = self.root.try_clone()?;
        for name in names {
            folder = folder.open_dir_nofollow(name)?;
            if is_skill(&folder)? {
                return Ok(None);
            }
        }
        let mut options = OpenOptions::new();
        // Opening a pipe would else wait for a writer.
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = folder.open_with(file, &options)?;
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= MAX_BYTES).then_some(bytes))
    }
}

/// Returns whether a folder inside a skill is a skill of its own: the user may block that one, or
/// its author may want no model to load it.
fn is_skill(folder: &Dir) -> io::Result<bool> {
    let mut entries = folder.entries()?.filter_map(Result::ok);
    Ok(entries.any(|entry| entry.file_name().eq_ignore_ascii_case(SKILL_MD)))
}

/// Returns what the system gives of a part of a path; `None` if that is gone by now, or is a link:
/// not all systems have a word for that.
///
/// # Errors
/// What is there, and may not be read.
fn unless_gone<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn folder_with(files: &[&str]) -> (TempDir, SkillFolder) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("skill");
        fs::create_dir(&root).unwrap();
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let folder = SkillFolder::open(root).unwrap();
        (dir, folder)
    }

    #[test]
    fn the_files_are_sorted_and_hidden_ones_left_out() {
        let (_dir, folder) =
            folder_with(&["scripts/b.py", "SKILL.md", ".env", ".git/config", "scripts/a/x.md"]);
        let files = folder.files().unwrap().unwrap();
        assert_eq!(files, ["SKILL.md", "scripts/a/x.md", "scripts/b.py"]);
        assert_eq!(folder.read("scripts/a/x.md").unwrap().unwrap(), b"scripts/a/x.md");
        for path in [".env", ".git/config", "scripts", "scripts/a", "no/such", "SKILL.md/x", ""] {
            assert_eq!(folder.read(path).unwrap(), None, "{path}");
        }
    }

    #[test]
    fn what_may_not_be_read_is_not_taken_for_gone() {
        let outcome = |kind: io::ErrorKind| unless_gone::<()>(Err(io::Error::from(kind)));
        assert!(outcome(io::ErrorKind::PermissionDenied).is_err());
        for kind in [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory] {
            assert_eq!(outcome(kind).unwrap(), None);
        }
    }

    #[test]
    fn a_skill_inside_is_another_one() {
        let files = ["SKILL.md", "a/x.md", "a/b/skill.md", "a/b/c/run.sh"];
        let (_dir, folder) = folder_with(&files);
        assert_eq!(folder.files().unwrap().unwrap(), ["SKILL.md", "a/x.md"]);
        for path in ["a/b/skill.md", "a/b/c/run.sh"] {
            assert_eq!(folder.read(path).unwrap(), None, "{path}");
        }
    }

    #[test]
    fn a_path_does_not_lead_out() {
        let (dir, folder) = folder_with(&["SKILL.md"]);
        fs::write(dir.path().join("secret"), "secret").unwrap();
        let absolute = dir.path().join("secret").display().to_string();
        for path in ["../secret", "x/../../secret", &absolute] {
            assert_eq!(folder.read(path).unwrap(), None, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn files_that_no_address_can_name_are_left_out() {
        let (_dir, folder) = folder_with(&["SKILL.md", "a:b.md", "a\\b.md", "x\ny.md", "x:y/z.md"]);
        assert_eq!(folder.files().unwrap().unwrap(), ["SKILL.md"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_not_followed() {
        use std::os::unix::fs::symlink;

        let (dir, folder) = folder_with(&["SKILL.md", "data/real.txt"]);
        let root = dir.path().join("skill");
        fs::write(dir.path().join("secret"), "secret").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("data", root.join("inside")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status();
        assert!(made.unwrap().success());
        assert_eq!(folder.files().unwrap().unwrap(), ["SKILL.md", "data/real.txt"]);
        for path in ["link", "up/secret", "inside/real.txt", "pipe"] {
            assert_eq!(folder.read(path).unwrap(), None, "{path}");
        }
    }

    #[test]
    fn a_folder_with_too_much_is_no_skill() {
        let (dir, folder) = folder_with(&["SKILL.md"]);
        let root = dir.path().join("skill");
        for i in 0..MAX_FILES - 1 {
            fs::write(root.join(format!("{i}.md")), "").unwrap();
        }
        assert_eq!(folder.files().unwrap().unwrap().len(), MAX_FILES);
        fs::write(root.join("more.md"), "").unwrap();
        assert_eq!(folder.files().unwrap(), None);
        fs::remove_file(root.join("more.md")).unwrap();
        fs::File::create(root.join("0.md")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert_eq!(folder.files().unwrap(), None);
        assert_eq!(folder.read("0.md").unwrap(), None);
    }
}
