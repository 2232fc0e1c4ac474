//! [`Outline`]: what a selection of nodes costs and shows, headings included.

use super::{LeftOutSection, MAX_LEFT_OUT, Page, PageNode, PageRequest};
use crate::{
    skill::{NodeTree, Section},
    text::estimate_tokens,
};

/// Longest title of a section, in bytes; the rest of it is neither compared, nor shown, nor paid.
///
/// A title is shown with every node below it, so that one of 100 KB would cost its length each time.
const MAX_TITLE_BYTES: usize = 256;

/// A growing selection of nodes that never costs more than the budget.
pub(super) struct Outline<'a> {
    request: &'a PageRequest<'a>,
    /// Tokens of each section's heading line.
    heading_tokens: Vec<u32>,
    /// Whether a section's heading is shown above a selected node.
    is_shown: Vec<bool>,
    is_selected: Vec<bool>,
    n_tokens: u32,
    left_tokens: u32,
}

impl<'a> Outline<'a> {
    pub(super) fn new(request: &'a PageRequest<'a>) -> Self {
        let NodeTree { sections, nodes } = request.nodes;
        let heading_tokens = sections.iter().map(|section| {
            // The `#`s and the space after them are one token.
            let title = clipped_title(section, &request.skill.body);
            if title.is_empty() { 0 } else { 1 + estimate_tokens(title) }
        });
        Self {
            request,
            heading_tokens: heading_tokens.collect(),
            is_shown: vec![false; sections.len()],
            is_selected: vec![false; nodes.len()],
            n_tokens: 0,
            left_tokens: request.budget_tokens,
        }
    }

    /// Returns the text of a node; `None` where it does not fit the body.
    pub(super) fn text(&self, node_idx: usize) -> Option<&'a str> {
        self.request.nodes.nodes.get(node_idx)?.text(&self.request.skill.body)
    }

    /// Returns the sections around a node, innermost first.
    pub(super) fn sections_of(&self, node_idx: usize) -> impl Iterator<Item = usize> + use<'a> {
        let innermost = self.request.nodes.nodes.get(node_idx).and_then(|node| node.section);
        self.path(innermost)
    }

    /// Returns the headings of a section and of those around it, outermost first.
    pub(super) fn heading_path(&self, section_idx: usize) -> Vec<&'a str> {
        let section = u32::try_from(section_idx).ok();
        let titles = self.path(section).map(|idx| self.title(idx));
        let mut path: Vec<&str> = titles.filter(|title| !title.is_empty()).collect();
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
        clipped_title(&self.request.nodes.sections[section_idx], &self.request.skill.body)
    }

    /// Returns the tokens of all nodes and all headings.
    pub(super) fn full_tokens(&self) -> u32 {
        let nodes = self.request.nodes.nodes.iter().map(|node| node.n_tokens);
        nodes.chain(self.heading_tokens.iter().copied()).fold(0, u32::saturating_add)
    }

    /// Returns the tokens that selecting a node would add, its headings included where they are
    /// not shown yet.
    pub(super) fn cost(&self, node_idx: usize) -> u32 {
        let node_tokens = self.request.nodes.nodes.get(node_idx).map_or(0, |node| node.n_tokens);
        self.sections_of(node_idx)
            .filter(|section| !self.is_shown[*section])
            .map(|section| self.heading_tokens[section])
            .fold(node_tokens, u32::saturating_add)
    }

    /// Returns the tokens that selecting several nodes together would add.
    pub(super) fn cost_of(&self, node_idxs: &[usize]) -> u32 {
        let nodes = &self.request.nodes.nodes;
        let mut headings: Vec<usize> =
            node_idxs.iter().flat_map(|idx| self.sections_of(*idx)).collect();
        headings.sort_unstable();
        headings.dedup();
        let headings = headings.into_iter().filter(|section| !self.is_shown[*section]);
        let of_nodes = node_idxs.iter().filter_map(|idx| nodes.get(*idx)).map(|node| node.n_tokens);
        let of_headings = headings.map(|section| self.heading_tokens[section]);
        of_nodes.chain(of_headings).fold(0, u32::saturating_add)
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

    pub(super) fn is_selected(&self, node_idx: usize) -> bool {
        self.is_selected.get(node_idx).copied().unwrap_or(false)
    }

    /// Selects a node if it fits the budget and the body, and tells whether it is selected.
    pub(super) fn select(&mut self, node_idx: usize) -> bool {
        if self.is_selected(node_idx) {
            return true;
        }
        let cost = self.cost(node_idx);
        if cost > self.left_tokens() || self.text(node_idx).is_none() {
            return false;
        }
        self.n_tokens += cost;
        self.left_tokens -= cost;
        self.is_selected[node_idx] = true;
        for section in self.sections_of(node_idx) {
            self.is_shown[section] = true;
        }
        true
    }

    /// Returns the page of all nodes, whatever the budget of the request.
    pub(super) fn into_whole_page(mut self) -> Page {
        self.left_tokens = u32::MAX;
        for node_idx in 0..self.request.nodes.nodes.len() {
            self.select(node_idx);
        }
        self.into_page()
    }

    /// Returns the page of the selected nodes.
    pub(super) fn into_page(self) -> Page {
        let nodes = &self.request.nodes.nodes;
        let selected = (0..nodes.len()).filter(|idx| self.is_selected[*idx]);
        let mut section_start = 0;
        let section_positions: Vec<usize> = (0..nodes.len())
            .map(|idx| {
                if nodes[idx].section != nodes[section_start].section {
                    section_start = idx;
                }
                idx - section_start
            })
            .collect();
        let page_node = |idx: usize| {
            let node = &nodes[idx];
            let path = node.section.map(|section| self.heading_path(section as usize));
            let headings = path.unwrap_or_default().into_iter().map(one_line).collect();
            Some(PageNode {
                kind: node.kind,
                headings,
                position: u32::try_from(idx).ok()?,
                section_position: u32::try_from(section_positions[idx]).ok()?,
                start_byte: node.start,
                end_byte: node.end,
                n_tokens: node.n_tokens,
                text: self.text(idx)?.into(),
            })
        };
        Page {
            skill_id: self.request.skill.id.clone(),
            name: self.request.skill.name.clone(),
            nodes: selected.filter_map(page_node).collect(),
            n_tokens: self.n_tokens,
            full_tokens: self.full_tokens(),
            full_nodes: u32::try_from(nodes.len()).unwrap_or(u32::MAX),
            left_out: self.left_out(),
        }
    }

    /// Returns what is not selected, by heading.
    fn left_out(&self) -> Vec<LeftOutSection> {
        let mut all: Vec<LeftOutSection> = Vec::new();
        let nodes = self.request.nodes.nodes.iter().enumerate();
        for (idx, node) in nodes.filter(|(idx, _)| !self.is_selected[*idx]) {
            let titled = self.sections_of(idx).map(|section| self.title(section));
            let heading =
                one_line(titled.into_iter().find(|title| !title.is_empty()).unwrap_or(""));
            if let Some(last) = all.last_mut().filter(|last| last.heading == heading) {
                last.n_tokens = last.n_tokens.saturating_add(node.n_tokens);
            } else if all.len() < MAX_LEFT_OUT {
                all.push(LeftOutSection { heading, n_tokens: node.n_tokens });
            } else {
                break;
            }
        }
        all
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
