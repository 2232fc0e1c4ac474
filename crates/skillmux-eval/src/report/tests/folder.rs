//! Folders of results, written and read again.

use super::*;

#[test]
fn a_folder_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let results = Results::read(folder.path()).unwrap();
    assert_eq!(results.evaluations, evaluations());
    assert_eq!(results.dataset.tasks, dataset().tasks);
    assert_eq!(results.dataset.categories, dataset().categories);
    assert_eq!((results.dataset.name.as_str(), results.dataset.n_unscored), ("by-hand", 2));
    let csv = Snapshot::read(&folder.path().join("tasks.csv")).unwrap();
    with_report(None, |scores, _| {
        assert_eq!(csv, Snapshot::new(scores, View::ById, &SNAPSHOT_MEASURES));
    });
    let answers = fs::read_to_string(folder.path().join("bm25.answers.jsonl")).unwrap();
    assert!(!answers.contains("time_us"));
}

#[test]
fn two_systems_are_found_by_folder_and_name() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    written(a.path());
    written(b.path());
    let spec = |folder: &Path, system: &str| folder.join(system);
    let (old, new) = (spec(a.path(), "bm25"), spec(b.path(), "router@best-k"));
    let pair = Results::open_pair(&old, &new).unwrap().results;
    assert_eq!(pair.evaluations[0].system, old.display().to_string());
    assert_eq!(pair.evaluations[1].rows, evaluations()[1].rows);
    let scores = TaskScores::new(&pair.dataset, &pair.evaluations, None).unwrap();
    let options = CompareOptions { bootstrap: bootstrap(), ..CompareOptions::default() };
    let found = Comparison::new(&scores, (0, 1), &options).unwrap();
    comparison(|expected| assert_eq!(found.changes, expected.changes));

    let error = Results::open_pair(&spec(a.path(), "dense"), &new).unwrap_err();
    assert_eq!(error.hint().unwrap(), "write FOLDER/SYSTEM; there are `bm25`, `router@best-k`");
    let error = Results::open_pair(a.path(), &new).unwrap_err();
    assert!(matches!(error, Error::WhichSystem { .. }), "{error}");
    let error = Results::open_pair(Path::new("/no/such/folder"), &new).unwrap_err();
    assert!(error.to_string().starts_with("cannot read `/no/such/folder"), "{error}");
    // The tasks of the other folder are others.
    let path = b.path().join("dataset.json");
    let changed = fs::read_to_string(&path).unwrap().replace("fill in a form", "fill it in");
    fs::write(&path, changed).unwrap();
    let error = Results::open_pair(&old, &new).unwrap_err();
    assert_eq!(error.to_string(), "task `t2` is not the same in both");
}

#[test]
fn a_gate_takes_the_same_tasks_and_settings_only() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    written(a.path());
    written(b.path());
    let check = || {
        let pair = Results::open_pair(&a.path().join("bm25"), &b.path().join("bm25")).unwrap();
        pair.check_same().map_err(|error| {
            let folders = [a.path(), b.path()].map(|path| path.display().to_string());
            error.to_string().replace(&folders[0], "A").replace(&folders[1], "B")
        })
    };
    assert_eq!(check(), Ok(()));
    let change = |file: &str, from: &str, to: &str| {
        let path = b.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
    };
    // Another program may be what is to be judged.
    change("results.json", "\"depth\": 0", "\"program\": \"x\", \"depth\": 0");
    assert_eq!(check(), Ok(()));
    change("results.json", "\"depth\": 0", "\"depth\": 5");
    let expected = "`A/bm25` and `B/bm25` were measured with another depth";
    assert_eq!(check(), Err(expected.to_owned()));
    let entries = fs::read_dir(b.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.into_string().unwrap());
    let names_tasks = |name: &String| name == "dataset.json" || name.ends_with(".answers.jsonl");
    names.filter(names_tasks).for_each(|name| change(&name, "\"t5\"", "\"t7\""));
    let expected = "`A/bm25` and `B/bm25` were not asked the same tasks: 1 are only in the first, \
                    1 only in the second";
    assert_eq!(check(), Err(expected.to_owned()));
}

#[test]
fn a_name_may_hold_slashes_and_a_root_is_not_the_working_directory() {
    let folder = tempfile::tempdir().unwrap();
    let mut results =
        Results { dataset: dataset(), evaluations: evaluations(), setting: Setting::default() };
    results.evaluations[1].system = "trec:../a//b.run".into();
    with_report(None, |scores, report| {
        let snapshot = Snapshot::new(scores, View::ById, &SNAPSHOT_MEASURES);
        results.write(folder.path(), report, &snapshot).unwrap();
    });
    let system = |spec: &Path| Results::open(spec).unwrap().evaluations[0].system.clone();
    assert_eq!(system(&folder.path().join("trec:../a//b.run")), "trec:../a//b.run");
    assert_eq!(system(folder.path()), "bm25");
    // `results.json` of the working directory is not looked at.
    let error = Results::open(Path::new("/x")).unwrap_err();
    assert_eq!(error.to_string(), "cannot read `/x/results.json`");
}

#[test]
fn another_write_leaves_no_files_of_systems_that_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    fs::write(folder.path().join("mine.answers.jsonl"), "").unwrap();
    let names = || {
        let entries = fs::read_dir(folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let before = names();
    let mut results = Results::read(folder.path()).unwrap();
    results.evaluations.remove(1);
    with_report(None, |scores, report| {
        let snapshot = Snapshot::new(scores, View::ById, &SNAPSHOT_MEASURES);
        results.write(folder.path(), report, &snapshot).unwrap();
    });
    let stem = file_stem("router@best-k");
    let gone = [".answers.jsonl", ".run", ".times.csv"].map(|ending| format!("{stem}{ending}"));
    assert_eq!(before.difference(&names()).cloned().collect::<Vec<_>>(), gone);
    assert!(names().contains("mine.answers.jsonl"));
    assert_eq!(Results::read(folder.path()).unwrap().evaluations, evaluations()[..1]);
}

#[test]
fn runs_and_judgements_keep_the_order_of_equal_scores() {
    let folder = tempfile::tempdir().unwrap();
    let mut results =
        Results { dataset: dataset(), evaluations: evaluations(), setting: Setting::default() };
    results.evaluations[0].rows[0].answer =
        Answer::of_ranking([("a b".into(), 2.0), ("c".into(), 2.0), ("d".into(), 2.0)]);
    with_report(None, |scores, report| {
        let snapshot = Snapshot::new(scores, View::ById, &SNAPSHOT_MEASURES);
        results.write(folder.path(), report, &snapshot).unwrap();
    });
    let run = crate::Run::read(&folder.path().join("bm25.run")).unwrap();
    assert_eq!(run.ranking("t1"), ["a b", "c", "d"]);
    assert_eq!(run.ranking(HOSTILE_ID), ["other", HOSTILE_SKILL]);
    let qrels = crate::Qrels::read(&folder.path().join("qrels.trec")).unwrap();
    assert_eq!(qrels.gold("t3"), Some(&dataset().tasks[2].gold));
}
