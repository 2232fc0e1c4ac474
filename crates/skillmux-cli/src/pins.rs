//! [`Pins`]: what skills were when the user pinned them.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet, HashMap},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use skillmux::{
    library::{SkillPlace, SkillPlaces, Whereabouts},
    route::PresentSkill,
    skill::{ContentHash, SkillId},
};

use crate::{
    error::CliError,
    folder::{DRAFT_PREFIX, NewFile, make_folder, replace_file},
};

const VERSION: u32 = 1;

/// What skills were when the user pinned them, by id and place: skills of two projects, and of two
/// registries, may have one id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pins(Vec<Pin>);

/// One skill as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pin {
    pub(crate) id: SkillId,
    /// Where it came from.
    source: String,
    /// Its folder, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
    /// The shards or the list that it comes from, if it has no folder and that was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    registry: Option<PathBuf>,
    /// Hash of name, description and body.
    pub(crate) text: ContentHash,
    /// Hash of the files in its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<String>,
}

/// The file of pins.
#[derive(Serialize, Deserialize)]
struct PinFile {
    version: u32,
    skills: Vec<Pin>,
}

/// How skills differ from what was pinned; each list is sorted by id.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Drift {
    /// Skills that are as they were.
    pub(crate) n_same: usize,
    /// Skills whose name, description or body changed.
    pub(crate) changed: Vec<SkillId>,
    /// Skills of which the front matter or other files changed, such as scripts.
    pub(crate) changed_files: Vec<SkillId>,
    /// Skills whose text is as it was, and whose other files cannot be told: they are too many or
    /// too large, or their folder is not found.
    pub(crate) unchecked: Vec<SkillId>,
    /// Skills that are as they were, but in another folder, and so under another id.
    pub(crate) moved: Vec<Moved>,
    /// Skills that are no longer there.
    pub(crate) gone: Vec<SkillId>,
    /// Skills that were not pinned.
    pub(crate) new: Vec<SkillId>,
}

/// A skill that only moved.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Moved {
    /// Its id when it was pinned.
    pub(crate) from: SkillId,
    /// Its id now.
    pub(crate) to: SkillId,
}

impl Drift {
    /// Returns whether something is not as it was pinned.
    pub(crate) fn is_some(&self) -> bool {
        [&self.changed, &self.changed_files, &self.unchecked, &self.gone, &self.new]
            .iter()
            .any(|ids| !ids.is_empty())
            || !self.moved.is_empty()
    }

    /// Returns whether no skill that is or was there was pinned.
    pub(crate) fn is_of_others(&self) -> bool {
        let Self { n_same, changed, changed_files, unchecked, moved, gone, new: _ } = self;
        let lists = [changed, changed_files, unchecked, gone];
        *n_same == 0 && moved.is_empty() && lists.iter().all(|ids| ids.is_empty())
    }

    /// Notes whether a skill has the files that were pinned.
    fn note_files(&mut self, pin: &Pin, found: &Whereabouts) {
        let files = match found {
            Whereabouts::Found(place) => files_hash(place),
            _ => None,
        };
        // Only a skill of a registry has none.
        let has_files = pin.folder.is_some() || *found != Whereabouts::NoFolder;
        if pin.files != files {
            self.changed_files.push(pin.id.clone());
        } else if has_files && files.is_none() {
            self.unchecked.push(pin.id.clone());
        } else {
            self.n_same += 1;
        }
    }
}

impl Pins {
    /// Reads a file of pins; none if there is no file.
    pub(crate) fn read(path: &Path) -> Result<Self, CliError> {
        let refused = |detail: String| CliError::Pins { path: path.to_owned(), detail };
        let unreadable = |source| CliError::Unreadable { path: path.to_owned(), source };
        match fs::metadata(path) {
            Ok(file) if file.is_file() => {}
            Ok(_) => return Err(refused("it is no file".to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unreadable(error)),
        }
        let text = fs::read_to_string(path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => refused("it is not text".to_owned()),
            _ => unreadable(error),
        })?;
        let file: PinFile =
            serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
        if file.version != VERSION {
            return Err(refused(format!("its version is {}, not {VERSION}", file.version)));
        }
        Ok(Self(file.skills))
    }

