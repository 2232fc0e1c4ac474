//! [`Blocks`]: where a body has tables and indented code, which the lines alone do not tell.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// The tables and the indented code blocks of a body, in the order of the source.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    tables: Vec<Range<usize>>,
    indented_code: Vec<Range<usize>>,
}

impl Blocks {
    pub(super) fn of(body: &str) -> Self {
        let mut blocks = Self::default();
        for (event, range) in Parser::new_ext(body, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Table(_)) => blocks.tables.push(range),
                Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
                    blocks.indented_code.push(range);
                }
                _ => {}
            }
        }
        blocks
    }

    /// Returns the table that a byte stands in.
    pub(super) fn table_at(&self, byte: usize) -> Option<&Range<usize>> {
        around(&self.tables, byte)
    }

    /// Tells whether a byte stands in an indented code block.
    pub(super) fn is_indented_code(&self, byte: usize) -> bool {
        around(&self.indented_code, byte).is_some()
    }
}

fn around(ranges: &[Range<usize>], byte: usize) -> Option<&Range<usize>> {
    let at = ranges.partition_point(|range| range.end <= byte);
    ranges.get(at).filter(|range| range.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    #[test]
    fn indented_code_is_told_from_indented_text() {
        let body = "Run this.\n\n    one\n\n1. Step.\n\n    Text of it.\n\n        two\n\nEnd.\n";
        let blocks = Blocks::of(body);
        let is_code = |word: &str| blocks.is_indented_code(body.find(word).unwrap());
        assert_eq!(["one", "two"].map(is_code), [true, true]);
        assert_eq!(["Run", "Step", "Text", "End"].map(is_code), [false; 4]);
    }

    #[test]
    fn tables_need_no_bar_at_the_begin_of_a_line() {
        let body = "a | b.\n\nname | use\n---|---\nx | y\n\n| c |\n|---|\n| z |\n";
        let blocks = Blocks::of(body);
        let start = |text: &str| blocks.table_at(body.find(text).unwrap()).map(|table| table.start);
        assert_eq!((start("a | b"), start("x | y")), (None, body.find("name")));
        assert_eq!(start("| z |"), body.find("| c |"));
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for unit in ["    x\n\n", "a|b\n-|-\n", "\t", "|", "- a\n\n      b\n\n"] {
            assert_linear(unit, 100_000, |body| drop(Blocks::of(body)));
        }
    }
}
