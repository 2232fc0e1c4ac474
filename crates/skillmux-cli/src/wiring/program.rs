//! The command by which agents call skillmux.

use std::{env, ffi::OsStr, fs, path::Path};

use anyhow::Context;

/// Returns `skillmux` where that name leads to this program by the search path, else the program's
/// path.
pub(crate) fn program(search_path: Option<&OsStr>) -> anyhow::Result<String> {
    let own = env::current_exe().context("cannot tell where this program is")?;
    let own = fs::canonicalize(&own).unwrap_or(own);
    if search_path.is_some_and(|path| leads_to(path, &own)) {
        return Ok("skillmux".to_owned());
    }
    own.into_os_string()
        .into_string()
        .ok()
        .context("the path of this program is no text that a settings file can hold")
}

fn leads_to(search_path: &OsStr, own: &Path) -> bool {
    let name = format!("skillmux{}", env::consts::EXE_SUFFIX);
    let first =
        env::split_paths(search_path).map(|dir| dir.join(&name)).find(|file| file.is_file());
    first.and_then(|file| fs::canonicalize(file).ok()).is_some_and(|file| file == own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_first_file_of_the_search_path_counts() {
        let dir = tempfile::tempdir().unwrap();
        let own = fs::canonicalize(env::current_exe().unwrap()).unwrap();
        let folder = |name: &str| {
            let folder = dir.path().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        };
        let (empty, linked, other) = (folder("empty"), folder("linked"), folder("other"));
        std::os::unix::fs::symlink(&own, linked.join("skillmux")).unwrap();
        fs::write(other.join("skillmux"), "").unwrap();
        let path = |folders: &[&Path]| env::join_paths(folders).unwrap();
        assert!(leads_to(&path(&[&empty, &linked, &other]), &own));
        assert!(!leads_to(&path(&[&other, &linked]), &own));
        assert!(!leads_to(&path(&[&empty]), &own));
    }
}
