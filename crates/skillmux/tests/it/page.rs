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
    let line = Line::new("a/tables", "tables", "Work with tables", BODY);
    let workshop = Workshop::with(&[line]);
    let ranker = Ranker::default().with_translator(Arc::new(Chart));
    let stages = Stages { ranker, ..Stages::default() };
    let router = Router::new(workshop.open().unwrap(), stages).unwrap();
    router
        .page(&SkillId::new("a/tables"), Some(query), 20, skillmux::page::PartList::none())
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
