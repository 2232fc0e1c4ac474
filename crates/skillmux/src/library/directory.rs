//! Finds the `SKILL.md` files of a directory tree.

use std::{
    cmp::Ordering,
    collections::HashMap,
    fs::{self, File},
    io::{self, Read},
    ops::ControlFlow,
    path::{Component, Path, PathBuf},
};

use walkdir::{DirEntry, WalkDir};

use super::{
    entry::{Entry, Sink},
    origin::{Background, Origin},
    path::{file_name, is_id_part, is_skill_name},
    report::Issue,
    skill_file::{self, SkillFile},
};
use crate::skill::{ContentHash, Skill, SkillId};

/// Largest `SKILL.md` that is read; larger ones are skipped.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Deepest folder that is entered, counted from the root.
const MAX_DEPTH: usize = 32;
/// Most times that one folder is entered through symbolic links; bounds the work when hostile
/// links multiply each other.
const MAX_LINKS: usize = 16;
/// Folders that hold dependencies and build products, never a user's skills.
const SKIPPED_FOLDERS: [&str; 5] = [".git", ".venv", "__pycache__", "node_modules", "target"];

/// A file that marks a folder of copies of skills, which `skillmux compile` made for an agent: a
/// scan passes it over.
pub const COPIES_MARK: &str = ".skillmux-copies";

/// A directory tree to read.
pub(super) struct Directory<'a> {
    /// A folder, or a single `SKILL.md`.
    pub(super) root: &'a Path,
    /// [`Skill::source`] of its skills.
    pub(super) label: &'a str,
    /// First part of each id.
    pub(super) id_prefix: Option<&'a str>,
    pub(super) origin: Origin,
    /// Canonical folders that symbolic links may lead to.
    pub(super) allowed: &'a [PathBuf],
}

