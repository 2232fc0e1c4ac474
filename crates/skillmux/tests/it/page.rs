//! Pages of a task with needs, and of a task in another language.

use std::sync::Arc;

use skillmux::{
    model::{Language, Translated, Translator},
    query::Query,
    route::{Ranker, Router, Stages},
    skill::SkillId,
};

use crate::library::{Line, Workshop};

const BODY: &str = "# Tables\n\n## Merge\n\nMerge the sheets by their first column.\n\n## Chart\n\nDraw a chart of the totals.\n\n\
                    ## Print\n\nPrint the workbook on one page.\n";

/// Knows one word.
struct Chart;

impl Translator for Chart {
    fn translate(&self, text: &str) -> Option<Translated> {
        let is_known = text.contains("图表");
        is_known.then(|| Translated {
            text: "chart".to_owned(),
            language: Language::Chinese,
            content: text.to_owned(),
            discount: 1.0,
        })
    }
}

fn page(query: &Query) -> String {
    page_of(BODY, query, 20)
}

fn page_of(body: &str, query: &Query, budget_tokens: u32) -> String {
    let line = Line::new("a/tables", "tables", "Work with tables", body);
    let workshop = Workshop::with(&[line]);
    let ranker = Ranker::default().with_translator(Arc::new(Chart));
    let stages = Stages { ranker, ..Stages::default() };
    let router = Router::new(workshop.open().unwrap(), stages).unwrap();
    router
        .page(
            &SkillId::new("a/tables"),
            Some(query),
            budget_tokens,
            skillmux::page::PartList::none(),
        )
        .unwrap()
        .to_markdown()
}

#[test]
fn needs_choose_the_parts_of_a_page() {
    let task = Query::new("finish the report").unwrap();
    let with_need = |need: &str| page(&task.clone().with_needs([need]).unwrap());
    assert!(with_need("print a workbook").contains("on one page"));
    assert!(with_need("merge sheets").contains("first column"));
    assert!(!with_need("merge sheets").contains("on one page"));
}

#[test]
fn a_translation_chooses_them_as_well() {
    assert!(page(&Query::new("画一张图表").unwrap()).contains("Draw a chart"));
}

#[test]
fn a_step_is_shown_with_its_condition() {
    let note = "Note the time, the host, the user and the ticket in the log. ".repeat(4);
    let steps = [
        ("Stop the server.", "If it does not stop, kill it."),
        ("Copy the data to the spare disk.", "If the spare disk is full, delete a snapshot."),
        ("Remove the old folder.", "If the copy has not been checked, do not do this."),
        ("Start the server.", "If the port is in use, reboot the host."),
        ("Tell the users.", "If an alarm is on, wait."),
    ];
    let steps = steps
        .iter()
        .zip(1..)
        .map(|((step, condition), n)| format!("{n}. {step} {note}\n\n{condition}\n\n"));
    let body = format!("# Restore\n\n{}", steps.collect::<String>());
    let query = Query::new("remove the old folder").unwrap();
    for budget_tokens in [110, 150, 220] {
        let found = page_of(&body, &query, budget_tokens);
        assert!(found.contains("3. Remove the old folder."), "{found}");
        assert!(found.contains("has not been checked, do not do this."), "{found}");
    }
}

#[test]
fn a_fence_never_stays_open() {
    let jobs = "  - name: build the pool, and clean it\n    run: make pool\n".repeat(20);
    let body = format!(
        "# CI\n\nCommit the workflow file.\n\n```yaml\njobs:\n{jobs}```\n\nNever print it.\n\nClean the pool.\n"
    );
    let query = Query::new("commit the workflow file and clean the pool").unwrap();
    for budget_tokens in (10..400).step_by(15) {
        let found = page_of(&body, &query, budget_tokens);
        let n_fences = found.lines().filter(|line| line.starts_with("```")).count();
        assert!(n_fences % 2 == 0, "{found}");
    }
}

#[test]
fn a_heading_that_is_cut_has_a_mark() {
    let body = format!("# Wipe\n\n## {}\n\nRun it.\n", "only if all agree, ".repeat(20));
    let found = page_of(&body, &Query::new("run it").unwrap(), 900);
    assert!(found.lines().any(|line| line.starts_with("## ") && line.ends_with(" [...]")));
}