    /// Changes a file of pins in one step, after every other process that does so.
    pub(crate) fn change(path: &Path, change: impl FnOnce(Self) -> Self) -> anyhow::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let lock = path.with_file_name(format!(".{name}.lock"));
        if let Some(folder) = lock.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder)?;
        }
        let locked = File::create(&lock).and_then(|file| file.lock().map(|()| file));
        let _locked = locked.with_context(|| format!("cannot lock `{}`", lock.display()))?;
        change(Self::read(path)?).write(path)
    }

    /// Writes the pins in one step.
    fn write(&self, path: &Path) -> anyhow::Result<()> {
        let file = PinFile { version: VERSION, skills: self.0.clone() };
        let text = serde_json::to_string_pretty(&file)? + "\n";
        // A link stays a link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        replace_file(&target, text.as_bytes(), NewFile::Private, DRAFT_PREFIX)
            .with_context(|| format!("cannot write `{}`", path.display()))
    }

    /// Returns whether nothing was pinned.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the pins of the skills at these places: those whose folder is that of the skill now,
    /// and without a folder, those of the registry of the skill; of any registry here, if it is not
    /// told which one that is.
    pub(crate) fn of(&self, places: &SkillPlaces) -> impl Iterator<Item = &Pin> {
        let roots = Roots::of(places);
        self.0.iter().filter(move |pin| {
            let is_here = |path: &PathBuf| match roots.registry_of(&pin.source) {
                Some(registry) => registry == path,
                None => roots.contains(path),
            };
            let possible = places.possible_folders(&pin.id, &pin.source);
            let is_in = |folder: &PathBuf| {
                possible.iter().any(|possible| resolved(possible).as_ref() == Some(folder))
            };
            pin.folder.as_ref().map_or(possible.is_empty(), is_in)
                && pin.registry.as_ref().is_none_or(is_here)
        })
    }

    /// Returns the pins with these skills as they are now, and with those that are in no index but
    /// still there. Pins of their places for skills that are gone are dropped.
    pub(crate) fn with(self, present: &[PresentSkill], places: &SkillPlaces) -> Self {
        let roots = Roots::of(places);
        let ids: BTreeSet<&SkillId> = present.iter().map(|skill| &skill.id).collect();
        let (here, mut pins): (Vec<Pin>, Vec<Pin>) =
            self.0.into_iter().partition(|pin| pin.is_of(present, &roots));
        for pin in here.into_iter().filter(|pin| !ids.contains(&pin.id)) {
            if let Some(place) = pin.place(places) {
                pins.push(Pin { files: files_hash(&place), ..pin });
            }
        }
        for PresentSkill { id, source, hash } in present {
            let (id, source, text) = (id.clone(), source.clone(), *hash);
            let place = place(places, &id, &source, text);
            let folder = place.as_ref().and_then(|place| resolved(place.folder()));
            let registry = roots.registry_of(&source).filter(|_| folder.is_none()).cloned();
            let files = place.as_ref().and_then(files_hash);
            pins.push(Pin { id, source, folder, registry, text, files });
        }
        let key = |pin: &Pin| (pin.id.clone(), pin.folder.clone(), pin.registry.clone());
        pins.sort_by_cached_key(key);
        Self(pins)
    }

    /// Returns how skills differ from the pins. Pins of other places say nothing.
    pub(crate) fn drift(&self, present: &[PresentSkill], places: &SkillPlaces) -> Drift {
        let mut drift = Drift::default();
        let pins: BTreeMap<&SkillId, &Pin> = self.of(places).map(|pin| (&pin.id, pin)).collect();
        for PresentSkill { id, source, hash } in present {
            match pins.get(id) {
                None => drift.new.push(id.clone()),
                Some(pin) if pin.text != *hash => drift.changed.push(id.clone()),
                Some(pin) => drift.note_files(pin, &places.find(id, source, *hash)),
            }
        }
        let ids: BTreeSet<&SkillId> = present.iter().map(|skill| &skill.id).collect();
        let roots = Roots::of(places);
        let here = self.0.iter().filter(|pin| pin.is_of(present, &roots));
        let mut new =
            NewSkills::of(present.iter().filter(|skill| !pins.contains_key(&skill.id)), places);
        for pin in here.filter(|pin| !ids.contains(&pin.id)) {
            // Another skill may say the same, or no model may load it: then it is in no index.
            if let Some(place) = pin.place(places) {
                drift.note_files(pin, &Whereabouts::Found(place));
                continue;
            }
            match new.take_same(pin) {
                Some(to) => drift.moved.push(Moved { from: pin.id.clone(), to: to.clone() }),
                None => drift.gone.push(pin.id.clone()),
            }
        }
        drift.changed_files.sort_unstable();
        drift.unchecked.sort_unstable();
        let moved: BTreeSet<SkillId> = drift.moved.iter().map(|moved| moved.to.clone()).collect();
        drift.new.retain(|id| !moved.contains(id));
        drift
    }
}

