//! Cuts Markdown into pieces, the smallest spans that a node is made of.

use std::ops::Range;

use super::fence::without_inner_fences;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Longest list item that stays whole, in bytes; a token is about four bytes, in English (4.2) and
/// in Chinese (3.8) alike, so every limit in tokens is a limit in bytes here.
const ITEM_BYTES: usize = 4 * 200;
/// Longest table or group of rows that stays whole.
const TABLE_BYTES: usize = 4 * 300;
/// Longest block quote that stays whole.
const QUOTE_BYTES: usize = 4 * 300;
/// Containers below this depth stay whole, which bounds the work on hostile nesting.
const MAX_DEPTH: usize = 12;
/// Bytes of indentation that are searched for the begin of a line.
const MAX_INDENT: usize = 64;

/// What a piece is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Heading(u8),
    /// A thematic break.
    Rule,
    Paragraph,
    /// A paragraph that is a condition of the step before it.
    Condition,
    Code,
    Html,
    Quote,
    /// A table, or some of its rows.
    Table,
    /// A list item with all that it contains.
    Item {
        ordered: bool,
    },
    /// What a long list item says before its nested blocks.
    ItemText {
        ordered: bool,
    },
}

/// A span of the body that is not divided further.
///
/// Pieces are in source order and disjoint, and what lies between them is blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) form: Form,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Tells the list that an item belongs to from others.
    pub(super) list: Option<usize>,
}

/// Cuts `body` into pieces; together with blank space they make up all of it.
pub(super) fn pieces(body: &str) -> Vec<Piece> {
    let blocks = blocks(&without_inner_fences(body));
    let mut cutter = Cutter { body, pieces: Vec::new() };
    let mut idx = 0;
    let mut quote_next = 0;
    while let Some(block) = blocks.get(idx) {
        let len = block.range.len();
        let is_leaf = block.next == idx + 1 || block.depth >= MAX_DEPTH;
        // The `>` of an empty line within a quote belongs to what stands before it.
        let end = if idx < quote_next { usize::MAX } else { block.range.end };
        let list = block.parent;
        let mut descends = false;
        match block.form {
            BlockForm::List { ordered } if is_leaf => {
                cutter.cut(Form::Item { ordered }, block.range.start, end, list);
            }
            BlockForm::List { .. } => descends = true,
            BlockForm::Item { ordered } if is_leaf || len <= ITEM_BYTES => {
                cutter.cut(Form::Item { ordered }, block.range.start, end, list);
            }
            BlockForm::Item { ordered } => {
                cutter.cut(Form::ItemText { ordered }, block.range.start, usize::MAX, list);
                descends = true;
            }
            BlockForm::Quote if !is_leaf && len > QUOTE_BYTES => {
                quote_next = quote_next.max(block.next);
                descends = true;
            }
            BlockForm::Table if len > TABLE_BYTES => {
                cutter.cut(Form::Table, block.range.start, end, None);
                descends = true;
            }
            BlockForm::Row => {
                let group_start = cutter.pieces.last().map_or(0, |piece| piece.start);
                if block.range.end.saturating_sub(group_start) > TABLE_BYTES {
                    let table_end = cutter.pieces.last().map_or(end, |piece| piece.end);
                    cutter.cut(Form::Table, block.range.start, table_end, None);
                }
            }
            BlockForm::Plain(form) => cutter.cut(form, block.range.start, end, None),
            BlockForm::Quote => cutter.cut(Form::Quote, block.range.start, end, None),
            BlockForm::Table => cutter.cut(Form::Table, block.range.start, end, None),
        }
        idx = if descends { idx + 1 } else { block.next };
        // The first paragraph of a split item stands beside its marker and is what it says.
        if let BlockForm::Item { .. } = block.form
            && descends
            && let Some(first) = blocks.get(idx)
            && first.form == BlockForm::Plain(Form::Paragraph)
            && !body[block.range.start..first.range.start].contains('\n')
        {
            idx = first.next;
        }
    }
    cutter.finish()
}

