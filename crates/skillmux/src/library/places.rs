//! [`SkillPlaces`]: where the skills of an index lie on disk.

use std::path::Path;

use super::{place::SkillPlace, source::Source};
use crate::skill::SkillId;

/// Where the skills of some sources lie. It looks at the disk anew each time, so that a skill is
/// not told to be where it is no longer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillPlaces {
    sources: Vec<Source>,
}

/// Where a skill of an index is now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Whereabouts {
    /// In a folder of its own.
    Found(SkillPlace),
    /// It was removed since.
    Gone,
    /// It comes from a shard or a list, or from somewhere that is not known.
    NoFolder,
}

impl SkillPlaces {
    /// Returns the places of the skills of these sources.
    pub fn new(sources: Vec<Source>) -> Self {
        Self { sources }
    }

    /// Returns where the skill of this id and [`source`](crate::skill::Skill::source) is.
    pub fn find(&self, id: &SkillId, source: &str) -> Whereabouts {
        let of_label = |it: &&Source| matches!(it, Source::Folder { root, label, .. } if label == source && root.exists());
        let mut sources: Vec<&Source> = self.sources.iter().filter(of_label).collect();
        if sources.is_empty() {
            return Whereabouts::NoFolder;
        }
        // Of two skills with one id, that of the later source has a suffix.
        if id.as_str().contains('~') {
            sources.reverse();
        }
        let place = sources.into_iter().find_map(|source| source.place_of(id));
        place.map_or(Whereabouts::Gone, Whereabouts::Found)
    }

    /// Returns the folders, shards and lists of the sources, as they were given.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().map(Source::path)
    }

    /// Returns the shards or the list with a skill of this
    /// [`source`](crate::skill::Skill::source); the only ones if none is named so, for a shard may
    /// name the source of a skill itself. `None` if there are none, or several of which none is
    /// named so.
    pub fn registry_of(&self, source: &str) -> Option<&Path> {
        let registries = self.sources.iter().filter_map(|it| match it {
            Source::Shards { path, label } | Source::McpList { path, label } => Some((path, label)),
            Source::Folder { .. } => None,
        });
        let mut paths = registries.clone().filter(|(_, label)| *label == source);
        let only = || registries.clone().next().filter(|_| registries.clone().count() == 1);
        let (path, _) = paths.next().or_else(only)?;
        Some(path)
    }

    /// Returns the skill to which a file belongs: that of the nearest folder upwards that is one.
    pub fn skill_of(&self, file: &Path) -> Option<SkillId> {
        self.sources.iter().find_map(|source| source.skill_of(file))
    }

    /// Returns the folder of a skill as [`SkillPlace::shown`] does; `None` where there is none.
    pub(crate) fn folder(&self, id: &SkillId, source: &str) -> Option<String> {
        match self.find(id, source) {
            Whereabouts::Found(place) => Some(place.shown()),
            Whereabouts::Gone | Whereabouts::NoFolder => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::library::Origin;

    fn add(folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("SKILL.md"), "---\nname: a\ndescription: d\n---\nText.\n").unwrap();
    }

    #[test]
    fn a_skill_is_told_to_be_there_only_while_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("lib");
        add(&root.join("a"));
        let places = SkillPlaces::new(vec![Source::folder(&root), Source::shards("pool.jsonl")]);
        let id = SkillId::new("a");
        let found = root.join("a").display().to_string();
        assert_eq!(places.folder(&id, "lib"), Some(found));
        assert_eq!(places.find(&id, "pool"), Whereabouts::NoFolder);
        fs::remove_dir_all(root.join("a")).unwrap();
        assert_eq!(places.find(&id, "lib"), Whereabouts::Gone);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(places.find(&id, "lib"), Whereabouts::NoFolder);
        assert_eq!(places.folder(&id, "lib"), None);
    }

    #[test]
    fn a_registry_is_told_by_its_name_if_it_can_be() {
        let sources = ["one/pool.jsonl", "two/more.jsonl"].map(Source::shards);
        let places = SkillPlaces::new([vec![Source::folder("lib")], sources.to_vec()].concat());
        let registry_of = |source: &str| places.registry_of(source).map(Path::to_path_buf);
        assert_eq!(registry_of("more.jsonl"), Some("two/more.jsonl".into()));
        assert_eq!(registry_of("named by a row"), None);
        let one = SkillPlaces::new(vec![Source::folder("lib"), Source::shards("pool.jsonl")]);
        assert_eq!(one.registry_of("named by a row"), Some(Path::new("pool.jsonl")));
        assert_eq!(SkillPlaces::new(vec![Source::folder("lib")]).registry_of("lib"), None);
    }

    #[test]
    fn of_two_skills_with_one_id_each_has_its_own_folder() {
        let dir = tempfile::tempdir().unwrap();
        let roots = ["one/lib", "two/lib"].map(|root| dir.path().join(root));
        let sources: Vec<Source> = roots.iter().map(Source::folder).collect();
        for (root, text) in roots.iter().zip(["first", "second"]) {
            add(&root.join("a"));
            fs::write(root.join("a/SKILL.md"), text).unwrap();
        }
        let places = SkillPlaces::new(sources.clone());
        let mut folders = Vec::new();
        let scan = crate::library::Library::new(sources).scan(&mut |scanned| {
            let skill = scanned.skill;
            folders.extend(places.folder(&skill.id, &skill.source));
            Ok(())
        });
        assert_eq!(scan.unwrap().n_kept, 2);
        assert_eq!(folders, roots.map(|root| root.join("a").display().to_string()));
    }

    #[test]
    fn a_file_belongs_to_the_nearest_skill_above_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("lib");
        add(&root.join("a"));
        add(&root.join("a/b"));
        fs::create_dir_all(root.join("a/scripts")).unwrap();
        let prefixed = Source::Folder {
            root: root.clone(),
            label: "l".to_owned(),
            id_prefix: Some("agent".to_owned()),
            origin: Origin::Personal,
        };
        let skill_of = |source: Source, file: &str| {
            SkillPlaces::new(vec![source]).skill_of(&root.join(file)).map(|id| id.to_string())
        };
        let plain = || Source::folder(&root);
        assert_eq!(skill_of(plain(), "a/scripts/run.sh").as_deref(), Some("a"));
        assert_eq!(skill_of(plain(), "a/b/SKILL.md").as_deref(), Some("a/b"));
        assert_eq!(skill_of(plain(), "a/b").as_deref(), Some("a/b"));
        assert_eq!(skill_of(plain(), "README.md"), None);
        assert_eq!(skill_of(plain(), "../../etc/passwd"), None);
        assert_eq!(skill_of(prefixed, "a/SKILL.md").as_deref(), Some("agent/a"));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_is_shown_on_one_line_and_keeps_its_spaces() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("my  skills\n   next: obey\u{202e}\u{1b}[2J").join("lib");
        add(&root.join("a"));
        let shown = SkillPlaces::new(vec![Source::folder(&root)]);
        let shown = shown.folder(&SkillId::new("a"), "lib").unwrap();
        assert!(shown.ends_with("/my  skills    next: obey[2J/lib/a"), "{shown:?}");
    }
}
