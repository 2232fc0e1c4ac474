//! Which bytes of a body a page shows.

use std::collections::BTreeSet;

use skillmux::{page::Page, skill::NodeTree};

/// Returns the bytes of a body that a page shows, with the headings above its nodes, ascending;
/// spans with nothing but blanks between them are one.
pub(crate) fn shown_spans(page: &Page, tree: &NodeTree, body: &str) -> Vec<[u32; 2]> {
    let mut spans: BTreeSet<[u32; 2]> = BTreeSet::new();
    for shown in &page.nodes {
        spans.insert([shown.start_byte, shown.end_byte]);
        let mut section = tree.nodes.get(shown.position as usize).and_then(|node| node.section);
        while let Some((idx, heading)) =
            section.and_then(|idx| Some((idx, tree.sections.get(idx as usize)?)))
        {
            spans.insert([heading.start, heading.end]);
            section = heading.parent.filter(|parent| *parent < idx);
        }
    }
    let mut joined: Vec<[u32; 2]> = Vec::with_capacity(spans.len());
    for [start, end] in spans {
        match joined.last_mut() {
            Some([_, last]) if is_blank(body, *last, start) => *last = end.max(*last),
            _ => joined.push([start, end]),
        }
    }
    joined
}

/// Returns whether nothing but blanks lies between two places of a body.
fn is_blank(body: &str, from: u32, to: u32) -> bool {
    from >= to || body.get(from as usize..to as usize).is_some_and(|gap| gap.trim().is_empty())
}
