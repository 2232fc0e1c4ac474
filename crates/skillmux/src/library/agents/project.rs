//! Which folder is the project that a command works in.

use std::path::Path;

use super::profile::{Base, profiles};

/// What tells the root of a repository: a folder, or a file in a work tree or a submodule.
const REPOSITORY: &str = ".git";

/// Returns the project that a folder belongs to: the nearest folder upwards with a `.git`; if there
/// is none, the nearest one with a folder for skills of any agent; else the folder itself.
///
/// The home folder is the project of nothing but itself, and its folders for skills make no project
/// of what lies above it. Below it, the search ends there.
///
/// ```
/// use skillmux::library::agents::project_of;
///
/// # let dir = tempfile::tempdir()?;
/// # let home = dir.path();
/// std::fs::create_dir_all(home.join("shop/.git"))?;
/// std::fs::create_dir_all(home.join("shop/api/src"))?;
/// assert_eq!(project_of(&home.join("shop/api/src"), Some(home)), home.join("shop"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn project_of<'f>(folder: &'f Path, home: Option<&Path>) -> &'f Path {
    let is_home = |folder: &&Path| home.is_some_and(|home| is_same(folder, home));
    let upwards = || folder.ancestors().take_while(|folder| !is_home(folder));
    let holds_home = |folder: &Path| home.is_some_and(|home| home.starts_with(folder));
    let repository = upwards().find(|folder| folder.join(REPOSITORY).exists());
    let with_skills = || upwards().find(|folder| !holds_home(folder) && holds_skill_folder(folder));
    repository.or_else(with_skills).unwrap_or(folder)
}

fn is_same(a: &Path, b: &Path) -> bool {
    let canonical = std::fs::canonicalize;
    a == b || matches!((canonical(a), canonical(b)), (Ok(a), Ok(b)) if a == b)
}

fn holds_skill_folder(folder: &Path) -> bool {
    let folders = profiles().iter().flat_map(|agent| &agent.folders);
    let mut of_project = folders.filter(|it| it.base == Base::Project);
    of_project.any(|it| folder.join(&it.path).is_dir())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_repository_is_a_project_and_else_the_nearest_folder_with_skills() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let make = |path: &str| {
            let path = home.join(path);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let of = |folder: &Path| project_of(folder, Some(&home)).to_owned();
        // Neither the dotfiles nor the skills of the home folder make a project of what lies in it.
        make(".git");
        make(".claude/skills");
        let plain = make("notes/2024");
        assert_eq!(of(&plain), plain);
        assert_eq!(of(&home), home);

        let sub = make("shop/api/src");
        make("shop/.agents/skills");
        assert_eq!(of(&sub), home.join("shop"));
        // A nearer one wins, but a repository comes first.
        make("shop/api/.cursor/skills");
        assert_eq!(of(&sub), home.join("shop/api"));
        fs::write(home.join("shop/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(of(&sub), home.join("shop"));

        // Outside of the home folder, folders that hold it are no projects by their skills.
        fs::create_dir_all(dir.path().join(".claude/skills")).unwrap();
        let other = dir.path().join("srv/web");
        fs::create_dir_all(&other).unwrap();
        assert_eq!(of(&other), other);
        fs::create_dir_all(dir.path().join("srv/.gemini/skills")).unwrap();
        assert_eq!(of(&other), dir.path().join("srv"));
    }
}
