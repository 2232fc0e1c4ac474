//! `skillmux eval`: datasets in, reports out.

use std::{collections::BTreeMap, fs, path::Path};

use skillmux_eval::report::{Snapshot, TaskChange};

use crate::home::{Done, Home, fixtures, library};

/// What the quality snapshots are made with; `just accept-quality` runs the same.
const TASKS: [&str; 2] = ["tasks.jsonl", "qrels.trec"];

/// How far a confidence may be from the committed one: sums of floating-point numbers depend on the
/// processor.
const NEAR: f64 = 0.01;

fn fixture(name: &str) -> String {
    fixtures().join(name).display().to_string()
}

/// Runs `eval run` over the sample library.
fn eval_run(home: &Home, dataset: &str, more: &[&str]) -> Done {
    let (dataset, sample) = (fixture(dataset), library());
    let arguments = [&["eval", "run", &dataset, "--library", &sample], more].concat();
    home.run(&arguments)
}

fn assert_quality(committed: &str, found: &Done) {
    assert_eq!(found.code, 0, "{}", found.stderr);
    let path = fixtures().join("../results").join(committed);
    let old = Snapshot::read(&path).unwrap();
    let new = Snapshot::parse(&found.stdout, Path::new("found")).unwrap();
    let changes = Snapshot::diff(&old, &new).into_iter().filter(|change| !is_near(change));
    let changes: Vec<String> = changes.map(|change| change.to_string()).collect();
    assert!(
        changes.is_empty(),
        "quality changed; explain it, and accept it with `just accept-quality`:\n{}",
        changes.join("\n")
    );
}

fn is_near(change: &TaskChange) -> bool {
    let TaskChange::Changed { column, old, new, .. } = change else { return false };
    let numbers = old.parse().and_then(|old: f64| Ok((old, new.parse::<f64>()?)));
    column.contains("confidence") && numbers.is_ok_and(|(old, new)| (old - new).abs() <= NEAR)
}

#[test]
fn routing_quality_is_what_was_committed() {
    let home = Home::new();
    let qrels = fixture(TASKS[1]);
    let found = eval_run(
        &home,
        TASKS[0],
        &[
            &["--qrels", &qrels, "--unjudged-need-none", "--format", "csv", "--system"][..],
            &["default", "bm25", "tfidf@best-k"],
        ]
        .concat(),
    );
    assert_quality("sample-tasks.csv", &found);
}

#[test]
fn paging_quality_is_what_was_committed() {
    let home = Home::new();
    let more = [
        "--format",
        "csv",
        "--system",
        "page:default/300",
        "page:mmr/300",
        "page:chunk/300",
        "page:greedy-graph/300",
    ];
    let found = eval_run(&home, "eval/intra-skill-bench/cases.jsonl", &more);
    assert_quality("sample-pages.csv", &found);
}

#[test]
fn every_kind_of_dataset_is_told_from_its_files() {
    let home = Home::new();
    for (dataset, name) in [
        ("eval/skillrouter", "skillrouter"),
        ("eval/r3", "r3"),
        ("eval/pairs/pairs.jsonl", "pairs"),
        ("eval/bilingual/bilingual.jsonl", "bilingual"),
        ("eval/composition/composition.jsonl", "composition"),
        ("eval/comp-skill-bench", "comp-skill-bench"),
        ("eval/intra-skill-bench/cases.jsonl", "intra-skill-bench"),
        ("eval/trec", "trec"),
    ] {
        let done = eval_run(&home, dataset, &["--all", "--resamples", "100"]);
        assert_eq!(done.code, 0, "{dataset}: {}", done.stderr);
        assert!(done.stdout.starts_with(&format!("{name} · ")), "{}", done.stdout);
    }
    // It brings its own skills.
    let done = home.run(&["eval", "run", &fixture("eval/r3"), "--resamples", "100"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
}

/// Returns the files of a folder of results, but for the times.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read_to_string(entry.path()).unwrap())
    };
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let is_kept = |name: &str| !name.ends_with(".times.csv") && name != ".lock";
    entries.map(read).filter(|(name, _)| is_kept(name)).collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let home = Home::new();
    let run = |out: &str| {
        let out = home.path(out);
        let out_text = out.display().to_string();
        let more = ["--out", &out_text, "--system", "default", "rrf(bm25,tfidf)"];
        let done = eval_run(&home, "eval/skillrouter", &more);
        assert_eq!(done.code, 0, "{}", done.stderr);
        files(&out)
    };
    let first = run("first");
    assert!(first.len() >= 7, "{:?}", first.keys());
    assert_eq!(first, run("second"));
    assert_eq!(first, run("first"));
}

