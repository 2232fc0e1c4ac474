//! [`SkillPlace`]: a skill on disk.

use std::{
    fs,
    path::{Path, PathBuf},
};

use walkdir::WalkDir;

use super::directory;
use crate::{skill::ContentHash, text::shown_path};

/// Limits of a folder whose files are hashed.
const MAX_HASHED_FILES: usize = 10_000;
const MAX_HASHED_BYTES: u64 = 256 << 20;

/// A skill on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillPlace {
    folder: PathBuf,
    file: PathBuf,
}

impl SkillPlace {
    /// Returns the skill of a folder; `None` if there is none.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let file = directory::skill_file_of(folder)?;
        Some(Self { folder: folder.to_owned(), file })
    }

    /// Returns the folder of its `SKILL.md`, with the files that belong to it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the absolute path of the folder as people and models read it: in one line, without
    /// hidden characters.
    pub fn shown(&self) -> String {
        let absolute = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        shown_path(&absolute.display().to_string())
    }

    /// Returns a hash of its files: their paths and bytes, and what its links lead to. `None` if
    /// they are more than 10,000, or larger than 256 MiB in all, and if one cannot be read.
    pub fn files_hash(&self) -> Option<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        let mut n_bytes = 0;
        let mut add = |bytes: &[u8]| {
            // A length prefix keeps ("ab", "c") apart from ("a", "bc").
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        let entries = WalkDir::new(&self.folder).min_depth(1).sort_by_file_name();
        for (n, entry) in entries.into_iter().enumerate() {
            let entry = entry.ok().filter(|_| n < MAX_HASHED_FILES)?;
            let bytes = match entry.file_type() {
                kind if kind.is_file() => {
                    n_bytes += entry.metadata().ok()?.len();
                    (n_bytes <= MAX_HASHED_BYTES).then(|| fs::read(entry.path()).ok())??
                }
                kind if kind.is_symlink() => {
                    fs::read_link(entry.path()).ok()?.into_os_string().into_encoded_bytes()
                }
                _ => continue,
            };
            let path = entry.path().strip_prefix(&self.folder).ok()?;
            add(path.as_os_str().as_encoded_bytes());
            add(&bytes);
        }
        Some(hasher.finalize())
    }

    /// Returns its folder and its `SKILL.md` once links are resolved; `None` if it is gone.
    pub(super) fn resolved(&self) -> Option<[PathBuf; 2]> {
        Some([fs::canonicalize(&self.folder).ok()?, fs::canonicalize(&self.file).ok()?])
    }

    /// Reads what it says, and returns the hash of that; `None` if it cannot be read.
    pub(super) fn content_hash(&self) -> Option<ContentHash> {
        directory::content_hash_of(&self.folder, &self.file)
    }

    /// Reads whether its author wants no model to load it unasked: `disable-model-invocation`.
    pub fn is_for_user_only(&self) -> bool {
        directory::is_for_user_only(&self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("SKILL.md"), "---\nname: a\ndescription: d\n---\nText.\n").unwrap();
    }

    #[test]
    fn the_hash_of_the_files_tells_each_change() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a");
        add(&folder);
        let hash = || SkillPlace::of(&folder).unwrap().files_hash().unwrap();
        let mut seen = vec![hash()];
        assert_eq!(hash(), seen[0]);
        fs::create_dir(folder.join("scripts")).unwrap();
        for change in
            [("scripts/run.sh", "ls"), ("scripts/run.sh", "rm"), ("run.sh", "rm"), (".env", "")]
        {
            fs::write(folder.join(change.0), change.1).unwrap();
            assert!(!seen.contains(&hash()), "{change:?}");
            seen.push(hash());
        }
    }
}
