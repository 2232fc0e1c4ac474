//! [`Outline`]: what a selection of nodes costs and shows, headings included.

use std::ops::Range;

use super::{
    LeftOutSection, MAX_LEFT_OUT, Page, PageMark, PageNode, PageRequest,
    brief::brief_of,
    markers::{ends_in_row, is_rows_without_head, number_of_heading},
};
use crate::{
    skill::{Node, NodeTree, Section},
    text::estimate_tokens,
};

/// Longest title of a section, in bytes; the rest of it is neither compared, nor shown, nor paid.
///
/// A title is shown with every node below it, so that one of 100 KB would cost its length each
/// time.
const MAX_TITLE_BYTES: usize = 256;

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
    /// Title of each section, clipped: found once, for the whole heading is read for it.
    titles: Vec<&'a str>,
    /// Tokens of each section's heading line.
    heading_tokens: Vec<u32>,
    /// Whether a section's heading is shown.
    is_shown: Vec<bool>,
    extents: Vec<Extent>,
    /// Whether the agent has a node from an earlier page.
    is_had: Vec<bool>,
    n_tokens: u32,
    left_tokens: u32,
}

impl<'a> Outline<'a> {
    pub(super) fn new(request: &'a PageRequest<'a>) -> Self {
        let NodeTree { sections, nodes } = request.nodes;
        let titles: Vec<&str> =
            sections.iter().map(|section| clipped_title(section, &request.skill.body)).collect();
        let heading_tokens = titles.iter().map(|title| {
            // The `#`s and the space after them are one token.
            if title.is_empty() { 0 } else { 1 + estimate_tokens(title) }
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
        }
    }

    /// Returns the text of a node; `None` where it does not fit the body.
    pub(super) fn text(&self, node_idx: usize) -> Option<&'a str> {
        self.request.nodes.nodes.get(node_idx)?.text(&self.request.skill.body)
    }

    /// Returns the bytes of a node's text that stand for all of it, and their tokens.
    fn brief(&self, node_idx: usize) -> Option<(Range<usize>, u32)> {
        let text = self.text(node_idx)?;
        let range = brief_of(text)?;
        let n_tokens = estimate_tokens(&text[range.clone()]);
        Some((range, n_tokens))
    }