#[test]
fn results_are_compared_and_shown() {
    let home = Home::new();
    let out = home.path("out").display().to_string();
    let qrels = fixture(TASKS[1]);
    let more = ["--qrels", &qrels, "--out", &out, "--system", "bm25", "default"];
    let done = eval_run(&home, TASKS[0], &more);
    assert_eq!(done.code, 0, "{}", done.stderr);

    let (a, b) = (format!("{out}/bm25"), format!("{out}/default"));
    let done = home.run(&["eval", "compare", &a, &b]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("Hit@1"), "{}", done.stdout);
    let done = home.run(&["eval", "show", "t02", "--in", &out]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("Docker image"), "{}", done.stdout);

    let execute = ["eval", "execute", &out, "--trials", "20", "--format", "markdown"];
    let done = home.run(&execute);
    assert_eq!(done.code, 0, "{}", done.stderr);
    // Rankings alone are no plans.
    assert!(done.stdout.starts_with("`default`: "), "{}", done.stdout);
    assert_eq!(done.stdout.matches('`').count(), 2, "{}", done.stdout);
    assert_eq!(done.stdout, home.run(&execute).stdout);
    home.run(&["eval", "execute", &a]).assert_error("has plans", "-s default");

    let done = home.run(&["eval", "show", "t99", "--in", &out]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("there is no task `t99`"), "{}", done.stderr);
    let done = home.run(&["eval", "compare", &out, &b]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("hint:"), "{}", done.stderr);
}

