//! Folders that hold something else are refused and left as they are.

use std::{fs, path::Path};

use skillmux::{
    Error,
    index::{EncodeStep, Index, UpdateMode, UpdateOutcome},
};

use crate::{
    library::{Workshop, options, sample, tempdir},
    term_encoder::TermEncoder,
};

/// Returns every path below a folder with its bytes.
fn snapshot(folder: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push((path.display().to_string(), fs::read(&path).ok()));
        if path.is_dir() {
            found.extend(snapshot(&path));
        }
    }
    found.sort();
    found
}

fn assert_refused(path: &Path) {
    let workshop = Workshop::new();
    let library = workshop.write(&sample());
    let parent = path.parent().unwrap();
    let before = snapshot(parent);
    for mode in [UpdateMode::Incremental, UpdateMode::Rebuild] {
        let outcome = Index::update(path, &library, &options(mode), &mut |_| {});
        assert!(matches!(outcome, Err(Error::IndexForeign { .. })), "{outcome:?}");
    }
    let outcomes = [Index::open(path).err(), Index::restore(path).err()];
    for error in outcomes.map(Option::unwrap) {
        assert!(matches!(error, Error::IndexForeign { .. }), "{error:?}");
    }
    assert_eq!(snapshot(parent), before);
}

fn folder_with(files: &[(&str, &[u8])]) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempdir();
    let path = dir.path().join("folder");
    for (name, bytes) in files {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    (dir, path)
}

#[test]
fn a_folder_with_other_files_is_refused_and_untouched() {
    let (_dir, path) = folder_with(&[("notes.txt", b"mine")]);
    assert_refused(&path);
}

#[test]
fn a_database_with_a_current_file_of_its_own_is_refused_and_untouched() {
    let (_dir, path) =
        folder_with(&[("CURRENT", b"MANIFEST-000004\n"), ("MANIFEST-000004", b"\x01\x02")]);
    assert_refused(&path);
    let (_dir, path) = folder_with(&[("CURRENT", b"\xff\xfe"), ("data", b"")]);
    assert_refused(&path);
}

#[test]
fn folders_that_look_like_generations_are_not_ours_to_remove() {
    let (_dir, path) = folder_with(&[("gen-1/best.txt", b"a"), ("gen-2/best.txt", b"b")]);
    assert_refused(&path);
    let (_dir, path) = folder_with(&[("gen-000001/best.txt", b"a")]);
    assert_refused(&path);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_of_names_that_are_not_unicode_is_refused_and_untouched() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    let (_dir, path) = folder_with(&[("a", b"")]);
    fs::rename(path.join("a"), path.join(OsStr::from_bytes(b"caf\xe9"))).unwrap();
    assert_refused(&path);
}

#[test]
fn a_file_is_refused_and_untouched() {
    let dir = tempdir();
    let path = dir.path().join("notes.txt");
    fs::write(&path, "mine").unwrap();
    assert_refused(&path);
}

#[test]
fn an_empty_folder_becomes_an_index() {
    let dir = tempdir();
    assert!(matches!(Index::open(dir.path()), Err(Error::IndexMissing { .. })));
    assert!(matches!(Index::restore(dir.path()), Err(Error::IndexMissing { .. })));
    assert!(snapshot(dir.path()).is_empty());
    let workshop = Workshop::new();
    let library = workshop.write(&sample());
    Index::update(dir.path(), &library, &options(UpdateMode::Incremental), &mut |_| {}).unwrap();
    assert_eq!(Index::open(dir.path()).unwrap().n_skills(), sample().len());
}

#[test]
fn a_missing_folder_is_told_and_not_made() {
    let workshop = Workshop::new();
    let path = workshop.root().join("nowhere");
    for error in [Index::open(&path).err(), Index::restore(&path).err()].map(Option::unwrap) {
        assert!(matches!(error, Error::IndexMissing { .. }), "{error:?}");
        assert!(error.hint().unwrap().starts_with("make one of the skills"));
    }
    assert!(!path.exists());
}

#[test]
fn a_draft_that_is_not_ours_stays() {
    let workshop = Workshop::new();
    let index = tempdir();
    let library = workshop.write(&sample());
    Index::update(index.path(), &library, &options(UpdateMode::Rebuild), &mut |_| {}).unwrap();
    fs::write(index.path().join("letter.draft"), "dear").unwrap();
    fs::create_dir(index.path().join("novel.draft")).unwrap();
    Index::update(index.path(), &library, &options(UpdateMode::Rebuild), &mut |_| {}).unwrap();
    assert_eq!(fs::read(index.path().join("letter.draft")).unwrap(), b"dear");
    assert!(index.path().join("novel.draft").is_dir());
}

