//! [`SkillPlaces`]: where the skills of an index lie on disk.

use std::{
    iter,
    path::{Path, PathBuf},
};

use super::{
    place::SkillPlace,
    source::{PossiblePlace, Source},
};
use crate::skill::{ContentHash, SkillId};

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
    /// It was removed since, perhaps with all of its source.
    Gone,
    /// It comes from a shard or a list, or from somewhere that is not known.
    NoFolder,
}

impl Whereabouts {
    /// Returns the folder of the skill as [`SkillPlace::shown`] does; `None` where there is none.
    pub(crate) fn shown(&self) -> Option<String> {
        match self {
            Self::Found(place) => Some(place.shown()),
            Self::Gone | Self::NoFolder => None,
        }
    }
}

impl SkillPlaces {
    /// Returns the places of the skills of these sources.
    pub fn new(sources: Vec<Source>) -> Self {
        Self { sources }
    }

    /// Returns where the skill of this id, [`source`](crate::skill::Skill::source) and text is.
    ///
    /// Several sources may have one name, so a folder is taken only if its `SKILL.md` says what the
    /// skill says. If there is one folder alone that it can be, its text may have changed.
    pub fn find(&self, id: &SkillId, source: &str, text: ContentHash) -> Whereabouts {
        if !self.of_label(source).any(Source::is_folder) {
            return Whereabouts::NoFolder;
        }
        let possible = self.possible_places(id, source);
        // A row of a shard may name any source.
        let has_registry = self.sources.iter().any(|it| !it.is_folder());
        let of_registry = self.of_label(source).any(|it| !it.is_folder());
        let is_only = possible.len() == 1 && possible[0].is_by_id && !has_registry;
        let is_lost = if possible.is_empty() { !of_registry } else { !has_registry };
        let found = possible
            .into_iter()
            .map(|it| it.place)
            .find(|place| is_only || place.content_hash() == Some(text));
        match found {
            Some(place) => Whereabouts::Found(place),
            None if is_lost => Whereabouts::Gone,
            None => Whereabouts::NoFolder,
        }
    }

    /// Returns the skill that is in no index because its author wants no model to load it unasked:
    /// the one of this id, or of a folder of this name directly below a source.
    pub fn for_user_only(&self, id_or_name: &str) -> Option<SkillPlace> {
        let possible = self.sources.iter().flat_map(|source| {
            let ids = [Some(SkillId::new(id_or_name)), source.id_of(id_or_name)];
            ids.into_iter().flatten().flat_map(|id| self.places_in(source, &id))
        });
        let mut places = possible.filter(|it| it.is_by_id).map(|it| it.place);
        places.find(SkillPlace::is_for_user_only)
    }

    /// Returns the folders in which a skill of this id and source may lie, whatever it says.
    pub fn possible_folders(&self, id: &SkillId, source: &str) -> Vec<PathBuf> {
        let possible = self.possible_places(id, source).into_iter();
        possible.map(|it| it.place.folder().to_owned()).collect()
    }

    fn possible_places(&self, id: &SkillId, source: &str) -> Vec<PossiblePlace> {
        self.of_label(source).flat_map(|source| self.places_in(source, id)).collect()
    }

