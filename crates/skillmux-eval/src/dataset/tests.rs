//! Every loader on its fixture, and on what can be wrong with it.

mod trec;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use skillmux::{
    library::Library,
    skill::{Skill, SkillId},
};

use super::*;
use crate::{
    error::Error,
    task::{Gold, Task},
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn open_with(name: &str, options: DatasetOptions<'_>) -> Dataset {
    Dataset::open(&fixtures().join("eval").join(name), None, options).unwrap()
}

fn open(name: &str) -> Dataset {
    open_with(name, DatasetOptions::default())
}

fn library() -> BTreeMap<String, Skill> {
    let mut skills = BTreeMap::new();
    let library = Library::open([fixtures().join("library")]).unwrap();
    library
        .scan(&mut |scanned| {
            let skill = scanned.skill;
            skills.insert(skill.id.as_str().to_owned(), skill);
            Ok(())
        })
        .unwrap();
    skills
}

fn ids(gold: &Gold) -> Vec<&str> {
    gold.iter().map(|(id, _)| id).collect()
}

fn slice_of<'a>(task: &'a Task, name: &str) -> &'a str {
    task.slices.get(name).map_or("-", String::as_str)
}

/// Writes files into a new folder, opens what lies at `path` in it, and returns the error without
/// the folder's name, with its causes.
fn refusal(files: &[(&str, &str)], path: &str, kind: Option<DatasetKind>) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let nobody = |_: &str| Ok(None);
    let options = DatasetOptions { lookup: Some(&nobody), ..DatasetOptions::default() };
    let at = if path.is_empty() { folder.path().to_owned() } else { folder.path().join(path) };
    let error = Dataset::open(&at, kind, options).unwrap_err();
    let mut message = error.to_string();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(source) = cause.source() {
        message = format!("{message}: {source}");
        cause = source;
    }
    message
        .replace(&format!("{}/", folder.path().display()), "")
        .replace(&format!("{}", folder.path().display()), "FOLDER")
}

