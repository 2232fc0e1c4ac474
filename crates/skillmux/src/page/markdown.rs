//! Writes a page as Markdown.

use super::{LeftOutSection, MAX_LEFT_OUT, Page, PageNode};

/// Stands where nodes were left out.
const ELISION: &str = "[...]";

/// Sections that a line about what was left out names.
const N_NAMED: usize = 6;

/// Most characters of a heading in such a line.
const MAX_HEADING_CHARS: usize = 40;

impl Page {
    /// Returns which sections were left out, the longest first, with their tokens: `"Install" (120), "Usage" (90) and 3 more`; `None` of
    /// a whole page. A section of which something is shown may be among them.
    pub fn left_out_in_words(&self) -> Option<String> {
        if self.left_out.is_empty() {
            return None;
        }
        let mut longest: Vec<&LeftOutSection> = self.left_out.iter().collect();
        longest.sort_by_key(|section| std::cmp::Reverse(section.n_tokens));
        let named = longest.iter().take(N_NAMED).map(|section| {
            if section.heading.is_empty() {
                return format!("the beginning ({})", section.n_tokens);
            }
            // A heading is text of others: it cannot end its quotes.
            let heading = section.heading.replace('"', "'");
            let cut = heading.char_indices().nth(MAX_HEADING_CHARS).map(|(at, _)| at);
            match cut {
                Some(at) => format!("\"{}…\" ({})", heading[..at].trim_end(), section.n_tokens),
                None => format!("\"{heading}\" ({})", section.n_tokens),
            }
        });
        let named = named.collect::<Vec<_>>().join(", ");
        Some(match longest.len().saturating_sub(N_NAMED) {
            0 => named,
            // There may be still more than a page tells.
            _ if longest.len() == MAX_LEFT_OUT => format!("{named} and others"),
            more => format!("{named} and {more} more"),
        })
    }

    /// Returns the page as Markdown that an agent can read: the nodes in order, each heading once
    /// where it changes, and `[...]` where nodes were left out.
    ///
    /// A heading's level is its depth in the page, so that a body without a title begins at `#`.
    /// The marks of elision, two or three tokens each, are not part of [`Page::n_tokens`].
    pub fn to_markdown(&self) -> String {
        let mut markdown = String::new();
        let mut shown: &[String] = &[];
        let mut next_position = 0;
        let mut last_end = None;
        for node in &self.nodes {
            let n_same =
                shown.iter().zip(&node.headings).take_while(|(above, here)| above == here).count();
            // What is left out stands before the headings of this node, below the last of them, or in both places.
            let n_left_out = node.position.saturating_sub(next_position);
            let is_elided_above = n_left_out > node.section_position;
            let is_elided_below = n_left_out > 0 && node.section_position > 0;
            // What is left out at the begin of the skill stands under its title, as the rest does.
            let n_before = usize::from(shown.is_empty());
            for (depth, heading) in node.headings.iter().enumerate().skip(n_same) {
                if is_elided_above && depth == n_same + n_before {
                    push_block(&mut markdown, ELISION);
                }
                push_block(&mut markdown, &format!("{} {heading}", "#".repeat((depth + 1).min(6))));
            }
            let is_unmarked = is_elided_above && node.headings.len() <= n_same + n_before;
            if is_elided_below || is_unmarked {
                push_block(&mut markdown, ELISION);
            }
            // Items and rows that stood on lines one after the other still do.
            if n_left_out == 0 && last_end.is_some_and(|end: u32| node.start_byte <= end + 1) {
                markdown.push_str(text_block(node));
                markdown.push('\n');
            } else {
                push_block(&mut markdown, text_block(node));
            }
            shown = &node.headings;
            next_position = node.position + 1;
            last_end = Some(node.end_byte);
        }
        if next_position < self.full_nodes {
            push_block(&mut markdown, ELISION);
        }
        markdown
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
