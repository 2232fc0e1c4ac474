//! Copies stand behind the skill that they are copies of.

use skillmux::{
    query::Query,
    route::{ExplainedSkill, RouteOptions, Router},
    skill::SkillId,
};

use crate::library::{Line, Workshop};

const BODY: &str = "List the fields of the form first. Then write each value into its field. Check that every \
                    required field has a value, and save the form under a new name beside the old one.";

fn library() -> Vec<Line> {
    let about = "Fill in PDF forms";
    let longer = format!("{BODY} Ask before you sign anything.");
    let other = "Render the pages, find the boxes by their lines, and draw the text into the picture of the page.";
    vec![
        Line::new("a/pdf-forms", "pdf-forms", about, BODY),
        // An exact copy, and one with a sentence more.
        Line::new("b/pdf-forms", "pdf-forms", about, BODY),
        Line::new("c/pdf-forms", "PDF Forms", "Fill in forms", &longer),
        // The same name for another skill, and a text from the same template for another thing.
        Line::new("d/pdf-forms", "pdf-forms", "Fill in scanned PDF forms", other),
        Line::new("e/web-forms", "web-forms", "Fill in web forms", BODY),
    ]
}

/// Returns the id of each skill with those of its copies.
fn found(all: &[ExplainedSkill]) -> Vec<(&str, Vec<&str>)> {
    let copies = all.iter().map(|skill| skill.copies.iter().map(SkillId::as_str).collect());
    all.iter().map(|skill| skill.id.as_str()).zip(copies).collect()
}

#[test]
fn a_ranking_has_one_entry_for_all_copies() {
    let workshop = Workshop::with(&library());
    let router = Router::open(&workshop.index_path()).unwrap();
    let query = Query::new("fill in the PDF form").unwrap();
    let distinct = router.search_distinct(&query, 10).unwrap();
    let mut entries = found(&distinct);
    entries.sort_unstable();
    assert_eq!(
        entries,
        [
            ("a/pdf-forms", vec!["b/pdf-forms", "c/pdf-forms"]),
            ("d/pdf-forms", vec![]),
            ("e/web-forms", vec![]),
        ]
    );
    let all = router.search_explained(&query, 10).unwrap();
    assert_eq!(all.len(), 4, "exact copies are one skill of the index");
    let exact: Vec<_> = found(&all).into_iter().filter(|(_, copies)| !copies.is_empty()).collect();
    assert_eq!(exact, [("a/pdf-forms", vec!["b/pdf-forms"])]);
    for k in 1..=3 {
        let first = router.search_distinct(&query, k).unwrap();
        assert_eq!(found(&first).len(), k);
        assert_eq!(found(&first), found(&distinct[..k]), "{k}");
    }
}

#[test]
fn a_plan_names_the_copies_of_what_it_loads() {
    let workshop = Workshop::with(&library());
    let router = Router::open(&workshop.index_path()).unwrap();
    let query = Query::new("fill in the PDF form").unwrap();
    let route = router.route(&query, &RouteOptions::default()).unwrap();
    let skills = route.steps.iter().flat_map(|step| step.skills.iter());
    let of_a: Vec<_> = skills.filter(|skill| skill.id.as_str() == "a/pdf-forms").cloned().collect();
    assert_eq!(found(&of_a), [("a/pdf-forms", vec!["b/pdf-forms", "c/pdf-forms"])]);
}