/// Skills that nobody pinned where they are, by their texts.
struct NewSkills<'p> {
    places: &'p SkillPlaces,
    of_text: HashMap<ContentHash, Vec<NewSkill<'p>>>,
}

struct NewSkill<'p> {
    skill: &'p PresentSkill,
    /// The hash of its files, once it was asked for.
    files: OnceCell<Option<String>>,
}

impl<'p> NewSkills<'p> {
    fn of(skills: impl Iterator<Item = &'p PresentSkill>, places: &'p SkillPlaces) -> Self {
        let mut of_text: HashMap<ContentHash, Vec<NewSkill<'p>>> = HashMap::new();
        for skill in skills {
            let files = OnceCell::new();
            of_text.entry(skill.hash).or_default().push(NewSkill { skill, files });
        }
        Self { places, of_text }
    }

    /// Takes out the first skill that is what was pinned, with all files of its folder. Where the
    /// files cannot be told, they may be others.
    fn take_same(&mut self, pin: &Pin) -> Option<&'p SkillId> {
        let pinned = pin.files.as_ref()?;
        let same_text = self.of_text.get_mut(&pin.text)?;
        let files_of = |PresentSkill { id, source, hash }: &PresentSkill| {
            place(self.places, id, source, *hash).as_ref().and_then(files_hash)
        };
        let is_same = |new: &NewSkill<'_>| {
            new.files.get_or_init(|| files_of(new.skill)).as_ref() == Some(pinned)
        };
        let at = same_text.iter().position(is_same)?;
        Some(&same_text.remove(at).skill.id)
    }
}

impl Pin {
    /// Returns whether it is of a place that some skills come from: below a folder of these, of a
    /// registry of these, or with the source of one if neither is known.
    fn is_of(&self, present: &[PresentSkill], roots: &Roots<'_>) -> bool {
        match (&self.folder, &self.registry) {
            (Some(folder), _) => roots.paths().any(|root| folder.starts_with(root)),
            (None, Some(registry)) => roots.contains(registry),
            (None, None) => present.iter().any(|skill| skill.source == self.source),
        }
    }

    /// Returns the skill that is in its folder now.
    fn place(&self, places: &SkillPlaces) -> Option<SkillPlace> {
        let found = place(places, &self.id, &self.source, self.text)?;
        (resolved(found.folder()) == self.folder).then_some(found)
    }
}

/// The folders and registries that skills come from, whose paths are resolved once: there may be a
/// pin for each of many skills.
struct Roots<'p> {
    places: &'p SkillPlaces,
    /// Each as it was given, and resolved.
    resolved: Vec<(&'p Path, PathBuf)>,
}

impl<'p> Roots<'p> {
    fn of(places: &'p SkillPlaces) -> Self {
        let resolved = places.roots().filter_map(|root| Some((root, resolved(root)?))).collect();
        Self { places, resolved }
    }

    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.resolved.iter().map(|(_, path)| path)
    }

    fn contains(&self, path: &Path) -> bool {
        self.paths().any(|root| root == path)
    }

    /// Returns the path of the registry with the skills of a source, if it can be told.
    fn registry_of(&self, source: &str) -> Option<&PathBuf> {
        let given = self.places.registry_of(source)?;
        self.resolved.iter().find(|(root, _)| *root == given).map(|(_, path)| path)
    }
}

/// Returns one path for all spellings of it, links included.
fn resolved(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok()
}

fn place(
    places: &SkillPlaces,
    id: &SkillId,
    source: &str,
    text: ContentHash,
) -> Option<SkillPlace> {
    match places.find(id, source, text) {
        Whereabouts::Found(place) => Some(place),
        _ => None,
    }
}