    /// Returns the sections around a node, innermost first.
    pub(super) fn sections_of(&self, node_idx: usize) -> impl Iterator<Item = usize> + use<'a> {
        let innermost = self.request.nodes.nodes.get(node_idx).and_then(|node| node.section);
        self.path(innermost)
    }

    /// Returns the headings of a section and of those around it, outermost first.
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
        let sections = &self.request.nodes.sections;
        // A parent lies before its section, so the walk ends even in a tree that breaks the rule.
        std::iter::successors(innermost, |&idx| {
            sections.get(idx as usize)?.parent.filter(|parent| *parent < idx)
        })
        .map(|idx| idx as usize)
        .filter(|idx| *idx < sections.len())
    }

    fn title(&self, section_idx: usize) -> &'a str {
        self.titles[section_idx]
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
            Extent::Brief => self.brief(node_idx).map_or(0, |(_, n_tokens)| n_tokens),
            Extent::Whole => self.request.nodes.nodes.get(node_idx).map_or(0, |node| node.n_tokens),
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
        let is_there =
            self.is_open(node_idx) && (extent == Extent::Whole || self.brief(node_idx).is_some());
        if cost > self.left_tokens() || !is_there {
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

    /// Returns the selected nodes, each with what stands before it, and what stands after the last
    /// one.
    fn page_nodes(&self) -> (Vec<PageNode>, Vec<PageMark>) {
        let NodeTree { sections, nodes } = self.request.nodes;
        let mut page_nodes: Vec<PageNode> = Vec::new();
        let mut marks = Marks::default();
        let mut next_section = 0;
        // Whether all nodes since the last one that is shown are rows of its table.
        let mut is_one_table = false;
        for (idx, node) in nodes.iter().enumerate() {
            let n_sections = node.section.map_or(0, |section| section as usize + 1);
            while next_section < n_sections.min(sections.len()) {
                self.mark_section(next_section, &mut marks);
                next_section += 1;
            }
            let is_rows = self.text(idx).is_some_and(is_rows_without_head);
            let Some((page_node, is_cut)) = self.page_node(idx, node) else {
                marks.is_gap = true;
                is_one_table &= is_rows;
                continue;
            };
            marks.is_gap |= page_node.start_byte > node.start;
            let is_beside = marks.is_empty()
                && idx.checked_sub(1).is_some_and(|last| self.is_same_line(last, idx));
            let mut marks_before = marks.take();
            if is_beside {
                marks_before.push(PageMark::SameLine);
            } else if marks_before == [PageMark::Gap] && is_one_table && is_rows {
                marks_before = vec![PageMark::RowGap];
            }
            is_one_table = ends_in_row(&page_node.text);
            page_nodes.push(PageNode { marks: marks_before, ..page_node });
            marks.is_gap = is_cut;
        }
        for section in next_section..sections.len() {
            self.mark_section(section, &mut marks);
        }
        (page_nodes, marks.take())
    }

    fn mark_section(&self, section_idx: usize, marks: &mut Marks) {
        if self.title(section_idx).is_empty() {
            return;
        }
        if !self.is_shown[section_idx] {
            marks.is_gap = true;
            return;
        }
        let depth = self.titled_path(u32::try_from(section_idx).ok()).len();
        marks.push(PageMark::Heading {
            depth: u32::try_from(depth).unwrap_or(u32::MAX),
            title: one_line(self.title(section_idx)),
        });
    }

    /// Tells whether two nodes, the first right before the second, stand in the same line.
    pub(super) fn is_same_line(&self, first: usize, second: usize) -> bool {
        let nodes = &self.request.nodes.nodes;
        let between = nodes[first].end as usize..nodes[second].start as usize;
        let blank = self.request.skill.body.get(between);
        blank.is_some_and(|blank| !blank.contains(['\n', '\r']))
    }

    /// Returns what is shown of a node, without what stands before it, and whether its end is cut
    /// off.
    fn page_node(&self, node_idx: usize, node: &Node) -> Option<(PageNode, bool)> {
        let text = self.text(node_idx)?;
        let (range, n_tokens) = match self.extent(node_idx) {
            Extent::None => return None,
            Extent::Brief => self.brief(node_idx)?,
            Extent::Whole => (0..text.len(), node.n_tokens),
        };
        let path = node.section.map(|section| self.heading_path(section as usize));
        let headings = path.unwrap_or_default().into_iter().map(one_line).collect();
        let page_node = PageNode {
            kind: node.kind,
            marks: Vec::new(),
            headings,
            position: u32::try_from(node_idx).ok()?,
            is_brief: range.len() < text.len(),
            start_byte: node.start + u32::try_from(range.start).ok()?,
            end_byte: node.start + u32::try_from(range.end).ok()?,
            n_tokens,
            text: text[range.clone()].into(),
        };
        Some((page_node, range.end < text.len()))
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
        let titles = self.sections_of(node_idx).map(|section| self.title(section));
        one_line(titles.into_iter().find(|title| !title.is_empty()).unwrap_or(""))
    }
}

/// What stands before the next node.
#[derive(Debug, Default)]
struct Marks {
    marks: Vec<PageMark>,
    /// Whether something was left out after the last mark.
    is_gap: bool,
}

impl Marks {
    fn push(&mut self, mark: PageMark) {
        if std::mem::take(&mut self.is_gap) {
            self.marks.push(PageMark::Gap);
        }
        self.marks.push(mark);
    }

    fn is_empty(&self) -> bool {
        self.marks.is_empty() && !self.is_gap
    }

    fn take(&mut self) -> Vec<PageMark> {
        if std::mem::take(&mut self.is_gap) {
            self.marks.push(PageMark::Gap);
        }
        std::mem::take(&mut self.marks)
    }
}

/// Returns the title of a section, or the start of a long one.
fn clipped_title<'a>(section: &Section, body: &'a str) -> &'a str {
    let title = section.title(body);
    title[..title.floor_char_boundary(MAX_TITLE_BYTES)].trim_end()
}

