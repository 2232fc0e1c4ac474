//! What holds for all systems, over the sample library.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, LazyLock, Mutex, Once,
        atomic::{AtomicUsize, Ordering},
    },
};

use rayon::prelude::*;
use skillmux::{
    index::{Index, UpdateOptions},
    library::Library,
    model::{ChatModel, ChatRequest, ChatRole, Encoder, EncoderIdentity},
    query::Query,
    route::{RouteOptions, Router},
    skill::SkillId,
    text::Analyzer,
};
use tempfile::TempDir;

mod judges;

use super::{
    sufficiency::{SufficiencyJudge, shown_text},
    *,
};
use crate::{
    answer::{Answer, AnswerPage},
    dataset::Aliases,
    error::Error,
    task::{GoldEvidence, Task},
};

/// Specs of systems that rank, from all recipes.
const RANKING_SPECS: [&str; 15] = [
    "default",
    "bm25",
    "bm25:nd",
    "fielded",
    "fielded:nd",
    "tfidf",
    "tfidf:nd",
    "dense",
    "dense:nd",
    "rrf(bm25,dense)",
    "rrf(tfidf,rrf(bm25:nd,dense:nd))",
    "score(bm25*0.7,dense*0.3)",
    "zscore(fielded,tfidf,default)",
    "judge(bm25)",
    "judge(rrf(dense,tfidf))",
];

const PAGE_SPECS: [&str; 7] = [
    "page:mmr",
    "page:full-document",
    "page:head",
    "page:chunk",
    "page:chunk-topk",
    "page:greedy-graph",
    "page:topk-dep",
];

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// An open router over some skills.
struct Shelf {
    router: Router,
    index: Arc<Index>,
    _folder: TempDir,
}

impl Shelf {
    fn of(source: PathBuf) -> Self {
        static IN_MEMORY: Once = Once::new();
        // An index is written with care for power cuts, and tests wait for the disk in vain.
        let memory = Path::new("/dev/shm");
        IN_MEMORY.call_once(|| {
            if memory.is_dir() {
                let _ = tempfile::env::override_temp_dir(memory);
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let library = Library::open([source]).unwrap();
        Index::update(&path, &library, &UpdateOptions::default(), &mut |_| {}).unwrap();
        let router = Router::open(&path).unwrap();
        Self { index: router.index(), router, _folder: folder }
    }

    /// The sample library, which is indexed once.
    fn sample() -> &'static Self {
        static SAMPLE: LazyLock<Shelf> = LazyLock::new(|| Shelf::of(fixtures().join("library")));
        &SAMPLE
    }

    /// Skills with their name and description, and no body.
    fn of_skills(skills: &[(&str, &str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("skills.jsonl");
        let line = |(id, name, description): &(&str, &str, &str)| {
            serde_json::json!({ "skill_id": id, "name": name, "description": description, "source": "s" })
                .to_string()
        };
        let lines: Vec<String> = skills.iter().map(line).collect();
        std::fs::write(&path, lines.join("\n")).unwrap();
        Self::of(path)
    }

    fn context<'a>(&'a self, encoder: &'a Words, chat: &'a dyn ChatModel) -> SystemContext<'a> {
        let mut context = SystemContext::new(&self.router, &self.index);
        context.encoder = Some(encoder);
        context.chat = Some(chat);
        context
    }
}

/// Counts terms in buckets; says nothing to terms with `zq` in them.
struct Words(EncoderIdentity);

impl Words {
    const DIM: usize = 32;

    fn new() -> Self {
        Self(EncoderIdentity { name: "words".into(), dim: 32, fingerprint: String::new() })
    }
}

impl Encoder for Words {
    fn identity(&self) -> &EncoderIdentity {
        &self.0
    }

    fn encode(&self, texts: &[&str]) -> skillmux::Result<Vec<f32>> {
        let row = |text: &&str| {
            let mut row = [0.0_f32; Self::DIM];
            Analyzer::new().for_each_term(text, &mut |term| {
                if !term.contains("zq") {
                    let bucket = blake3::hash(term.as_bytes()).as_bytes()[0];
                    row[usize::from(bucket) % Self::DIM] += 1.0;
                }
            });
            let length = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            row.map(|x| x / length)
        };
        Ok(texts.iter().flat_map(row).collect())
    }
}

/// A model that says what it is told to, and remembers what it was asked.
#[derive(Default)]
struct Script {
    answers: Vec<String>,
    n_asked: AtomicUsize,
    requests: Mutex<Vec<ChatRequest>>,
}

impl Script {
    fn new(answers: &[&str]) -> Self {
        Self { answers: answers.iter().map(|text| (*text).to_owned()).collect(), ..Self::default() }
    }

    fn n_asked(&self) -> usize {
        self.n_asked.load(Ordering::Relaxed)
    }
}

impl ChatModel for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn complete(&self, request: &ChatRequest) -> skillmux::Result<String> {
        let at = self.n_asked.fetch_add(1, Ordering::Relaxed);
        self.requests.lock().unwrap().push(request.clone());
        Ok(self.answers[at % self.answers.len()].clone())
    }
}

/// Chooses the first and the third skill that it is shown.
struct OddChooser;

impl ChatModel for OddChooser {
    fn name(&self) -> &'static str {
        "odd"
    }

