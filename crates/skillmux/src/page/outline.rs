//! [`Outline`]: what a selection of nodes costs and shows, headings included.

mod shown;

use std::{cell::OnceCell, ops::Range};

use super::{
    LeftOutSection, MAX_LEFT_OUT, Page, PageRequest,
    blocks::Blocks,
    brief::brief_of,
    markers::{is_fence, is_prose, number_of_heading},
    title::Title,
};
use crate::{skill::NodeTree, text::estimate_tokens};

/// Most sections that are searched for the steps before a numbered one.
const MAX_SECTIONS_BACK: usize = 64;

/// How much of a node is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    None,
    /// What [`brief_of`] has of it.
    Brief,
    Whole,
}

/// A growing selection of nodes that never costs more than the budget.
pub(super) struct Outline<'a> {
    request: &'a PageRequest<'a>,
    /// Title of each section: found once, for the whole heading is read for it.
    titles: Vec<Title<'a>>,
    /// Tokens of each section's heading line.
    heading_tokens: Vec<u32>,
    /// Whether a section's heading is shown.
    is_shown: Vec<bool>,
    extents: Vec<Extent>,
    /// Whether the agent has a node from an earlier page.
    is_had: Vec<bool>,
    n_tokens: u32,
    left_tokens: u32,
    /// Found when they are asked for: most pages don't need them.
    blocks: OnceCell<Blocks>,
}

impl<'a> Outline<'a> {
    pub(super) fn new(request: &'a PageRequest<'a>) -> Self {
        let NodeTree { sections, nodes } = request.nodes;
        let titles: Vec<Title<'_>> =
            sections.iter().map(|section| Title::of(section, &request.skill.body)).collect();
        let heading_tokens = titles.iter().map(|title| {
            // The `#`s and the space after them are one token.
            if title.text.is_empty() { 0 } else { 1 + estimate_tokens(title.text) }
        });
        let positions = (0_u32..).take(nodes.len());
        let is_had = positions.map(|position| request.had.contains(position)).collect();
        Self {
            request,
            heading_tokens: heading_tokens.collect(),
            titles,
            is_shown: vec![false; sections.len()],
            extents: vec![Extent::None; nodes.len()],
            is_had,
            n_tokens: 0,
            left_tokens: request.budget_tokens,
            blocks: OnceCell::new(),
        }
    }

