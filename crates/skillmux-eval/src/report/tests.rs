//! A small evaluation made by hand, and what every form of the report says about it.

mod folder;

use std::{fs, path::Path};

use skillmux::retrieve::Contribution;

use super::*;
use crate::{
    answer::{Answer, AnswerPage, AnswerStep, RankedSkill},
    dataset::Dataset,
    error::Error,
    evaluate::{Evaluation, Row},
    stats::BootstrapConfig,
    task::{Gold, GoldEvidence, GoldStep, Task},
};

const HOSTILE_ID: &str = "t4\"><img src=x onerror=alert(1)>";
const HOSTILE_QUERY: &str =
    "</title><script>alert(1)</script> | `x` \u{202e}gnp.exe\u{1b}[31m\nhttps://evil.example";
const HOSTILE_SKILL: &str = "</td></svg><script src=//evil.example>|`\u{202e}";

fn task(id: &str, query: &str, gold: &[&str], language: &str) -> Task {
    Task {
        id: id.to_owned(),
        query: query.to_owned(),
        gold: gold.iter().copied().collect(),
        slices: [("language".to_owned(), language.to_owned())].into(),
        ..Task::default()
    }
}

fn dataset() -> Dataset {
    let mut graded = task("t3", "把两个表格按日期合并，然后导出为 PDF", &[], "zh");
    graded.gold = Gold::default();
    graded.gold.insert("表格合并", 2);
    graded.gold.insert("pdf-export", 1);
    graded.order = vec!["表格合并".into(), "pdf-export".into()];
    let step = |subtask: &str, category: &str, id: &str| GoldStep {
        subtask: subtask.into(),
        category: category.into(),
        skill_id: Some(id.into()),
    };
    graded.steps =
        vec![step("合并表格", "tables", "表格合并"), step("导出 PDF", "documents", "pdf-export")];
    let mut paged = task("t6", "rotate the pages of a scan", &["pdf-rotate"], "en");
    paged.evidence = Some(GoldEvidence {
        skill_id: "pdf-rotate".into(),
        body_bytes: 900,
        spans: vec![[100, 180]],
    });
    paged.rejected = ["image-rotate".to_owned()].into();
    Dataset {
        name: "by-hand".into(),
        tasks: vec![
            task("t1", "merge two PDF files", &["pdf-merge"], "en"),
            task("t2", "fill in a form", &["pdf-forms"], "en"),
            graded,
            task(HOSTILE_ID, HOSTILE_QUERY, &[HOSTILE_SKILL], "en"),
            task("t5", "tell me a joke", &[], "en"),
            paged,
        ],
        n_unscored: 2,
        categories: [("表格合并", "tables"), ("pdf-export", "documents")]
            .map(|(id, category)| (id.to_owned(), category.to_owned()))
            .into(),
        ..Dataset::default()
    }
}

fn skill(id: &str, parts: &[(&str, f32)]) -> RankedSkill {
    let part = |(feature, value): &(&str, f32)| Contribution {
        feature: (*feature).to_owned(),
        value: *value,
    };
    RankedSkill {
        skill_id: id.to_owned(),
        score: parts.iter().map(|(_, value)| value).sum(),
        contributions: parts.iter().map(part).collect(),
    }
}

fn ranking(ids: &[&str]) -> Answer {
    let skills = (0_u16..).zip(ids).map(|(at, id)| ((*id).to_owned(), 9.0 - f32::from(at)));
    Answer::of_ranking(skills)
}