fn files_hash(place: &SkillPlace) -> Option<String> {
    Some(place.files_hash()?.to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use std::slice;

    use skillmux::library::Source;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_linked_file_of_pins_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| dir.path().join(name));
        Pins::change(&file, |pins| pins).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        Pins::change(&link, |pins| pins).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    fn skill(id: &str, source: &str, byte: u8) -> PresentSkill {
        let hash = ContentHash::from_bytes([byte; 16]);
        PresentSkill { id: SkillId::new(id), source: source.to_owned(), hash }
    }

    fn ids(ids: &[SkillId]) -> Vec<&str> {
        ids.iter().map(SkillId::as_str).collect()
    }

    #[test]
    fn drift_is_what_changed_went_or_came() {
        let places = SkillPlaces::default();
        let pins = Pins::default()
            .with(&[skill("a", "one", 1), skill("b", "one", 1), skill("c", "one", 1)], &places)
            .with(&[skill("z", "two", 1)], &places);
        let drift = pins
            .drift(&[skill("a", "one", 1), skill("b", "one", 2), skill("d", "one", 1)], &places);
        assert_eq!((drift.n_same, drift.is_some()), (1, true));
        assert_eq!(
            (ids(&drift.changed), ids(&drift.gone), ids(&drift.new)),
            (vec!["b"], vec!["c"], vec!["d"])
        );
        assert!(!drift.is_of_others());
        assert!(Drift { new: drift.new, ..Drift::default() }.is_of_others());
        let again = pins.with(&[skill("a", "one", 3)], &places);
        assert_eq!(again.0.iter().map(|pin| pin.id.as_str()).collect::<Vec<_>>(), ["a", "z"]);
        assert!(!again.drift(&[skill("a", "one", 3)], &places).is_some());
    }

    #[test]
    fn a_skill_that_only_moved_is_told_with_both_ids() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("lib");
        let write = |id: &str, text: &str| {
            fs::create_dir_all(root.join(id)).unwrap();
            fs::write(root.join(id).join("SKILL.md"), "Text.").unwrap();
            fs::write(root.join(id).join("run.py"), text).unwrap();
        };
        let places = SkillPlaces::new(vec![Source::folder(&root)]);
        write("a", "one");
        write("b", "one");
        let pins = Pins::default().with(&[skill("a", "lib", 1), skill("b", "lib", 2)], &places);
        fs::create_dir(root.join("x")).unwrap();
        for id in ["a", "b"] {
            fs::rename(root.join(id), root.join("x").join(id)).unwrap();
        }
        // Another script makes it another skill.
        write("x/b", "two");
        let drift = pins.drift(&[skill("x/a", "lib", 1), skill("x/b", "lib", 2)], &places);
        let moved = Moved { from: SkillId::new("a"), to: SkillId::new("x/a") };
        assert_eq!(drift.moved, [moved]);
        assert_eq!((ids(&drift.gone), ids(&drift.new)), (vec!["b"], vec!["x/b"]));
        assert!(drift.is_some());
    }

    #[test]
    fn a_skill_that_is_there_and_in_no_index_keeps_its_pin() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("lib");
        let write = |id: &str, text: &str| {
            fs::create_dir_all(root.join(id)).unwrap();
            fs::write(root.join(id).join("SKILL.md"), "Text.").unwrap();
            fs::write(root.join(id).join("run.py"), text).unwrap();
        };
        let places = SkillPlaces::new(vec![Source::folder(&root)]);
        write("b", "one");
        let pins = Pins::default().with(&[skill("b", "lib", 1)], &places);
        // A copy takes its place in the index.
        write("a", "one");
        let present = [skill("a", "lib", 1)];
        let drift = pins.drift(&present, &places);
        assert_eq!((drift.n_same, ids(&drift.new)), (1, vec!["a"]));
        assert_eq!((ids(&drift.gone), drift.moved.len()), (vec![], 0));
        let pins = pins.with(&present, &places);
        assert_eq!((pins.0.len(), pins.drift(&present, &places).n_same), (2, 2));

        write("b", "two");
        assert_eq!(ids(&pins.drift(&present, &places).changed_files), ["b"]);
        let pins = pins.with(&present, &places);
        assert!(!pins.drift(&present, &places).is_some());
        assert_eq!(ids(&pins.drift(&[skill("b", "lib", 2)], &places).changed), ["b"]);
        fs::remove_dir_all(root.join("b")).unwrap();
        assert_eq!(ids(&pins.drift(&present, &places).gone), ["b"]);
        assert_eq!(pins.with(&present, &places).0.len(), 1);
    }

    #[test]
    fn files_that_cannot_be_hashed_are_no_files_that_are_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("lib");
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(root.join("a/SKILL.md"), "Text.").unwrap();
        let places = SkillPlaces::new(vec![Source::folder(&root)]);
        let skill = skill("a", "lib", 1);
        let drift = |pins: &Pins| pins.drift(slice::from_ref(&skill), &places);
        let small = Pins::default().with(slice::from_ref(&skill), &places);
        assert!(!drift(&small).is_some());
        let file = fs::File::create(root.join("a/model.bin")).unwrap();
        file.set_len(257 << 20).unwrap();
        assert_eq!(ids(&drift(&small).changed_files), ["a"]);
        let large = Pins::default().with(slice::from_ref(&skill), &places);
        let drift = drift(&large);
        assert_eq!((ids(&drift.unchecked), drift.n_same, drift.is_some()), (vec!["a"], 0, true));
    }

    #[test]
    fn a_skill_of_a_folder_that_is_not_found_is_not_checked() {
        let dir = tempfile::tempdir().unwrap();
        let places = SkillPlaces::new(vec![Source::folder(dir.path())]);
        let source = dir.path().file_name().unwrap().to_str().unwrap();
        let skill = skill("a\\b", source, 1);
        let pins = Pins::default().with(slice::from_ref(&skill), &places);
        let drift = pins.drift(slice::from_ref(&skill), &places);
        assert_eq!((ids(&drift.unchecked), drift.n_same), (vec!["a\\b"], 0));
    }

    #[test]
    fn skills_of_two_projects_with_one_id_have_a_pin_each() {
        let dir = tempfile::tempdir().unwrap();
        let places = ["one", "two"].map(|project| {
            let root = dir.path().join(project).join("lib");
            fs::create_dir_all(root.join("a")).unwrap();
            fs::write(root.join("a/SKILL.md"), project).unwrap();
            SkillPlaces::new(vec![Source::folder(&root)])
        });
        let (here, there) = (skill("a", "lib", 1), skill("a", "lib", 2));
        let pins = Pins::default().with(slice::from_ref(&here), &places[0]);
        let drift = pins.drift(slice::from_ref(&there), &places[1]);
        assert_eq!((ids(&drift.new), ids(&drift.changed)), (vec!["a"], vec![]));
        let pins = pins.with(slice::from_ref(&there), &places[1]);
        assert!(!pins.drift(&[here], &places[0]).is_some());
        assert!(!pins.drift(&[there], &places[1]).is_some());
        assert_eq!(pins.of(&places[1]).count(), 1);
    }

    #[test]
    fn skills_of_two_registries_with_one_id_have_a_pin_each() {
        let places = ["one/pool.jsonl", "two/pool.jsonl"]
            .map(|path| SkillPlaces::new(vec![Source::shards(path)]));
        let (here, there) = (skill("a", "pool", 1), skill("a", "pool", 2));
        let pins = Pins::default().with(slice::from_ref(&here), &places[0]);
        let drift = pins.drift(slice::from_ref(&there), &places[1]);
        assert_eq!((ids(&drift.new), ids(&drift.changed)), (vec!["a"], vec![]));
        let pins = pins.with(slice::from_ref(&there), &places[1]);
        assert!(!pins.drift(&[here], &places[0]).is_some());
        assert!(!pins.drift(&[there], &places[1]).is_some());
        assert_eq!(ids(&pins.drift(&[], &places[1]).gone), ["a"]);
    }

    #[test]
    fn two_registries_whose_rows_name_sources_are_pinned_together_and_alone() {
        let of = |paths: &[&str]| SkillPlaces::new(paths.iter().map(Source::shards).collect());
        let both = of(&["one.jsonl", "two.jsonl"]);
        let (here, there) = (skill("a", "s1", 1), skill("b", "s2", 2));
        let all = [here.clone(), there.clone()];
        let pins = Pins::default().with(&all, &both);
        assert!(!pins.drift(&all, &both).is_some());
        assert!(!pins.drift(slice::from_ref(&here), &of(&["one.jsonl"])).is_some());
        assert!(!pins.drift(&all, &of(&["two.jsonl", "one.jsonl"])).is_some());
        let alone = Pins::default()
            .with(slice::from_ref(&here), &of(&["one.jsonl"]))
            .with(slice::from_ref(&there), &of(&["./two.jsonl"]));
        assert!(!alone.drift(&all, &both).is_some());
        let changed = skill("b", "s2", 3);
        assert_eq!(ids(&alone.drift(&[here, changed], &both).changed), ["b"]);
    }

    #[test]
    fn pins_that_are_added_at_the_same_time_are_all_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pins.json");
        let add = |n: u8| {
            let skill = skill("a", &n.to_string(), n);
            Pins::change(&path, |pins| pins.with(&[skill], &SkillPlaces::default())).unwrap();
        };
        std::thread::scope(|scope| (0..20).for_each(|n| drop(scope.spawn(move || add(n)))));
        assert_eq!(Pins::read(&path).unwrap().0.len(), 20);
    }

    #[test]
    fn pins_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/pins.json");
        assert!(Pins::read(&path).unwrap().is_empty());
        let pins = Pins::default().with(&[skill("a", "one", 7)], &SkillPlaces::default());
        Pins::change(&path, |_| pins.clone()).unwrap();
        assert_eq!(Pins::read(&path).unwrap(), pins);
        for text in
            ["", "{}", "{\"version\": 2, \"skills\": {}}", "{\"version\": 1, \"skills\": [1]}"]
        {
            fs::write(&path, text).unwrap();
            assert!(matches!(Pins::read(&path), Err(CliError::Pins { .. })), "{text}");
        }
    }
}
