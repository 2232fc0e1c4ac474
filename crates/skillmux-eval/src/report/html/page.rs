//! Puts the page together.

use askama::Template;

use super::{
    block::{Block, Section},
    figure,
    score_table::score_table,
    style,
};
use crate::{
    printable::{clipped, one_line},
    report::{
        scores::View,
        summary::Report,
        table::{Align, Table},
        text::cardinality_table,
        times::Times,
    },
};

/// The page.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    dataset: &'a str,
    /// What was measured, on one line.
    lead: String,
    /// What a reader must know.
    notes: Vec<String>,
    style: String,
    sections: Vec<Section>,
}

impl Report {
    /// Returns the report as a page; with times, two runs give different pages.
    pub fn to_html(&self, times: Option<&Times>) -> String {
        let mut sections: Vec<Section> =
            self.views().into_iter().map(|view| view_section(self, view)).collect();
        sections.extend(confidence(self));
        let mut push = |title: &str, caption: &str, table: Option<Table>| {
            let block = table.map(|table| Block::table(caption, &table));
            sections
                .extend(block.map(|block| Section { title: title.into(), blocks: vec![block] }));
        };
        let loaded = cardinality_table(&self.every_system(), one_line);
        push("Number of skills", "Mean number of loaded skills and mean Set F1, by id", loaded);
        let tokens = self.token_table(one_line);
        push("Tokens", "1 less shown tokens by those of the whole bodies", tokens);
        let times = times.filter(|times| !times.systems.is_empty());
        push("Time", "Wall-clock time for a task", times.map(|times| times.table(one_line)));
        sections.push(about(self));

        let figures = sections.iter_mut().flat_map(|section| &mut section.blocks);
        let figures = figures.filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            _ => None,
        });
        for (id, figure) in (1..).zip(figures) {
            figure.id = id;
        }
        let page = Page {
            dataset: &self.dataset,
            lead: self.head_line(),
            notes: self.notes(["Small numbers", "▲ ▼"], |name| format!("“{name}”")),
            style: style::style(),
            sections,
        };
        page.text()
    }
}

impl Page<'_> {
    fn text(&self) -> String {
        self.render().expect("nothing fails to be written to memory") + "\n"
    }
}

/// Returns the scores where one thing counts as right.
fn view_section(report: &Report, view: View) -> Section {
    let note = match view {
        View::ById => "Only the skills that the gold names are right.",
        View::NearDuplicates => "A copy or fork of a right skill is right, too.",
    };
    let mut blocks = vec![Block::Note(note), Block::Scores(score_table(report, view))];
    blocks.extend(figure::dots(report, view));
    blocks.extend(figure::recall(report, view));
    blocks.extend(figure::tokens(report, view));
    blocks.extend(figure::differences(report, view));
    blocks.extend(slices(report, view));
    let is_headline = |name: &&str| report.headline.iter().any(|headline| headline == name);
    let names = report.measures.iter().map(|note| note.name.as_str());
    let others: Vec<&str> = names.filter(|name| !is_headline(name)).collect();
    if !others.is_empty() {
        let table = report.by_measure(view, &others, &report.every_system(), one_line);
        blocks.push(Block::folded("All other measures", view.caption("Other measures"), &table));
    }
    Section { title: format!("Scores, {}", view.label()), blocks }
}

fn slices(report: &Report, view: View) -> Vec<Block> {
    let block = |key: String| {
        let table = report.slice_table(view, &key, &report.every_system(), one_line)?;
        let measure = report.slice_measure(&key).unwrap_or_default();
        let title = format!("{measure} by {}", clipped(&key, 40));
        Some(Block::folded(title.as_str(), view.caption(&title), &table))
    };
    report.slice_keys(view).into_iter().filter_map(block).collect()
}

fn confidence(report: &Report) -> Option<Section> {
    let table = report.confidence_table(one_line)?;
    let mut blocks = figure::coverage(report);
    blocks.push(Block::table("How far confidences can be relied on", &table));
    Some(Section { title: "Confidence".into(), blocks })
}

fn about(report: &Report) -> Section {
    let mut blocks = vec![Block::table("Measures", &report.measure_table(one_line))];
    let mut table = Table::new(["system", "configuration"].map(|n| (n.to_owned(), Align::Left)));
    for system in report.systems.iter().filter(|system| !system.config.is_empty()) {
        table.push(vec![one_line(&system.name), one_line(&system.config)]);
    }
    if !table.is_empty() {
        blocks.push(Block::table("Systems", &table));
    }
    Section { title: "What was measured".into(), blocks }
}