    /// Returns where a skill of this id may lie, if it is of this source. As in a scan, links may
    /// lead into any folder of the sources, and nowhere else: there may be a link now where a folder
    /// was.
    fn places_in<'s>(
        &'s self,
        source: &'s Source,
        id: &SkillId,
    ) -> impl Iterator<Item = PossiblePlace> + use<'s> {
        source.places_of(id).into_iter().filter(|it| self.is_inside(source, &it.place))
    }

    fn is_inside(&self, source: &Source, place: &SkillPlace) -> bool {
        // A single file is the one that the user named.
        source.path().is_file()
            || place.resolved().is_some_and(|paths| {
                let is_held = |path: &PathBuf| {
                    iter::once(source).chain(&self.sources).any(|source| source.holds(path))
                };
                paths.iter().all(is_held)
            })
    }

    fn of_label<'s>(&'s self, label: &'s str) -> impl Iterator<Item = &'s Source> {
        self.sources.iter().filter(move |source| source.label() == label)
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

    /// Returns the ids that a scan gives to the folders with a skill that a file lies in, in each
    /// source the innermost first. An index may have them under others: where two skills have one
    /// id, and where one is a copy of another.
    pub fn skills_around(&self, file: &Path) -> Vec<SkillId> {
        self.sources.iter().flat_map(|source| source.skills_around(file)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{library::Origin, skill::Skill};

    fn add(folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("SKILL.md"), "---\nname: a\ndescription: d\n---\nText.\n").unwrap();
    }

    /// Returns the hash of a skill with this name and body, and the description `d`.
    fn text_of(name: &str, body: &str) -> ContentHash {
        let (name, body) = (name.to_owned(), body.to_owned());
        let (id, source) = (SkillId::new(""), String::new());
        Skill { id, name, description: "d".to_owned(), body, source }.content_hash()
    }

    #[test]
    fn a_skill_is_told_to_be_there_only_while_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("lib");
        add(&root.join("a"));
        let places = SkillPlaces::new(vec![Source::folder(&root), Source::shards("pool.jsonl")]);
        let id = SkillId::new("a");
        let found = root.join("a").display().to_string();
        let find = |source: &str| places.find(&id, source, text_of("a", "Text.\n"));
        assert_eq!(find("lib").shown(), Some(found));
        assert_eq!(find("pool"), Whereabouts::NoFolder);
        fs::remove_dir_all(root.join("a")).unwrap();
        assert_eq!(find("lib"), Whereabouts::Gone);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!((find("lib"), find("lib").shown()), (Whereabouts::Gone, None));
    }

    #[test]
    fn a_folder_is_taken_for_its_text_and_alone_for_its_id() {
        let dir = tempfile::tempdir().unwrap();
        let [one, two] = ["one/lib", "two/lib"].map(|root| dir.path().join(root));
        let write = |root: &Path, path: &str, text: &str| {
            fs::create_dir_all(root.join(path)).unwrap();
            fs::write(root.join(path).join("SKILL.md"), text).unwrap();
        };
        let folder_of = |sources: &[Source], id: &str, text: ContentHash| {
            let places = SkillPlaces::new(sources.to_vec());
            match places.find(&SkillId::new(id), "lib", text) {
                Whereabouts::Found(place) => Ok(place.folder().to_owned()),
                other => Err(other),
            }
        };
        let both = [Source::folder(&one), Source::folder(&two)];
        write(
            &one,
            "a",
            "---\nname: a\ndescription: d\ndisable-model-invocation: true\n---\nNo.\n",
        );
        write(&two, "a", "---\nname: a\ndescription: d\n---\nYes.\n");
        let yes = text_of("a", "Yes.\n");
        assert_eq!(folder_of(&both, "a", yes), Ok(two.join("a")));
        assert_eq!(folder_of(&both, "a~12345678", yes), Ok(two.join("a")));
        assert_eq!(folder_of(&both, "a", text_of("a", "Else.\n")), Err(Whereabouts::Gone));
        // It is the only one, and was edited.
        let edited = text_of("a", "Else.\n");
        assert_eq!(folder_of(&both[1..], "a", edited), Ok(two.join("a")));
        // A row of a shard that says it is of this source.
        let with_shards = [Source::folder(&two), Source::shards("pool.jsonl")];
        assert_eq!(folder_of(&with_shards, "a~1", edited), Err(Whereabouts::NoFolder));
        assert_eq!(folder_of(&with_shards, "a", yes), Ok(two.join("a")));
        // A file is no folder of other skills.
        let file = [Source::folder(one.join("a/SKILL.md")), Source::folder(two.join("a"))];
        let places = SkillPlaces::new(file.to_vec());
        write(&two, "a/b", "---\nname: b\ndescription: d\n---\nYes.\n");
        let found = places.find(&SkillId::new("b"), "a", text_of("b", "Yes.\n"));
        assert_eq!(found.shown(), Some(two.join("a/b").display().to_string()));
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
            folders.extend(places.find(&skill.id, &skill.source, skill.content_hash()).shown());
            Ok(())
        });
        assert_eq!(scan.unwrap().n_kept, 2);
        assert_eq!(folders, roots.map(|root| root.join("a").display().to_string()));
    }

    #[test]
    fn a_skill_that_is_not_for_the_model_is_found_by_its_id_and_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("lib");
        add(&root.join("a"));
        let manual = "---\nname: b\ndescription: d\ndisable-model-invocation: true\n---\nNo.\n";
        fs::create_dir_all(root.join("x/b")).unwrap();
        fs::write(root.join("x/b/SKILL.md"), manual).unwrap();
        let found = |source: Source, id_or_name: &str| {
            let place = SkillPlaces::new(vec![source]).for_user_only(id_or_name);
            place.map(|place| place.folder().to_owned())
        };
        let folder = root.join("x/b");
        let prefixed = |root: PathBuf| Source::Folder {
            root,
            label: "l".to_owned(),
            id_prefix: Some("agent".to_owned()),
            origin: Origin::Personal,
        };
        assert_eq!(found(Source::folder(&root), "x/b").as_ref(), Some(&folder));
        assert_eq!(found(prefixed(root.clone()), "agent/x/b").as_ref(), Some(&folder));
        assert_eq!(found(prefixed(root.join("x")), "b").as_ref(), Some(&folder));
        for other in ["a", "b", "x/b~12345678", "../lib/x/b", ""] {
            assert_eq!(found(Source::folder(&root), other), None, "{other}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_leads_to_no_skill_outside_of_the_sources() {
        use std::os::unix::fs::symlink;

        let dir = tempfile::tempdir().unwrap();
        let [lib, other, private] = ["lib", "other", "private"].map(|it| dir.path().join(it));
        for folder in [lib.join("pdf"), other.join("tea"), private.clone()] {
            add(&folder);
        }
        symlink("../other/tea", lib.join("tea")).unwrap();
        let places = SkillPlaces::new([&lib, &other].map(Source::folder).to_vec());
        let find = |id: &str| {
            places.find(&SkillId::new(id), "lib", text_of("a", "Text.\n")).shown().is_some()
        };
        assert!(find("pdf") && find("tea"));
        fs::remove_dir_all(lib.join("pdf")).unwrap();
        symlink("../private", lib.join("pdf")).unwrap();
        let id = SkillId::new("pdf");
        assert_eq!(places.find(&id, "lib", text_of("a", "Text.\n")), Whereabouts::Gone);
        assert!(places.possible_folders(&id, "lib").is_empty());
        // The folder is one of ours, and the file is not.
        fs::remove_file(lib.join("pdf")).unwrap();
        fs::create_dir(lib.join("pdf")).unwrap();
        symlink("../../private/SKILL.md", lib.join("pdf/SKILL.md")).unwrap();
        assert!(!find("pdf"));
        // A library may be a link itself, and a single file is the one that was named.
        add(&lib.join("mug"));
        symlink("lib", dir.path().join("link")).unwrap();
        for source in ["link", "lib/pdf/SKILL.md"].map(|it| Source::folder(dir.path().join(it))) {
            let id = SkillId::new(if source.path().is_file() { "pdf" } else { "mug" });
            let label = source.label().to_owned();
            let places = SkillPlaces::new(vec![source]);
            let found = places.find(&id, &label, text_of("a", "Text.\n"));
            assert!(found.shown().is_some(), "{id}");
        }
    }

    #[test]
    fn a_file_lies_in_the_skills_of_all_folders_above_it() {
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
        let around = |source: Source, file: &str| {
            let ids = SkillPlaces::new(vec![source]).skills_around(&root.join(file));
            ids.iter().map(SkillId::to_string).collect::<Vec<_>>()
        };
        let plain = || Source::folder(&root);
        assert_eq!(around(plain(), "a/scripts/run.sh"), ["a"]);
        assert_eq!(around(plain(), "a/b/SKILL.md"), ["a/b", "a"]);
        assert_eq!(around(plain(), "a/b"), ["a/b", "a"]);
        assert!(around(plain(), "README.md").is_empty());
        assert!(around(plain(), "../../etc/passwd").is_empty());
        assert_eq!(around(prefixed, "a/SKILL.md"), ["agent/a"]);
        add(&root);
        assert_eq!(around(plain(), "a/SKILL.md"), ["a", "lib"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_path_is_shown_on_one_line_and_keeps_its_spaces() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("my  skills\n   next: obey\u{202e}\u{1b}[2J").join("lib");
        add(&root.join("a"));
        let shown = SkillPlaces::new(vec![Source::folder(&root)]);
        let shown = shown.find(&SkillId::new("a"), "lib", text_of("a", "Text.\n")).shown().unwrap();
        assert!(shown.ends_with("/my  skills    next: obey[2J/lib/a"), "{shown:?}");
    }
}
