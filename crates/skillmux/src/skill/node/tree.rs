//! [`NodeTree`]: the nodes and headings of one body.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Role of a node in its skill (`SkillPager` §3.1).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NodeKind {
    /// An action or instruction that contributes to the task.
    Step,
    /// A usage demonstration, code snippet, or input and output pair.
    Example,
    /// A parameter, option or argument.
    Param,
    /// A requirement that must hold before execution.
    Precondition,
    /// A failure mode or how to recover from it.
    ErrorHandling,
    /// Background that is not itself executable.
    Concept,
}

impl NodeKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Step,
        Self::Example,
        Self::Param,
        Self::Precondition,
        Self::ErrorHandling,
        Self::Concept,
    ];

    /// Returns the name that it has in JSON and in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Example => "example",
            Self::Param => "param",
            Self::Precondition => "precondition",
            Self::ErrorHandling => "error_handling",
            Self::Concept => "concept",
        }
    }
}

/// A span of a skill's body that is shown whole or not at all.
///
/// The nodes of a body are in source order, do not overlap, and together cover everything but
/// blank space, headings and thematic breaks; a heading belongs to its section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Role.
    pub kind: NodeKind,
    /// First byte in the body; a character boundary.
    pub start: u32,
    /// One past the last byte in the body; a character boundary.
    pub end: u32,
    /// Estimated tokens of the text, see [`estimate_tokens`](crate::text::estimate_tokens); at
    /// least 1.
    pub n_tokens: u32,
    /// Position in [`NodeTree::sections`] of the last heading before the node; `None` before the
    /// first.
    pub section: Option<u32>,
}

impl Node {
    /// Returns the text of the node; `None` where `body` is not the one it was parsed from.
    pub fn text<'a>(&self, body: &'a str) -> Option<&'a str> {
        body.get(self.start as usize..self.end as usize)
    }
}

/// A heading and what lies under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Level of the heading, 1 to 6.
    pub level: u8,
    /// First byte of the heading line.
    pub start: u32,
    /// One past the last byte of the heading, the underline of the setext form included.
    pub end: u32,
    /// Position of the section that holds this one, the nearest before it of a lower level.
    pub parent: Option<u32>,
}

impl Section {
    /// Returns the heading without its `#`s or underline, inline markup kept; may be empty, and is
    /// so where `body` is not the one it was parsed from.
    pub fn title<'a>(&self, body: &'a str) -> &'a str {
        let heading = body.get(self.start as usize..self.end as usize).unwrap_or("").trim();
        let text = heading.trim_start_matches('#');
        if text.len() == heading.len() {
            // The underline of a setext heading is its last line.
            return heading.rsplit_once('\n').map_or(heading, |(title, _)| title.trim_end());
        }
        let text = text.trim();
        let unclosed = text.trim_end_matches('#');
        // Closing `#`s stand apart; those of `C#` belong to the word.
        if unclosed.is_empty() || unclosed.ends_with([' ', '\t']) {
            unclosed.trim_end()
        } else {
            text
        }
    }
}

/// The parsed body of one skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeTree {
    /// Headings in source order.
    pub sections: Vec<Section>,
    /// Nodes in source order.
    pub nodes: Vec<Node>,
}

impl NodeTree {
    /// Returns the sections around a node, innermost first.
    pub fn sections_of(&self, node: &Node) -> impl Iterator<Item = usize> + use<'_> {
        self.path(node.section)
    }

    /// Returns a section and those around it, innermost first; none of one that is not there.
    pub(crate) fn path(&self, innermost: Option<u32>) -> impl Iterator<Item = usize> + use<'_> {
        // A parent lies before its section, so the walk ends even in a tree that breaks the rule.
        let parent = |idx: &u32| self.sections.get(*idx as usize)?.parent.filter(|of| of < idx);
        let within = |idx: &usize| *idx < self.sections.len();
        std::iter::successors(innermost, parent).map(|idx| idx as usize).take_while(within)
    }

    /// Returns for each section which of the first `n_nodes` nodes is the first in it, those of the
    /// sections in it included; `None` for a section without any.
    pub fn first_nodes(&self, n_nodes: usize) -> Vec<Option<usize>> {
        let mut first_in = vec![None; self.sections.len()];
        for (position, node) in self.nodes.iter().take(n_nodes).enumerate() {
            for section in self.sections_of(node) {
                // What lies above a section that has a node has one, too.
                if first_in[section].is_some() {
                    break;
                }
                first_in[section] = Some(position);
            }
        }
        first_in
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_one_name() {
        for kind in NodeKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn sections_around_a_node_and_first_nodes_of_sections_are_told() {
        let tree = NodeTree::parse("# A\n\n## B\n\none\n\n# C\n\ntwo\n\n# D\n");
        let around = |node: usize| tree.sections_of(&tree.nodes[node]).collect::<Vec<_>>();
        assert_eq!(around(0), [1, 0]);
        assert_eq!(around(1), [2]);
        assert_eq!(tree.first_nodes(2), [Some(0), Some(0), Some(1), None]);
        assert_eq!(tree.first_nodes(1), [Some(0), Some(0), None, None]);
    }

    #[test]
    fn a_tree_that_breaks_the_rule_of_parents_ends() {
        let mut tree = NodeTree::parse("# A\n\none\n");
        tree.sections[0].parent = Some(0);
        assert_eq!(tree.sections_of(&tree.nodes[0]).collect::<Vec<_>>(), [0]);
        tree.nodes[0].section = Some(7);
        assert_eq!(tree.sections_of(&tree.nodes[0]).count(), 0);
        assert_eq!(tree.first_nodes(1), [None]);
    }
}