struct Cutter<'a> {
    body: &'a str,
    pieces: Vec<Piece>,
}

impl Cutter<'_> {
    /// Begins a piece at `start`; it ends at `end`, or where the next begins if that is earlier.
    fn cut(&mut self, form: Form, start: usize, end: usize, list: Option<usize>) {
        let floor = self.pieces.last().map_or(0, |piece| match piece.form {
            Form::Heading(_) | Form::Rule => piece.end,
            _ => piece.start,
        });
        let start = self.line_start(start, floor);
        if let Some(last) = self.pieces.last()
            && last.start >= start
        {
            // What begins a quote or a table begins where that does.
            return;
        }
        self.close(start);
        self.pieces.push(Piece { form, start, end, list });
    }

    /// Ends the last piece, and keeps text that belongs to no block, such as link definitions.
    fn close(&mut self, start: usize) {
        let covered = match self.pieces.last_mut() {
            Some(last) => {
                last.end = last.end.min(start);
                last.end
            }
            None => 0,
        };
        if !self.body[covered..start].trim().is_empty() {
            let form = Form::Paragraph;
            self.pieces.push(Piece { form, start: covered, end: start, list: None });
        }
    }

    fn finish(mut self) -> Vec<Piece> {
        self.close(self.body.len());
        self.pieces
    }

    /// Returns the begin of the line if only indentation and quote marks stand before `start`.
    fn line_start(&self, start: usize, floor: usize) -> usize {
        let bytes = self.body.as_bytes();
        let floor = floor.max(start.saturating_sub(MAX_INDENT)).min(start);
        let n_marks = bytes[floor..start]
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'>'))
            .count();
        let line_start = start - n_marks;
        let is_line_start = line_start == 0 || bytes[line_start - 1] == b'\n';
        if is_line_start { line_start } else { start }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockForm {
    Plain(Form),
    Quote,
    List { ordered: bool },
    Item { ordered: bool },
    Table,
    Row,
}

/// A block of the Markdown tree, stored parent first.
struct Block {
    form: BlockForm,
    range: Range<usize>,
    /// Position after the last block within this one.
    next: usize,
    /// Position of the block around this one.
    parent: Option<usize>,
    /// Number of blocks around this one.
    depth: usize,
}

fn blocks(body: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    // Other extensions only change what happens within a block.
    for (event, range) in Parser::new_ext(body, Options::ENABLE_TABLES).into_offset_iter() {
        let parent = open.last().copied();
        let (form, has_end) = match event {
            Event::Start(tag) => match block_form(&tag, parent.map(|idx| blocks[idx].form)) {
                Some(form) => (form, true),
                None => continue,
            },
            Event::Rule if open.is_empty() => (BlockForm::Plain(Form::Rule), false),
            Event::End(tag) => {
                let is_open = |&idx: &usize| is_end_of(tag, blocks[idx].form);
                if let Some(idx) = open.pop_if(|idx| is_open(idx)) {
                    blocks[idx].next = blocks.len();
                }
                continue;
            }
            _ => continue,
        };
        let idx = blocks.len();
        if has_end {
            open.push(idx);
        }
        blocks.push(Block { form, range, next: idx + 1, parent, depth: open.len() });
    }
    blocks
}

