//! Damage to the files of an index is told, never a panic, and can be undone.

use std::{
    fs,
    path::{Path, PathBuf},
};

use proptest::prelude::*;
use skillmux::{
    Error, ErrorKind, Result,
    index::{FORMAT_VERSION, Index, IndexedSkill},
    query::Query,
    route::{RouteOptions, Router, Stages},
};
use tempfile::TempDir;

use crate::library::{Line, Workshop, contents, sample, tempdir};

/// A way to damage a file.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Truncated,
    Flipped,
    Removed,
    Emptied,
}

const ALL: [Damage; 4] = [Damage::Truncated, Damage::Flipped, Damage::Removed, Damage::Emptied];

impl Damage {
    /// Damages a file without touching another name that it may have.
    fn inflict(self, path: &Path) {
        let mut bytes = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        let middle = bytes.len() / 2;
        match self {
            Self::Truncated => bytes.truncate(middle),
            Self::Flipped => bytes[middle] ^= 0x10,
            Self::Removed => return,
            Self::Emptied => bytes.clear(),
        }
        fs::write(path, bytes).unwrap();
    }
}

/// The skills of the first generation; the second has all of the sample.
fn first() -> Vec<Line> {
    sample()[..3].to_vec()
}

fn two_generations() -> Workshop {
    let workshop = Workshop::with(&first());
    workshop.update(&sample()).unwrap();
    workshop
}

/// Copies a folder; a file with two names becomes two files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Returns a copy of a workshop's index.
fn copy_of(workshop: &Workshop) -> TempDir {
    let dir = tempdir();
    copy(&workshop.index_path(), dir.path());
    dir
}

