//! Stores a [`NodeTree`] in about seven bytes a node, its share of the headings included.
//!
//! Sections and nodes follow each other in source order, and each is a tag byte, the distance from
//! the end of the one before, and its length; a node adds its tokens. Numbers are LEB128. The
//! section of a node and the parent of a section follow from the order and are not stored, so
//! that no bytes can name a wrong one.

use super::tree::{Node, NodeKind, NodeTree, Section};

/// Tags 1 to 6 are headings of that level, the next six the kinds of nodes.
const FIRST_KIND_TAG: u8 = 7;
/// Kinds by their tag. The order is part of the format: add at the end.
const KINDS: [NodeKind; 6] = [
    NodeKind::Step,
    NodeKind::Example,
    NodeKind::Param,
    NodeKind::Precondition,
    NodeKind::ErrorHandling,
    NodeKind::Concept,
];

impl NodeTree {
    /// Appends the tree to `out`; it must be one that [`NodeTree::parse`] or [`NodeTree::decode`]
    /// returned.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let mut end = 0;
        let mut sections = self.sections.iter().peekable();
        for node in &self.nodes {
            while let Some(section) = sections.next_if(|section| section.start < node.start) {
                put_span(out, section.level, end, section.start, section.end);
                end = section.end;
            }
            put_span(out, kind_tag(node.kind), end, node.start, node.end);
            put_number(out, node.n_tokens);
            end = node.end;
        }
        for section in sections {
            put_span(out, section.level, end, section.start, section.end);
            end = section.end;
        }
    }

    /// Returns the tree that [`NodeTree::encode`] wrote as `bytes`, all of them, for a body of
    /// `body_bytes`; `None` for bytes it can't have written.
    ///
    /// What is returned is in order, disjoint and within the body. Whether it lies on character
    /// boundaries shows only with the body at hand, see [`Node::text`].
    pub(crate) fn decode(mut bytes: &[u8], body_bytes: usize) -> Option<Self> {
        let mut tree = Self::default();
        let mut end = 0_u32;
        while let Some((&tag, rest)) = bytes.split_first() {
            bytes = rest;
            let start = end.checked_add(take_number(&mut bytes)?)?;
            let len = take_number(&mut bytes)?;
            end = start.checked_add(len)?;
            if len == 0 || end as usize > body_bytes {
                return None;
            }
            if (1..FIRST_KIND_TAG).contains(&tag) {
                let parent = tree.parent_of(tag);
                tree.sections.push(Section { level: tag, start, end, parent });
                continue;
            }
            let kind = *KINDS.get(usize::from(tag.checked_sub(FIRST_KIND_TAG)?))?;
            let n_tokens = take_number(&mut bytes)?;
            if !(1..=len).contains(&n_tokens) {
                return None;
            }
            // Every section takes a byte of `bytes`, and more than 4 Gi of them do not fit a body.
            let section = u32::try_from(tree.sections.len()).ok()?.checked_sub(1);
            tree.nodes.push(Node { kind, start, end, n_tokens, section });
        }
        Some(tree)
    }
}

fn kind_tag(kind: NodeKind) -> u8 {
    let tags = FIRST_KIND_TAG..;
    let mut tagged = tags.zip(KINDS);
    let concept_tag = FIRST_KIND_TAG + 5;
    tagged.find(|(_, known)| *known == kind).map_or(concept_tag, |(tag, _)| tag)
}

fn put_span(out: &mut Vec<u8>, tag: u8, before: u32, start: u32, end: u32) {
    out.push(tag);
    put_number(out, start.saturating_sub(before));
    put_number(out, end.saturating_sub(start));
}

fn put_number(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Takes a number from the begin of `bytes`; `None` where it is cut off or exceeds 32 bits.
fn take_number(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0_u64;
    for shift in [0, 7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(number).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BODY: &str = "intro\n\n# A\n\n## B\n\n1. do\n\n# C\n\n```\ncode\n```\n\n## D\n";

    fn encoded(tree: &NodeTree) -> Vec<u8> {
        let mut bytes = Vec::new();
        tree.encode(&mut bytes);
        bytes
    }

    #[test]
    fn a_tree_survives_the_round_trip() {
        let tree = NodeTree::parse(BODY);
        let bytes = encoded(&tree);
        assert!(bytes.len() <= 5 * (tree.nodes.len() + tree.sections.len()));
        assert_eq!(NodeTree::decode(&bytes, BODY.len()), Some(tree));
        assert_eq!(NodeTree::decode(&[], 0), Some(NodeTree::default()));
    }

    #[test]
    fn bytes_that_do_not_fit_the_body_are_refused() {
        let bytes = encoded(&NodeTree::parse(BODY));
        assert_eq!(NodeTree::decode(&bytes, BODY.len() - 2), None);
        assert_eq!(NodeTree::decode(&bytes[..bytes.len() - 1], BODY.len()), None);
        assert_eq!(NodeTree::decode(&[0, 0, 1], 9), None, "unknown tag");
        assert_eq!(NodeTree::decode(&[7, 0, 0, 1], 9), None, "empty node");
        assert_eq!(NodeTree::decode(&[7, 0, 2, 0], 9), None, "node without tokens");
        assert_eq!(NodeTree::decode(&[1, 0xff, 0xff, 0xff, 0xff, 0x7f, 1], 9), None, "overflow");
    }

    #[test]
    fn every_kind_has_its_tag() {
        for (tag, kind) in (FIRST_KIND_TAG..).zip(KINDS) {
            assert_eq!(kind_tag(kind), tag);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>, body_bytes in 0..300_usize) {
            if let Some(tree) = NodeTree::decode(&bytes, body_bytes) {
                let mut end = 0;
                for node in &tree.nodes {
                    prop_assert!(node.start >= end && node.end > node.start);
                    end = node.end;
                }
                prop_assert!(end as usize <= body_bytes);
                let again = encoded(&tree);
                prop_assert_eq!(NodeTree::decode(&again, body_bytes), Some(tree));
            }
        }

        #[test]
        fn damaged_bytes_never_panic(at in 0..20_usize, byte: u8) {
            let mut bytes = encoded(&NodeTree::parse(BODY));
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = NodeTree::decode(&bytes, BODY.len());
        }
    }
}
