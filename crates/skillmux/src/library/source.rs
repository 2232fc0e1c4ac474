//! [`Source`]: where skills come from.

use std::{
    fs::{self, File},
    ops::ControlFlow,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    directory::{self, Directory},
    entry::Sink,
    mcp_list::{self, McpList},
    origin::Origin,
    path::{file_name, is_id_part, is_skill_name},
    place::SkillPlace,
    shard::{self, Shards},
};
use crate::{Error, Result, skill::SkillId};

/// How deep a folder of shards is searched for a `SKILL.md`; the client guide of the Agent Skills
/// specification suggests 4-6.
const MAX_DETECT_DEPTH: usize = 6;

/// Where skills come from.
///
/// The `label` becomes [`Skill::source`](crate::skill::Skill::source), unless a shard names one
/// itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// A tree of folders with a `SKILL.md`, or a single `SKILL.md`.
    Folder {
        /// The folder or file.
        root: PathBuf,
        /// Name of the source.
        label: String,
        /// First part of each id; without it, ids are paths relative to the root.
        id_prefix: Option<String>,
        /// What kind of place it is.
        #[serde(default)]
        origin: Origin,
    },
    /// A JSON Lines shard, plain or compressed, or a folder of them.
    Shards {
        /// The file or folder.
        path: PathBuf,
        /// Name of the source.
        label: String,
    },
    /// A Markdown list of MCP servers.
    McpList {
        /// The file.
        path: PathBuf,
        /// Name of the source.
        label: String,
    },
}

/// Where a skill may lie.
#[derive(Debug)]
pub(super) struct PossiblePlace {
    pub(super) place: SkillPlace,
    /// Whether the id names it as it is: without a suffix taken off.
    pub(super) is_by_id: bool,
}

impl Source {
    /// Returns a folder source labelled with the name of the folder, without id prefix.
    pub fn folder(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let folder = if root.is_file() { root.parent() } else { None };
        let label = file_name(folder.unwrap_or(&root));
        Self::Folder { root, label, id_prefix: None, origin: Origin::Library }
    }

    /// Returns a source of shards labelled with the name of the file or folder.
    pub fn shards(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self::Shards { label: file_name(&path), path }
    }

    /// Returns a list of MCP servers labelled with the name of the file.
    pub fn mcp_list(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self::McpList { label: file_name(&path), path }
    }

