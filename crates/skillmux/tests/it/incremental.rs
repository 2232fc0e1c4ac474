//! An index that was built step by step equals one that was built at once.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    time::{Duration, SystemTime},
};

use proptest::prelude::*;
use skillmux::{
    index::{Index, UpdateOutcome},
    query::Query,
    route::{Ranker, RouteOptions, Router, Stages},
    skill::SkillId,
};

use crate::corrupt::forge_manifest;
use crate::library::{Line, Workshop, contents, sample};
use crate::rankers::{rankers, shipped};

/// Words of the generated texts; queries use them too.
const WORDS: [&str; 20] = [
    "invoice",
    "table",
    "merge",
    "pages",
    "deploy",
    "container",
    "review",
    "contract",
    "slides",
    "parse",
    "csv-rows",
    "run_tests",
    "发票",
    "合同",
    "审查",
    "表格",
    "导出",
    "数据清洗",
    "部署",
    "幻灯片",
];

const QUERIES: [&str; 7] = [
    "merge the pages of the contract",
    "review and deploy the container, then review it again",
    "导出发票表格",
    "数据清洗 csv rows and parse",
    "use the invoice-1 skill",
    "run_tests",
    "一份合同的审查和幻灯片",
];

/// A change of a library.
#[derive(Debug, Clone)]
enum Edit {
    Add {
        at: usize,
        text: Text,
    },
    Change {
        at: usize,
        text: Text,
    },
    Delete {
        at: usize,
    },
    Rename {
        at: usize,
        number: u8,
    },
    /// The same content under another id.
    Duplicate {
        at: usize,
        number: u8,
    },
    /// Another content under the id of a neighbour.
    Collide {
        at: usize,
        with: usize,
    },
    /// Another place in the shard, which decides which of two copies is kept.
    Move {
        at: usize,
        to: usize,
    },
}

/// A content, by the numbers of its words.
#[derive(Debug, Clone)]
struct Text {
    number: u8,
    name: usize,
    description: Vec<usize>,
    body: Vec<usize>,
}

impl Text {
    fn line(&self, id: String) -> Line {
        let words = |numbers: &[usize]| numbers.iter().map(|n| WORDS[*n]).collect::<Vec<_>>();
        let body = words(&self.body).chunks(5).map(|line| line.join(" ")).collect::<Vec<_>>();
        Line {
            id,
            name: format!("{}-{}", WORDS[self.name], self.number % 3),
            description: words(&self.description).join(" "),
            body: body.join(".\n"),
        }
    }
}

impl Edit {
    fn apply(&self, lines: &mut Vec<Line>) {
        let n = lines.len();
        match self {
            Self::Add { at, text } => {
                let id = format!("pool/{}-{}", WORDS[text.name], text.number);
                lines.insert(at % (n + 1), text.line(id));
            }
            Self::Change { at, text } => {
                let id = lines[at % n].id.clone();
                lines[at % n] = text.line(id);
            }
            Self::Delete { at } if n > 1 => drop(lines.remove(at % n)),
            Self::Delete { .. } => {}
            Self::Rename { at, number } => lines[at % n].id = format!("moved/{number}"),
            Self::Duplicate { at, number } => {
                let copy = Line { id: format!("copy/{number}"), ..lines[at % n].clone() };
                lines.push(copy);
            }
            Self::Collide { at, with } => lines[at % n].id = lines[with % n].id.clone(),
            Self::Move { at, to } => {
                let line = lines.remove(at % n);
                lines.insert(to % n, line);
            }
        }
    }
}

fn text() -> impl Strategy<Value = Text> {
    let word = 0..WORDS.len();
    let body = prop::collection::vec(word.clone(), 0..40);
    let description = prop::collection::vec(word.clone(), 1..8);
    (any::<u8>(), word, description, body).prop_map(|(number, name, description, body)| Text {
        number,
        name,
        description,
        body,
    })
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = 0..1000_usize;
    prop_oneof![
        4 => (at.clone(), text()).prop_map(|(at, text)| Edit::Add { at, text }),
        3 => (at.clone(), text()).prop_map(|(at, text)| Edit::Change { at, text }),
        2 => at.clone().prop_map(|at| Edit::Delete { at }),
        1 => (at.clone(), any::<u8>()).prop_map(|(at, number)| Edit::Rename { at, number }),
        2 => (at.clone(), any::<u8>()).prop_map(|(at, number)| Edit::Duplicate { at, number }),
        1 => (at.clone(), at.clone()).prop_map(|(at, with)| Edit::Collide { at, with }),
        1 => (at.clone(), at).prop_map(|(at, to)| Edit::Move { at, to }),
    ]
}

