//! [`text_edges`] and [`semantic_edges`]: how the nodes of a body hang together (`SkillPager`
//! §3.1).
//!
//! ```
//! use skillmux::{page::{EdgeKind, text_edges}, skill::NodeTree};
//!
//! let body = "## Scan\n\nYou must own the file.\n\nScan it.\n\n## Send\n\nSend it. If that fails, see \"Scan\".\n";
//! let tree = NodeTree::parse(body);
//!
//! let edges: Vec<_> = text_edges(body, &tree).iter().map(|edge| (edge.from, edge.to, edge.kind)).collect();
//!
//! assert_eq!(edges, [
//!     (0, 1, EdgeKind::Sequence),
//!     (0, 1, EdgeKind::Condition),
//!     (1, 2, EdgeKind::Sequence),
//!     (2, 0, EdgeKind::Reference),
//! ]);
//! ```

mod condition;
mod identifier;
mod number;
mod passage;
mod reference;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scene::MAX_COMPARED;
use crate::{
    error::Result,
    model::Encoder,
    skill::{Node, NodeTree},
};

/// Least cosine of two nodes that say the same, τ of `SkillPager` §3.1.
pub const SEMANTIC_COSINE: f32 = 0.85;

/// Most nodes of a body that are compared with each other: each with all others.
const MAX_PAIRED: usize = 512;

/// Most bytes of a node that the encoder reads, as for the value of a node.
const MAX_ENCODED_BYTES: usize = 1500;

/// How one node hangs together with another (`SkillPager` §3.1).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EdgeKind {
    /// The second node stands right after the first.
    Sequence,
    /// Both say about the same: the cosine of their vectors is at least [`SEMANTIC_COSINE`].
    Semantic,
    /// The first node names the second: its heading, its number, or an identifier or a file that it
    /// has.
    Reference,
    /// The first node says what must hold for the second, a step.
    Condition,
}

/// A directed edge between two nodes of one body.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Edge {
    /// Position of the node that the edge leaves.
    pub from: u32,
    /// Position of the node that it leads to; another one.
    pub to: u32,
    /// How they hang together.
    pub kind: EdgeKind,
}

impl Edge {
    /// Returns the edge between two nodes; `None` from a node to itself, and beyond 32 bits.
    fn new(from: usize, to: usize, kind: EdgeKind) -> Option<Self> {
        let (from, to) = (u32::try_from(from).ok()?, u32::try_from(to).ok()?);
        (from != to).then_some(Self { from, to, kind })
    }
}