#[cfg(unix)]
#[test]
fn whoever_may_read_a_new_file_may_read_all_files_of_an_index() {
    use std::os::unix::fs::PermissionsExt;

    fn modes(folder: &Path) -> Vec<(String, u32)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(modes(&path));
            } else {
                let mode = path.metadata().unwrap().permissions().mode();
                found.push((path.display().to_string(), mode & 0o777));
            }
        }
        found
    }

    let workshop = Workshop::with(&sample()[..3]);
    let path = workshop.index_path();
    fs::write(workshop.root().join("new"), "").unwrap();
    let plain = modes(workshop.root()).into_iter().find(|(name, _)| name.ends_with("/new"));
    let plain = plain.unwrap().1;
    let assert_plain = |folder: &Path| {
        for (name, mode) in modes(folder) {
            assert_eq!(mode, plain, "{name} has mode {mode:o}");
        }
    };
    assert_plain(&path);
    // Earlier versions made these private; an update does not take that over.
    for name in ["meta.json", ".managed.json"] {
        let file = path.join("gen-000001/lexical").join(name);
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    for n_skills in [5, 2] {
        workshop.update(&sample()[..n_skills]).unwrap();
    }
    assert_plain(&path);
}

#[test]
fn an_index_is_removed_unless_its_folder_holds_anything_else() {
    let lines = sample();
    let workshop = Workshop::with(&lines);
    let path = workshop.index_path();
    fs::create_dir(path.join("gen-000002.draft")).unwrap();
    let open = workshop.open().unwrap();
    fs::write(path.join("notes.txt"), "mine").unwrap();
    let before = snapshot(&path);
    assert!(matches!(Index::remove(&path), Err(Error::IndexForeign { .. })));
    assert_eq!(snapshot(&path), before);
    fs::remove_file(path.join("notes.txt")).unwrap();
    let lock = fs::File::open(path.join("LOCK")).unwrap();
    lock.lock().unwrap();
    assert!(matches!(Index::remove(&path), Err(Error::IndexLocked { .. })));
    drop(lock);
    Index::remove(&path).unwrap();
    assert!(!path.exists());
    assert!(matches!(Index::remove(&path), Err(Error::IndexMissing { .. })));
    assert_eq!(open.n_skills(), lines.len());
    // A folder of somebody else is not even locked.
    let other = workshop.root().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("notes.txt"), "mine").unwrap();
    assert!(matches!(Index::remove(&other), Err(Error::IndexForeign { .. })));
    assert_eq!(snapshot(&other).len(), 1);
}

#[cfg(unix)]
#[test]
fn an_index_that_cannot_be_written_is_compared_and_not_encoded() {
    let lines = sample();
    let workshop = Workshop::with(&lines);
    let path = workshop.index_path();
    // What cannot be opened for writing, and what cannot be removed; the superuser neither.
    fs::remove_file(path.join("LOCK")).unwrap();
    fs::create_dir(path.join("LOCK")).unwrap();
    fs::write(path.join("gen-000002.draft"), "").unwrap();
    let report = workshop.update(&lines).unwrap();
    assert_eq!((report.outcome, report.generation), (UpdateOutcome::Unchanged, 1));
    let error = workshop.update(&lines[1..]).unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error:?}");
    let mut n_asked = 0;
    let encoded = Index::encode(&path, &TermEncoder::new("1"), None, &mut |_, _| {
        n_asked += 1;
        EncodeStep::Continue
    });
    assert!(matches!(encoded, Err(Error::Write { .. })) && n_asked == 0, "{encoded:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_index_without_a_lock_that_cannot_be_written_is_compared() {
    let lines = sample();
    let workshop = Workshop::with(&lines);
    let path = workshop.index_path();
    // A file that is not there, and that the superuser cannot make either.
    fs::remove_file(path.join("LOCK")).unwrap();
    std::os::unix::fs::symlink("/sys/skillmux", path.join("LOCK")).unwrap();
    fs::write(path.join("gen-000002.draft"), "").unwrap();
    let report = workshop.update(&lines).unwrap();
    assert_eq!((report.outcome, report.generation), (UpdateOutcome::Unchanged, 1));
    let error = workshop.update(&lines[1..]).unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error:?}");
    // Where no index is, there is nothing to compare with.
    let missing = Path::new("/sys/skillmux");
    let options = options(UpdateMode::Incremental);
    let updated = Index::update(missing, &workshop.write(&lines), &options, &mut |_| {});
    let error = updated.unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error:?}");
}