fn evaluations() -> Vec<Evaluation> {
    let bm25 = [
        ranking(&["pdf-merge-fork", "pdf-merge", "pdf-forms"]),
        Answer {
            ranking: Some(vec![
                skill("pdf-forms", &[("bm25.body", 4.0), ("bm25.name", 1.1)]),
                skill("word-forms", &[("bm25.body", 3.5), ("bm25.name", 0.9)]),
                skill("web-forms", &[("bm25.body", 2.0)]),
            ]),
            ..Answer::default()
        },
        ranking(&["excel", "word", "csv", "pdf-export", "表格合并"]),
        ranking(&["other", HOSTILE_SKILL]),
        ranking(&["jokes"]),
        ranking(&["pdf-rotate", "image-rotate"]),
    ];
    let router = [
        Answer {
            loaded: Some(vec!["pdf-merge".into()]),
            confidence: Some(0.93),
            ..ranking(&["pdf-merge", "pdf-forms"])
        },
        Answer {
            ranking: Some(vec![
                skill("word-forms", &[("bm25.body", 5.2), ("dense", 2.5)]),
                skill("web-forms", &[("bm25.body", 2.0), ("dense", 2.2)]),
                skill("pdf-forms", &[("bm25.body", 2.1), ("dense", 1.5)]),
            ]),
            loaded: Some(vec!["word-forms".into()]),
            confidence: Some(0.55),
            ..Answer::default()
        },
        Answer {
            loaded: Some(vec!["表格合并".into(), "pdf-export".into()]),
            confidence: Some(0.81),
            steps: vec![
                AnswerStep { subtask: "合并".into(), ranking: vec!["表格合并".into()] },
                AnswerStep { subtask: "导出".into(), ranking: vec!["pdf-export".into()] },
            ],
            ..ranking(&["表格合并", "pdf-export", "excel"])
        },
        Answer {
            loaded: Some(vec![HOSTILE_SKILL.into()]),
            confidence: Some(0.7),
            ..ranking(&[HOSTILE_SKILL, "other"])
        },
        Answer { loaded: Some(vec![]), confidence: Some(0.12), ..ranking(&["jokes"]) },
        Answer {
            loaded: Some(vec!["pdf-rotate".into()]),
            confidence: Some(0.88),
            pages: Some(vec![AnswerPage {
                skill_id: "pdf-rotate".into(),
                spans: vec![[0, 40], [90, 200]],
                n_tokens: 40,
                full_tokens: 240,
                body_bytes: 900,
                n_parts: Some(2),
            }]),
            ..ranking(&["pdf-rotate"])
        },
    ];
    let evaluation = |system: &str, config: &str, answers: [Answer; 6]| Evaluation {
        system: system.to_owned(),
        config: config.to_owned(),
        rows: dataset()
            .tasks
            .into_iter()
            .zip(answers)
            .zip(1..)
            .map(|((task, answer), n)| Row { task_id: task.id, answer, time_us: 1000 * n })
            .collect(),
    };
    vec![evaluation("bm25", "k1=1.2 b=0.75", bm25), evaluation("router@best-k", "", router)]
}

/// Names the fork of a right skill as that skill, which is then left out where it comes later.
fn credit(answer: &Answer, task: &Task) -> Answer {
    let mut credited = answer.clone();
    let fork = credited.ranked().iter().position(|skill| skill.skill_id == "pdf-merge-fork");
    let fork = fork.filter(|_| task.gold.contains("pdf-merge"));
    if let (Some(fork), Some(ranking)) = (fork, &mut credited.ranking) {
        ranking.retain(|skill| skill.skill_id != "pdf-merge");
        "pdf-merge".clone_into(&mut ranking[fork].skill_id);
    }
    credited
}

fn bootstrap() -> BootstrapConfig {
    BootstrapConfig { n_resamples: 200, ..BootstrapConfig::default() }
}

fn with_report<T>(credit: Option<Credit<'_>>, of: impl Fn(&TaskScores<'_>, &Report) -> T) -> T {
    let (dataset, evaluations) = (dataset(), evaluations());
    let scores = TaskScores::new(&dataset, &evaluations, credit).unwrap();
    let options = ReportOptions { bootstrap: bootstrap(), ..ReportOptions::default() };
    let report = Report::new(&scores, &options).unwrap();
    of(&scores, &report)
}

fn comparison<T>(of: impl Fn(&Comparison) -> T) -> T {
    with_report(None, |scores, _| {
        let options = CompareOptions { bootstrap: bootstrap(), ..CompareOptions::default() };
        of(&Comparison::new(scores, (0, 1), &options).unwrap())
    })
}

#[test]
fn text_fits_the_terminal_and_names_its_view() {
    with_report(Some(&credit), |_, report| insta::assert_snapshot!(report.to_text(100)));
}

#[test]
fn no_line_of_the_text_is_wider_than_asked_for() {
    with_report(None, |_, report| {
        for width in [80, 120, 200] {
            let text = report.to_text(width);
            let widest = text.lines().map(crate::printable::width).max().unwrap();
            assert!(widest <= width, "{widest} > {width}\n{text}");
        }
    });
}