/// Returns the heading with the line ends of the setext form as spaces.
fn one_line(title: &str) -> String {
    title.replace(['\n', '\r'], " ")
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

    /// Returns the page of some nodes as Markdown.
    fn markdown(body: &str, choices: &[(usize, Extent)]) -> String {
        outlined(body, 900, |mut outline, _| {
            for (node_idx, extent) in choices {
                assert!(outline.select_as(*node_idx, *extent));
            }
            outline.into_page().to_markdown()
        })
    }

    #[test]
    fn gaps_stand_where_something_is_missing() {
        let body = "x\n\n# A\n\nown\n\n## B\n\none\n\ntwo\n\n## C\n\nthree\n\n# D\n";
        let whole = |idx: usize| (idx, Extent::Whole);
        // The text before the title, that of A itself, and a heading without a text.
        assert_eq!(markdown(body, &[whole(2)]), "[...]\n\n# A\n\n[...]\n\n## B\n\none\n\n[...]\n");
        let all_but_first: Vec<(usize, Extent)> = (1..5).map(whole).collect();
        assert_eq!(
            markdown(body, &all_but_first),
            "[...]\n\n# A\n\nown\n\n## B\n\none\n\ntwo\n\n## C\n\nthree\n\n[...]\n"
        );
        let page = outlined(body, 900, |outline, _| outline.into_whole_page());
        assert_eq!((page.to_markdown().as_str(), page.n_tokens), (body, page.full_tokens));
    }

    #[test]
    fn equal_headings_of_two_sections_are_both_shown() {
        let body = "# A\n\n## Example\n\none\n\n## Example\n\ntwo\n";
        assert_eq!(markdown(body, &[(0, Extent::Whole), (1, Extent::Whole)]), body);
    }

    #[test]
    fn short_forms_end_in_a_gap() {
        let long = "and so on ".repeat(60);
        let body = format!("# A\n\n1. Stop it.\n   {long}\n2. Copy it.\n   {long}\n\nEnd.\n");
        let found = markdown(&body, &[(0, Extent::Brief), (2, Extent::Whole)]);
        assert_eq!(found, "# A\n\n1. Stop it. [...]\n\nEnd.\n");
        outlined(&body, 900, |mut outline, tree| {
            assert!(outline.select_as(0, Extent::Brief));
            let brief = outline.n_tokens();
            assert_eq!(outline.cost(0), tree.nodes[0].n_tokens - (brief - 2));
            assert!(outline.select(0) && outline.select(0));
            let page = outline.into_page();
            assert_eq!((page.nodes.len(), page.nodes[0].is_brief), (1, false));
            assert_eq!(page.n_tokens, 2 + tree.nodes[0].n_tokens);
        });
    }

    #[test]
    fn rows_that_are_missing_leave_a_row() {
        let row = |n: usize| format!("| r{n} | {} |\n", "word ".repeat(200));
        let body = format!("# A\n\n| name | use |\n|---|---|\n{}{}{}", row(1), row(2), row(3));
        let found = markdown(&body, &[(0, Extent::Brief), (2, Extent::Whole)]);
        let head = "# A\n\n| name | use |\n|---|---|\n";
        assert_eq!(found, format!("{head}| [...] |\n{}", row(3)));
        // Another table begins anew.
        let body = format!("{body}\nText.\n\n{}", &body["# A\n\n".len()..]);
        let found = markdown(&body, &[(0, Extent::Brief), (6, Extent::Whole)]);
        assert_eq!(found, format!("{head}\n[...]\n\n{}", row(3)));
    }

    #[test]
    fn a_long_line_stays_a_line() {
        let sentence = "This sentence is one of many that stand in one line of text. ";
        let body = format!("# A\n\n{}\n", sentence.repeat(40).trim_end());
        let page = outlined(&body, 9_000, |outline, _| outline.into_whole_page());
        assert!(page.nodes.len() > 1);
        assert_eq!(page.to_markdown(), body);
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

    #[test]
    fn a_long_title_is_clipped_at_a_character() {
        let body = format!("# a{}\n\ntext\n", "标".repeat(200));
        let tree = NodeTree::parse(&body);
        let title = clipped_title(&tree.sections[0], &body);
        assert_eq!(title, format!("a{}", "标".repeat(85)));
    }

    #[test]
    fn headings_are_on_one_line() {
        assert_eq!(one_line("a\nb"), "a b");
    }
}