    fn complete(&self, request: &ChatRequest) -> skillmux::Result<String> {
        let question: serde_json::Value = serde_json::from_str(&request.messages[1].text).unwrap();
        let id = |at: usize| question["skills"][at]["id"].as_str().unwrap_or("none").to_owned();
        Ok(serde_json::json!({ "skills": [id(0), id(2)] }).to_string())
    }
}

fn task(query: &str) -> Task {
    Task { id: query.into(), query: query.into(), ..Task::default() }
}

fn tasks() -> Vec<Task> {
    [
        "Why does Postgres do a sequential scan on orders although there is an index?",
        "Merge the scans into one PDF, and write release notes",
        "把合同里的付款条款提取出来",
        "use the csv-cleaning skill",
    ]
    .map(task)
    .to_vec()
}

fn ids(answer: &Answer) -> Vec<String> {
    answer.ranked().iter().map(|skill| skill.skill_id.clone()).collect()
}

#[test]
fn every_ranking_is_sorted_and_as_deep_as_asked() {
    let (shelf, encoder) = (Shelf::sample(), Words::new());
    let context = shelf.context(&encoder, &OddChooser);
    let aliases = Aliases::of(context.index()).unwrap();
    for spec in RANKING_SPECS {
        let spec = SystemSpec::parse(spec).unwrap();
        let system = spec.open(&context).unwrap();
        assert_eq!(system.name(), spec.to_string());
        assert!(!system.config().is_empty());
        for task in tasks() {
            let deep = system.answer(&task, 40).unwrap();
            assert!(!deep.ranked().is_empty(), "{spec}: {}", task.query);
            for pair in deep.ranked().windows(2) {
                let [a, b] = pair else { unreachable!() };
                let position = |id: &str| aliases.position(id).unwrap();
                let is_sorted = a.score > b.score
                    || a.score.to_bits() == b.score.to_bits()
                        && position(&a.skill_id) < position(&b.skill_id);
                assert!(is_sorted && a.score.is_finite(), "{spec}: {a:?} before {b:?}");
            }
            // One task is enough to see that the begin does not depend on the depth.
            let depths = if task == tasks()[0] { &[0, 1, 7][..] } else { &[] };
            for depth in depths.iter().copied() {
                let ranking = ids(&system.answer(&task, depth).unwrap());
                assert_eq!(ranking, ids(&deep)[..depth.min(deep.ranked().len())], "{spec}");
            }
        }
    }
}