/// Returns the bits of every score of every query, by id.
fn rankings(index: &Index, ranker: &Ranker) -> Vec<Vec<(SkillId, u32)>> {
    let ranking = |text: &&str| {
        let ranking = ranker.rank(index, &Query::new(*text).unwrap(), 1000).unwrap();
        ranking.candidates.into_iter().map(|found| (found.skill, found.score.to_bits())).collect()
    };
    QUERIES.iter().map(ranking).collect()
}

/// Returns the routes of every query by words alone, and by the ranker that ships.
fn routes(path: &std::path::Path) -> Vec<String> {
    let [with_vectors, without_vectors] = shipped();
    let rankers = [Ranker::default(), with_vectors, without_vectors];
    let routes = rankers.into_iter().flat_map(|ranker| {
        let stages = Stages { ranker, ..Stages::default() };
        let router = Router::new(Index::open(path).unwrap(), stages).unwrap();
        let route = move |text: &&str| {
            let query = Query::new(*text).unwrap();
            let route = router.route(&query, &RouteOptions::default()).unwrap();
            serde_json::to_string(&route).unwrap()
        };
        QUERIES.iter().map(route).collect::<Vec<_>>()
    });
    routes.collect()
}

/// Checks that an index is what one of these lines is that was built at once.
fn assert_equal(workshop: &Workshop, lines: &[Line]) {
    let rebuilt = Workshop::with(lines);
    let [grown, built] = [workshop, &rebuilt].map(|workshop| workshop.open().unwrap());
    let (grown, built) = (&grown, &built);
    assert_eq!(contents(grown).unwrap(), contents(built).unwrap());
    for ranker in rankers() {
        assert_eq!(rankings(grown, &ranker), rankings(built, &ranker));
    }
    let vectors = |index: &Index| index.manifest().files["vectors.bin"].clone();
    assert_eq!(vectors(grown), vectors(built));
    grown.verify().unwrap();
    assert_eq!(routes(grown.path()), routes(built.path()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn incremental_equals_rebuild(commits in prop::collection::vec(prop::collection::vec(edit(), 1..5), 1..14)) {
        let mut lines = sample();
        let workshop = Workshop::with(&lines);
        for edits in &commits {
            for edit in edits {
                edit.apply(&mut lines);
            }
            workshop.update(&lines).unwrap();
        }
        assert_equal(&workshop, &lines);
    }
}

/// Returns the segments of the lexical index.
fn n_segments(index: &Index) -> usize {
    let names = index.manifest().files.keys();
    let segments = names.filter_map(|name| name.strip_prefix("lexical/")?.split('.').next());
    segments.filter(|name| name.len() == 32).collect::<BTreeSet<_>>().len()
}

#[test]
fn many_small_updates_are_tidied_and_equal_a_rebuild() {
    let numbered = |n: usize| {
        let (a, b) = (WORDS[n % 20], WORDS[(n * 7 + 3) % 20]);
        Line::new(
            &format!("pool/{n:02}"),
            &format!("{a}-{n}"),
            &format!("{b} for {a} number {n}"),
            &format!("{a} {b} ").repeat(1 + n % 9),
        )
    };
    let mut lines: Vec<Line> = (0..20).map(numbered).collect();
    let workshop = Workshop::with(&lines);
    let (mut was_tidied, mut most_segments, mut was_merged) = (false, 1, false);
    for n in 20..44 {
        lines.push(numbered(n));
        if n % 4 == 0 {
            lines.remove(n % 7);
        }
        workshop.update(&lines).unwrap();
        let index = workshop.open().unwrap();
        let store_files = &index.manifest().store_files;
        assert!(store_files.len() <= 8, "{store_files:?}");
        was_tidied |= store_files.iter().any(|name| name.ends_with("-all.bin"));
        let n_segments = n_segments(&index);
        was_merged |= n_segments < most_segments;
        most_segments = most_segments.max(n_segments);
        assert!(n_segments <= 8, "{n_segments} segments");
    }
    assert!(was_tidied && was_merged);
    assert_equal(&workshop, &lines);
}

#[test]
fn content_that_goes_and_comes_back_is_found_once() {
    let all = sample();
    let workshop = Workshop::with(&all);
    for _ in 0..3 {
        workshop.update(&all[..2]).unwrap();
        workshop.update(&all).unwrap();
    }
    assert_equal(&workshop, &all);
}

#[test]
fn a_worn_out_index_is_rebuilt_by_an_update() {
    let churn = |round: usize| -> Vec<Line> {
        let line = |n: usize| {
            let id = format!("pool/{n}");
            Line::new(&id, "table", &format!("table {n} of round {round}"), "merge the pages")
        };
        (0..400).map(line).collect()
    };
    let mut last = sample();
    let workshop = Workshop::with(&last);
    for round in 0..3 {
        last = churn(round);
        workshop.update(&last).unwrap();
        last = sample();
        workshop.update(&last).unwrap();
    }
    let report = workshop.update(&last).unwrap();
    assert_eq!((report.n_added, report.n_removed, report.n_unchanged), (0, 0, last.len()));
    let index = workshop.open().unwrap();
    // 3 × 400 freed slots are more than 1,000 and four times the skills.
    assert!(index.manifest().n_slots < 1000, "{} slots", index.manifest().n_slots);
    assert_equal(&workshop, &last);
}

#[test]
fn an_update_says_what_it_did() {
    let mut lines = sample();
    let workshop = Workshop::with(&lines);
    lines[0].body.push_str("3. Check the result.\n");
    lines[1].id = "docs/decks".into();
    lines.remove(2);
    let report = workshop.update(&lines).unwrap();
    assert_eq!((report.n_added, report.n_removed, report.n_unchanged), (1, 2, 3));
    // One was changed and one renamed; neither is lost.
    assert_eq!((report.n_before, report.n_lost), (5, 1));
    assert_eq!(report.generation, 2);
    assert_eq!(report.outcome, UpdateOutcome::Committed);
    let again = workshop.update(&lines).unwrap();
    assert_eq!((again.outcome, again.generation), (UpdateOutcome::Unchanged, 2));
    let rebuilt = workshop.rebuild(&lines[..1]).unwrap();
    assert_eq!((rebuilt.n_before, rebuilt.n_lost, rebuilt.n_unchanged), (4, 3, 0));
}

#[test]
fn an_update_that_finds_nothing_new_writes_nothing() {
    let mut lines = sample();
    let workshop = Workshop::with(&lines);
    let path = workshop.index_path();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_hours(24);
    let made_old = || File::open(&path).unwrap().set_modified(long_ago).unwrap();
    let was_written = || fs::metadata(&path).unwrap().modified().unwrap() != long_ago;
    made_old();
    lines.reverse();
    let report = workshop.update(&lines).unwrap();
    assert_eq!((report.outcome, report.generation), (UpdateOutcome::Unchanged, 1));
    assert!(!was_written());
    // What changes only the ids is something new.
    lines[0].id = "docs/other".into();
    let report = workshop.update(&lines).unwrap();
    assert_eq!((report.outcome, report.n_unchanged), (UpdateOutcome::Committed, lines.len()));
    assert!(was_written());
    assert_equal(&workshop, &lines);
    // So is what only takes away.
    made_old();
    lines.pop();
    let report = workshop.update(&lines).unwrap();
    assert_eq!((report.n_added, report.n_removed), (0, 1));
    assert!(was_written());
    assert_equal(&workshop, &lines);
}

#[test]
fn a_generation_of_other_field_caps_is_not_built_upon() {
    let workshop = Workshop::with(&sample());
    forge_manifest(&workshop.index_path(), "\"name_bytes\": 256", "\"name_bytes\": 8");
    let report = workshop.update(&sample()).unwrap();
    assert_eq!((report.outcome, report.n_unchanged), (UpdateOutcome::Committed, 0));
    assert_equal(&workshop, &sample());
}
