//! [`Block`]: what a page is made of.

use super::score_table::ScoreTable;
use crate::report::{
    plot::Drawing,
    table::{Align, Table},
};

/// A part of the page under one heading.
pub(super) struct Section {
    pub(super) title: String,
    pub(super) blocks: Vec<Block>,
}

/// Something that stands in a section.
pub(super) enum Block {
    /// What the section is about.
    Note(&'static str),
    /// The headline scores.
    Scores(ScoreTable),
    /// A plot.
    Figure(Figure),
    /// A table.
    Table(PageTable),
    /// A table that is opened on demand, without a script.
    Folded { title: String, table: PageTable },
}

impl Block {
    /// Returns a table with its caption.
    pub(super) fn table(caption: impl Into<String>, table: &Table) -> Self {
        Self::Table(PageTable::new(caption.into(), table))
    }

    /// Returns a table that is opened on demand.
    pub(super) fn folded(
        title: impl Into<String>,
        caption: impl Into<String>,
        table: &Table,
    ) -> Self {
        Self::Folded { title: title.into(), table: PageTable::new(caption.into(), table) }
    }
}

/// A plot with its caption.
pub(super) struct Figure {
    /// Distinguishes it on the page; given when the page is put together.
    pub(super) id: usize,
    /// What is drawn.
    pub(super) title: String,
    /// What is to be seen.
    pub(super) text: String,
    /// What counts as right.
    pub(super) of: &'static str,
    pub(super) drawing: Drawing,
}

/// A table with its caption; the first cell of a row is its head.
pub(super) struct PageTable {
    pub(super) caption: String,
    pub(super) head: Vec<Cell>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
pub(super) struct Cell {
    pub(super) text: String,
    /// Whether it keeps to the right edge.
    pub(super) is_right: bool,
}

impl PageTable {
    fn new(caption: String, table: &Table) -> Self {
        let cell = |(text, align): (&str, Align)| Cell {
            text: text.to_owned(),
            is_right: align == Align::Right,
        };
        let rows = table.rows().map(|row| row.map(cell).collect());
        Self { caption, head: table.head().map(cell).collect(), rows: rows.collect() }
    }
}
