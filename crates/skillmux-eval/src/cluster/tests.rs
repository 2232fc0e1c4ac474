use std::path::PathBuf;

use skillmux::{
    index::UpdateOptions,
    library::Library,
    skill::{Skill, SkillId},
};

use super::*;
use crate::{answer::AnswerStep, metric::set::set_f1};

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn answer(ranking: &[&str]) -> Answer {
    Answer::of_ranking(ranking.iter().map(|id| ((*id).to_owned(), 1.0)))
}

fn ranked(answer: &Answer) -> Vec<String> {
    answer.ranked().iter().map(|skill| skill.skill_id.clone()).collect()
}

fn gold(graded: &[(&str, u32)]) -> Gold {
    let mut gold = Gold::default();
    for (id, grade) in graded {
        gold.insert(*id, *grade);
    }
    gold
}

#[test]
fn a_copy_counts_as_the_gold_once() {
    let clusters = Clusters::of([ids(&["g", "g1", "g2"]), ids(&["h", "h1"]), ids(&["x", "x1"])]);
    let credited =
        |ranking: &[&str]| ranked(&clusters.credit(&answer(ranking), &gold(&[("g", 1), ("h", 1)])));
    // A copy before the gold takes its place; the gold itself is then a further copy.
    assert_eq!(credited(&["g1", "g", "g2", "h"]), ["g", "\u{0}2", "g2", "h"]);
    assert_eq!(credited(&["g", "g1"]), ["g", "g1"]);
    // Copies of skills that are not gold stay what they are.
    assert_eq!(credited(&["x", "x1", "y", "h1"]), ["x", "x1", "y", "h"]);
    assert_eq!(credited(&[]), [""; 0]);
}

#[test]
fn golds_of_one_cluster_are_all_counted_the_better_first() {
    let clusters = Clusters::of([ids(&["a", "b", "c", "d"])]);
    let gold = gold(&[("a", 1), ("b", 3)]);
    let credited = |ranking: &[&str]| ranked(&clusters.credit(&answer(ranking), &gold));
    assert_eq!(credited(&["c", "d", "a"]), ["b", "a", "\u{0}3"]);
    // `b` was given away for `c`, and takes what is left.
    assert_eq!(credited(&["c", "b", "a"]), ["b", "a", "\u{0}3"]);
    assert_eq!(credited(&["a", "c"]), ["a", "b"]);
}

#[test]
fn a_gold_without_cluster_stays_and_its_repetition_does_not() {
    let clusters = Clusters::of([]);
    let credited = clusters.credit(&answer(&["g", "x", "g"]), &gold(&[("g", 1)]));
    assert_eq!(ranked(&credited), ["g", "x", "\u{0}3"]);
}

#[test]
fn loaded_skills_and_steps_are_counted_separately() {
    let clusters = Clusters::of([ids(&["g", "g1"])]);
    let step = |ranking: &[&str]| AnswerStep { subtask: String::new(), ranking: ids(ranking) };
    let before = Answer {
        loaded: Some(ids(&["g1", "g"])),
        steps: vec![step(&["x", "g1"]), step(&["g1"])],
        ..answer(&["g1"])
    };
    let after = clusters.credit(&before, &gold(&[("g", 1)]));
    assert_eq!(ranked(&after), ["g"]);
    assert_eq!(after.loaded, Some(ids(&["g", "\u{0}2"])));
    assert_eq!(after.steps, [step(&["x", "g"]), step(&["g"])]);
    // An answer that only ranks does not begin to load.
    assert_eq!(clusters.credit(&answer(&["g1"]), &gold(&[("g", 1)])).loaded, None);
}

#[test]
fn each_further_copy_is_one_skill_too_many() {
    let clusters = Clusters::of([ids(&["g", "g1", "g2"])]);
    let gold = gold(&[("g", 1)]);
    for loaded in [["g", "g1", "g2"], ["g1", "g", "g2"], ["g2", "g1", "g"]] {
        let before = Answer { loaded: Some(ids(&loaded)), ..Answer::default() };
        let after = clusters.credit(&before, &gold).loaded.unwrap();
        // One of three is right: precision 1/3, recall 1.
        assert!((set_f1(&after, &gold) - 0.5).abs() < 1e-12, "{after:?}");
    }
}

#[test]
fn copies_of_ignored_skills_are_ignored_unless_they_are_gold() {
    let clusters = Clusters::of([ids(&["a", "b", "c"])]);
    let ignored = clusters.with_copies(&ids(&["a", "x"]).into_iter().collect(), &gold(&[("b", 1)]));
    assert_eq!(ignored, ids(&["a", "c", "x"]).into_iter().collect());
}

/// A body of numbered words.
fn body(range: std::ops::Range<u32>) -> String {
    range.map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ")
}

const DESCRIPTION: &str = "Fills in paper forms for people who have no time to do so";

fn skill(id: &str, name: &str, description: &str, body: String) -> Skill {
    Skill {
        id: SkillId::new(id),
        name: name.to_owned(),
        description: description.to_owned(),
        body,
        source: String::new(),
    }
}