impl Directory<'_> {
    /// Hands on every skill of the tree, a folder before its subfolders, siblings by name.
    ///
    /// Skills may lie within skills. Hidden folders are entered, [`SKIPPED_FOLDERS`] and those with
    /// a [`COPIES_MARK`] are not. Symbolic links are followed as long as they stay within the
    /// allowed folders. A skill whose folder no id can name is skipped.
    pub(super) fn read(&self, sink: &mut Sink<'_>) -> ControlFlow<()> {
        if self.root.is_file() {
            return sink(self.read_file(self.root, self.root, &[]));
        }
        let mut n_links: HashMap<PathBuf, usize> = HashMap::new();
        let mut last_folder: Option<PathBuf> = None;
        let mut walk = walk(self.root, MAX_DEPTH + 1).into_iter();
        while let Some(entry) = walk.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    if let Some(skipped) = walk_failure(&error) {
                        sink(skipped)?;
                    }
                    continue;
                }
            };
            if entry.file_type().is_dir() {
                if is_skipped_folder(&entry) {
                    walk.skip_current_dir();
                } else if let Err(issue) = self.check_folder(&entry, &mut n_links) {
                    walk.skip_current_dir();
                    sink(Entry::skipped(entry.path().display().to_string(), issue))?;
                }
            } else if is_skill_file(&entry) && entry.path().parent() != last_folder.as_deref() {
                last_folder = entry.path().parent().map(Path::to_path_buf);
                sink(self.read_entry(&entry))?;
            } else if is_skill_name(entry.file_name()) && !entry.file_type().is_file() {
                let location = entry.path().display().to_string();
                sink(Entry::skipped(location, Issue::NotRegular))?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns why the folder must not be entered, if it must not.
    fn check_folder(
        &self,
        entry: &DirEntry,
        n_links: &mut HashMap<PathBuf, usize>,
    ) -> Result<(), Issue> {
        if entry.depth() > MAX_DEPTH {
            return Err(Issue::TooDeep { max_depth: MAX_DEPTH });
        }
        if entry.depth() > 0 && entry.path_is_symlink() {
            let target = self.link_target(entry.path())?;
            let n_links = n_links.entry(target).or_default();
            *n_links += 1;
            if *n_links > MAX_LINKS {
                return Err(Issue::TooManyLinks { max_links: MAX_LINKS });
            }
        }
        Ok(())
    }

    /// Returns where a symbolic link leads, as long as that is allowed.
    fn link_target(&self, link: &Path) -> Result<PathBuf, Issue> {
        let target = fs::canonicalize(link).map_err(|error| Issue::unreadable(&error))?;
        let mut inside = self.allowed.iter().filter_map(|root| target.strip_prefix(root).ok());
        let first = inside.next().ok_or(Issue::OutsideRoot)?;
        let has_id = |inside: &Path| parts(inside).iter().all(|part| is_id_part(part));
        if has_id(first) || inside.any(has_id) { Ok(target) } else { Err(Issue::FolderName) }
    }

    /// Reads a skill file that the walk came across.
    fn read_entry(&self, entry: &DirEntry) -> Entry {
        let path = entry.path();
        let target =
            if entry.path_is_symlink() { self.link_target(path) } else { Ok(path.to_path_buf()) };
        match target {
            Ok(target) => {
                let folder = path.parent().unwrap_or(self.root);
                let relative = folder.strip_prefix(self.root).unwrap_or(folder);
                self.read_file(path, &target, &parts(relative))
            }
            Err(issue) => Entry::skipped(path.display().to_string(), issue),
        }
    }

    /// Reads the skill file at `path`, which is `target` once links are resolved; `parts` is its
    /// folder relative to the root.
    fn read_file(&self, path: &Path, target: &Path, parts: &[String]) -> Entry {
        let location = path.display().to_string();
        let root_name = || {
            let folder = if self.root.is_file() { self.root.parent() } else { Some(self.root) };
            file_name(folder.unwrap_or(self.root))
        };
        let folder = parts.last().cloned().unwrap_or_else(root_name);
        let has_id = is_id_part(&folder) && parts.iter().all(|part| is_id_part(part));
        let bytes = if has_id { read_capped(target) } else { Err(Issue::FolderName) };
        match bytes.and_then(|bytes| skill_file::parse(bytes, &folder)) {
            Ok(file) => {
                let path = if parts.is_empty() { folder } else { parts.join("/") };
                let id = match self.id_prefix {
                    Some(prefix) => format!("{prefix}/{path}"),
                    None => path,
                };
                let skill = Skill {
                    id: SkillId::new(id),
                    name: file.name,
                    description: file.description,
                    body: file.body,
                    source: self.label.to_owned(),
                };
                let background = Background::new(self.origin, file.license.as_deref());
                Entry::found(skill, location, file.issues)
                    .with_background(background)
                    .for_user_only(file.is_for_user_only)
            }
            Err(issue) => Entry::skipped(location, issue),
        }
    }
}

/// Returns true where a skill lies in the tree, at most `max_depth` folders below the root. Links
/// count as far as they stay in the tree.
pub(super) fn holds_skill(root: &Path, max_depth: usize) -> bool {
    let Ok(canonical) = fs::canonicalize(root) else { return false };
    let allowed = &[canonical];
    let tree = Directory { root, label: "", id_prefix: None, origin: Origin::Library, allowed };
    let mut n_links = HashMap::new();
    let mut walk = walk(root, max_depth + 1).into_iter();
    while let Some(entry) = walk.next() {
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_dir() {
            if is_skipped_folder(&entry) || tree.check_folder(&entry, &mut n_links).is_err() {
                walk.skip_current_dir();
            }
        } else if is_skill_file(&entry)
            && (!entry.path_is_symlink() || tree.link_target(entry.path()).is_ok())
        {
            return true;
        }
    }
    false
}

/// Returns the `SKILL.md` of a folder; `None` if there is none.
pub(super) fn skill_file_of(folder: &Path) -> Option<PathBuf> {
    let mut entries = walk(folder, 1).into_iter().filter_map(Result::ok);
    entries.find(is_skill_file).map(DirEntry::into_path)
}

/// Returns whether the author of a file wants no model to load it unasked.
pub(super) fn is_for_user_only(file: &Path) -> bool {
    let file = read_capped(file).and_then(|bytes| skill_file::parse(bytes, ""));
    file.is_ok_and(|file| file.is_for_user_only)
}