#[test]
fn answers_do_not_depend_on_the_thread_or_on_what_was_asked_before() {
    let (shelf, encoder) = (Shelf::sample(), Words::new());
    let context = shelf.context(&encoder, &OddChooser);
    let mut tasks = tasks().split_off(2);
    for task in &mut tasks {
        let skill_id = "data/csv-cleaning".to_owned();
        task.evidence = Some(GoldEvidence { skill_id, body_bytes: 0, spans: Vec::new() });
    }
    for spec in RANKING_SPECS.iter().chain(&PAGE_SPECS) {
        let system = SystemSpec::parse(spec).unwrap().open(&context).unwrap();
        let answer = |task: &Task| system.answer(task, 20).unwrap();
        let one_by_one: Vec<Answer> = tasks.iter().map(answer).collect();
        let repeated: Vec<&Task> = (0..2).flat_map(|_| tasks.iter().rev()).collect();
        let at_once: Vec<Answer> = repeated.par_iter().map(|task| answer(task)).collect();
        let again = SystemSpec::parse(spec).unwrap().open(&context).unwrap();
        for (found, task) in at_once.iter().zip(&repeated) {
            let at = tasks.iter().position(|known| known == *task).unwrap();
            assert_eq!(found, &one_by_one[at], "{spec}");
        }
        assert_eq!(again.answer(&tasks[0], 20).unwrap(), one_by_one[0], "{spec}");
        assert_eq!(again.config(), system.config());
    }
}

#[test]
fn unknown_words_find_nothing_and_no_words_are_refused() {
    let (shelf, encoder) = (Shelf::sample(), Words::new());
    let chat = Script::new(&["never asked"]);
    let context = shelf.context(&encoder, &chat);
    for spec in RANKING_SPECS {
        let system = SystemSpec::parse(spec).unwrap().open(&context).unwrap();
        let answer = system.answer(&task("zqwx zqvy"), 10).unwrap();
        assert!(answer.ranking.is_some_and(|ranking| ranking.is_empty()), "{spec}");
        assert!(answer.loaded.is_none_or(|loaded| loaded.is_empty()));
        let error = system.answer(&task(" "), 10).err().unwrap();
        assert!(matches!(&error, Error::TaskRefused { task_id, .. } if task_id == " "), "{spec}");
        assert!(error.hint().is_some());
    }
    assert_eq!(chat.n_asked(), 0);
}

#[test]
fn copies_share_a_place() {
    let shelf = Shelf::of_skills(&[
        ("m/own", "scan-merge", "Merges scans"),
        ("z/copy", "scan-merge", "Merges scans"),
        ("a/copy", "scan-merge", "Merges scans"),
        ("n/other", "scan-split", "Splits scans"),
    ]);
    let encoder = Words::new();
    let context = shelf.context(&encoder, &OddChooser);
    assert_eq!(shelf.router.n_skills(), 2);
    for spec in RANKING_SPECS {
        let system = SystemSpec::parse(spec).unwrap().open(&context).unwrap();
        let mut task = task("merges scans");
        task.gold.insert("z/copy", 1);
        let answer = system.answer(&task, 10).unwrap();
        assert_eq!(ids(&answer), ["m/own", "n/other"], "{spec}");
        let loaded = answer.loaded.into_iter().flatten();
        let steps = answer.steps.into_iter().flat_map(|step| step.ranking);
        let mut others = loaded.chain(steps);
        assert!(others.all(|id| ["m/own", "n/other"].contains(&id.as_str())), "{spec}");
    }
}

#[test]
fn a_run_and_a_page_may_name_a_copy() {
    let shelf = Shelf::of_skills(&[
        ("m/own", "scan-merge", "Merges scans"),
        ("z/copy", "scan-merge", "Merges scans"),
        ("n/other", "scan-split", "Splits scans"),
    ]);
    let encoder = Words::new();
    let chat = Script::new(&["{\"sufficient\": true}"]);
    let context = shelf.context(&encoder, &chat);
    let run = tempfile::Builder::new().suffix(".run").tempfile().unwrap();
    let lines = "t Q0 z/copy 1 3 x\nt Q0 n/other 2 2 x\nt Q0 m/own 3 1 x\nt Q0 gone 4 0 x\n";
    std::fs::write(run.path(), lines).unwrap();
    let mut task = Task { id: "t".into(), ..task("merges scans") };
    let spec = format!("trec:{}", run.path().display());
    let system = SystemSpec::parse(&spec).unwrap().open(&context).unwrap();
    let ranking = system.answer(&task, 10).unwrap().ranking.unwrap();
    let found: Vec<_> = ranking.iter().map(|s| (s.skill_id.as_str(), s.score)).collect();
    assert_eq!(found, [("m/own", 3.0), ("n/other", 2.0), ("gone", 0.0)]);

    let evidence = GoldEvidence { skill_id: "z/copy".into(), body_bytes: 0, spans: Vec::new() };
    task.evidence = Some(evidence);
    let system = SystemSpec::parse("vote(page:head)").unwrap().open(&context).unwrap();
    let answer = system.answer(&task, 10).unwrap();
    assert_eq!(
        (answer.shown()[0].skill_id.as_str(), answer.judged_sufficient),
        ("m/own", Some(true))
    );
}