#[test]
fn markdown() {
    with_report(None, |_, report| insta::assert_snapshot!(report.to_markdown()));
}

#[test]
fn csv() {
    with_report(None, |scores, _| {
        insta::assert_snapshot!(Snapshot::new(scores, View::ById, &SNAPSHOT_MEASURES).to_csv());
    });
}

#[test]
fn comparison_says_which_tasks_changed_and_why() {
    comparison(|comparison| {
        insta::assert_snapshot!(comparison.to_text(100, 3));
        insta::assert_snapshot!("comparison_as_markdown", comparison.to_markdown(2));
        insta::assert_snapshot!("comparison_as_json", comparison.to_json());
    });
}

#[test]
fn one_case() {
    with_report(Some(&credit), |scores, _| {
        let shown = |id| ShownTask::new(scores, id).unwrap();
        let texts = ["t1", "t2", "t3", HOSTILE_ID, "t5", "t6"].map(|id| shown(id).to_text(80, 2));
        insta::assert_snapshot!(texts.join("\n═════\n\n"));
        insta::assert_snapshot!("one_case_as_json", shown("t2").to_json());
        assert!(matches!(ShownTask::new(scores, "t9"), Err(Error::NoSuchTask { .. })));
    });
}

#[test]
fn near_duplicates_count_in_their_view_only() {
    with_report(Some(&credit), |scores, report| {
        let bm25 = &scores.systems[0];
        assert_eq!(bm25.column(View::ById, "Hit@1")[0], Some(0.0));
        assert_eq!(bm25.column(View::NearDuplicates, "Hit@1")[0], Some(1.0));
        assert_eq!(report.views(), [View::ById, View::NearDuplicates]);
    });
}

