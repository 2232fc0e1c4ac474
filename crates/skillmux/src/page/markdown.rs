//! Writes a page as Markdown.

use std::fmt::Write as _;

use super::{
    LeftOutSection, MAX_LEFT_OUT, Page, PageMark, PageNode, PartList, markers::ends_in_row,
};

/// Stands where something is missing: nodes, the rest of a node, or of a heading.
pub(super) const ELISION: &str = "[...]";

/// Sections that a line about what was left out names.
const N_NAMED: usize = 6;

/// Most characters of a heading in such a line.
const MAX_HEADING_CHARS: usize = 40;

impl Page {
    /// Returns the parts that the page shows whole, which the agent has from now on.
    pub fn parts(&self) -> PartList {
        self.nodes.iter().filter(|node| !node.is_brief).map(|node| node.position).collect()
    }

    /// Returns the part that is needed most, if it did not fit, with its tokens: `"Install" (120)`.
    pub fn best_left_out_in_words(&self) -> Option<String> {
        self.best_left_out.as_ref().map(LeftOutSection::in_words)
    }

    /// Returns which sections were left out, the longest first, with their tokens: `"Install"
    /// (120), "Usage" (90) and 3 more`; `None` of a whole page. A section of which something is
    /// shown may be among them.
    pub fn left_out_in_words(&self) -> Option<String> {
        if self.left_out.is_empty() {
            return None;
        }
        let mut longest: Vec<&LeftOutSection> = self.left_out.iter().collect();
        longest.sort_by_key(|section| std::cmp::Reverse(section.n_tokens));
        let named = longest.iter().take(N_NAMED).map(|section| section.in_words());
        let named = named.collect::<Vec<_>>().join(", ");
        Some(match longest.len().saturating_sub(N_NAMED) {
            0 => named,
            // There may be still more than a page tells.
            _ if longest.len() == MAX_LEFT_OUT => format!("{named} and others"),
            more => format!("{named} and {more} more"),
        })
    }

    /// Returns the page as Markdown that an agent can read: the nodes in order, each heading once
    /// where it changes, and `[...]` where something was left out.
    ///
    /// A heading's level is its depth in the page, so that a body without a title begins at `#`.
    /// The marks of elision, two or three tokens each, are not part of [`Page::n_tokens`].
    pub fn to_markdown(&self) -> String {
        let mut markdown = String::new();
        let mut last: Option<&PageNode> = None;
        for node in &self.nodes {
            let text = text_block(node);
            match node.marks.as_slice() {
                [PageMark::RowGap] => {
                    let _ = writeln!(markdown, "| {ELISION} |\n{text}");
                }
                [PageMark::SameLine] => {
                    markdown.truncate(markdown.trim_end_matches('\n').len());
                    let blank = if last.is_some_and(|last| last.end_byte < node.start_byte) {
                        " "
                    } else {
                        ""
                    };
                    let _ = writeln!(markdown, "{blank}{text}");
                }
                // Items and rows that stood on lines one after the other still do.
                [] if last.is_some_and(|last| node.start_byte <= last.end_byte + 1) => {
                    let _ = writeln!(markdown, "{text}");
                }
                marks => {
                    push_marks(&mut markdown, marks, last);
                    push_block(&mut markdown, text);
                }
            }
            last = Some(node);
        }
        push_marks(&mut markdown, &self.end_marks, last);
        markdown
    }
}

impl LeftOutSection {
    fn in_words(&self) -> String {
        if self.heading.is_empty() {
            return format!("the beginning ({})", self.n_tokens);
        }
        // A heading is text of others: it cannot end its quotes.
        let heading = self.heading.replace('"', "'");
        let cut = heading.char_indices().nth(MAX_HEADING_CHARS).map(|(at, _)| at);
        match cut {
            Some(at) => format!("\"{}…\" ({})", heading[..at].trim_end(), self.n_tokens),
            None => format!("\"{heading}\" ({})", self.n_tokens),
        }
    }
}