#[test]
fn skills_that_differ_in_their_bodies_alone_keep_a_place_each_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("skills.jsonl");
    let line = |id: &str, name: &str, body: &str| {
        serde_json::json!({
            "skill_id": id, "name": name, "description": "Merges scans", "body": body,
        })
        .to_string()
    };
    let lines = [line("a", "x", "one"), line("b", "x", "two"), line("c", "y", "three")];
    std::fs::write(&path, lines.join("\n")).unwrap();
    let (shelf, encoder) = (Shelf::of(path), Words::new());
    let context = shelf.context(&encoder, &OddChooser);
    for spec in ["bm25:nd", "fielded:nd", "tfidf:nd", "dense:nd"] {
        let system = SystemSpec::parse(spec).unwrap().open(&context).unwrap();
        let answer = system.answer(&task("x merges scans"), 10).unwrap();
        let [a, b, c] = answer.ranked() else { panic!("{spec}: {answer:?}") };
        assert_eq!([&a.skill_id, &b.skill_id, &c.skill_id], ["a", "b", "c"], "{spec}");
        assert_eq!(a.score.to_bits(), b.score.to_bits());
        assert_eq!(ids(&system.answer(&task("x merges scans"), 1).unwrap()), ["a"]);
    }
}

#[test]
fn a_refused_task_has_every_part_that_the_system_has() {
    let (shelf, encoder) = (Shelf::sample(), Words::new());
    let context = shelf.context(&encoder, &OddChooser);
    for spec in ["default", "bm25", "judge(bm25)", "page:mmr", "vote(page:mmr)"] {
        let system = SystemSpec::parse(spec).unwrap().open(&context).unwrap();
        let mut task = task("Why is the query slow?");
        let skill_id = "databases/postgres-query-tuning".to_owned();
        task.evidence = Some(GoldEvidence { skill_id, body_bytes: 0, spans: Vec::new() });
        let (answer, empty) = (system.answer(&task, 5).unwrap(), system.empty_answer());
        assert_eq!(answer.ranking.is_some(), empty.ranking.is_some(), "{spec}");
        assert_eq!(answer.loaded.is_some(), empty.loaded.is_some(), "{spec}");
        assert_eq!(answer.pages.is_some(), empty.pages.is_some(), "{spec}");
        assert_eq!(answer.confidence.is_some(), empty.confidence.is_some(), "{spec}");
    }
}

#[test]
fn without_bodies_the_statistics_are_those_of_a_library_without_bodies() {
    let bodies = |body: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("skills.jsonl");
        let line = |id: u32, description: &str| {
            serde_json::json!({
                "skill_id": format!("s{id}"), "name": format!("skill {id}"),
                "description": description, "body": body,
            })
            .to_string()
        };
        let lines = [line(1, "Merges scans"), line(2, "Splits scans"), line(3, "Merges merges")];
        std::fs::write(&path, lines.join("\n")).unwrap();
        (Shelf::of(path), folder)
    };
    let (with, _kept) = bodies("merges and splits of all kinds of scans");
    let (without, _kept_too) = bodies("");
    let encoder = Words::new();
    for spec in ["bm25:nd", "fielded:nd", "tfidf:nd", "dense:nd"] {
        let spec = SystemSpec::parse(spec).unwrap();
        let answer = |shelf: &Shelf, spec: &SystemSpec| {
            let system = spec.open(&shelf.context(&encoder, &OddChooser)).unwrap();
            system.answer(&task("merges scans"), 9).unwrap()
        };
        assert_eq!(answer(&with, &spec), answer(&without, &spec), "{spec}");
        let full = SystemSpec::parse(spec.to_string().trim_end_matches(":nd")).unwrap();
        assert_ne!(answer(&with, &full), answer(&with, &spec), "{spec}");
        assert_eq!(answer(&without, &full).ranking, answer(&without, &spec).ranking, "{spec}");
    }
}