#[test]
fn the_page_stands_alone_and_the_text_of_others_is_text() {
    let times = Times::new(&evaluations());
    let page = with_report(Some(&credit), |_, report| report.to_html(Some(&times)));
    // What is escaped names addresses and attributes, but is text.
    let unescaped = ["src=x onerror", "src=//evil"];
    let markup = page.split('<').skip(1).filter_map(|tag| tag.split('>').next());
    for tag in markup {
        for forbidden in
            ["http:", "https:", "src=", "href=", "url(", "onerror", "@import", "script"]
        {
            assert!(!tag.contains(forbidden), "{tag}");
        }
    }
    for text in unescaped {
        assert!(
            !page.contains(&format!("<img {text}")) && !page.contains(&format!("<script {text}"))
        );
    }
    assert!(!page.contains(['\u{202e}', '\u{1b}']));
    assert!(page.contains("&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    assert_eq!(page.matches("<svg").count(), page.matches("<desc").count());
    assert_eq!(page.matches("<figure>").count(), 9);
    for tag in ["section", "table", "figure", "details", "svg", "text", "div", "p", "bdi", "main"] {
        let n = |form: &str| page.matches(form).count();
        let opened = n(&format!("<{tag}>")) + n(&format!("<{tag} "));
        assert_eq!(opened, n(&format!("</{tag}>")), "{tag}");
    }
}

#[test]
fn the_same_scores_give_the_same_bytes() {
    let all = || {
        with_report(Some(&credit), |scores, report| {
            let csv = Snapshot::new(scores, View::ById, &SNAPSHOT_MEASURES).to_csv();
            [report.to_json(), report.to_html(None), report.to_markdown(), report.to_text(90), csv]
        })
    };
    assert_eq!(all(), all());
    let read: Report = serde_json::from_str(&all()[0]).unwrap();
    // Reading a number may move its last digit, which Markdown does not show.
    assert_eq!(read.to_markdown(), all()[2]);
}

fn written(dir: &Path) {
    let results =
        Results { dataset: dataset(), evaluations: evaluations(), setting: Setting::default() };
    with_report(None, |scores, report| {
        let snapshot = Snapshot::new(scores, View::ById, &SNAPSHOT_MEASURES);
        results.write(dir, report, &snapshot).unwrap();
    });
}

#[test]
fn a_comparison_notes_other_settings() {
    with_report(None, |scores, _| {
        let (a, b) = (Setting { depth: 50, ..Setting::default() }, Setting::default());
        let settings = Some((&a, &b));
        let options =
            CompareOptions { bootstrap: bootstrap(), settings, ..CompareOptions::default() };
        let comparison = Comparison::new(scores, (0, 1), &options).unwrap();
        let text = comparison.to_text(100, 1);
        assert!(text.contains("\nnot the same depth: A 50, B 0\n"), "{text}");
        assert!(comparison.to_markdown(1).contains("`not the same depth: A 50, B 0`"));
    });
}

#[test]
fn steps_of_each_category_are_reported() {
    with_report(None, |_, report| {
        let slices = &report.systems[1].view(View::ById).unwrap().slices;
        let found: Vec<_> = slices
            .iter()
            .filter(|slice| slice.key == "step category")
            .map(|slice| (slice.value.as_str(), slice.n_tasks, slice.measures[0].mean))
            .collect();
        assert_eq!(found, [("documents", 1, 1.0), ("tables", 1, 1.0)]);
        let text = report.to_text(100);
        assert!(text.contains("CatR@1 by step category"), "{text}");
    });
}

/// 40 of 240 tokens are shown.
#[test]
fn tokens_are_saved_over_all_pages_together() {
    with_report(None, |_, report| {
        assert_eq!(report.systems[0].token_reduction, None);
        let reduction = report.systems[1].token_reduction.unwrap();
        assert!((reduction - 200.0 / 240.0).abs() < 1e-12);
    });
}

#[test]
fn a_broken_folder_is_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |name: &str, change: &dyn Fn(&str) -> String| {
        written(folder.path());
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, change(&text)).unwrap();
        let error = Results::read(folder.path()).unwrap_err();
        error.to_string().replace(&folder.path().display().to_string(), "DIR")
    };
    let answers = "bm25.answers.jsonl";
    let cases = [
        refusal("results.json", &|_| "{".into()),
        refusal("results.json", &|text| text.replace("\"format\": 1", "\"format\": 9")),
        refusal("results.json", &|text| text.replace("router@best-k", "bm25")),
        refusal("results.json", &|text| text.replace("router@best-k", "../../etc/passwd")),
        refusal("dataset.json", &|text| text.replace("\"t2\"", "\"t1\"")),
        refusal(answers, &|text| text.replace("\"t2\"", "\"\\u001b[2Jx\"")),
        refusal(answers, &|text| text.replace("\"t2\"", "\"t1\"")),
        refusal(answers, &|text| text.split_inclusive('\n').take(3).collect()),
        refusal(answers, &|text| text.replacen("\"score\":8.0", "\"score\":\"x\"", 1)),
        refusal(answers, &|text| text.replacen("]}}\n", "],\"confidence\":1.5}}\n", 1)),
        refusal("bm25.times.csv", &|text| text.replace("2000", "soon")),
    ];
    insta::assert_snapshot!(cases.join("\n"));
}

#[test]
fn file_names_are_harmless_and_differ() {
    let names = [
        "bm25",
        "BM25",
        "rrf(bm25,dense)@best-k",
        "rrf[bm25,dense]@best-k",
        "con",
        "../x",
        "",
        "/",
        "混合",
        "aux",
        "router",
    ];
    let stems = names.map(file_stem);
    let distinct: std::collections::BTreeSet<&String> = stems.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{stems:?}");
    for stem in &stems {
        let is_harmless =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.~".contains(c);
        assert!(stem.chars().all(is_harmless) && !stem.starts_with('.'), "{stem}");
    }
    assert_eq!((stems[0].as_str(), stems[10].as_str()), ("bm25", "router"));
    assert!(stems[2].starts_with("rrf.bm25.dense.best-k~"), "{}", stems[2]);
    assert!(file_stem(&"x".repeat(500)).len() < 100);
}

