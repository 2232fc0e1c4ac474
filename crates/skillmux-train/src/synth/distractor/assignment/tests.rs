use super::*;
use crate::synth::fixture::{index_of, skill, words};

const DESCRIPTION: &str = "Tunes the slow queries of a PostgreSQL database by reading their plans";

/// Returns Markdown with some sections and words that no other text has.
fn body(word: &str, n_sections: usize) -> String {
    let section = |at: usize| {
        let words = words(&format!("{word}{at}"), 150);
        format!("## Part {at}\n\n{words}\n\n")
    };
    (0..n_sections.max(1)).map(section).collect()
}

fn library() -> Vec<Skill> {
    vec![
        skill("databases/postgres-query-tuning", DESCRIPTION, &body("plan", 3)),
        skill(
            "databases/postgres-backup",
            "Takes base backups of a PostgreSQL database and restores them to a point in time",
            &body("wal", 3),
        ),
    ]
}

/// Calls `f` with the assignment of a distractor of the first skill.
fn with_assignment<T>(f: impl FnOnce(&DistractorAssignment<'_>) -> T) -> T {
    let skills = library();
    let (_folder, index) = index_of(&skills);
    f(&DistractorAssignment {
        key: "0123456789ab".to_owned(),
        names: Names::of_several_words(&skills[0]),
        reference: Arc::new(skills[0].clone()),
        strategy: Strategy::SameTechDifferentUse,
        index: &index,
        model_name: "small".to_owned(),
    })
}

/// A distractor that passes, of which tests change a part.
fn good() -> serde_json::Value {
    serde_json::json!({
        "name": "postgres-partition-planner",
        "description": "Splits large tables of a PostgreSQL database into partitions by date and moves \
                        their rows without downtime",
        "body": body("partition", 3),
    })
}

/// Returns what becomes of an answer.
fn check(answer: &str) -> Result<Draft, Refusal> {
    match with_assignment(|a| a.check(answer).unwrap()) {
        Checked::Accepted(draft) => Ok(draft),
        Checked::Refused(refusal) => Err(refusal),
    }
}

/// Returns why an answer is refused, with a part of the good one replaced.
fn reason(field: &str, value: &str) -> Option<&'static str> {
    let mut answer = good();
    answer[field] = value.into();
    check(&answer.to_string()).err().map(|refusal| refusal.reason())
}

#[test]
fn a_good_distractor_becomes_a_row_that_says_where_it_comes_from() {
    let row = check(&good().to_string()).unwrap().row;
    assert!(row.starts_with(b"{\"skill_id\":\""));
    let row: serde_json::Value = serde_json::from_slice(&row).unwrap();
    assert_eq!(row["skill_id"], "0123456789ab/postgres-partition-planner");
    assert_eq!(row["source"], SOURCE);
    assert_eq!(row["distractor_of"], "databases/postgres-query-tuning");
    assert_eq!(row["strategy"], "same-tech-different-use");
    assert_eq!(row["model"], "small");
}

#[test]
fn names_have_the_form_of_the_specification() {
    for good in ["a", "pdf-forms", "s3-sync-2"] {
        assert!(is_name(good), "{good}");
    }
    let long = "a".repeat(65);
    for bad in ["", "PDF", "a--b", "-a", "a-", "a b", "a_b", "名", "../a", &long] {
        assert!(!is_name(bad), "{bad}");
    }
    assert_eq!(reason("name", "Postgres Partitions"), Some("malformed name"));
}

#[test]
fn a_name_of_another_skill_is_refused() {
    assert_eq!(reason("name", "query-tuning-postgres"), Some("name of another skill"));
    assert_eq!(reason("name", "postgres-backup"), Some("name of another skill"));
}

#[test]
fn what_does_the_same_is_refused() {
    let same = "does the same as a skill";
    let reworded = "Tunes slow queries of your PostgreSQL database by reading the plans of them";
    assert_eq!(reason("description", reworded), Some(same));
    // What the neighbour does, in its words.
    assert_eq!(reason("description", &library()[1].description), Some(same));
    assert_eq!(reason("body", &library()[1].body), Some(same));
}

#[test]
fn what_has_nothing_to_do_with_the_reference_is_refused() {
    let mut answer = good();
    answer["name"] = "tea-brewing".into();
    answer["description"] =
        "Brews green and black tea at the right heat for each kind of leaf".into();
    let refused = check(&answer.to_string()).unwrap_err();
    assert_eq!(refused.reason(), "unrelated to the skill");
}

#[test]
fn the_name_of_the_reference_is_not_said() {
    let not_that = format!("{}\n\nFor plans see postgres-query-tuning.", body("partition", 3));
    assert_eq!(reason("body", &not_that), Some("says the skill's name"));
}

#[test]
fn bodies_have_sections_and_a_length() {
    let flat = body("partition", 3).replace("## ", "");
    assert_eq!(reason("body", &flat), Some("too few sections"));
    assert_eq!(reason("body", "## One\n\nShort.\n\n## Two\n"), Some("too short or too long"));
    assert_eq!(reason("body", &body("long", 30)), Some("too short or too long"));
    let with_front_matter = format!("---\nname: x\n---\n{}", body("partition", 3));
    assert_eq!(reason("body", &with_front_matter), Some("front matter in the body"));
    assert_eq!(reason("description", "Splits PostgreSQL tables"), Some("too short or too long"));
}

#[test]
fn paragraphs_of_the_reference_are_not_copied() {
    let copied = format!("{}\n{}", body("partition", 3), &library()[0].body[..600]);
    assert_eq!(reason("body", &copied), Some("copies the skill"));
}

#[test]
fn answers_of_another_form_or_language_are_refused() {
    for answer in ["No.", "{\"name\": \"a\"}"] {
        assert_eq!(check(answer).unwrap_err().reason(), "no JSON of the form asked for");
    }
    assert_eq!(reason("body", &format!("{}\u{202e}", body("p", 3))), Some("control characters"));
    let chinese = "把大表按日期拆分成分区并在不停机的情况下迁移数据";
    assert_eq!(reason("description", chinese), Some("another language"));
}

#[test]
fn what_is_asked_names_the_strategy_and_the_language() {
    with_assignment(|a| {
        let messages = a.messages();
        for part in [a.strategy.instruction(), "400 to 1200 words", "in English", FORM] {
            assert!(messages[0].text.contains(part), "{}", messages[0].text);
        }
        assert!(messages[1].text.starts_with("{\"reference\":{\"name\":\"postgres-query-tuning\""));
    });
}