fn clusters_of(skills: &[Skill]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let shard = folder.path().join("pool.jsonl");
    let lines: Vec<String> = skills
        .iter()
        .map(|skill| {
            let Skill { id, name, description, body, .. } = skill;
            serde_json::json!({
                "skill_id": id, "name": name, "description": description, "body": body
            })
            .to_string()
        })
        .collect();
    fs::write(&shard, lines.join("\n")).unwrap();
    let path = folder.path().join("index");
    let library = Library::open([&shard]).unwrap();
    Index::update(&path, &library, &UpdateOptions::default(), &mut |_| ()).unwrap();
    let index = Index::open(&path).unwrap();
    let n_read = AtomicUsize::new(0);
    let on_read = |n: usize| {
        n_read.fetch_max(n, Ordering::Relaxed);
    };
    let clusters = Clusters::build(&index, ClusterThresholds::default(), &on_read).unwrap();
    assert_eq!(n_read.into_inner(), clusters.n_skills());
    clusters.members
}

#[test]
fn forks_keep_their_name_and_much_of_their_body() {
    let found = clusters_of(&[
        skill("a", "PDF forms", "one", body(0..300)),
        skill("b", "pdf-forms", "two", body(90..390)),
        skill("c", "pdf_forms", "three", body(260..560)),
        skill("d", "pdf-tables", "four", body(0..300)),
    ]);
    assert_eq!(found, [ids(&["a", "b"])]);
}

#[test]
fn renamed_copies_keep_their_description_and_a_word_of_their_name() {
    let found = clusters_of(&[
        skill("a", "form-filler", DESCRIPTION, body(0..300)),
        skill("b", "my-form-filler", &DESCRIPTION.to_uppercase(), body(0..310)),
        // Half a body is enough for the same name only.
        skill("c", "your-form-filler", DESCRIPTION, body(90..390)),
        // Nothing in the names.
        skill("d", "printer", DESCRIPTION, body(0..305)),
        // One template, two skills.
        skill("e", "book-cake", "Books a cake.", body(0..301)),
        skill("f", "book-lashes", "Books lashes.", body(0..302)),
    ]);
    assert_eq!(found, [ids(&["a", "b"])]);
}

#[test]
fn a_chain_of_changes_does_not_join_its_ends() {
    // Each is like the next one (0.58), but not like the one after that (0.30).
    let found: Vec<Skill> = (0..4)
        .map(|n| skill(&format!("s{n}"), "chain", &format!("d{n}"), body(n * 80..300 + n * 80)))
        .collect();
    // `s1` and `s2` have two neighbours each; the first gathers its own, which leaves `s3` alone.
    assert_eq!(clusters_of(&found), [ids(&["s1", "s0", "s2"])]);
}

#[test]
fn exact_duplicates_are_members() {
    let found = clusters_of(&[
        skill("b", "x", "d", body(0..30)),
        skill("a", "x", "d", body(0..30)),
        skill("c", "y", "e", body(100..130)),
    ]);
    assert_eq!(found, [ids(&["b", "a"])]);
}

#[test]
fn more_skills_of_one_name_than_a_block_find_their_neighbours() {
    let mut skills: Vec<Skill> = (0..u32::try_from(MAX_BLOCK).unwrap())
        .map(|n| skill(&format!("s{n}"), "same", "", body(n * 50..n * 50 + 40)))
        .collect();
    skills.push(skill("t", "same", "", body(0..39)));
    assert_eq!(clusters_of(&skills), [ids(&["s0", "t"])]);
}

#[test]
fn what_is_written_is_what_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut clusters = Clusters::of([ids(&["a", "b"]), ids(&["中", "d", "e"])]);
    clusters.n_skills = 9;
    for name in ["c.jsonl", "c.jsonl.zst"] {
        let path: PathBuf = folder.path().join(name);
        clusters.write(&path).unwrap();
        assert_eq!(Clusters::read(&path).unwrap(), clusters);
    }
    let text = fs::read_to_string(folder.path().join("c.jsonl")).unwrap();
    assert_eq!(
        text,
        "{\"format\":1,\"same_name\":0.4,\"same_description\":0.8,\"n_skills\":9}\n\
         [\"a\",\"b\"]\n[\"中\",\"d\",\"e\"]\n"
    );
}

#[test]
fn a_broken_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.jsonl");
    let refused = |text: &str| {
        fs::write(&path, text).unwrap();
        let message = Clusters::read(&path).unwrap_err().to_string();
        message.replace(&format!("{}/", folder.path().display()), "")
    };
    let head = "{\"format\":1,\"same_name\":0.4,\"same_description\":0.8,\"n_skills\":9}";
    assert_eq!(refused(""), "`c.jsonl`: field `format` is missing");
    assert_eq!(
        refused(&head.replace("\"format\":1", "\"format\":2")),
        "`c.jsonl`, line 1: field `format` is not 1"
    );
    assert_eq!(refused(&format!("{head}\n[1]")), "`c.jsonl`, line 2: not what was expected");
    assert_eq!(
        refused(&format!("{head}\n[\"a\",\"b\"]\n[\"b\",\"c\"]")),
        "`c.jsonl`, line 3: skill `b` occurs again"
    );
}
