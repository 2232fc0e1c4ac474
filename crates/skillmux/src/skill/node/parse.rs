//! [`NodeTree::parse`]: from Markdown to sections and typed nodes.

use super::{
    block::{self, Form, Piece},
    cue,
    kind::{self, Shape, Traits},
    sentence,
    tree::{Node, NodeKind, NodeTree, Section},
};
use crate::text::estimate_tokens;

/// Items of a list share a node up to this many bytes (about 120 tokens).
const GROUP_BYTES: usize = 4 * 120;
/// Longest local header that is merged with what follows it, and longest step with a condition
/// below it, in bytes.
const HEADER_BYTES: usize = 4 * 200;

impl NodeTree {
    /// Returns the sections and the typed nodes of a Markdown body (`SkillPager` §3.1).
    ///
    /// Every character of `body` that is not white space lies in exactly one node or heading,
    /// thematic breaks excepted. A node is one of:
    ///
    /// - a paragraph; one of more than about 250 tokens is split between sentences,
    /// - short items of one list, up to about 120 tokens together, or one longer item with what it
    ///   contains; an item of more than about 200 tokens is split at its nested blocks,
    /// - a code block or an HTML block, whole,
    /// - a table or a block quote; one of more than about 300 tokens is split between rows or
    ///   blocks, and the header row stays with the first rows.
    ///
    /// A paragraph that ends in a colon, opens a condition before code, a list or a table, or is
    /// nothing but bold text is merged with what follows it, and so is an HTML comment. A condition
    /// between two steps, or at the end of an item, is of the step before: it is merged with that
    /// up to about 200 tokens, and is a node of its own behind code. A code block may hold code
    /// blocks, even where Markdown would end it. The paper leaves both the splitting and the typing
    /// of fragments to a language model; here rules do both.
    ///
    /// Linear time, whatever the text. What lies past 4 GiB is not parsed.
    pub fn parse(body: &str) -> Self {
        let body = &body[..body.floor_char_boundary(u32::MAX as usize)];
        let mut builder =
            Builder { body, tree: Self::default(), cues: Vec::new(), group: Vec::new() };
        let mut pieces = block::pieces(body);
        mark_conditions(body, &mut pieces);
        for piece in pieces {
            builder.add(piece);
        }
        builder.finish()
    }
}

struct Builder<'a> {
    body: &'a str,
    tree: NodeTree,
    /// Kind that each section's heading names, its own or inherited.
    cues: Vec<Option<NodeKind>>,
    /// Pieces of the node under way.
    group: Vec<Piece>,
}

impl Builder<'_> {
    fn add(&mut self, piece: Piece) {
        match piece.form {
            Form::Heading(level) => {
                self.close_node();
                self.add_section(level, piece);
            }
            Form::Rule => self.close_node(),
            Form::Paragraph | Form::Condition | Form::Item { .. } | Form::ItemText { .. } => {
                let text = &self.body[piece.start..piece.end];
                for part in sentence::parts(text) {
                    let (start, end) = (piece.start + part.start, piece.start + part.end);
                    self.add_to_group(Piece { start, end, ..piece });
                }
            }
            Form::Code | Form::Html | Form::Quote | Form::Table => self.add_to_group(piece),
        }
    }

    fn add_section(&mut self, level: u8, piece: Piece) {
        let title = self.body[piece.start..piece.end].trim_end();
        let section = Section {
            level,
            start: offset(piece.start),
            end: offset(piece.start + title.len()),
            parent: self.tree.parent_of(level),
        };
        let is_title = self.tree.sections.is_empty() && level == 1;
        let own = if is_title { None } else { cue::heading_kind(section.title(self.body)) };
        let inherited = section.parent.and_then(|parent| self.cues[parent as usize]);
        self.cues.push(own.or(inherited));
        self.tree.sections.push(section);
    }

    fn add_to_group(&mut self, piece: Piece) {
        if !self.joins(&piece) {
            self.close_node();
        }
        self.group.push(piece);
    }

    /// Tells whether `piece` belongs to the node under way.
    fn joins(&self, piece: &Piece) -> bool {
        let (Some(first), Some(last)) = (self.group.first(), self.group.last()) else {
            return false;
        };
        if piece.start - first.start <= HEADER_BYTES && self.is_header_of(last, piece) {
            return true;
        }
        if piece.form == Form::Condition {
            let is_text = !matches!(last.form, Form::Code | Form::Html | Form::Table);
            return is_text && piece.end - first.start <= HEADER_BYTES;
        }
        let is_item = |piece: &Piece| matches!(piece.form, Form::Item { .. });
        if !is_item(last) || !is_item(piece) || last.list != piece.list {
            return false;
        }
        let items_start = self.group.iter().find(|item| item.list == piece.list);
        items_start.is_some_and(|item| piece.end - item.start <= GROUP_BYTES)
    }

    /// Tells whether `header` says what `piece` is (`SkillPager` §3.1, local headers).
    fn is_header_of(&self, header: &Piece, piece: &Piece) -> bool {
        let text = self.body[header.start..header.end].trim();
        match header.form {
            Form::ItemText { .. } => true,
            Form::Paragraph => {
                let is_governed =
                    !matches!(piece.form, Form::Paragraph) && sentence::opens_condition(text);
                is_governed || sentence::is_local_header(text)
            }
            // A comment says something of what follows, or nothing at all.
            Form::Html => text.starts_with("<!--") && text.ends_with("-->"),
            // An item that ends in a colon just before code which is not indented into it.
            Form::Item { .. } => piece.form == Form::Code && text.ends_with([':', '：']),
            _ => false,
        }
    }

    fn close_node(&mut self) {
        let (Some(first), Some(last)) = (self.group.first(), self.group.last()) else {
            return;
        };
        if let Some((start, end)) = trimmed(self.body, first.start, last.end) {
            let main = self.main_piece().unwrap_or(*last);
            let text = &self.body[start..end];
            let intro_len = main.start.clamp(start, end) - start;
            let section = self.tree.sections.len().checked_sub(1);
            let heading = section.and_then(|section| self.cues[section]);
            let (intro, main_text) = text.split_at(intro_len);
            let shape = shape_of(main.form);
            let kind = kind::kind_of(&Traits { shape, intro, text: main_text, heading });
            self.tree.nodes.push(Node {
                kind,
                start: offset(start),
                end: offset(end),
                n_tokens: estimate_tokens(text),
                section: section.map(offset),
            });
        }
        self.group.clear();
    }

    /// Returns the first piece that is not a header of the next.
    fn main_piece(&self) -> Option<Piece> {
        let pairs = self.group.windows(2);
        let n_headers = pairs.take_while(|pair| self.is_header_of(&pair[0], &pair[1])).count();
        self.group.get(n_headers).copied()
    }

    fn finish(mut self) -> NodeTree {
        self.close_node();
        self.tree
    }
}