/// Returns the hash of what the file of a folder says; `None` if it cannot be read.
pub(super) fn content_hash_of(folder: &Path, file: &Path) -> Option<ContentHash> {
    let SkillFile { name, description, body, .. } =
        read_capped(file).and_then(|bytes| skill_file::parse(bytes, &file_name(folder))).ok()?;
    let (id, source) = (SkillId::new(""), String::new());
    Some(Skill { id, name, description, body, source }.content_hash())
}

fn walk(root: &Path, max_depth: usize) -> WalkDir {
    WalkDir::new(root).follow_links(true).max_depth(max_depth).sort_by(skill_file_first)
}

/// Orders `SKILL.md` before its other spellings, those before everything else, then by name.
fn skill_file_first(a: &DirEntry, b: &DirEntry) -> Ordering {
    let rank = |entry: &DirEntry| match entry.file_name() {
        name if name == "SKILL.md" => 0,
        name if is_skill_name(name) => 1,
        _ => 2,
    };
    rank(a).cmp(&rank(b)).then_with(|| a.file_name().cmp(b.file_name()))
}

fn is_skill_file(entry: &DirEntry) -> bool {
    // Pipes and devices are no files: opening one could block for ever.
    entry.file_type().is_file() && is_skill_name(entry.file_name())
}

fn is_skipped_folder(entry: &DirEntry) -> bool {
    entry.depth() > 0
        && entry.file_type().is_dir()
        && (SKIPPED_FOLDERS.iter().any(|name| entry.file_name() == *name)
            || entry.path().join(COPIES_MARK).is_file())
}

/// Returns the entry for something that the walk could not enter.
fn walk_failure(error: &walkdir::Error) -> Option<Entry> {
    let path = error.path()?;
    let issue = if error.loop_ancestor().is_some() {
        Issue::SymlinkLoop
    } else {
        let error = error.io_error()?;
        let name = path.file_name()?;
        // A broken link to a folder is a skill that is gone; one to a file is of no interest here.
        if error.kind() == io::ErrorKind::NotFound
            && path.extension().is_some()
            && !is_skill_name(name)
        {
            return None;
        }
        Issue::unreadable(error)
    };
    Some(Entry::skipped(path.display().to_string(), issue))
}