#[test]
fn snapshots_say_what_changed() {
    let path = Path::new("tasks.csv");
    let parse = |text: &str| Snapshot::parse(text, path).unwrap();
    let old =
        parse("task_id,bm25: rank of the first right skill,bm25: Hit@1\nt1,1,1\nt12,1,1\nt2,2,0\n");
    let new =
        parse("task_id,bm25: rank of the first right skill,bm25: MRR@10\nt12,3,0\nt1,1,1\nt3,,\n");
    let changes: Vec<String> = Snapshot::diff(&old, &new).iter().map(ToString::to_string).collect();
    assert_eq!(
        changes,
        [
            "bm25: MRR@10: new column",
            "bm25: Hit@1: column is gone",
            "t12: bm25: rank of the first right skill 1 -> 3",
            "t3: new task",
            "t2: task is gone",
        ]
    );
    assert!(Snapshot::diff(&new, &new).is_empty());
    let message = |text: &str| Snapshot::parse(text, path).unwrap_err().to_string();
    assert_eq!(message("id,x\n"), "`tasks.csv`, line 1: the first column is `id`, not `task_id`");
    assert_eq!(message("task_id,x\na,1\na,2\n"), "`tasks.csv`, line 3: task `a` occurs again");
    assert_eq!(message("task_id,x\na\n"), "`tasks.csv` is not a table");
}

#[test]
fn what_cannot_be_scored_is_refused() {
    let dataset = dataset();
    let mut evaluations = evaluations();
    evaluations[1].system = "bm25".into();
    let error = TaskScores::new(&dataset, &evaluations, None).unwrap_err();
    assert_eq!(error.to_string(), "there are two systems `bm25`");
    evaluations[0].rows.remove(2);
    let error = TaskScores::new(&dataset, &evaluations, None).unwrap_err();
    assert_eq!(error.to_string(), "`bm25` has no answer to task `t3`");
    let scores = TaskScores::new(&dataset, &[], None).unwrap();
    let error = Report::new(&scores, &ReportOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "there is no system to report on");
}

#[test]
fn a_skill_that_stands_in_a_ranking_twice_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let path = folder.path().join("bm25.answers.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("word-forms", "pdf-forms")).unwrap();
    let error = Results::read(folder.path()).unwrap_err();
    let message = error.to_string();
    assert!(message.ends_with("line 2: skill `pdf-forms` occurs again"), "{message}");
}

#[test]
fn what_was_not_asked_or_not_judged_is_counted() {
    let (dataset, mut evaluations) = (dataset(), evaluations());
    evaluations[0].rows[0].answer.refused = Some("the task is empty".into());
    let page = AnswerPage { skill_id: "pdf-rotate".into(), body_bytes: 7, ..AnswerPage::default() };
    evaluations[1].rows[5].answer.pages = Some(vec![page]);
    let scores = TaskScores::new(&dataset, &evaluations, None).unwrap();
    let report = Report::new(&scores, &ReportOptions::default()).unwrap();
    let counts = |at: usize| (report.systems[at].n_refused, report.systems[at].n_other_bodies);
    assert_eq!((counts(0), counts(1)), ((1, 0), (0, 1)));
    let text = report.to_text(400);
    assert!(text.contains("`bm25` could not be asked 1 of the tasks"), "{text}");
    assert!(text.contains("`router@best-k` shows another version of the skill"), "{text}");
    // Its page is not judged, and no other task has one.
    assert!(report.systems[1].views[0].measured("Sufficiency").is_none());
}

#[test]
fn a_system_that_does_not_rank_has_no_curve_and_no_ranks() {
    let (dataset, mut evaluations) = (dataset(), evaluations());
    for row in &mut evaluations[0].rows {
        row.answer = Answer { pages: Some(Vec::new()), ..Answer::default() };
    }
    let scores = TaskScores::new(&dataset, &evaluations, None).unwrap();
    let report = Report::new(&scores, &ReportOptions::default()).unwrap();
    let view = &report.systems[0].views[0];
    assert!(view.recall_curve.is_empty() && view.measured("Hit@1").is_none());
    assert!(!report.systems[1].views[0].recall_curve.is_empty());
    let snapshot = Snapshot::new(&scores, View::ById, &SNAPSHOT_MEASURES).to_csv();
    assert!(!snapshot.contains("bm25: rank of the first right skill"), "{snapshot}");
    let shown = ShownTask::new(&scores, &dataset.tasks[0].id).unwrap().to_text(100, 3);
    let of_pager = shown.split("── router").next().unwrap();
    assert!(
        !of_pager.contains("ranks nothing") && of_pager.contains("page        nothing"),
        "{shown}"
    );
}