fn push_marks(markdown: &mut String, marks: &[PageMark], last: Option<&PageNode>) {
    for (at, mark) in marks.iter().enumerate() {
        match mark {
            // What is left of a node that is cut stood on its last line, or right below.
            PageMark::Gap
                if at == 0
                    && last.is_some_and(|last| last.is_brief && !ends_in_row(&last.text)) =>
            {
                markdown.truncate(markdown.trim_end_matches('\n').len());
                let _ = writeln!(markdown, " {ELISION}");
            }
            PageMark::Gap | PageMark::RowGap => push_block(markdown, ELISION),
            PageMark::Heading { depth, title } => {
                let level = (*depth).clamp(1, 6) as usize;
                push_block(markdown, &format!("{} {title}", "#".repeat(level)));
            }
            PageMark::SameLine => {}
        }
    }
}

fn text_block(node: &PageNode) -> &str {
    node.text.trim_matches('\n')
}

fn push_block(markdown: &mut String, block: &str) {
    if !markdown.is_empty() {
        markdown.push('\n');
    }
    markdown.push_str(block);
    markdown.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::tests::page_of;
    use crate::page::{LeftOutSection, MmrConfig, MmrPager, Page};

    const BODY: &str = "Title\n=====\n\nIntro to cats.\n\n## Dogs\n\nWalk the dog.\n\n### Food\n\n\
                        Feed the dog.\n\n## Cats\n\nFeed the cat.\n\n## End\n\nBye.\n";

    fn markdown(query: &str, budget: u32) -> String {
        let config = MmrConfig { whole_tokens: 0, ..MmrConfig::default() };
        page_of(&MmrPager::new(config), BODY, query, budget).to_markdown()
    }

    #[test]
    fn headings_show_once_and_gaps_are_marked() {
        assert_eq!(
            markdown("dog", 20),
            "# Title\n\n[...]\n\n## Dogs\n\nWalk the dog.\n\n### Food\n\nFeed the dog.\n\n[...]\n"
        );
        assert_eq!(markdown("bye", 8), "# Title\n\n[...]\n\n## End\n\nBye.\n");
        assert_eq!(markdown("", 0), "[...]\n");
    }

    #[test]
    fn a_gap_below_a_heading_is_marked_there() {
        let body = "# A\n\nx\n\n## B\n\nStones lie.\n\nDogs bark.\n";
        let config = MmrConfig { whole_tokens: 0, ..MmrConfig::default() };
        let page = |budget| page_of(&MmrPager::new(config.clone()), body, "dogs", budget);
        assert_eq!(page(8).to_markdown(), "# A\n\n[...]\n\n## B\n\n[...]\n\nDogs bark.\n");
        let body = "Stones lie.\n\nDogs bark.\n";
        let page = page_of(&MmrPager::new(config), body, "dogs", 4);
        assert_eq!(page.to_markdown(), "[...]\n\nDogs bark.\n");
    }

    #[test]
    fn what_is_left_out_is_named_longest_first() {
        let config = MmrConfig { whole_tokens: 0, ..MmrConfig::default() };
        let page = page_of(&MmrPager::new(config), BODY, "dog", 20);
        let left_out: Vec<&str> =
            page.left_out.iter().map(|section| section.heading.as_str()).collect();
        assert_eq!(left_out, ["Title", "Cats", "End"]);
        assert_eq!(page.left_out_in_words().unwrap(), "\"Title\" (5), \"Cats\" (5), \"End\" (3)");
        let section = |heading: String| LeftOutSection { heading, n_tokens: 9 };
        let forged = Page { left_out: vec![section(format!("a\", {}", "b".repeat(90)))], ..page };
        let words = forged.left_out_in_words().unwrap();
        assert_eq!(words, format!("\"a', {}…\" (9)", "b".repeat(36)));
        let whole = page_of(&MmrPager::default(), BODY, "dog", 900);
        assert_eq!((whole.left_out.len(), whole.left_out_in_words()), (0, None));
    }

    #[test]
    fn the_whole_body_has_no_gaps() {
        let page = page_of(&MmrPager::default(), BODY, "dog", 600);
        assert_eq!(page.to_markdown(), BODY.replace("Title\n=====", "# Title"));
    }
}