#[test]
fn the_whole_router_says_everything() {
    let (shelf, encoder) = (Shelf::sample(), Words::new());
    let context = shelf.context(&encoder, &OddChooser);
    let system = SystemSpec::parse("default").unwrap().open(&context).unwrap();
    let mut task =
        task("Why does Postgres do a sequential scan on orders although there is an index?");
    let deep = system.answer(&task, 12).unwrap();
    task.gold.insert(ids(&deep)[9].clone(), 1);

    let answer = system.answer(&task, 12).unwrap();

    let query = Query::new(task.query.as_str()).unwrap();
    let route = shelf.router.route(&query, &RouteOptions::default()).unwrap();
    let loaded: Vec<&str> = route.steps[0].skills.iter().map(|skill| skill.id.as_str()).collect();
    assert_eq!(answer.loaded.as_deref().unwrap(), loaded);
    assert_eq!(answer.confidence, route.confidence);
    assert_eq!(answer.steps.len(), 1);
    assert!(answer.steps[0].ranking.len() > loaded.len());
    for (position, skill) in answer.ranked().iter().enumerate() {
        let sum: f32 = skill.contributions.iter().map(|part| part.value).sum();
        let is_explained = position < 3 || position == 9;
        assert_eq!(!skill.contributions.is_empty(), is_explained, "{position}");
        assert!(!is_explained || (sum - skill.score).abs() < 1e-3 * skill.score);
    }
    assert_eq!(answer.shown().len(), route.pages.len());
    for (page, of_route) in answer.shown().iter().zip(&route.pages) {
        assert_eq!((page.n_tokens, page.full_tokens), (of_route.n_tokens, of_route.full_tokens));
        let covers = |node: &skillmux::page::PageNode| {
            page.spans.iter().any(|[start, end]| *start <= node.start_byte && node.end_byte <= *end)
        };
        assert!(of_route.nodes.iter().all(covers));
    }
}

#[test]
fn a_model_that_is_missing_is_named() {
    let shelf = Shelf::sample();
    let context = SystemContext::new(&shelf.router, &shelf.index);
    for (spec, message) in [
        ("rrf(bm25,dense:nd)", "`dense:nd` needs an encoder, and none was given"),
        ("judge(bm25)", "`judge(bm25)` needs a chat model, and none was given"),
    ] {
        let error = SystemSpec::parse(spec).unwrap().open(&context).err().unwrap();
        assert_eq!(error.to_string(), message);
        assert!(error.hint().is_some());
    }
}

/// Pages of every method for the long skills of the sample library.
fn pages(budget: u32, queries: &[&str]) -> Vec<(&'static str, AnswerPage, String)> {
    let (shelf, encoder) = (Shelf::sample(), Words::new());
    let context = shelf.context(&encoder, &OddChooser);
    let index = &shelf.index;
    let mut pages = Vec::new();
    for skill_id in ["databases/postgres-query-tuning", "security/oauth-oidc-integration"] {
        let body = index.skill(index.find(&SkillId::new(skill_id)).unwrap()).unwrap().skill.body;
        for spec in PAGE_SPECS {
            let system = SystemSpec::parse(&format!("{spec}/{budget}")).unwrap();
            let system = system.open(&context).unwrap();
            for query in queries {
                let mut task = task(query);
                let evidence =
                    GoldEvidence { skill_id: skill_id.into(), body_bytes: 0, spans: Vec::new() };
                task.evidence = Some(evidence);
                let answer = system.answer(&task, 10).unwrap();
                assert!(answer.ranking.is_none() && answer.shown().len() == 1);
                pages.push((spec, answer.shown()[0].clone(), body.clone()));
            }
            assert_eq!(system.answer(&task("no evidence"), 10).unwrap(), Answer::default());
        }
    }
    pages
}