    /// Returns the text of a node; `None` where it does not fit the body.
    pub(super) fn text(&self, node_idx: usize) -> Option<&'a str> {
        self.request.nodes.nodes.get(node_idx)?.text(&self.request.skill.body)
    }

    fn blocks(&self) -> &Blocks {
        self.blocks.get_or_init(|| Blocks::of(&self.request.skill.body))
    }

    /// Tells whether a node begins with a code block.
    pub(super) fn is_code(&self, node_idx: usize) -> bool {
        let Some(text) = self.text(node_idx) else { return false };
        let code = text.trim_start();
        let indent = &text[..text.len() - code.len()];
        let is_indented = || {
            let start = self.request.nodes.nodes[node_idx].start as usize + indent.len();
            (indent.len() >= 4 || indent.contains('\t')) && self.blocks().is_indented_code(start)
        };
        is_fence(code) || is_indented()
    }

    /// Returns the first byte of the table whose rows a node goes on with.
    pub(super) fn table_before(&self, node_idx: usize) -> Option<usize> {
        let text = self.text(node_idx).filter(|text| text.contains('|'))?;
        let start = self.request.nodes.nodes[node_idx].start as usize;
        let row = start + (text.len() - text.trim_start().len());
        self.blocks().table_at(row).map(|table| table.start).filter(|table| *table < start)
    }

    /// Tells whether less than all of a node can stand for it.
    pub(super) fn has_brief(&self, node_idx: usize) -> bool {
        self.short_form(node_idx).is_some()
    }

    /// Returns the bytes of a node's text that can stand for all of it, and their tokens; `None`
    /// where it has no such form.
    fn short_form(&self, node_idx: usize) -> Option<(Range<usize>, u32)> {
        let text = self.text(node_idx).filter(|_| !self.is_code(node_idx))?;
        let range = brief_of(text)?;
        let n_tokens = estimate_tokens(&text[range.clone()]);
        Some((range, n_tokens))
    }

    /// Returns the sections around a node, innermost first.
    pub(super) fn sections_of(&self, node_idx: usize) -> impl Iterator<Item = usize> + use<'a> {
        let innermost = self.request.nodes.nodes.get(node_idx).and_then(|node| node.section);
        self.path(innermost)
    }

    /// Returns the headings of a section and of those around it, outermost first, long ones clipped.
    pub(super) fn heading_path(&self, section_idx: usize) -> Vec<&'a str> {
        let sections = self.titled_path(u32::try_from(section_idx).ok());
        sections.into_iter().map(|idx| self.title(idx)).collect()
    }

    /// Returns a section and those around it, outermost first, as far as they have a title.
    fn titled_path(&self, innermost: Option<u32>) -> Vec<usize> {
        let mut path: Vec<usize> =
            self.path(innermost).filter(|idx| !self.title(*idx).is_empty()).collect();
        path.reverse();
        path
    }

    fn path(&self, innermost: Option<u32>) -> impl Iterator<Item = usize> + use<'a> {
        self.request.nodes.path(innermost)
    }

    fn title(&self, section_idx: usize) -> &'a str {
        self.titles[section_idx].text
    }

    /// Returns the tokens of all nodes and all headings.
    pub(super) fn full_tokens(&self) -> u32 {
        let nodes = self.request.nodes.nodes.iter().map(|node| node.n_tokens);
        nodes.chain(self.heading_tokens.iter().copied()).fold(0, u32::saturating_add)
    }

    /// Returns the tokens of all nodes that the agent does not have, and of all headings.
    pub(super) fn open_tokens(&self) -> u32 {
        let nodes = self.request.nodes.nodes.iter().enumerate();
        let had = nodes.filter(|(idx, _)| self.is_had[*idx]).map(|(_, node)| node.n_tokens);
        self.full_tokens().saturating_sub(had.fold(0, u32::saturating_add))
    }

    /// Returns the tokens that selecting a node would add, its headings included where they are
    /// not shown yet.
    pub(super) fn cost(&self, node_idx: usize) -> u32 {
        let node_tokens = self.node_cost(node_idx, Extent::Whole);
        self.sections_of(node_idx)
            .filter(|section| !self.is_shown[*section])
            .map(|section| self.heading_tokens[section])
            .fold(node_tokens, u32::saturating_add)
    }

    /// Returns the tokens of a page that has nothing but a node.
    pub(super) fn cost_alone(&self, node_idx: usize) -> u32 {
        let node_tokens = self.request.nodes.nodes.get(node_idx).map_or(0, |node| node.n_tokens);
        let headings = self.sections_of(node_idx).map(|section| self.heading_tokens[section]);
        headings.fold(node_tokens, u32::saturating_add)
    }

    /// Returns the tokens that selecting several nodes together would add.
    pub(super) fn cost_of(&self, choices: &[(usize, Extent)]) -> u32 {
        let mut headings: Vec<usize> =
            choices.iter().flat_map(|(idx, _)| self.sections_of(*idx)).collect();
        headings.sort_unstable();
        headings.dedup();
        let headings = headings.into_iter().filter(|section| !self.is_shown[*section]);
        let of_nodes = choices.iter().map(|(idx, extent)| self.node_cost(*idx, *extent));
        let of_headings = headings.map(|section| self.heading_tokens[section]);
        of_nodes.chain(of_headings).fold(0, u32::saturating_add)
    }

    /// Returns the tokens that showing so much of a node would add, without headings.
    fn node_cost(&self, node_idx: usize, extent: Extent) -> u32 {
        let n_tokens = |extent: Extent| match extent {
            Extent::None => 0,
            Extent::Whole => self.request.nodes.nodes.get(node_idx).map_or(0, |node| node.n_tokens),
            // What is not there fits nowhere.
            Extent::Brief => self.short_form(node_idx).map_or(u32::MAX, |(_, n_tokens)| n_tokens),
        };
        n_tokens(extent).saturating_sub(n_tokens(self.extent(node_idx)))
    }

    pub(super) fn left_tokens(&self) -> u32 {
        self.left_tokens
    }

    /// Returns the tokens of what is selected, headings included.
    pub(super) fn n_tokens(&self) -> u32 {
        self.n_tokens
    }

    /// Lets the selection grow by so many tokens, whatever the budget of the request.
    pub(super) fn set_left(&mut self, left_tokens: u32) {
        self.left_tokens = left_tokens;
    }

    /// Returns how much of a node is selected.
    pub(super) fn extent(&self, node_idx: usize) -> Extent {
        self.extents.get(node_idx).copied().unwrap_or(Extent::None)
    }

    /// Tells whether the agent has a node from an earlier page.
    pub(super) fn is_had(&self, node_idx: usize) -> bool {
        self.is_had.get(node_idx).copied().unwrap_or(false)
    }

    /// Tells whether a node can be selected: the agent does not have it, and it fits the body.
    pub(super) fn is_open(&self, node_idx: usize) -> bool {
        !self.is_had(node_idx)
            && self.extent(node_idx) < Extent::Whole
            && self.text(node_idx).is_some()
    }

    /// Selects a node if it fits the budget and the body, and tells whether it is selected.
    pub(super) fn select(&mut self, node_idx: usize) -> bool {
        self.select_as(node_idx, Extent::Whole)
    }

    /// Selects so much of a node, as [`select`](Self::select) does.
    pub(super) fn select_as(&mut self, node_idx: usize, extent: Extent) -> bool {
        if self.extent(node_idx) >= extent {
            return true;
        }
        let cost = self.cost_of(&[(node_idx, extent)]);
        let is_there = || extent == Extent::Whole || self.short_form(node_idx).is_some();
        if cost > self.left_tokens() || !self.is_open(node_idx) || !is_there() {
            return false;
        }
        self.n_tokens += cost;
        self.left_tokens -= cost;
        self.extents[node_idx] = extent;
        for section in self.sections_of(node_idx) {
            self.is_shown[section] = true;
        }
        true
    }

    /// Shows the headings of the numbered sections that a node's sections come after, the steps
    /// before them, if these headings fit, and cost at most `max_tokens`.
    pub(super) fn show_steps_before(&mut self, node_idx: usize, max_tokens: f32) {
        let sections: Vec<usize> =
            self.sections_of(node_idx).flat_map(|section| self.steps_before(section)).collect();
        let hidden: Vec<usize> =
            sections.into_iter().filter(|section| !self.is_shown[*section]).collect();
        let tokens = hidden.iter().map(|section| self.heading_tokens[*section]);
        let cost = tokens.fold(0, u32::saturating_add);
        if cost <= self.left_tokens && cost as f32 <= max_tokens {
            for section in hidden {
                self.show_heading(section);
            }
        }
    }

    /// Returns the sections beside a numbered one that have lower numbers and stand before it.
    fn steps_before(&self, section_idx: usize) -> Vec<usize> {
        let sections = &self.request.nodes.sections;
        let number_of = |idx: usize| number_of_heading(self.title(idx));
        let Some(number) = number_of(section_idx).filter(|number| *number > 1) else {
            return Vec::new();
        };
        let here = &sections[section_idx];
        // Sections of this parent lie between it and this one.
        let first = here.parent.map_or(0, |parent| parent as usize + 1);
        let earlier = (first.max(section_idx.saturating_sub(MAX_SECTIONS_BACK))..section_idx).rev();
        let mut found = Vec::new();
        let mut lowest = number;
        for idx in earlier {
            let is_beside =
                (sections[idx].parent, sections[idx].level) == (here.parent, here.level);
            if let Some(number) = number_of(idx).filter(|number| is_beside && *number < lowest) {
                lowest = number;
                found.push(idx);
            }
        }
        found
    }

    /// Returns the page of all nodes that the agent does not have, whatever the budget of the
    /// request.
    pub(super) fn into_whole_page(mut self) -> Page {
        self.left_tokens = u32::MAX;
        for node_idx in 0..self.request.nodes.nodes.len() {
            self.select(node_idx);
        }
        // Headings without a text stand in a whole skill, too.
        if self.request.had.is_empty() {
            for section in 0..self.is_shown.len() {
                self.show_heading(section);
            }
        }
        self.into_page()
    }

    fn show_heading(&mut self, section_idx: usize) {
        if !self.is_shown[section_idx] {
            self.is_shown[section_idx] = true;
            self.n_tokens = self.n_tokens.saturating_add(self.heading_tokens[section_idx]);
            self.left_tokens = self.left_tokens.saturating_sub(self.heading_tokens[section_idx]);
        }
    }

    /// Returns the page of the selected nodes.
    pub(super) fn into_page(self) -> Page {
        let (nodes, end_marks) = self.page_nodes();
        Page {
            skill_id: self.request.skill.id.clone(),
            name: self.request.skill.name.clone(),
            nodes,
            end_marks,
            n_tokens: self.n_tokens,
            full_tokens: self.full_tokens(),
            full_nodes: u32::try_from(self.request.nodes.nodes.len()).unwrap_or(u32::MAX),
            left_out: self.left_out(),
            best_left_out: None,
            sufficiency: None,
        }
    }

    /// Tells whether two nodes, the first right before the second, stand in the same line.
    pub(super) fn is_same_line(&self, first: usize, second: usize) -> bool {
        self.n_lines_between(first, second) == Some(0)
    }

    /// Tells whether two nodes, the first right before the second, are parts of one paragraph: lines
    /// of prose one after the other, or one line.
    pub(super) fn is_same_paragraph(&self, first: usize, second: usize) -> bool {
        let is_prose = |idx: usize| !self.is_code(idx) && self.text(idx).is_some_and(is_prose);
        match self.n_lines_between(first, second) {
            Some(0) => true,
            Some(1) => is_prose(first) && is_prose(second),
            _ => false,
        }
    }

    /// Returns how many lines end between two nodes, the first right before the second.
    fn n_lines_between(&self, first: usize, second: usize) -> Option<usize> {
        let nodes = &self.request.nodes.nodes;
        let between = nodes[first].end as usize..nodes[second].start as usize;
        let blank = self.request.skill.body.get(between)?;
        Some(blank.matches('\n').count().max(blank.matches('\r').count()))
    }

    /// Returns what is not selected, by heading.
    fn left_out(&self) -> Vec<LeftOutSection> {
        let mut all: Vec<LeftOutSection> = Vec::new();
        for idx in (0..self.extents.len()).filter(|idx| !self.is_had(*idx)) {
            let n_tokens = self.node_cost(idx, Extent::Whole);
            if n_tokens == 0 {
                continue;
            }
            let heading = self.heading_of(idx);
            if let Some(last) = all.last_mut().filter(|last| last.heading == heading) {
                last.n_tokens = last.n_tokens.saturating_add(n_tokens);
            } else if all.len() < MAX_LEFT_OUT {
                all.push(LeftOutSection { heading, n_tokens });
            } else {
                break;
            }
        }
        all
    }

    /// Returns the heading of the section that a node stands in; of those around it where that has
    /// none.
    pub(super) fn heading_of(&self, node_idx: usize) -> String {
        let titled = self.sections_of(node_idx).find(|section| !self.title(*section).is_empty());
        titled.map_or_else(String::new, |section| self.titles[section].shown())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::outlined;
    use super::*;
    use crate::growth::assert_linear;

    #[test]
    fn a_long_title_above_many_sections_takes_linear_time() {
        for fill in ["#", " ", "y"] {
            assert_linear(fill, 1 << 16, |fill| {
                let sections = "## s\nx\n".repeat(fill.len() / 64);
                let body = format!("# x {fill}b\n{sections}# x {fill}\n{sections}");
                outlined(&body, 900, |outline, tree| {
                    for idx in 0..tree.sections.len() {
                        assert!(outline.heading_path(idx).len() <= 2);
                    }
                });
            });
        }
    }

    #[test]
    fn a_heading_is_paid_once() {
        let body = "# A title\n\n## Part\n\none\n\n---\n\ntwo\n\nSetext\nheading\n---\n\nthree\n";
        outlined(body, 8, |mut outline, _| {
            assert_eq!(outline.cost(1), 1 + 3 + 2);
            assert!(outline.select(1));
            assert_eq!(outline.cost(0), 1);
            assert!(outline.select(0));
            assert_eq!(outline.left_tokens(), 1);
            assert!(!outline.select(2), "too long");
            let page = outline.into_page();
            assert_eq!(page.n_tokens, 7);
            assert_eq!(page.nodes[0].headings, ["A title", "Part"]);
        });
    }

    #[test]
    fn a_short_form_that_is_not_there_fits_nowhere() {
        let body = "# A\n\nText.\n\n```yaml\njobs:\n  - a\n```\n\n    x: |\n    - a\n";
        outlined(body, 900, |mut outline, tree| {
            assert_eq!(tree.nodes.len(), 3);
            for node_idx in 0..3 {
                assert!(outline.cost_of(&[(node_idx, Extent::Brief)]) > 900);
                assert!(!outline.select_as(node_idx, Extent::Brief));
            }
            assert_eq!([0, 1, 2].map(|idx| outline.is_code(idx)), [false, true, true]);
        });
    }

    #[test]
    fn headings_of_earlier_steps_are_shown() {
        let body =
            "# A\n\n## 1. Stop\n\nx\n\n## Notes\n\nx\n\n## 2. Copy\n\nx\n\n## 3. Start\n\ngo\n";
        let shown = |max_tokens: f32| {
            outlined(body, 900, |mut outline, _| {
                assert!(outline.select(3));
                outline.show_steps_before(3, max_tokens);
                outline.into_page()
            })
        };
        let page = shown(30.0);
        assert_eq!(
            page.to_markdown(),
            "# A\n\n## 1. Stop\n\n[...]\n\n## 2. Copy\n\n[...]\n\n## 3. Start\n\ngo\n"
        );
        assert!(page.n_tokens > shown(5.0).n_tokens);
        assert_eq!(shown(5.0).to_markdown(), "# A\n\n[...]\n\n## 3. Start\n\ngo\n");
    }
}