impl NodeTree {
    /// Returns the section that a new last section of `level` lies in: the nearest before it of a
    /// lower level.
    pub(super) fn parent_of(&self, level: u8) -> Option<u32> {
        let mut candidate = self.sections.len().checked_sub(1).map(offset);
        // Walking from parent to parent meets each of the six levels at most once.
        while let Some(idx) = candidate {
            let section = &self.sections[idx as usize];
            if section.level < level {
                break;
            }
            candidate = section.parent;
        }
        candidate
    }
}

/// Marks the paragraphs that are a condition of the step before them: those that stand between two
/// steps, or further in than the item that follows.
fn mark_conditions(body: &str, pieces: &mut [Piece]) {
    let text = |piece: &Piece| &body[piece.start..piece.end];
    let indent = |piece: &Piece| {
        let text = text(piece);
        text.len() - text.trim_start_matches([' ', '\t']).len()
    };
    for at in (1..pieces.len().saturating_sub(1)).rev() {
        let [before, piece, after] = [pieces[at - 1], pieces[at], pieces[at + 1]];
        let is_below = !matches!(before.form, Form::Heading(_) | Form::Rule);
        if piece.form != Form::Paragraph || !is_below || !sentence::is_step_condition(text(&piece))
        {
            continue;
        }
        let is_of_step = match after.form {
            Form::Condition => true,
            Form::Item { ordered } | Form::ItemText { ordered } => {
                ordered && is_later_step(text(&after)) || indent(&piece) > indent(&after)
            }
            _ => false,
        };
        if is_of_step {
            pieces[at].form = Form::Condition;
        }
    }
}

/// Tells whether an item of an ordered list is not the first of its count.
fn is_later_step(item: &str) -> bool {
    let item = item.trim_start();
    let digits = &item[..item.bytes().take_while(u8::is_ascii_digit).count()];
    digits.parse::<u32>().is_ok_and(|number| number > 1)
}

fn shape_of(form: Form) -> Shape {
    match form {
        Form::Code => Shape::Code,
        Form::Table => Shape::Table,
        Form::Item { ordered: true } | Form::ItemText { ordered: true } => Shape::OrderedList,
        _ => Shape::Text,
    }
}

/// Returns the span without blank space around it, but with the indentation of its first line;
/// `None` where all of it is blank.
fn trimmed(body: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let text = &body[start..end];
    let n_leading = text.len() - text.trim_start().len();
    let indent_start = text[..n_leading].rfind('\n').map_or(0, |line_end| line_end + 1);
    let end = start + text.trim_end().len();
    (n_leading < text.len()).then_some((start + indent_start, end))
}

/// Returns a position in a body or a tree, which `parse` has cut to fit.
fn offset(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
