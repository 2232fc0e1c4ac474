//! What a selection of nodes shows: each node with the headings and gaps before it.

use super::{
    super::{
        PageMark, PageNode,
        markers::{ends_in_row, is_rows_without_head},
    },
    Extent, Outline,
};
use crate::skill::{Node, NodeTree};

impl Outline<'_> {
    /// Returns the selected nodes, each with what stands before it, and what stands after the last
    /// one.
    pub(super) fn page_nodes(&self) -> (Vec<PageNode>, Vec<PageMark>) {
        let NodeTree { sections, nodes } = self.request.nodes;
        let mut page_nodes: Vec<PageNode> = Vec::new();
        let mut marks = Marks::default();
        let mut next_section = 0;
        for (idx, node) in nodes.iter().enumerate() {
            let n_sections = node.section.map_or(0, |section| section as usize + 1);
            while next_section < n_sections.min(sections.len()) {
                self.mark_section(next_section, &mut marks);
                next_section += 1;
            }
            let Some((page_node, is_cut)) = self.page_node(idx, node) else {
                marks.is_gap = true;
                continue;
            };
            marks.is_gap |= page_node.start_byte > node.start;
            let is_beside = marks.is_empty()
                && idx.checked_sub(1).is_some_and(|last| self.is_same_line(last, idx));
            let mut marks_before = marks.take();
            if is_beside {
                marks_before.push(PageMark::SameLine);
            } else if marks_before == [PageMark::Gap]
                && page_nodes.last().is_some_and(|last| self.goes_on_in_rows(last, idx))
            {
                marks_before = vec![PageMark::RowGap];
            }
            page_nodes.push(PageNode { marks: marks_before, ..page_node });
            marks.is_gap = is_cut;
        }
        for section in next_section..sections.len() {
            self.mark_section(section, &mut marks);
        }
        (page_nodes, marks.take())
    }

    /// Tells whether a node, and all since the last one that is shown, are rows of its table.
    fn goes_on_in_rows(&self, last: &PageNode, node_idx: usize) -> bool {
        let is_rows = |idx: usize| {
            self.text(idx).is_some_and(is_rows_without_head) || self.table_before(idx).is_some()
        };
        let ends_in_row = || {
            let end = (last.end_byte as usize).saturating_sub(1);
            ends_in_row(&last.text) || self.blocks().table_at(end).is_some()
        };
        ((last.position as usize + 1)..=node_idx).all(is_rows) && ends_in_row()
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
            title: self.titles[section_idx].shown(),
        });
    }

    /// Returns what is shown of a node, without what stands before it, and whether its end is cut
    /// off.
    fn page_node(&self, node_idx: usize, node: &Node) -> Option<(PageNode, bool)> {
        let text = self.text(node_idx)?;
        let (range, n_tokens) = match self.extent(node_idx) {
            Extent::None => return None,
            Extent::Whole => (0..text.len(), node.n_tokens),
            Extent::Brief => self.short_form(node_idx)?,
        };
        let path = self.titled_path(node.section).into_iter();
        let page_node = PageNode {
            kind: node.kind,
            marks: Vec::new(),
            headings: path.map(|section| self.titles[section].shown()).collect(),
            position: u32::try_from(node_idx).ok()?,
            is_brief: range.len() < text.len(),
            start_byte: node.start + u32::try_from(range.start).ok()?,
            end_byte: node.start + u32::try_from(range.end).ok()?,
            n_tokens,
            text: text[range.clone()].into(),
        };
        Some((page_node, range.end < text.len()))
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

#[cfg(test)]
mod tests {
    use super::super::super::tests::outlined;
    use super::*;

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
    fn a_clipped_heading_is_marked() {
        let body = format!("# A\n\n## {}\n\ntext\n", "long ".repeat(60));
        let page = outlined(&body, 900, |outline, _| outline.into_whole_page());
        let heading = format!("{} [...]", &"long ".repeat(60)[..256]);
        assert_eq!(page.to_markdown(), format!("# A\n\n## {heading}\n\ntext\n"));
        assert_eq!(page.nodes[0].headings, ["A", &heading]);
    }

    #[test]
    fn rows_that_are_missing_leave_a_row() {
        let row = |n: usize| format!("| r{n} | {} |\n", "word ".repeat(200));
        let body = format!("# A\n\n| name | use |\n|---|---|\n{}{}{}", row(1), row(2), row(3));
        let found = markdown(&body, &[(0, Extent::Brief), (2, Extent::Whole)]);
        let head = "# A\n\n| name | use |\n|---|---|\n";
        assert_eq!(found, format!("{head}| [...] |\n{}", row(3)));
        // Rows may begin without a bar.
        let open = body.replace("\n| ", "\n").replace("|---|---|", "---|---");
        let found = markdown(&open, &[(0, Extent::Brief), (2, Extent::Whole)]);
        let last = row(3)[2..].to_owned();
        assert_eq!(found, format!("# A\n\nname | use |\n---|---\n| [...] |\n{last}"));
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
}