/// Returns the edges that the text tells: sequence, reference and condition. They rise by `from`,
/// then `to`, then kind, each once.
///
/// - **Sequence**: from each node to the next one of the body.
/// - **Reference**: from a node to the first node of a section whose title it has, or whose anchor
///   it links to; to a numbered step, section, table or figure that it names ("see step 3", "图 2");
///   and, for an identifier or a file that two to four nodes have, from the later nodes to the
///   first one. A short title counts only where it is marked as one: in quotes, in code or bold, or
///   beside a word such as "see" or "section". Of several sections or steps of one name, the
///   nearest is meant.
/// - **Condition**: from a precondition, and from a node that begins with "only if" or the like, to
///   the step that it guards: the next one of its section; else the one before it there; else the
///   next one within the section around.
///
/// English and Chinese are read. Only the first 4096 nodes have edges. A node that does not fit the
/// body names nothing. It takes time linear in the body, but for the sections that share a name.
pub fn text_edges(body: &str, tree: &NodeTree) -> Vec<Edge> {
    let nodes = compared(tree);
    let mut edges: Vec<Edge> =
        (1..nodes.len()).filter_map(|to| Edge::new(to - 1, to, EdgeKind::Sequence)).collect();
    reference::add(body, tree, &mut edges);
    condition::add(body, tree, &mut edges);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Returns an edge from each of the first 512 nodes to each later one whose vector is close, rising
/// by `from`, then `to`. An encoder gives the vectors: of length 1, so that products are cosines.
///
/// # Errors
/// As for [`Encoder::encode`].
pub fn semantic_edges(body: &str, tree: &NodeTree, encoder: &dyn Encoder) -> Result<Vec<Edge>> {
    let nodes = &tree.nodes[..tree.nodes.len().min(MAX_PAIRED)];
    let clipped = |text: &'_ str| text.floor_char_boundary(MAX_ENCODED_BYTES);
    let texts = nodes.iter().map(|node| node.text(body).unwrap_or(""));
    let texts: Vec<&str> = texts.map(|text| &text[..clipped(text)]).collect();
    let vectors = encoder.encode(&texts)?;
    let vectors: Vec<&[f32]> = vectors.chunks(encoder.dim().max(1)).collect();
    let mut edges = Vec::new();
    for (from, a) in vectors.iter().enumerate() {
        for (to, b) in vectors.iter().enumerate().skip(from + 1) {
            let cosine: f32 = a.iter().zip(*b).map(|(a, b)| a * b).sum();
            if cosine >= SEMANTIC_COSINE {
                edges.extend(Edge::new(from, to, EdgeKind::Semantic));
            }
        }
    }
    Ok(edges)
}

fn compared(tree: &NodeTree) -> &[Node] {
    &tree.nodes[..tree.nodes.len().min(MAX_COMPARED)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{growth::assert_linear, model::EncoderIdentity};

    /// Returns the edges of a kind, as pairs of positions.
    pub(super) fn edges_of(body: &str, kind: EdgeKind) -> Vec<(u32, u32)> {
        let tree = NodeTree::parse(body);
        let edges = text_edges(body, &tree);
        assert!(edges.is_sorted_by(|a, b| a < b), "{edges:?}");
        let n_nodes = u32::try_from(tree.nodes.len()).unwrap();
        assert!(edges.iter().all(|edge| edge.from.max(edge.to) < n_nodes && edge.from != edge.to));
        edges.iter().filter(|edge| edge.kind == kind).map(|edge| (edge.from, edge.to)).collect()
    }

    #[test]
    fn nodes_follow_each_other_over_headings() {
        let body = "A.\n\nB.\n\n# C\n\nD.\n";
        assert_eq!(edges_of(body, EdgeKind::Sequence), [(0, 1), (1, 2)]);
        assert!(edges_of("", EdgeKind::Sequence).is_empty());
    }

    #[test]
    fn a_tree_of_another_body_has_no_more_than_sequence_and_kinds() {
        let body = "# Scan it\n\nSee \"Send it\".\n\n# Send it\n\nYou must own it.\n\n1. Do it.\n";
        let tree = NodeTree::parse(body);
        for other in ["", "é", "漢字漢字漢字漢字漢字漢字漢字漢字"] {
            let edges = text_edges(other, &tree);
            assert!(edges.iter().all(|edge| edge.kind != EdgeKind::Reference), "{other}");
        }
    }

    #[test]
    fn hostile_bodies_take_linear_time() {
        for unit in [
            "## See it\n\nsee \"See it\"\n\n",
            "## 1. a\n\nstep 1, step 1\n\n",
            "`a_b` `a_b`\n\n",
            "see see see see ",
            "](#a) ",
            "## a b c\n\na b c a b c\n\n",
            "1. step 1\n",
            "Only if\n\n",
            "You must.\n\n",
            "图1 第1步 ",
        ] {
            assert_linear(unit, 60_000, |body| {
                text_edges(body, &NodeTree::parse(body));
            });
        }
    }

    /// Knows the first letter of a text.
    struct Letters(EncoderIdentity);

    impl Encoder for Letters {
        fn identity(&self) -> &EncoderIdentity {
            &self.0
        }

        fn encode(&self, texts: &[&str]) -> Result<Vec<f32>> {
            let row = |text: &&str| match text.chars().next() {
                Some('A') => [1.0, 0.0],
                // Just close enough, and not quite.
                Some('B') => [0.86, (1.0_f32 - 0.86 * 0.86).sqrt()],
                Some('C') => [0.84, -(1.0_f32 - 0.84 * 0.84).sqrt()],
                _ => [0.0, 0.0],
            };
            Ok(texts.iter().flat_map(row).collect())
        }
    }

    #[test]
    fn nodes_with_close_vectors_are_joined_once() {
        let identity = EncoderIdentity { name: "letters".into(), dim: 2, fingerprint: "1".into() };
        let body = "A.\n\nC.\n\nB.\n\nA.\n\nD.\n";
        let edges = semantic_edges(body, &NodeTree::parse(body), &Letters(identity)).unwrap();
        let edges: Vec<_> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
        assert_eq!(edges, [(0, 2), (0, 3), (2, 3)]);
    }
}