    /// Returns the sources that a path holds: one, or two for a folder with skills and shards.
    ///
    /// A file is told by its name and, for Markdown, by its text. A folder with shards directly in
    /// it and no `SKILL.md` near the top is a folder of shards; any other folder holds skills, even
    /// if it is empty for now.
    ///
    /// # Errors
    /// [`Error::SourceMissing`], [`Error::SourceUnknown`], or [`Error::Read`].
    pub fn detect(path: impl AsRef<Path>) -> Result<Vec<Self>> {
        let path = path.as_ref();
        let failed = |source| failure(path, source);
        if fs::metadata(path).map_err(failed)?.is_dir() {
            let has_shards = !shard::shard_files(path).map_err(failed)?.is_empty();
            let mut sources = Vec::new();
            if !has_shards || directory::holds_skill(path, MAX_DETECT_DEPTH) {
                sources.push(Self::folder(path));
            }
            if has_shards {
                sources.push(Self::shards(path));
            }
            return Ok(sources);
        }
        let name = path.file_name().unwrap_or_default();
        if is_skill_name(name) {
            return Ok(vec![Self::folder(path)]);
        }
        if shard::is_shard_name(name) {
            return Ok(vec![Self::shards(path)]);
        }
        let is_markdown = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("md"));
        if is_markdown && mcp_list::is_mcp_list(path).unwrap_or(false) {
            return Ok(vec![Self::mcp_list(path)]);
        }
        Err(Error::SourceUnknown { path: path.to_path_buf() })
    }

    /// Returns the file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Self::Folder { root, .. } => root,
            Self::Shards { path, .. } | Self::McpList { path, .. } => path,
        }
    }

    /// Returns the name of the source.
    pub(super) fn label(&self) -> &str {
        match self {
            Self::Folder { label, .. }
            | Self::Shards { label, .. }
            | Self::McpList { label, .. } => label,
        }
    }

    pub(super) fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    /// Returns where a skill of this id may lie on disk, if it is of this source: where there is a
    /// skill now. Links may lead anywhere.
    pub(super) fn places_of(&self, id: &SkillId) -> Vec<PossiblePlace> {
        let Some(path) = self.path_of(id) else { return Vec::new() };
        let root = self.path();
        let mut found = Vec::new();
        let mut add = |folder: &Path, is_by_id: bool| {
            found.extend(SkillPlace::of(folder).map(|place| PossiblePlace { place, is_by_id }));
        };
        // Of two skills with one id, the later one has a suffix.
        let without_suffix = path.rsplit_once('~').map(|(path, _)| (path, false));
        for (path, is_by_id) in [Some((path, true)), without_suffix].into_iter().flatten() {
            if root.is_file() {
                let folder = root.parent().filter(|folder| file_name(folder) == path);
                if let Some(folder) = folder {
                    add(folder, is_by_id);
                }
                continue;
            }
            // An id may come from somewhere else, and must not lead out of the folder.
            if path.split('/').all(is_id_part) {
                add(&root.join(path), is_by_id);
            }
            if path == file_name(root) {
                add(root, is_by_id);
            }
        }
        found
    }

    /// Returns the id of a skill at a path below the root, if that is another text.
    pub(super) fn id_of(&self, path: &str) -> Option<SkillId> {
        let Self::Folder { id_prefix, .. } = self else { return None };
        Some(SkillId::new(format!("{}/{path}", id_prefix.as_deref()?)))
    }

    /// Returns the path of a skill below the root, as its id tells it; `None` if an id of this
    /// source is not like that.
    fn path_of<'i>(&self, id: &'i SkillId) -> Option<&'i str> {
        let Self::Folder { id_prefix, .. } = self else { return None };
        match id_prefix {
            Some(prefix) => id.as_str().strip_prefix(prefix.as_str())?.strip_prefix('/'),
            None => Some(id.as_str()),
        }
    }

    /// Returns whether a path without links lies in this folder.
    pub(super) fn holds(&self, resolved: &Path) -> bool {
        let Self::Folder { root, .. } = self else { return false };
        fs::canonicalize(root).is_ok_and(|root| resolved.starts_with(root))
    }

    /// Returns the ids of this source for the folders with a skill that a file lies in, the
    /// innermost first.
    pub(super) fn skills_around(&self, file: &Path) -> Vec<SkillId> {
        let Self::Folder { id_prefix, .. } = self else { return Vec::new() };
        let Some((root, inside)) = self.inside(file) else { return Vec::new() };
        let is_skill = |inside: &&Path| {
            let folder = root.join(inside);
            folder.is_dir() && SkillPlace::of(&folder).is_some()
        };
        let id = |inside: &Path| {
            let path = directory::parts(inside).join("/");
            let path = if path.is_empty() { file_name(&root) } else { path };
            match id_prefix {
                Some(prefix) => SkillId::new(format!("{prefix}/{path}")),
                None => SkillId::new(path),
            }
        };
        inside.ancestors().filter(is_skill).map(id).collect()
    }

    /// Returns the root, and the path of a file below it.
    fn inside<'f>(&self, file: &'f Path) -> Option<(PathBuf, &'f Path)> {
        let root = std::path::absolute(self.path()).ok()?;
        let root = if root.is_file() { root.parent()?.to_owned() } else { root };
        // Whoever wrote the path may have followed links.
        let real = fs::canonicalize(&root).ok();
        let inside = file.strip_prefix(&root).ok();
        let inside = inside.or_else(|| file.strip_prefix(real.as_ref()?).ok())?;
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        inside.components().all(is_plain).then_some((root, inside))
    }

    /// Returns the canonical path, having made sure that it can be opened.
    ///
    /// A source that is gone as a whole must fail: taken for empty, it would drop all its skills
    /// from an index.
    pub(super) fn open(&self) -> Result<PathBuf> {
        let path = self.path();
        let failed = |source| failure(path, source);
        let canonical = fs::canonicalize(path).map_err(failed)?;
        if canonical.is_dir() {
            fs::read_dir(&canonical).map_err(failed)?;
        } else if canonical.is_file() {
            File::open(&canonical).map_err(failed)?;
        } else {
            return Err(Error::SourceUnknown { path: path.to_path_buf() });
        }
        Ok(canonical)
    }

    /// Hands on every entry of the source; links may lead to the `allowed` canonical folders.
    pub(super) fn read(&self, allowed: &[PathBuf], sink: &mut Sink<'_>) -> ControlFlow<()> {
        match self {
            Self::Folder { root, label, id_prefix, origin } => {
                let (id_prefix, origin) = (id_prefix.as_deref(), *origin);
                Directory { root, label, id_prefix, origin, allowed }.read(sink)
            }
            Self::Shards { path, label } => Shards { path, label }.read(sink),
            Self::McpList { path, label } => McpList { path, label }.read(sink),
        }
    }
}

