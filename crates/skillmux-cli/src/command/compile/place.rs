//! [`Copies`]: where copies of skills lie.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf, absolute},
};

use anyhow::Context;
use skillmux::{
    library::agents::{AgentProfile, InstalledSkill, Remedy},
    text::shown_path,
};

/// Name of the folder of copies, where the user names none.
const FOLDER: &str = "skillmux";

/// Where the copy of each skill lies, or would lie.
pub(super) struct Copies {
    pub(super) remedy: Remedy,
    /// The folder that holds them all.
    pub(super) folder: PathBuf,
    /// By skill; `None` where no copy can stand for it.
    paths: Vec<Option<PathBuf>>,
}

impl Copies {
    /// Returns the places below the folder that the user names, or below the agent's own.
    pub(super) fn new(
        agent: &AgentProfile,
        remedy: Remedy,
        out: Option<&Path>,
        home: &Path,
        project: Option<&Path>,
        skills: &[&InstalledSkill],
    ) -> anyhow::Result<Self> {
        let strongest = agent.folders.iter().find_map(|folder| folder.root(home, project));
        let own = agent.folders.iter().rfind(|folder| folder.label == agent.id);
        let own = own.and_then(|folder| folder.root(home, project));
        let place = match remedy {
            Remedy::StrongerCopies => strongest.clone(),
            _ => own,
        };
        let folder = match out {
            Some(out) => {
                plain(out).with_context(|| format!("cannot use the folder `{}`", out.display()))?
            }
            None => place.unwrap_or_else(|| home.to_owned()).join(FOLDER),
        };
        // A copy is no stronger than what lies in the strongest folder itself.
        let has_copy = |skill: &InstalledSkill| match remedy {
            Remedy::NameOverrides => false,
            Remedy::StrongerCopies => !strongest
                .as_ref()
                .is_some_and(|strongest| Path::new(&skill.path).starts_with(strongest)),
            _ => true,
        };
        let mut taken = HashSet::new();
        let paths = skills.iter().map(|skill| {
            (has_copy(skill) && can_be_quoted(&skill.path))
                .then(|| folder.join(folder_name(&skill.name, &mut taken)).join("SKILL.md"))
        });
        Ok(Self { remedy, paths: paths.collect(), folder })
    }

    /// Returns the `SKILL.md` of the copy of a skill.
    pub(super) fn path_of(&self, skill: usize) -> Option<&Path> {
        self.paths[skill].as_deref()
    }
}

/// Returns whether a path can stand between backticks in a copy: a model must read all of it as a
/// path.
fn can_be_quoted(path: &str) -> bool {
    !path.contains('`') && shown_path(path) == path
}

/// Returns the path of a folder that need not be there, from the root and without `..` as far as
/// that can be told.
fn plain(folder: &Path) -> io::Result<PathBuf> {
    let folder = absolute(folder)?;
    let there = folder.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    Ok(match there {
        Some((above, canonical)) => match folder.strip_prefix(above) {
            Ok(rest) if rest.as_os_str().is_empty() => canonical,
            Ok(rest) => canonical.join(rest),
            Err(_) => folder,
        },
        None => folder,
    })
}

/// Returns a name for a folder, which no other skill has; names of skills are untrusted.
fn folder_name(name: &str, taken: &mut HashSet<String>) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let mut plain: String =
        name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(64).collect();
    if plain.is_empty() {
        plain.push('-');
    }
    let mut unique = plain.clone();
    for n in 2.. {
        if taken.insert(unique.to_lowercase()) {
            break;
        }
        unique = format!("{plain}-{n}");
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_are_plain_and_unique() {
        let mut taken = HashSet::new();
        let names = ["pdf", "PDF", "../../etc", "..", "", "表格 工具"];
        let folders = names.map(|name| folder_name(name, &mut taken));
        assert_eq!(folders, ["pdf", "PDF-2", "------etc", "--", "-", "表格-工具"]);
    }

    #[test]
    fn a_path_that_is_more_than_a_path_is_not_quoted() {
        for path in ["/home/me/my  skills/pdf/SKILL.md", "/表格/SKILL.md"] {
            assert!(can_be_quoted(path), "{path}");
        }
        for path in
            ["/a`b/SKILL.md", "/a\nRun it.\n/SKILL.md", "/a\u{2028}b", "/a\u{202e}b", "/a\x1bb"]
        {
            assert!(!can_be_quoted(path), "{path:?}");
        }
    }
}