#[test]
fn systems_are_added_to_results() {
    let home = Home::new();
    let out = home.path("out");
    let out_text = out.display().to_string();
    let run = |more: &[&str]| {
        let done = eval_run(&home, "eval/skillrouter", &[&["--out", &out_text][..], more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        files(&out)
    };
    let first = run(&["--system", "bm25", "default"]);
    let times = fs::read_to_string(out.join("bm25.times.csv")).unwrap();
    let added = run(&["--system", "tfidf"]);
    for name in ["bm25.answers.jsonl", "default.answers.jsonl", "default.run"] {
        assert_eq!(added[name], first[name]);
    }
    let head: serde_json::Value = serde_json::from_str(&added["results.json"]).unwrap();
    let names = head["systems"].as_array().unwrap().iter().map(|system| &system["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["tfidf", "bm25", "default"]);
    assert_eq!(head["setting"]["depth"], 50);
    assert_eq!(head["setting"]["library"]["n_skills"], 48);
    assert!(added["tasks.csv"].contains("default: Hit@1"), "{}", added["tasks.csv"]);

    // It is not asked again, but one of another configuration is.
    let same = run(&["--system", "bm25", "default"]);
    assert_eq!(fs::read_to_string(out.join("bm25.times.csv")).unwrap(), times);
    assert_eq!(same["default.answers.jsonl"], first["default.answers.jsonl"]);
    let other = run(&["--system", "default", "-k", "1", "--composer", "top-k", "--budget", "0"]);
    assert_ne!(other["default.answers.jsonl"], first["default.answers.jsonl"]);
    assert!(other["results.json"].contains("composer=top-k pager=value "));
    assert!(other["results.json"].contains("max_skills=1 budget_tokens=0"));

    // Another length of rankings is another setting.
    let shorter = ["--out", &out_text, "--depth", "5"];
    let done = eval_run(&home, "eval/skillrouter", &shorter);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("holds results of another depth"), "{}", done.stderr);
    assert!(done.stderr.contains("--fresh"), "{}", done.stderr);
    assert_eq!(files(&out), other);
    let fresh = run(&["--depth", "5", "--fresh"]);
    assert!(!fresh.contains_key("bm25.answers.jsonl"), "{:?}", fresh.keys());
    assert!(!fresh["tasks.csv"].contains("bm25"));
}

#[test]
fn scores_beyond_the_depth_are_left_out() {
    let home = Home::new();
    let out = home.path("out").display().to_string();
    let more = ["--depth", "5", "--out", &out, "--system", "bm25", "default"];
    let done = eval_run(&home, "eval/skillrouter", &more);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let (a, b) = (format!("{out}/bm25"), format!("{out}/default"));
    let tasks = fs::read_to_string(home.path("out/tasks.csv")).unwrap();
    let task_id = tasks.lines().nth(1).unwrap().split(',').next().unwrap();
    let compared = home.run(&["eval", "compare", &a, &b]);
    let shown = home.run(&["eval", "show", task_id, "--in", &out]);
    for text in [&done.stdout, &compared.stdout, &shown.stdout] {
        assert!(text.contains("Hit@1"), "{text}");
        for name in ["@10", "@20", "@50"] {
            assert!(!text.contains(name), "{text}");
        }
    }
    home.run(&["eval", "gate", "--old", &a, "--new", &b])
        .assert_error("rankings of 5 skills are too short for Recall@10", "at least 10 skills");
}

#[test]
fn a_run_removes_nothing_but_its_own_journals() {
    let home = Home::new();
    let out = home.path("out");
    let out_text = out.display().to_string();
    home.write("out/unfinished/mine.txt", "mine");
    let done = eval_run(&home, "eval/skillrouter", &["--out", &out_text, "--fresh"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let left = fs::read_dir(out.join("unfinished")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["mine.txt"]);
}

#[test]
fn two_runs_do_not_write_to_one_folder() {
    let home = Home::new();
    let out = home.path("out").display().to_string();
    let lock = fs::File::create(home.write("out/.lock", "")).unwrap();
    lock.try_lock().unwrap();
    let done = eval_run(&home, "eval/skillrouter", &["--out", &out]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("another run writes to"), "{}", done.stderr);
    lock.unlock().unwrap();
    assert_eq!(eval_run(&home, "eval/skillrouter", &["--out", &out]).code, 0);
}

#[test]
fn reports_say_what_was_measured() {
    let home = Home::new();
    let done = home.run(&["eval", "run", &fixture("eval/skillrouter"), "--tier", "easy"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let head = done.stdout.split("\n\n").next().unwrap().replace('\n', " ");
    assert!(head.contains(" · easy tier · "), "{head}");
    assert!(head.contains(" skills ("), "{head}");
    // The tier would choose from skills that are not asked.
    let done = eval_run(&home, "eval/skillrouter", &["--tier", "easy"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("cannot be used with"), "{}", done.stderr);
}

#[test]
fn written_runs_are_scored_as_they_were_measured() {
    let home = Home::new();
    let out = home.path("out").display().to_string();
    let qrels = fixture(TASKS[1]);
    let more = ["--qrels", &qrels, "--out", &out, "--system", "bm25", "--format", "json"];
    let measured = eval_run(&home, TASKS[0], &more);
    assert_eq!(measured.code, 0, "{}", measured.stderr);
    let (run, qrels) = (format!("{out}/bm25.run"), format!("{out}/qrels.trec"));
    let scored = home.run(&["eval", &run, "--qrels", &qrels, "--format", "json"]);
    assert_eq!(scored.code, 0, "{}", scored.stderr);
    let json = |done: &Done| serde_json::from_str::<serde_json::Value>(&done.stdout).unwrap();
    let (measured, scored) = (json(&measured), json(&scored));
    let means = |report: &serde_json::Value| {
        let measures = &report["systems"][0]["views"][0]["measures"];
        let of =
            |m: &serde_json::Value| Some((m["measure"].as_str()?.to_owned(), m["mean"].clone()));
        measures.as_array().unwrap().iter().filter_map(of).collect::<BTreeMap<_, _>>()
    };
    let (measured, of_run) = (means(&measured), means(&scored["report"]));
    for name in ["Hit@1", "nDCG@10", "MRR@10", "Recall@50"] {
        let (a, b) = (measured[name].as_f64().unwrap(), of_run[name].as_f64().unwrap());
        assert!((a - b).abs() < 1e-9, "{name} {a} {b}");
    }
    assert_eq!(scored["ndcg_at_10"], of_run["nDCG@10"]);
    let text = home.run(&["eval", &run, "--qrels", &qrels]).stdout;
    assert!(text.contains("nDCG@10") && text.contains('['), "{text}");
}

#[test]
fn near_duplicates_count_in_comparisons_and_cases() {
    let home = Home::new();
    let out = home.path("out").display().to_string();
    let qrels = fixture(TASKS[1]);
    let more = ["--qrels", &qrels, "--out", &out, "--system", "bm25", "tfidf"];
    assert_eq!(eval_run(&home, TASKS[0], &more).code, 0);
    let clusters = home.path("clusters.jsonl").display().to_string();
    let done =
        home.run(&["eval", "build", "clusters", "--library", &library(), "--out", &clusters]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let (a, b) = (format!("{out}/bm25"), format!("{out}/tfidf"));
    let done = home.run(&["eval", "compare", &a, &b, "--clusters", &clusters]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("measure (near-duplicates count)"), "{}", done.stdout);
    let show = ["eval", "show", "t02", "--in", &a, "--format", "json", "--clusters", &clusters];
    let done = home.run(&show);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("\"near_duplicates\""), "{}", done.stdout);
    assert!(!done.stdout.contains("tfidf"), "only the system that was named");
}

/// Runs `eval gate` over the sample library.
fn gate(home: &Home, arguments: &[&str]) -> Done {
    let sample = library();
    home.run(
        &[&["eval", "gate"], arguments, &["--library", &sample, "--resamples", "500"]].concat(),
    )
}

/// Returns the last line of the output.
fn verdict(done: &Done) -> &str {
    done.stdout.lines().last().unwrap_or_default()
}

#[test]
fn a_ranking_is_promoted_if_nothing_is_worse() {
    let home = Home::new();
    let (tasks, qrels) = (fixture(TASKS[0]), fixture(TASKS[1]));
    let ask = |old: &str, new: &str, more: &[&str]| {
        let systems = ["--qrels", &qrels, "--old", old, "--new", new];
        gate(&home, &[&[tasks.as_str()], more, &systems].concat())
    };
    let done = ask("ranked", "ranked", &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(verdict(&done).starts_with("promoted: none of "), "{}", done.stdout);
    assert!(done.stdout.contains("new  ranked (again)"), "{}", done.stdout);
    assert_eq!(ask("bm25:nd", "ranked", &[]).code, 0);
    let done = ask("ranked", "bm25:nd", &[]);
    assert_eq!((done.code, done.stderr.as_str()), (1, ""));
    assert!(verdict(&done).starts_with("not promoted: "), "{}", done.stdout);

    // The 3 tasks of the second dataset cannot tell, whatever the first says.
    let three = home.path("three.jsonl");
    let task = |id: &str, query: &str, skill: &str| {
        format!(r#"{{"task_id": "{id}", "query": "{query}", "skills": ["{skill}"]}}"#) + "\n"
    };
    let lines = [
        task("d1", "extract tables from a PDF", "documents/pdf-table-extraction"),
        task("d2", "make a slide deck", "office/slide-deck-builder"),
        task("d3", "put the price list into a spreadsheet", "documents/pdf-table-extraction"),
    ];
    fs::write(&three, lines.concat()).unwrap();
    let done = ask("bm25:nd", "dense:nd", &[&three.display().to_string()]);
    assert_eq!(done.code, 1, "{} {}", done.stdout, done.stderr);
    assert!(verdict(&done).contains("cannot tell"), "{}", done.stdout);
    let json = ask("ranked", "bm25:nd", &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["is_promoted"], &json["min_tasks"]), (&false.into(), &20.into()));
    let first = &json["datasets"][0]["comparisons"][0];
    assert_eq!((&first["test"]["measure"], &first["slice"]), (&"Hit@1".into(), &().into()));
}

#[test]
fn stored_results_are_judged_like_live_rankings() {
    let home = Home::new();
    let (tasks, qrels) = (fixture(TASKS[0]), fixture(TASKS[1]));
    let out = home.path("out").display().to_string();
    let measure = |out: &str, more: &[&str]| {
        let systems = ["--qrels", &qrels, "--out", out, "--system", "bm25:nd", "ranked"];
        let done = eval_run(&home, TASKS[0], &[&systems, more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
    };
    measure(&out, &[]);
    let (old, new) = (format!("{out}/ranked"), format!("{out}/bm25:nd"));
    let stored = ["eval", "gate", "--resamples", "500", "--old", &old, "--new", &new];
    let stored = home.run(&stored);
    let live = gate(&home, &[&tasks, "--qrels", &qrels, "--old", "ranked", "--new", "bm25:nd"]);
    assert_eq!((stored.code, live.code), (1, 1), "{}{}", stored.stderr, live.stderr);
    let unnamed = |done: &Done, name: &str| verdict(done).replace(name, "DATASET");
    assert_eq!(unnamed(&stored, &out), unnamed(&live, &tasks));

    // Two datasets are named in the order of both.
    let two = ["--old", &old, "--new", &new, "--old", &old, "--new", &old, "--format", "json"];
    let done = home.run(&[&["eval", "gate"][..], &two].concat());
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(json["datasets"].as_array().unwrap().len(), 2);

    // Stored results are not asked anew.
    for option in [
        &["--sample", "30"][..],
        &["--depth", "50"],
        &["--library", &library()],
        &["--qrels", &qrels],
        &["--all"],
        &["--encoder", "e.bin"],
    ] {
        let done =
            home.run(&[&["eval", "gate", "--old", &old, "--new", &new][..], option].concat());
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{option:?}");
        assert!(done.stderr.contains("<DATASET>..."), "{option:?}: {}", done.stderr);
    }

    // Other tasks, and another length of rankings.
    let fewer = home.path("fewer").display().to_string();
    measure(&fewer, &["--sample", "30"]);
    let of_fewer = format!("{fewer}/bm25:nd");
    let done = home.run(&["eval", "gate", "--old", &old, "--new", &of_fewer]);
    done.assert_error("were not asked the same tasks", "measure both on the same tasks");
    let shorter = home.path("shorter").display().to_string();
    measure(&shorter, &["--depth", "20"]);
    let of_shorter = format!("{shorter}/bm25:nd");
    let done = home.run(&["eval", "gate", "--old", &old, "--new", &of_shorter]);
    done.assert_error("were measured with another depth", "with the same options");
}

#[test]
fn what_a_gate_cannot_judge_is_refused_with_a_hint() {
    let home = Home::new();
    let (tasks, qrels) = (fixture(TASKS[0]), fixture(TASKS[1]));
    let done = home.run(&["eval", "gate", "--old", "bm25", "--new", "ranked"]);
    done.assert_error("`bm25` holds no results, and no dataset is named", "DATASET... --old A");
    let asked = [tasks.as_str(), "--qrels", &qrels, "--old", "bm25"];
    let done = gate(&home, &[&asked[..], &["--new", "bm52"]].concat());
    done.assert_error("there is no system `bm52`", "fielded");
    let done = gate(&home, &[&asked[..], &["--new", "page:mmr"]].concat());
    done.assert_error("`page:mmr` gives no ranking for task `t01`", "rank skills");
    let done = gate(&home, &[&asked[..], &["--new", "ranked", "--new", "dense"]].concat());
    done.assert_error("1 old and 2 new rankings are named, but 1 of each are compared", "once");
    let nothing = fixture("no-skill.jsonl");
    let empty = home.write("empty.trec", "");
    let ask = ["--unjudged-need-none", "--qrels", &empty, "--old", "bm25", "--new", "fielded"];
    let done = gate(&home, &[&[nothing.as_str()], &ask[..]].concat());
    done.assert_error("has a right skill to find", "leave this dataset out");
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_hint() {
    let home = Home::new();
    let (tasks, sample) = (fixture("eval/skillrouter"), library());
    for (arguments, message) in [
        (&["eval", "run", &tasks, "--system", "bm52"][..], "there is no system `bm52`"),
        (&["eval", "run", &tasks, "--system", "judge(bm25)"], "needs a chat model"),
        (&["eval", "run", &tasks, "--kind", "poems"], "`poems` is no kind of dataset"),
        (&["eval", "run", &sample], "is no dataset of a known shape"),
        (&["eval", "run", "/dev/zero"], "is not a regular file"),
        (&["eval", "run", &tasks, "--sample", "0"], "has no task that counts"),
        (&["eval", "/dev/zero", "--qrels", "/dev/zero"], "is not a regular file"),
    ] {
        let source = if arguments[1] == "run" { vec!["--library", &sample] } else { vec![] };
        let done = home.run(&[arguments, &source].concat());
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(done.stderr.contains(message), "{}", done.stderr);
        assert!(done.stderr.contains("hint:"), "{}", done.stderr);
    }
}

#[test]
fn a_run_of_other_queries_is_told() {
    let home = Home::new();
    let (tasks, qrels, sample) = (fixture(TASKS[0]), fixture(TASKS[1]), library());
    let run = home.write("other.run", "q9 Q0 documents/pdf-table-extraction 1 1.0 t\n");
    let other = format!("trec:{run}");
    let ask = ["--qrels", &qrels, "--library", &sample, "--resamples", "100"];
    for command in [
        &["eval", "run", &tasks, "-s", &other][..],
        &["eval", "gate", &tasks, "--old", "bm25", "--new", &other],
    ] {
        let done = home.run(&[command, &ask].concat());
        assert!(done.stderr.contains(&format!("the run `{run}` lacks ")), "{}", done.stderr);
        assert!(done.stderr.contains("they count as nothing found"), "{}", done.stderr);
    }
    let done = home.run(&[&["eval", "run", &tasks, "-s", "bm25"], &ask[..]].concat());
    assert!(!done.stderr.contains("lacks"), "{}", done.stderr);

    // No query has a right skill.
    let nothing = home.write("nothing.trec", "q9 0 a 0\n");
    home.run(&["eval", &run, "--qrels", &nothing])
        .assert_error("nothing.trec` has no task to score", "docs/datasets.md");
}

#[test]
fn needs_of_no_task_are_counted_and_bad_ones_refused() {
    let home = Home::new();
    let qrels = fixture(TASKS[1]);
    let needs = |text: &str| {
        let needs = home.write("needs.jsonl", text);
        eval_run(&home, TASKS[0], &["--qrels", &qrels, "--needs", &needs, "-s", "bm25"])
    };
    let known = r#"{"query_id": "t01", "needs": ["read a file"]}"#;
    let done = needs(&format!("{known}\n{}\n", known.replace("t01", "t-one")));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("1 of 2 query_ids of `"), "{}", done.stderr);
    assert!(!needs(known).stderr.contains("query_ids"));
    needs(&format!("{known}\n{}", r#"{"query_id": "t02", "needs": ["..."]}"#))
        .assert_error("needs.jsonl`, line 2: need 1 has no letter or digit", "short phrases");
}

#[test]
fn pairs_of_which_none_is_held_out_need_all() {
    let home = Home::new();
    // Of these English ids none is in the scored fifth.
    let pairs = home.write("pairs.jsonl", r#"{"zh": "zh/a", "en": "b"}"#);
    home.run(&["eval", "run", &pairs, "--library", &library(), "-s", "bm25"])
        .assert_error("has no held-out pair to score, and 1 others", "--all");
}

#[test]
fn a_chat_model_that_no_system_asks_is_refused() {
    let home = Home::new();
    let (tasks, cases) = (fixture(TASKS[0]), fixture("eval/intra-skill-bench/cases.jsonl"));
    let sample = library();
    let unused = ["--library", &sample, "--chat-url", "http://127.0.0.1:1/v1", "--chat-model", "a"];
    for command in [
        &["eval", "run", &tasks, "--system", "bm25", "rrf(bm25,tfidf)"][..],
        &["eval", "gate", &tasks, "--old", "bm25", "--new", "ranked"],
        &["eval", "sweep", &cases],
    ] {
        home.run(&[command, &unused].concat())
            .assert_error("a chat model is named, and nothing asks it", "judge(bm25)");
    }
}

#[test]
fn a_sweep_has_no_near_duplicates() {
    let home = Home::new();
    let cases = fixture("eval/intra-skill-bench/cases.jsonl");
    let done = home.run(&["eval", "sweep", &cases, "--clusters", "clusters.jsonl"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("unexpected argument '--clusters'"), "{}", done.stderr);
}

#[test]
fn a_sweep_has_a_row_for_each_number_and_a_plot() {
    let home = Home::new();
    let (dataset, sample) = (fixture("eval/intra-skill-bench/cases.jsonl"), library());
    let plot = home.path("sweep.svg");
    let plot_path = plot.display().to_string();
    let sweep = |system: &str| {
        let more = ["--library", &sample, "--resamples", "100", "--plot", &plot_path, "-s", system];
        home.run(&[&["eval", "sweep", &dataset], &more[..]].concat())
    };
    let done = sweep("page:skill-pager/k={1,90}/100%");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let rows: Vec<&str> = done.stdout.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows.len(), 4, "{}", done.stdout);
    assert!(rows[2].starts_with("| 1 | ") && rows[2].ends_with("| 1.0 |"), "{}", rows[2]);
    // A skill that has fewer parts shows all that shares words with the question.
    assert!(rows[3].starts_with("| 90 | 1.000 | "), "{}", rows[3]);
    let svg = fs::read_to_string(&plot).unwrap();
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
    for (system, said) in [("page:mmr/{8", "one list in braces"), ("bm25", "shows no page")] {
        let done = sweep(system);
        assert_eq!(done.code, 2);
        assert!(done.stderr.contains(said) && done.stderr.contains("hint: "), "{}", done.stderr);
    }
}