#[test]
fn pages_keep_to_the_budget_and_the_body() {
    let mut full_tokens = HashMap::new();
    for budget in [1, 60, 800, 100_000] {
        for (spec, page, body) in pages(budget, &["zqwx", "How do I find the slowest query?"]) {
            let is_whole = spec == "page:full-document";
            assert!(is_whole || page.n_tokens <= budget, "{spec}: {}", page.n_tokens);
            assert_eq!(page.body_bytes as usize, body.len());
            let mut last = None;
            for [start, end] in &page.spans {
                assert!(start < end && last.is_none_or(|last| last < *start), "{spec}");
                assert!(body.get(*start as usize..*end as usize).is_some());
                last = Some(*end);
            }
            let known = full_tokens.entry(page.skill_id.clone()).or_insert(page.full_tokens);
            assert_eq!(*known, page.full_tokens, "{spec}");
            let is_all = shown_text(&page, &body) == body.trim();
            assert!(is_all || !is_whole, "{spec}");
            if budget >= 800 {
                assert!(!page.spans.is_empty(), "{spec}");
            }
        }
    }
}

#[test]
fn methods_select_different_parts() {
    let found = pages(700, &["How do I find the slowest query?", "rotate the refresh token"]);
    let spans_of = |wanted: &&str| -> Vec<&Vec<[u32; 2]>> {
        let pages = found.iter().filter(|(spec, ..)| spec == wanted);
        pages.map(|(_, page, _)| &page.spans).collect()
    };
    let all: Vec<_> = PAGE_SPECS.iter().map(spans_of).collect();
    for (at, spans) in all.iter().enumerate() {
        assert!(all[..at].iter().all(|others| others != spans), "{}", PAGE_SPECS[at]);
    }
}

#[test]
fn our_pager_is_that_of_the_router() {
    let (shelf, encoder) = (Shelf::sample(), Words::new());
    let context = shelf.context(&encoder, &OddChooser);
    let skill_id = "databases/postgres-query-tuning";
    let mut task = task("How do I find the slowest query?");
    let query = Query::new(task.query.as_str()).unwrap();
    let of_router = shelf
        .router
        .page(&SkillId::new(skill_id), Some(&query), 800, skillmux::page::PartList::none())
        .unwrap();
    task.evidence =
        Some(GoldEvidence { skill_id: skill_id.into(), body_bytes: 0, spans: Vec::new() });
    let system = SystemSpec::parse("page:mmr/800").unwrap().open(&context).unwrap();
    let answer = system.answer(&task, 1).unwrap();
    let page = &answer.shown()[0];
    assert_eq!((page.n_tokens, page.full_tokens), (of_router.n_tokens, of_router.full_tokens));

    let body = shelf.index.skill(shelf.index.find(&SkillId::new(skill_id)).unwrap());
    let text = shown_text(page, &body.unwrap().skill.body);
    assert!(of_router.nodes.iter().all(|node| text.contains(node.text.trim())));
}

#[test]
fn an_unknown_skill_is_refused_with_ids_that_look_alike() {
    let (shelf, encoder) = (Shelf::sample(), Words::new());
    let context = shelf.context(&encoder, &OddChooser);
    let system = SystemSpec::parse("page:mmr").unwrap().open(&context).unwrap();
    let mut task = task("slow query");
    let skill_id = "databases/postgres-query-tunning".to_owned();
    task.evidence = Some(GoldEvidence { skill_id, body_bytes: 0, spans: Vec::new() });
    let hint = system.answer(&task, 1).err().unwrap().hint().unwrap();
    assert!(hint.contains("databases/postgres-query-tuning"), "{hint}");
}