/// Returns the parts of a relative path as text.
pub(super) fn parts(relative: &Path) -> Vec<String> {
    relative
        .components()
        .filter_map(|component| match component {
            Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect()
}

/// Reads a file of at most [`MAX_FILE_BYTES`].
fn read_capped(path: &Path) -> Result<Vec<u8>, Issue> {
    let file = File::open(path).map_err(|error| Issue::unreadable(&error))?;
    let n_bytes = file.metadata().map_err(|error| Issue::unreadable(&error))?.len();
    if n_bytes > MAX_FILE_BYTES {
        return Err(Issue::TooLarge { n_bytes, max_bytes: MAX_FILE_BYTES });
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(|error| Issue::unreadable(&error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Makes files in a new folder `lib`; a file's text is its front matter and body.
    fn tree(files: &[(&str, &str)]) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("lib")).unwrap();
        for (path, text) in files {
            let path = dir.path().join("lib").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn skill(name: &str) -> String {
        format!("---\nname: {name}\ndescription: does {name}\n---\nbody\n")
    }

    fn entries(root: &Path) -> Vec<Entry> {
        let canonical = fs::canonicalize(root).unwrap();
        let (origin, allowed) = (Origin::Library, &[canonical][..]);
        let directory = Directory { root, label: "lib", id_prefix: None, origin, allowed };
        let mut entries = Vec::new();
        let _ = directory.read(&mut |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        });
        entries
    }

    /// One line per entry: the id of a skill, or the issue of what was skipped.
    fn account(root: &Path) -> Vec<String> {
        entries(root)
            .into_iter()
            .map(|entry| match entry {
                Entry::Found(found) => found.skill.id.to_string(),
                Entry::Skipped(finding) => format!("! {}", finding.issue),
            })
            .collect()
    }

    #[test]
    fn ids_are_paths_in_a_stable_order_parents_first() {
        let dir = tree(&[
            ("b/SKILL.md", &skill("b")),
            ("a/z/SKILL.md", &skill("z")),
            ("a/SKILL.md", &skill("a")),
            ("a-b/SKILL.md", &skill("a-b")),
            (".claude/skills/c/SKILL.md", &skill("c")),
            ("a/node_modules/x/SKILL.md", &skill("x")),
            ("copies/a/SKILL.md", &skill("a")),
            ("copies/.skillmux-copies", ""),
            ("plugins/p/skills/q/SKILL.md", &skill("q")),
            ("README.md", "nothing"),
        ]);
        assert_eq!(
            account(&dir.path().join("lib")),
            [".claude/skills/c", "a", "a/z", "a-b", "b", "plugins/p/skills/q"]
        );
    }

    #[test]
    fn a_root_that_is_a_skill_takes_the_name_of_its_folder() {
        let dir = tree(&[("SKILL.md", &skill("lib")), ("x/SKILL.md", &skill("x"))]);
        assert_eq!(account(&dir.path().join("lib")), ["lib", "x"]);
        assert_eq!(account(&dir.path().join("lib/x/SKILL.md")), ["x"]);
    }

    #[test]
    fn one_spelling_counts_per_folder() {
        let dir = tree(&[
            ("a/Skill.md", &skill("a")),
            ("b/skill.md", &skill("second")),
            ("b/SKILL.md", &skill("b")),
        ]);
        let names: Vec<String> = entries(&dir.path().join("lib"))
            .into_iter()
            .filter_map(|entry| match entry {
                Entry::Found(found) => Some(found.skill.name),
                Entry::Skipped(_) => None,
            })
            .collect();
        assert_eq!(names.len(), 2);
        assert!(cfg!(any(windows, target_os = "macos")) || names == ["a", "b"]);
    }

    #[test]
    fn files_that_cannot_be_used_are_skipped_with_the_reason() {
        let dir = tree(&[("a/SKILL.md", "\0"), ("b/SKILL.md", ""), ("d/SKILL.md", &skill("d"))]);
        let root = dir.path().join("lib");
        fs::create_dir(root.join("c")).unwrap();
        let large = File::create(root.join("c/SKILL.md")).unwrap();
        large.set_len(MAX_FILE_BYTES + 1).unwrap();
        assert_eq!(
            account(&root),
            [
                "! holds NUL bytes",
                "! empty: neither a description nor a body",
                "! 1048577 bytes, but the limit is 1048576",
                "d"
            ]
        );
    }

    #[test]
    fn folders_beyond_the_depth_limit_are_reported() {
        let deep = format!("{}SKILL.md", "d/".repeat(MAX_DEPTH + 1));
        let dir = tree(&[(&deep, &skill("d"))]);
        assert_eq!(account(&dir.path().join("lib")), ["! more than 32 folders deep"]);
    }

    #[cfg(unix)]
    mod links {
        use std::{
            ffi::OsStr,
            os::unix::{ffi::OsStrExt, fs::symlink},
        };

        use super::*;

        #[test]
        fn links_within_the_root_are_followed() {
            let dir = tree(&[("a/SKILL.md", &skill("a"))]);
            let root = dir.path().join("lib");
            symlink("a", root.join("b")).unwrap();
            assert_eq!(account(&root), ["a", "b"]);
        }

        #[test]
        fn links_out_of_the_root_are_refused() {
            let dir = tree(&[("a/notes.md", "")]);
            let root = dir.path().join("lib");
            fs::create_dir(dir.path().join("secret")).unwrap();
            fs::write(dir.path().join("secret/SKILL.md"), skill("secret")).unwrap();
            symlink("../secret", root.join("folder")).unwrap();
            symlink("../../secret/SKILL.md", root.join("a/SKILL.md")).unwrap();
            symlink(dir.path(), root.join("up")).unwrap();
            assert_eq!(account(&root), ["! leads out of the source's folder"; 3]);
        }

        #[test]
        fn links_into_another_source_are_followed() {
            let dir = tree(&[]);
            fs::create_dir(dir.path().join("shared")).unwrap();
            fs::write(dir.path().join("shared/SKILL.md"), skill("shared")).unwrap();
            let root = dir.path().join("lib");
            symlink("../shared", root.join("mine")).unwrap();
            let allowed =
                [&root, &dir.path().join("shared")].map(|it| fs::canonicalize(it).unwrap());
            let directory = Directory {
                root: &root,
                label: "l",
                id_prefix: Some("l"),
                origin: Origin::Library,
                allowed: &allowed,
            };
            let mut ids = Vec::new();
            let _ = directory.read(&mut |entry| {
                if let Entry::Found(found) = entry {
                    ids.push(found.skill.id.to_string());
                }
                ControlFlow::Continue(())
            });
            assert_eq!(ids, ["l/mine"]);
        }

        #[test]
        fn loops_and_broken_links_are_reported() {
            let dir = tree(&[("a/SKILL.md", &skill("a"))]);
            let root = dir.path().join("lib");
            symlink("..", root.join("a/loop")).unwrap();
            symlink("gone", root.join("broken")).unwrap();
            symlink("gone.txt", root.join("broken.txt")).unwrap();
            let account = account(&root);
            assert_eq!(account.len(), 3, "{account:?}");
            assert_eq!(account[..2], ["a", "! symbolic link loop"]);
            assert!(account[2].starts_with("! cannot be read: "), "{account:?}");
        }

        #[test]
        fn links_that_multiply_each_other_stay_bounded() {
            let dir = tree(&[]);
            let root = dir.path().join("lib");
            for from in 0..12 {
                let folder = root.join(format!("d{from}"));
                fs::create_dir(&folder).unwrap();
                for to in 0..12 {
                    symlink(format!("../d{to}"), folder.join(format!("l{to}"))).unwrap();
                }
            }
            assert!(entries(&root).len() < 12 * MAX_LINKS * 12 * 2);
            assert!(!holds_skill(&root, 6));
        }

        #[test]
        fn a_link_out_of_a_tree_is_no_skill_in_it() {
            let dir = tree(&[("../elsewhere/a/SKILL.md", &skill("a"))]);
            let root = dir.path().join("lib");
            symlink("../elsewhere", root.join("l")).unwrap();
            assert!(!holds_skill(&root, 6));
            symlink("../elsewhere/a/SKILL.md", root.join("SKILL.md")).unwrap();
            assert!(!holds_skill(&root, 6));
            fs::create_dir(root.join("b")).unwrap();
            fs::write(root.join("b/SKILL.md"), skill("b")).unwrap();
            symlink("b", root.join("c")).unwrap();
            assert!(holds_skill(&root, 6));
        }

        #[test]
        fn a_skill_whose_folder_no_id_can_name_is_skipped() {
            let dir = tree(&[
                ("a\nb/SKILL.md", &skill("a")),
                ("a\\b/c/SKILL.md", &skill("c")),
                ("a\\c/notes.md", ""),
                ("b/SKILL.md", &skill("b")),
            ]);
            let root = dir.path().join("lib");
            symlink("a\nb", root.join("link")).unwrap();
            let refused = format!("! {}", Issue::FolderName);
            let refused = refused.as_str();
            assert_eq!(account(&root), [refused, refused, "b", refused]);
            assert_eq!(account(&root.join("a\nb")), [refused]);
            assert_eq!(account(&root.join("a\nb/SKILL.md")), [refused]);
            // The folders above a library are no part of an id.
            assert_eq!(account(&root.join("a\\b/c")), ["c"]);
            let folder = root.join(OsStr::from_bytes(b"caf\xe9"));
            if fs::create_dir(&folder).is_ok() {
                fs::write(folder.join("SKILL.md"), skill("cafe")).unwrap();
                assert_eq!(account(&root), [refused, refused, "b", refused, refused]);
            }
        }

        #[test]
        fn a_pipe_named_like_a_skill_does_not_block_and_is_reported() {
            let dir = tree(&[]);
            let root = dir.path().join("lib");
            let status = std::process::Command::new("mkfifo").arg(root.join("SKILL.md")).status();
            if status.is_ok_and(|status| status.success()) {
                assert_eq!(account(&root), [format!("! {}", Issue::NotRegular)]);
            }
        }
    }
}