#[test]
fn skillrouter_has_grades_slices_and_tiers() {
    let dataset = open("skillrouter");
    assert_eq!((dataset.tasks.len(), dataset.n_unscored), (2, 1));
    let [single, multi] = &dataset.tasks[..] else { panic!("two tasks") };
    assert_eq!(single.id, "own/slow-orders");
    assert_eq!(single.gold.grade("databases/postgres-query-tuning"), 3);
    assert_eq!(ids(&single.partial), ["databases/sqlite-schema-migration"]);
    assert_eq!(single.rejected, ["office/excel-pivot-report".to_owned()].into());
    assert_eq!(slice_of(multi, "benchmark"), "own");
    assert_eq!(multi.gold.grade("office/meeting-minutes"), 2);

    let shards = |tier| {
        let dataset =
            open_with("skillrouter", DatasetOptions { tier, ..DatasetOptions::default() });
        let Some(DatasetLibrary::Paths(paths)) = dataset.library else { panic!("shards") };
        paths
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(shards(Tier::Easy), ["part-0000.jsonl"]);
    assert_eq!(shards(Tier::Hard), ["hard-distractors.jsonl.gz", "part-0000.jsonl"]);
}

#[test]
fn skillrouter_says_what_is_wrong() {
    const TASK: &str = r#"{"task_id":"t","instruction_text":"q"}"#;
    let refused = |tasks: &str, relevance: &str| {
        refusal(&[("tasks.jsonl", tasks), ("relevance.json", relevance)], "", None)
    };
    let judged = |entry: &str| refused(TASK, &format!(r#"{{"t":{entry}}}"#));
    let good = r#"{"t":{"gt_skill_ids":["a"],"relevance":{"a":1}}}"#;
    assert_eq!(
        refused("\n{\"task_id\":\"t\"}", good),
        "`tasks.jsonl`, line 2: field `instruction_text` is missing"
    );
    assert_eq!(
        refused(r#"{"task_id":"t","instruction_text":" "}"#, good),
        "`tasks.jsonl`, line 1: field `instruction_text` is empty"
    );
    assert_eq!(
        refused(r#"{"task_id":7,"instruction_text":"q"}"#, good),
        "`tasks.jsonl`, line 1: field `task_id` is not a text"
    );
    assert_eq!(
        refused(&format!("{TASK}\n{TASK}"), good),
        "`tasks.jsonl`, line 2: task `t` occurs again"
    );
    assert_eq!(refused("[1]", good), "`tasks.jsonl`, line 1: not a JSON object");
    assert_eq!(
        refused("{", good),
        "`tasks.jsonl`, line 1: not what was expected: EOF while parsing an object at byte 1"
    );
    assert_eq!(
        refused(TASK, &good.replace("{\"t\"", "{\"t\":{},\"t\"")),
        "`relevance.json`, entry `t`: task `t` occurs again"
    );
    assert_eq!(
        judged(r#"{"gt_skill_ids":["a"],"relevance":{"a":1,"a":0}}"#),
        "`relevance.json`, entry `t`: key `a` occurs again"
    );
    assert_eq!(
        judged(r#"{"gt_skill_ids":["a"],"relevance":{"a":1," a":0}}"#),
        "`relevance.json`, entry `t`: skill `a` occurs again"
    );
    assert_eq!(refused(TASK, "{}"), "`tasks.jsonl`, line 1: task `t` is not in `relevance.json`");
    assert_eq!(
        refused(TASK, r#"{"t":{"gt_skill_ids":["a"],"relevance":{"a":1}},"u":{}}"#),
        "`relevance.json`, entry `u`: task `u` is not in `tasks.jsonl`"
    );
    assert_eq!(
        judged(r#"{"gt_skill_ids":["a"],"relevance":{"b":1}}"#),
        "`relevance.json`, entry `t`: gold skill `a` has no grade above 0 in `relevance`"
    );
    assert_eq!(
        judged(r#"{"gt_skill_ids":["a"],"relevance":{"a":-1}}"#),
        "`relevance.json`, entry `t`: field `relevance` is not a map from skill ids to whole numbers"
    );
    assert_eq!(
        judged(r#"{"gt_skill_ids":[],"relevance":{}}"#),
        "`relevance.json`, entry `t`: field `gt_skill_ids` is empty"
    );
    assert_eq!(
        judged(r#"{"gt_skill_ids":["a","a"],"relevance":{"a":1}}"#),
        "`relevance.json`, entry `t`: skill `a` occurs again"
    );
    assert_eq!(
        judged(r#"{"gt_skill_ids":[],"relevance":{},"task_type":"generic_only"}"#),
        "`FOLDER` has no task to score"
    );
    let alone = refusal(&[("tasks.jsonl", TASK)], "", Some(DatasetKind::SkillRouter));
    assert_eq!(alone, "`FOLDER` has no `relevance.json`");
}

#[test]
fn r3_has_directions_and_its_own_library() {
    let dataset = open("r3");
    let seen: Vec<_> =
        dataset.tasks.iter().map(|task| (slice_of(task, "direction"), task.gold.len())).collect();
    assert_eq!(
        seen,
        [("zh->zh", 1), ("zh->en", 1), ("en->zh", 1), ("en->en", 2), ("zh->mixed", 2)]
    );
    assert_eq!(ids(&dataset.tasks[4].gold), ["4", "s3"]);
    let Some(DatasetLibrary::Skills(skills)) = dataset.library else { panic!("skills") };
    assert_eq!(
        (&*skills[0].name, &*skills[0].description),
        ("tide-table", "Looks up the tide at a harbour")
    );
    assert_eq!(skills[0].body, "# Tides\n\nName the harbour | the day.");
    assert_eq!((skills[2].id.clone(), &*skills[2].body), (SkillId::new("s3"), ""));
}

#[test]
fn r3_says_what_is_wrong() {
    let refused = |tasks: &str, skills: &str| {
        refusal(&[("test.jsonl", tasks), ("skills_test.jsonl", skills)], "", None)
    };
    let skill = r#"{"id":"a","text":"n | d | b"}"#;
    assert_eq!(
        refused(r#"{"query":"q","skill_ids":["b"]}"#, skill),
        "`test.jsonl`, line 1: skill `b` is not in the library"
    );
    assert_eq!(
        refused(r#"{"query":"q","skill_ids":"a"}"#, skill),
        "`test.jsonl`, line 1: field `skill_ids` is not a list"
    );
    assert_eq!(
        refused(r#"{"query":"q","skill_ids":[[]]}"#, skill),
        "`test.jsonl`, line 1: field `skill_ids` is not a list of ids"
    );
    assert_eq!(
        refused("", &format!("{skill}\n{skill}")),
        "`skills_test.jsonl`, line 2: skill `a` occurs again"
    );
    assert_eq!(
        refused("", r#"{"id":"a","text":"no divider"}"#),
        "`skills_test.jsonl`, line 1: field `text` is not `name | description | body`"
    );
    assert_eq!(refused("", skill), "`FOLDER` has no task to score");
}

#[test]
fn pairs_of_one_query_are_one_task() {
    let dataset = open("pairs/pairs.jsonl");
    let tasks: Vec<_> = dataset
        .tasks
        .iter()
        .map(|task| (ids(&task.gold), task.rejected.iter().map(String::as_str).collect::<Vec<_>>()))
        .collect();
    assert_eq!(
        tasks,
        [
            (vec!["devops/dockerfile-slimming"], vec!["media/image-resize"]),
            (vec!["office/meeting-minutes"], vec!["media/audio-transcription"]),
            (vec!["zh/weekly-report"], vec![]),
            (vec![], vec!["office/meeting-minutes"]),
            (vec!["git/release-notes", "writing/release-notes"], vec![]),
        ]
    );
    let negative = &dataset.tasks[3];
    assert_eq!(slice_of(negative, "judged"), "wrong_only");
    assert!(!negative.needs_no_skill());
    assert_eq!(slice_of(&dataset.tasks[4], "kind"), "author_eval+author_trigger");
    assert_eq!(slice_of(&dataset.tasks[2], "lang"), "zh");
    assert_eq!(dataset.tasks[3].id, "q-8e7765a6dd9a");
}

#[test]
fn a_skill_that_is_right_and_wrong_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.jsonl");
    let line = |flag| format!("{{\"query\":\"q\",\"skill_id\":\"a\",\"relevant\":{flag}}}\n");
    fs::write(&path, line(false) + &line(true)).unwrap();
    let dataset = Dataset::open(&path, None, DatasetOptions::default()).unwrap();
    assert_eq!(ids(&dataset.tasks[0].gold), ["a"]);
    assert!(dataset.tasks[0].rejected.is_empty());
}

#[test]
fn pairs_say_what_is_wrong() {
    let refused = |text: &str| refusal(&[("p.jsonl", text)], "p.jsonl", Some(DatasetKind::Pairs));
    assert_eq!(
        refused(r#"{"query":"q","skill_id":"a","relevant":"yes"}"#),
        "`p.jsonl`, line 1: field `relevant` is not true or false"
    );
    assert_eq!(
        refused(r#"{"query":"q","skill_id":" ","relevant":true}"#),
        "`p.jsonl`, line 1: field `skill_id` is empty"
    );
    assert_eq!(
        refused(r#"{"query":"q","skill_id":"a","relevant":true,"kind":1}"#),
        "`p.jsonl`, line 1: field `kind` is not a text"
    );
    assert_eq!(refused(""), "`p.jsonl` has no task to score");
}

#[test]
fn bilingual_pairs_ask_in_four_directions() {
    let library = library();
    let find = |id: &str| Ok(library.get(id).cloned());
    let options = DatasetOptions { lookup: Some(&find), ..DatasetOptions::default() };
    // The English id of the other pair is not in the held-out fifth.
    let dataset = open_with("bilingual/bilingual.jsonl", options);
    let seen: Vec<_> = dataset
        .tasks
        .iter()
        .map(|task| {
            let ignored: Vec<_> = task.ignored.iter().map(String::as_str).collect();
            (slice_of(task, "direction"), ids(&task.gold), ignored)
        })
        .collect();
    let (zh, en) = ("zh/weekly-report", "writing/incident-postmortem");
    assert_eq!(
        seen,
        [
            ("zh->en", vec![en], vec![zh]),
            ("en->zh", vec![zh], vec![en]),
            ("zh->zh", vec![zh], vec![en]),
            ("en->en", vec![en], vec![zh]),
        ]
    );
    assert_eq!(dataset.tasks[0].query, library[zh].description);
    assert!(library[en].description.starts_with(&dataset.tasks[3].query));
    assert!(dataset.tasks[3].query.len() < library[en].description.len());
    assert_eq!(dataset.tasks[0].id, "zh->en zh/weekly-report");

    let all = DatasetOptions { split: BilingualSplit::All, ..options };
    assert_eq!(open_with("bilingual/bilingual.jsonl", all).tasks.len(), 8);
}

#[test]
fn bilingual_pairs_need_texts() {
    let line = r#"{"zh":"z","en":"a"}"#;
    assert_eq!(
        refusal(&[("b.jsonl", line)], "b.jsonl", None),
        "`b.jsonl`, line 1: skill `z` is not in the library"
    );
    let path = fixtures().join("eval/bilingual/bilingual.jsonl");
    let refused = Dataset::open(&path, None, DatasetOptions::default());
    assert!(matches!(refused, Err(Error::LookupMissing { .. })));
}

#[test]
fn composition_keeps_the_order() {
    let dataset = open("composition/composition.jsonl");
    assert_eq!(
        dataset.tasks[0].order,
        ["documents/pdf-table-extraction", "data/csv-cleaning", "finance/invoice-reconciliation"]
    );
    assert_eq!(dataset.tasks[0].gold.len(), 3);
    assert!(dataset.tasks[1].query.starts_with("Slim the image"));
}

#[test]
fn composition_may_have_slices() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.jsonl");
    let line = r#"{"task_id":"c","query":"q","skills":["a"],"kind":"long","lang":"zh"}"#;
    fs::write(&path, line).unwrap();
    let dataset = Dataset::open(&path, None, DatasetOptions::default()).unwrap();
    let task = &dataset.tasks[0];
    assert_eq!((slice_of(task, "kind"), slice_of(task, "lang")), ("long", "zh"));
}

#[test]
fn composition_says_what_is_wrong() {
    let refused = |text: &str| refusal(&[("c.jsonl", text)], "c.jsonl", None);
    assert_eq!(
        refused(r#"{"task_id":"c","query":"q","skills":[]}"#),
        "`c.jsonl`, line 1: field `skills` is empty"
    );
    assert_eq!(
        refused(r#"{"task_id":"c","query":"q","skills":["a","a"]}"#),
        "`c.jsonl`, line 1: skill `a` occurs again"
    );
    assert_eq!(
        refused(r#"{"task_id":"c","skills":["a"]}"#),
        "`c.jsonl`, line 1: field `query` is missing"
    );
}

#[test]
fn comp_skill_bench_has_steps_with_categories() {
    let dataset = open("comp-skill-bench");
    let task = &dataset.tasks[0];
    assert_eq!(task.order, ["example-labs/pg-readonly", "example-maps/route-sketch"]);
    assert_eq!(task.steps[1].category, "location-services");
    assert_eq!((slice_of(task, "difficulty"), slice_of(task, "n_steps")), ("easy", "2"));
    assert_eq!(dataset.categories["example-data/lite-desk"], "databases");

    let human = open("comp-skill-bench/human.jsonl");
    assert_eq!(human.categories, dataset.categories);
    let task = &human.tasks[0];
    assert!(task.gold.is_empty() && task.order.is_empty() && !task.needs_no_skill());
    assert_eq!((task.steps.len(), slice_of(task, "lang")), (2, "zh"));
}

#[test]
fn comp_skill_bench_says_what_is_wrong() {
    let refused = |tasks: &str, categories: &str| {
        refusal(&[("tasks.jsonl", tasks), ("categories.json", categories)], "", None)
    };
    let task = r#"{"task_id":"t","query":"q","steps":[{"subtask":"s","category":"x"}]}"#;
    assert_eq!(
        refused(task, r#"{"a":"databases"}"#),
        "`tasks.jsonl`, line 1: category `x` has no skill in `categories.json`"
    );
    assert_eq!(
        refused(task, r#"{"a":1}"#),
        "`categories.json`, entry `a`: field `category` is not a text"
    );
    assert_eq!(
        refused(r#"{"task_id":"t","query":"q","steps":[]}"#, "{}"),
        "`tasks.jsonl`, line 1: field `steps` is empty"
    );
    assert_eq!(
        refused(r#"{"task_id":"t","query":"q","steps":[{"category":"x"}]}"#, "{}"),
        "`tasks.jsonl`, line 1: field `subtask` is missing"
    );
}

#[test]
fn intra_skill_bench_has_evidence_in_the_body() {
    let library = library();
    let dataset = open("intra-skill-bench/cases.jsonl");
    assert_eq!(dataset.tasks.len(), 2);
    for task in &dataset.tasks {
        let evidence = task.evidence.as_ref().unwrap();
        let body = &library[&evidence.skill_id].body;
        assert_eq!(body.len(), evidence.body_bytes as usize);
        assert_eq!(ids(&task.gold), [&evidence.skill_id]);
        for [start, end] in &evidence.spans {
            assert!(body.get(*start as usize..*end as usize).is_some());
        }
    }
}

#[test]
fn intra_skill_bench_says_what_is_wrong() {
    let refused = |evidence: &str| {
        let line = format!(
            r#"{{"case_id":"i","skill_id":"a","query":"q","body_bytes":100,"evidence":{evidence}}}"#
        );
        refusal(&[("i.jsonl", &line)], "i.jsonl", None)
    };
    let span = |start: u32, end: u32| {
        format!(
            "`i.jsonl`, line 1: span [{start}, {end}] is empty, out of order, or beyond the 100 \
             bytes of the body"
        )
    };
    assert_eq!(refused("[[5,5]]"), span(5, 5));
    assert_eq!(refused("[[5,9],[8,12]]"), span(8, 12));
    assert_eq!(refused("[[5,101]]"), span(5, 101));
    assert_eq!(refused("[]"), "`i.jsonl`, line 1: field `evidence` is empty");
    assert_eq!(
        refused("[[-1,2]]"),
        "`i.jsonl`, line 1: field `evidence` is not a list of pairs `[start, end]`"
    );
    assert_eq!(
        refused("[[1,2,3]]"),
        "`i.jsonl`, line 1: field `evidence` is not a list of pairs `[start, end]`"
    );
}

#[test]
fn the_kind_is_told_from_the_shape() {
    let kind = |path: &str| DatasetKind::detect(&fixtures().join("eval").join(path)).unwrap();
    assert_eq!(kind("skillrouter"), DatasetKind::SkillRouter);
    assert_eq!(kind("r3"), DatasetKind::R3);
    assert_eq!(kind("pairs/pairs.jsonl"), DatasetKind::Pairs);
    assert_eq!(kind("bilingual/bilingual.jsonl"), DatasetKind::Bilingual);
    assert_eq!(kind("composition/composition.jsonl"), DatasetKind::Composition);
    assert_eq!(kind("comp-skill-bench"), DatasetKind::CompSkillBench);
    assert_eq!(kind("comp-skill-bench/human.jsonl"), DatasetKind::CompSkillBench);
    assert_eq!(kind("intra-skill-bench/cases.jsonl"), DatasetKind::IntraSkillBench);
    assert_eq!(kind("trec"), DatasetKind::Trec);
    assert_eq!(kind("trec/queries.jsonl"), DatasetKind::Trec);
    for kind in DatasetKind::ALL {
        assert_eq!(kind.as_str().parse::<DatasetKind>().unwrap(), kind);
    }
    let unknown = "trek".parse::<DatasetKind>().unwrap_err();
    assert_eq!(unknown.to_string(), "`trek` is no kind of dataset");
    assert!(unknown.hint().unwrap().starts_with("there are skillrouter, r3, pairs"));
}

#[test]
fn other_shapes_are_refused_with_the_known_ones() {
    for (name, text) in [("x.jsonl", "{\"a\":1}"), ("x.csv", "a,b"), ("empty.jsonl", "")] {
        assert_eq!(
            refusal(&[(name, text)], name, None),
            format!("`{name}` is no dataset of a known shape")
        );
    }
    assert_eq!(refusal(&[], "", None), "`FOLDER` is no dataset of a known shape");
    assert_eq!(
        refusal(&[("x.jsonl", "\n{\"query\":\"q\",}\n")], "x.jsonl", None),
        "`x.jsonl`, line 2: not what was expected: trailing comma at byte 14"
    );
    let folder = tempfile::tempdir().unwrap();
    let hint = DatasetKind::detect(folder.path()).unwrap_err().hint().unwrap();
    assert!(DatasetKind::ALL.iter().all(|kind| hint.contains(kind.as_str())), "{hint}");
    assert!(refusal(&[], "none", None).starts_with("cannot read `none`: No such file"));
    let refused = Dataset::open(Path::new("/dev/zero"), None, DatasetOptions::default());
    assert!(matches!(refused, Err(Error::NotAFile { .. })));
}

#[test]
fn packed_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read(fixtures().join("eval/pairs/pairs.jsonl")).unwrap();
    let path = folder.path().join("pairs.jsonl.zst");
    fs::write(&path, zstd::encode_all(&text[..], 3).unwrap()).unwrap();
    let packed = Dataset::open(&path, None, DatasetOptions::default()).unwrap();
    assert_eq!(packed.tasks, open("pairs/pairs.jsonl").tasks);
}

#[test]
fn copies_get_the_id_that_the_library_kept() {
    use skillmux::index::{Index, UpdateOptions};

    let folder = tempfile::tempdir().unwrap();
    let library = Library::open([fixtures().join("library")]).unwrap();
    Index::update(folder.path(), &library, &UpdateOptions::default(), &mut |_| ()).unwrap();
    let index = Index::open(folder.path()).unwrap();
    let aliases = Aliases::of(&index).unwrap();
    // `office/csv-cleaning` is a copy of `data/csv-cleaning`.
    let gold = ["office/csv-cleaning", "data/csv-cleaning", "no/such"];
    let task = Task {
        gold: gold.into_iter().collect(),
        order: vec!["office/csv-cleaning".to_owned()],
        ..Task::default()
    };
    let mut dataset = Dataset { tasks: vec![task], ..Dataset::default() };
    let binding = dataset.bind(&aliases);
    assert_eq!(ids(&dataset.tasks[0].gold), ["data/csv-cleaning", "no/such"]);
    assert_eq!(dataset.tasks[0].order, ["data/csv-cleaning"]);
    assert_eq!(binding.renamed["office/csv-cleaning"], "data/csv-cleaning");
    assert_eq!(binding.missing, ["no/such".to_owned()].into());
    let copy = aliases.skill(&index, "office/csv-cleaning").unwrap().unwrap();
    assert_eq!(copy.id.as_str(), "data/csv-cleaning");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
        start in proptest::sample::select(vec![
            &b""[..], b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"{\"query\":\"q\",\"skill_id\":",
            b"{\"task_id\":\"t\",\"query\":\"q\",\"skills\":[", b"{\"query_id\":1,\"query\":",
            b"{\"zh\":\"a\",\"en\":\"b\"}\n", b"{\"t\":{\"gt_skill_ids\":[\"a\"],\"relevance\":",
        ]),
        broken in 0..8_usize,
    ) {
        const FILES: [(&str, &[u8]); 8] = [
            ("x.jsonl", b"{}\n"),
            ("tasks.jsonl", b"{\"task_id\":\"t\",\"instruction_text\":\"q\",\"query\":\"q\",\
                \"steps\":[{\"subtask\":\"s\",\"category\":\"c\",\"skill_id\":\"a\"}]}\n"),
            ("relevance.json", b"{\"t\":{\"gt_skill_ids\":[\"a\"],\"relevance\":{\"a\":1}}}"),
            ("test.jsonl", b"{\"query\":\"q\",\"skill_ids\":[\"a\"]}\n"),
            ("skills_test.jsonl", b"{\"id\":\"a\",\"text\":\"a | b | c\"}\n"),
            ("categories.json", b"{\"a\":\"c\"}"),
            ("queries.jsonl", b"{\"query_id\":\"1\",\"query\":\"q\"}\n"),
            ("qrels.trec", b"1 0 a 1\n"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let bytes = [start, &bytes].concat();
        // One file is broken, the others are as they should be.
        for (at, (name, sound)) in FILES.iter().enumerate() {
            fs::write(folder.path().join(name), if at == broken { &bytes } else { *sound }).unwrap();
        }
        let path = folder.path().join(FILES[broken].0);
        let lookup = |id: &str| -> Result<Option<Skill>, Error> {
            Ok((id != "b").then(|| Skill {
                id: SkillId::new(id),
                name: id.to_owned(),
                description: "Reads tables.".to_owned(),
                body: String::new(),
                source: String::new(),
            }))
        };
        let options = DatasetOptions { lookup: Some(&lookup), ..DatasetOptions::default() };
        let _ = DatasetKind::detect(&path);
        for kind in DatasetKind::ALL {
            let _ = Dataset::open(&path, Some(kind), options);
            let _ = Dataset::open(folder.path(), Some(kind), options);
        }
    }
}