/// Returns the files at or below a folder that are not empty, relative to it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            found.extend(files(&path).iter().map(|inner| name.join(inner)));
        } else if path.metadata().unwrap().len() > 0 {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// Opens an index and reads all that it holds.
fn read_all(path: &Path) -> Result<Vec<IndexedSkill>> {
    let index = Index::open(path)?;
    let texts = contents(&index)?;
    let router = Router::new(index, Stages::default())?;
    for task in ["fill in the PDF form", "核对发票"] {
        router.route(&Query::new(task).unwrap(), &RouteOptions::default())?;
    }
    Ok(texts)
}

fn assert_corrupt(
    error: &Error,
    path: &Path,
    generation: impl Into<Option<u64>>,
    previous: Option<u64>,
) {
    let Error::IndexCorrupt { path: found, generation: number, previous: whole, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!((found.as_path(), *number, *whole), (path, generation.into(), previous), "{error}");
    let expected = match previous {
        Some(previous) => format!("generation {previous} is whole: go back to it"),
        None => "make the index again".to_owned(),
    };
    assert_eq!(error.hint(), Some(expected));
}

#[test]
fn damage_to_any_file_is_told_and_undone_by_going_back() {
    let workshop = two_generations();
    let first = contents(&Workshop::with(&first()).open().unwrap()).unwrap();
    let names = files(&workshop.index_path().join("gen-000002"));
    assert!(names.len() > 8, "{names:?}");
    for (name, damage) in names.iter().flat_map(|name| ALL.map(|damage| (name, damage))) {
        let dir = copy_of(&workshop);
        damage.inflict(&dir.path().join("gen-000002").join(name));
        let error = read_all(dir.path())
            .expect_err(&format!("{} {damage:?} was not noticed", name.display()));
        assert_corrupt(&error, dir.path(), 2, Some(1));
        assert!(error.to_string().contains(&format!(": {} ", name.display())), "{error}");
        if let Ok(index) = Index::open(dir.path()) {
            let error = index.verify().unwrap_err();
            assert_corrupt(&error, dir.path(), 2, Some(1));
            assert!(error.to_string().contains(&format!(": {} ", name.display())), "{error}");
        }
        assert_eq!(Index::restore(dir.path()).unwrap(), Some(1));
        assert_eq!(read_all(dir.path()).unwrap(), first);
        Index::open(dir.path()).unwrap().verify().unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_the_system_does_not_let_be_read_is_not_called_corrupt() {
    // A link to itself: what it hides cannot be known, for the superuser neither.
    let hide = |path: &Path| {
        fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink(path, path).unwrap();
    };
    let workshop = two_generations();
    for name in files(&workshop.index_path().join("gen-000002")) {
        let dir = copy_of(&workshop);
        let path = dir.path().join("gen-000002").join(&name);
        hide(&path);
        let error = read_all(dir.path()).unwrap_err();
        let Error::Read { path: found, .. } = &error else { panic!("{error:?}") };
        assert_eq!((found, error.kind()), (&path, ErrorKind::Environment));
        assert_eq!(Index::restore(dir.path()).unwrap(), Some(1));
        fs::write(dir.path().join("CURRENT"), "no name").unwrap();
        hide(&dir.path().join("gen-000001/skills.bin"));
        assert!(matches!(Index::restore(dir.path()), Err(Error::Read { .. })));
    }
}

#[test]
fn an_update_goes_on_from_a_restored_generation() {
    let workshop = two_generations();
    let path = workshop.index_path();
    Damage::Truncated.inflict(&path.join("gen-000002/skills.bin"));
    assert_corrupt(&workshop.update(&sample()).unwrap_err(), &path, 2, Some(1));
    assert_eq!(Index::restore(&path).unwrap(), Some(1));
    let report = workshop.update(&sample()).unwrap();
    assert_eq!((report.generation, report.n_added, report.n_unchanged), (2, 2, 3));
    assert_eq!(read_all(&path).unwrap().len(), sample().len());
}

#[test]
fn damage_to_the_only_generation_is_undone_by_a_rebuild() {
    let workshop = Workshop::with(&sample());
    let path = workshop.index_path();
    for name in files(&path.join("gen-000001")) {
        let dir = copy_of(&workshop);
        Damage::Flipped.inflict(&dir.path().join("gen-000001").join(&name));
        assert_corrupt(&read_all(dir.path()).unwrap_err(), dir.path(), 1, None);
        assert_eq!(Index::restore(dir.path()).unwrap(), None);
    }
    Damage::Removed.inflict(&path.join("gen-000001/manifest.json"));
    assert_corrupt(&workshop.update(&sample()).unwrap_err(), &path, 1, None);
    assert_eq!(workshop.rebuild(&sample()).unwrap().generation, 2);
    assert_eq!(read_all(&path).unwrap().len(), sample().len());
}

#[test]
fn an_update_does_not_pass_damage_off_as_what_was_written() {
    let workshop = Workshop::with(&sample());
    let path = workshop.index_path();
    Damage::Flipped.inflict(&path.join("gen-000001/store-000001.bin"));
    let mut lines = sample();
    lines.push(Line::new("new", "new", "One more", "text"));
    workshop.update(&lines).unwrap();
    let index = workshop.open().unwrap();
    assert!(matches!(index.verify(), Err(Error::IndexCorrupt { generation: Some(2), .. })));
}

#[test]
fn damage_found_while_the_store_is_tidied_names_the_index() {
    let mut lines = sample();
    let workshop = Workshop::with(&lines);
    let path = workshop.index_path();
    let mut update = |n: usize| {
        lines.push(Line::new(&format!("new/{n}"), "new", &format!("Number {n}"), "text"));
        workshop.update(&lines)
    };
    for n in 2..=8 {
        update(n).unwrap();
    }
    Damage::Flipped.inflict(&path.join("gen-000008/store-000001.bin"));
    assert_corrupt(&update(9).unwrap_err(), &path, 8, Some(7));
    assert_corrupt(&update(10).unwrap_err(), &path, 8, Some(7));
}

#[test]
fn damage_to_a_file_that_two_generations_share_leaves_none_to_go_back_to() {
    let workshop = two_generations();
    let path = workshop.index_path().join("gen-000002/store-000001.bin");
    let mut bytes = fs::read(&path).unwrap();
    bytes[40] ^= 1;
    // In place, so that both names show it.
    fs::write(&path, bytes).unwrap();
    let index = workshop.open().unwrap();
    assert_corrupt(&index.verify().unwrap_err(), &workshop.index_path(), 2, None);
    assert_eq!(Index::restore(&workshop.index_path()).unwrap(), None);
    workshop.rebuild(&sample()).unwrap();
    assert_eq!(read_all(&workshop.index_path()).unwrap().len(), sample().len());
}

#[test]
fn a_current_file_that_names_nothing_can_be_restored_or_rebuilt() {
    let garbage = ["", "\n", "gen-000002", "gen-2 abc", "\0\0\0\0", "\u{feff}gen-000002 x"];
    for text in garbage.map(str::as_bytes).into_iter().chain([&b"\xff\xfe\0"[..]]) {
        let workshop = two_generations();
        let path = workshop.index_path();
        fs::write(path.join("CURRENT"), text).unwrap();
        let error = workshop.open().err().unwrap();
        assert_corrupt(&error, &path, None, Some(2));
        assert!(error.to_string().starts_with("the index at"), "{error}");
        assert_corrupt(&workshop.update(&sample()).unwrap_err(), &path, None, Some(2));
        assert_eq!(Index::restore(&path).unwrap(), Some(2));
        assert_eq!(read_all(&path).unwrap().len(), sample().len());

        fs::write(path.join("CURRENT"), text).unwrap();
        assert_eq!(workshop.rebuild(&first()).unwrap().generation, 3);
        assert_eq!(read_all(&path).unwrap().len(), first().len());
    }
}

#[test]
fn a_number_that_is_given_again_does_not_mean_the_same_generation() {
    let workshop = two_generations();
    let before = workshop.open().unwrap();
    assert!(before.is_same(&workshop.open().unwrap()));
    assert_eq!(Index::restore(&workshop.index_path()).unwrap(), Some(1));
    workshop.update(&sample()[1..]).unwrap();
    let after = workshop.open().unwrap();
    assert_eq!(after.manifest().generation, before.manifest().generation);
    assert!(!before.is_same(&after));
}

#[test]
fn a_current_file_that_names_a_generation_that_is_gone_is_told() {
    let workshop = two_generations();
    let path = workshop.index_path();
    fs::remove_dir_all(path.join("gen-000002")).unwrap();
    assert_corrupt(&workshop.open().err().unwrap(), &path, 2, Some(1));
    assert_eq!(Index::restore(&path).unwrap(), Some(1));
    assert_eq!(read_all(&path).unwrap().len(), first().len());
}

#[test]
fn a_missing_current_file_is_told_once_generations_were_committed() {
    let workshop = two_generations();
    let path = workshop.index_path();
    fs::remove_file(path.join("CURRENT")).unwrap();
    assert_corrupt(&workshop.open().err().unwrap(), &path, None, Some(2));
    assert_corrupt(&workshop.update(&sample()).unwrap_err(), &path, None, Some(2));
    assert_eq!(Index::restore(&path).unwrap(), Some(2));
    assert_eq!(read_all(&path).unwrap().len(), sample().len());
}

#[test]
fn a_first_writer_that_was_killed_before_its_commit_leaves_no_index() {
    let workshop = Workshop::with(&sample());
    let path = workshop.index_path();
    fs::remove_file(path.join("CURRENT")).unwrap();
    assert!(matches!(workshop.open(), Err(Error::IndexMissing { .. })));
    assert_eq!(workshop.update(&first()).unwrap().generation, 1);
    assert_eq!(read_all(&path).unwrap().len(), first().len());
}

#[test]
fn what_killed_writers_leave_behind_is_removed_by_the_next_one() {
    let workshop = two_generations();
    let path = workshop.index_path();
    copy(&path.join("gen-000002"), &path.join("gen-000003"));
    copy(&path.join("gen-000001"), &path.join("gen-000003.draft"));
    fs::write(path.join("CURRENT.tmp"), "gen-0000").unwrap();
    assert_eq!(read_all(&path).unwrap().len(), sample().len());
    assert_eq!(workshop.update(&first()).unwrap().generation, 3);
    assert_eq!(read_all(&path).unwrap().len(), first().len());
    assert!(!path.join("gen-000003.draft").exists());
    // Also if there is nothing new.
    fs::create_dir(path.join("gen-000004.draft")).unwrap();
    assert_eq!(workshop.update(&first()).unwrap().generation, 3);
    assert!(!path.join("gen-000004.draft").exists());
}

/// Changes the manifest of the first generation as one would who wants it to pass for whole.
pub(crate) fn forge_manifest(path: &Path, from: &str, to: &str) {
    let manifest = path.join("gen-000001/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(text.contains(from), "{text}");
    let text = text.replace(from, to);
    fs::write(&manifest, &text).unwrap();
    let current = format!("gen-000001 {}\n", blake3::hash(text.as_bytes()).to_hex());
    fs::write(path.join("CURRENT"), current).unwrap();
}

#[test]
fn another_format_is_refused_and_replaced_by_a_rebuild() {
    let workshop = Workshop::with(&first());
    let path = workshop.index_path();
    forge_manifest(&path, &format!("\"format\": {FORMAT_VERSION},"), "\"format\": 999,");
    for error in [workshop.open().err().unwrap(), workshop.update(&sample()).unwrap_err()] {
        let Error::IndexFormat { found, expected, .. } = &error else { panic!("{error}") };
        assert_eq!((*found, *expected), (999, FORMAT_VERSION));
        assert_eq!(error.hint().unwrap(), "make the index again");
    }
    assert_eq!(workshop.rebuild(&sample()).unwrap().generation, 2);
    assert_eq!(read_all(&path).unwrap().len(), sample().len());
    assert_eq!(Index::restore(&path).unwrap(), None);
}

#[test]
fn a_table_with_other_counts_than_the_manifest_is_told() {
    for (from, to) in [("\"n_slots\": 3", "\"n_slots\": 4"), ("\"n_skills\": 3", "\"n_skills\": 2")]
    {
        let workshop = Workshop::with(&first());
        forge_manifest(&workshop.index_path(), from, to);
        for error in [workshop.open().err().unwrap(), workshop.update(&sample()).unwrap_err()] {
            assert_corrupt(&error, &workshop.index_path(), 1, None);
        }
    }
}

#[test]
fn a_manifest_that_names_files_elsewhere_is_told() {
    let workshop = Workshop::with(&first());
    let path = workshop.index_path();
    fs::copy(path.join("gen-000001/store-000001.bin"), path.join("store-000001.bin")).unwrap();
    forge_manifest(&path, "\"store-000001.bin\"", "\"../store-000001.bin\"");
    for error in [workshop.open().err().unwrap(), workshop.update(&sample()).unwrap_err()] {
        assert_corrupt(&error, &path, 1, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn damage_anywhere_never_panics(file in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), bits in 1..=u8::MAX) {
        thread_local!(static WHOLE: Workshop = two_generations());
        WHOLE.with(|workshop| {
            let dir = copy_of(workshop);
            let names = files(dir.path());
            let path = dir.path().join(&names[file.index(names.len())]);
            let mut bytes = fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
            fs::write(&path, bytes).unwrap();
            if read_all(dir.path()).is_err() {
                let restored = Index::restore(dir.path()).unwrap().unwrap();
                prop_assert_eq!(read_all(dir.path()).unwrap().len(), if restored == 1 { 3 } else { 5 });
            }
            Ok(())
        })?;
    }
}