fn failure(path: &Path, source: std::io::Error) -> Error {
    let path = path.to_path_buf();
    if source.kind() == std::io::ErrorKind::NotFound {
        Error::SourceMissing { path }
    } else {
        Error::Read { path, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn folders_are_told_by_what_lies_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("pool");
        touch(&root.join("a/notes.txt"), "");
        assert_eq!(Source::detect(&root).unwrap(), [Source::folder(&root)]);
        touch(&root.join("a.jsonl.zst"), "");
        assert_eq!(Source::detect(&root).unwrap(), [Source::shards(&root)]);
        touch(&root.join("a/b/SKILL.md"), "text");
        assert_eq!(Source::detect(&root).unwrap(), [Source::folder(&root), Source::shards(&root)]);
    }

    #[test]
    fn files_are_told_by_name_and_text() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join("x").join(name);
            touch(&path, text);
            path
        };
        let skill = file("skill.md", "text");
        assert_eq!(
            Source::detect(&skill).unwrap(),
            [Source::Folder {
                root: skill,
                label: "x".into(),
                id_prefix: None,
                origin: Origin::Library
            }]
        );
        let shard = file("p.JSONL.gz", "");
        assert_eq!(Source::detect(&shard).unwrap(), [Source::shards(&shard)]);
        let list = file("README.md", "- [a/b](https://github.com/a/b) - x\n");
        assert_eq!(Source::detect(&list).unwrap(), [Source::mcp_list(&list)]);
        for other in [file("notes.md", "text"), file("skills.csv", "")] {
            assert!(matches!(Source::detect(other), Err(Error::SourceUnknown { .. })));
        }
        let missing = Source::detect(dir.path().join("gone"));
        assert!(matches!(missing, Err(Error::SourceMissing { .. })));
    }

    #[test]
    fn ids_lead_back_to_the_folder_of_the_skill() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("lib");
        touch(&root.join("a/b/skill.md"), "text");
        touch(&root.join("manual/SKILL.md"), "---\ndisable-model-invocation: true\n---\ntext");
        touch(&dir.path().join("secret/SKILL.md"), "text");
        let place = |source: &Source, id: &str| {
            let mut places = source.places_of(&SkillId::new(id)).into_iter();
            let place = places.next().map(|it| it.place);
            assert!(places.next().is_none());
            place
        };
        let plain = Source::folder(&root);
        let folder =
            |source: &Source, id: &str| place(source, id).map(|place| place.folder().to_owned());
        let expected = Some(root.join("a/b"));
        assert_eq!(folder(&plain, "a/b"), expected);
        assert_eq!(folder(&plain, "a/b~01234567"), expected);
        assert!(!place(&plain, "a/b").unwrap().is_for_user_only());
        assert!(place(&plain, "manual").unwrap().is_for_user_only());
        let absolute = dir.path().join("secret").display().to_string();
        for id in ["a", "gone", "../secret", "a/../../secret", "lib", absolute.as_str(), ""] {
            assert_eq!(place(&plain, id), None, "{id}");
        }
        let prefixed = Source::Folder {
            root: root.clone(),
            label: "x".into(),
            id_prefix: Some("x".into()),
            origin: Origin::Library,
        };
        assert_eq!(folder(&prefixed, "x/a/b"), expected);
        assert_eq!(place(&prefixed, "a/b"), None);
        assert_eq!(place(&Source::shards(&root), "a/b"), None);

        touch(&root.join("SKILL.md"), "text");
        assert_eq!(folder(&prefixed, "x/lib"), Some(root.clone()));
        let file = Source::folder(root.join("SKILL.md"));
        assert_eq!(folder(&file, "lib"), Some(root));
        assert_eq!(place(&file, "other"), None);
    }

    #[test]
    fn labels_are_names_even_for_dots() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("lib/inner");
        fs::create_dir_all(&inner).unwrap();
        let Source::Folder { label, .. } = Source::folder(inner.join("..")) else { panic!() };
        assert_eq!(label, "lib");
    }
}