/// Returns the form of the block that `tag` opens; `None` for what lies within a block, such as
/// emphasis, cells, and a heading that stands in a quote or in a list.
fn block_form(tag: &Tag<'_>, parent: Option<BlockForm>) -> Option<BlockForm> {
    match tag {
        Tag::Heading { level, .. } if parent.is_none() => {
            Some(BlockForm::Plain(Form::Heading(level_number(*level))))
        }
        Tag::Paragraph => Some(BlockForm::Plain(Form::Paragraph)),
        Tag::CodeBlock(_) => Some(BlockForm::Plain(Form::Code)),
        Tag::HtmlBlock => Some(BlockForm::Plain(Form::Html)),
        Tag::BlockQuote(_) => Some(BlockForm::Quote),
        Tag::List(first) => Some(BlockForm::List { ordered: first.is_some() }),
        Tag::Item => match parent {
            Some(BlockForm::List { ordered }) => Some(BlockForm::Item { ordered }),
            _ => Some(BlockForm::Item { ordered: false }),
        },
        Tag::Table(_) => Some(BlockForm::Table),
        Tag::TableHead | Tag::TableRow => Some(BlockForm::Row),
        _ => None,
    }
}

fn is_end_of(tag: TagEnd, form: BlockForm) -> bool {
    match tag {
        TagEnd::Heading(_) => matches!(form, BlockForm::Plain(Form::Heading(_))),
        TagEnd::Paragraph => form == BlockForm::Plain(Form::Paragraph),
        TagEnd::CodeBlock => form == BlockForm::Plain(Form::Code),
        TagEnd::HtmlBlock => form == BlockForm::Plain(Form::Html),
        TagEnd::BlockQuote(_) => form == BlockForm::Quote,
        TagEnd::List(_) => matches!(form, BlockForm::List { .. }),
        TagEnd::Item => matches!(form, BlockForm::Item { .. }),
        TagEnd::Table => form == BlockForm::Table,
        TagEnd::TableHead | TagEnd::TableRow => form == BlockForm::Row,
        _ => false,
    }
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(body: &str) -> Vec<(Form, &str)> {
        pieces(body).iter().map(|piece| (piece.form, body[piece.start..piece.end].trim())).collect()
    }

    #[test]
    fn every_block_is_a_piece() {
        let body = "# Title\n\nText\nmore.\n\n---\n\n```sh\nls\n```\n\n> said\n\n1. one\n2. two\n\n<p>\n\n";
        let expected = [
            (Form::Heading(1), "# Title"),
            (Form::Paragraph, "Text\nmore."),
            (Form::Rule, "---"),
            (Form::Code, "```sh\nls\n```"),
            (Form::Quote, "> said"),
            (Form::Item { ordered: true }, "1. one"),
            (Form::Item { ordered: true }, "2. two"),
            (Form::Html, "<p>"),
        ];
        assert_eq!(forms(body), expected);
    }

    #[test]
    fn link_definitions_are_kept() {
        let body = "# See [1]\n\n[1]: https://example.org\n";
        assert_eq!(forms(body)[1], (Form::Paragraph, "[1]: https://example.org"));
    }

    #[test]
    fn long_items_split_at_nested_blocks() {
        let code = "x".repeat(ITEM_BYTES);
        let body = format!("- Do this\n\n  ```\n  {code}\n  ```\n\n  Then that.\n- short\n");
        let forms: Vec<Form> = forms(&body).iter().map(|(form, _)| *form).collect();
        let expected = [
            Form::ItemText { ordered: false },
            Form::Code,
            Form::Paragraph,
            Form::Item { ordered: false },
        ];
        assert_eq!(forms, expected);
    }

    #[test]
    fn long_tables_split_between_rows() {
        let rows = "| name | what it is for |\n".repeat(100);
        let body = format!("| a | b |\n|---|---|\n{rows}");
        let pieces = pieces(&body);
        assert_eq!(pieces.len(), 3);
        assert!(body[pieces[0].start..].starts_with("| a | b |\n|---"));
        assert!(pieces.iter().all(|piece| piece.end - piece.start <= TABLE_BYTES));
    }

    #[test]
    fn headings_within_items_are_text() {
        let body = "1. ## One\n   text\n2. ## Two\n";
        let forms: Vec<Form> = forms(body).iter().map(|(form, _)| *form).collect();
        assert_eq!(forms, [Form::Item { ordered: true }; 2]);
    }
}
