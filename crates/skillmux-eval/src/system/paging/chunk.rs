//! [`ChunkPager`]: fixed-length chunks instead of nodes.

use skillmux::{
    page::{MmrConfig, MmrPager, Page, PageRequest, Pager},
    skill::{Node, NodeKind, NodeTree},
    text::estimate_tokens,
};

/// Tokens of a chunk (`SkillPager` §4.3).
const CHUNK_TOKENS: u32 = 256;

/// Bytes that a chunk cannot have more of: even spaces end somewhere.
const MAX_CHUNK_BYTES: usize = 8 << 10;

/// How chunks are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum ChunkSelection {
    /// As nodes are, by maximal marginal relevance.
    Mmr,
    /// By the cosine with the query alone.
    TopK,
}

/// Selects chunks of 256 tokens as [`MmrPager`] selects nodes: the chunk baseline of `SkillPager`
/// §4.3, which tells what nodes are worth.
///
/// A chunk ends at the last blank in its last quarter, or at a character if there is none. It has
/// neither kind nor headings, so that no kind is preferred, and headings are text like any other;
/// the limits on the number of nodes count chunks. A short body is shown whole, as with nodes.
///
/// Of the contract of [`Pager`], all that is said of nodes holds for chunks, which are not the
/// nodes of [`PageRequest::nodes`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChunkPager {
    pager: MmrPager,
}

impl ChunkPager {
    /// Returns a pager over chunks.
    pub(crate) fn new(selection: ChunkSelection) -> Self {
        let mut config = MmrConfig::skill_pager();
        if selection == ChunkSelection::TopK {
            config.lambda = 1.0;
        }
        Self { pager: MmrPager::new(config) }
    }
}

impl Pager for ChunkPager {
    fn identity(&self) -> String {
        "chunk".to_owned()
    }

    fn page(&self, request: &PageRequest<'_>) -> Page {
        let nodes = chunks(&request.skill.body);
        let tree = NodeTree { sections: Vec::new(), nodes };
        self.pager.page(&PageRequest { nodes: &tree, ..*request })
    }
}

/// Returns the constants as text.
pub(super) fn config() -> String {
    format!("chunk_tokens={CHUNK_TOKENS}")
}

/// Returns the chunks of a body, in order; together they cover it, but for blanks.
fn chunks(body: &str) -> Vec<Node> {
    let mut chunks = Vec::new();
    let mut start = body.len() - body.trim_start().len();
    while start < body.len() {
        let end = start + chunk_bytes(&body[start..]);
        let text = body[start..end].trim_end();
        chunks.push(Node {
            kind: NodeKind::Concept,
            start: narrow(start),
            end: narrow(start + text.len()),
            n_tokens: estimate_tokens(text),
            section: None,
        });
        start = end + (body[end..].len() - body[end..].trim_start().len());
    }
    chunks
}

/// Returns the length of the first chunk of a text that begins with no blank; at least a character.
fn chunk_bytes(text: &str) -> usize {
    let fits = |end: usize| estimate_tokens(&text[..text.floor_char_boundary(end)]) <= CHUNK_TOKENS;
    let limit = text.len().min(MAX_CHUNK_BYTES);
    if fits(limit) && limit == text.len() {
        return limit;
    }
    // The estimate grows with the text, give or take a token.
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = high - (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let first = text.chars().next().map_or(1, char::len_utf8);
    let end = text.floor_char_boundary(low).max(first);
    let last_quarter = text.floor_char_boundary(end / 4 * 3).max(first);
    let blank = text[last_quarter..end].rfind(char::is_whitespace);
    blank.map_or(end, |at| last_quarter + at)
}

fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_chunks(body: &str) {
        let chunks = chunks(body);
        let mut end = 0;
        for chunk in &chunks {
            let gap = &body[end..chunk.start as usize];
            assert!(gap.trim().is_empty(), "{gap:?}");
            assert!(chunk.text(body).is_some_and(|text| text.trim() == text && !text.is_empty()));
            assert!(chunk.n_tokens <= CHUNK_TOKENS + 8, "{}", chunk.n_tokens);
            end = chunk.end as usize;
        }
        assert!(body[end..].trim().is_empty());
    }

    #[test]
    fn chunks_cover_the_body_and_are_about_as_long_as_they_may_be() {
        let body = "# Scans\n\nTurn the crooked pages upright, and then join them.\n\n".repeat(60);
        assert_chunks(&body);
        let chunks = chunks(&body);
        assert!(chunks.len() >= 3);
        assert!(chunks[..chunks.len() - 1].iter().all(|chunk| chunk.n_tokens > 230));
    }

    #[test]
    fn texts_without_blanks_are_cut_too() {
        for body in ["", " \n", "a", &"旋转页面".repeat(300), &"x".repeat(9_000)] {
            assert_chunks(body);
        }
        assert_chunks(&format!("a{}b", " ".repeat(20_000)));
    }

    proptest! {
        #[test]
        fn any_text_is_covered(body in "([a-z]{1,9}[ \n]{1,3}|[一-三]{1,20}|\\PC{0,9}){0,150}") {
            assert_chunks(&body);
        }
    }
}
