//! The parts of a skill as a graph: a box for each, and the edges between them.

use std::fmt::Write as _;

use skillmux::{
    page::{Edge, EdgeKind, PartList},
    skill::{Node, NodeTree},
    text::{clipped, one_line, printable},
};

use super::graph::{dot_text, mermaid_text};

/// Most parts that are drawn, from the top: nobody can read more.
pub(crate) const MAX_DRAWN: usize = 200;

/// Characters of the heading of a part, and of its text.
const MAX_HEADING_CHARS: usize = 40;
const MAX_TEXT_CHARS: usize = 60;

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartGraph<'a> {
    pub(crate) body: &'a str,
    pub(crate) tree: &'a NodeTree,
    pub(crate) edges: &'a [Edge],
    /// Parts that are drawn with a thick line.
    pub(crate) shown: &'a PartList,
}

impl PartGraph<'_> {
    /// Returns a Mermaid flowchart; without boxes of a skill without parts.
    pub(crate) fn mermaid(&self) -> String {
        let mut out = "flowchart TD\n    classDef shown stroke-width:4px\n".to_owned();
        for (at, node) in self.drawn() {
            let lines: Vec<String> =
                self.lines(at, node).iter().map(|line| mermaid_text(line)).collect();
            let class = if self.shown.contains(at) { ":::shown" } else { "" };
            let _ = writeln!(out, "    n{at}[\"{}\"]{class}", lines.join("<br>"));
        }
        for Edge { from, to, kind, .. } in self.drawn_edges() {
            let arrow = match kind {
                EdgeKind::Reference => "-.->|names|",
                EdgeKind::Condition => "==>|guards|",
                EdgeKind::Semantic => "-.-|alike|",
                _ => "-->",
            };
            let _ = writeln!(out, "    n{from} {arrow} n{to}");
        }
        out
    }

    /// Returns the graph in the language of Graphviz.
    pub(crate) fn dot(&self) -> String {
        let mut out = "digraph parts {\n    node [shape=box];\n".to_owned();
        for (at, node) in self.drawn() {
            let lines: Vec<String> =
                self.lines(at, node).iter().map(|line| dot_text(line)).collect();
            let style = if self.shown.contains(at) { ", penwidth=4" } else { "" };
            let _ = writeln!(out, "    n{at} [label=\"{}\"{style}];", lines.join("\\n"));
        }
        for Edge { from, to, kind, .. } in self.drawn_edges() {
            let style = match kind {
                EdgeKind::Reference => " [label=names, style=dashed]",
                EdgeKind::Condition => " [label=guards, style=bold]",
                EdgeKind::Semantic => " [label=alike, style=dotted, dir=none]",
                _ => "",
            };
            let _ = writeln!(out, "    n{from} -> n{to}{style};");
        }
        out.push_str("}\n");
        out
    }

    fn drawn(&self) -> impl Iterator<Item = (u32, &Node)> {
        (0..).zip(self.tree.nodes.iter().take(MAX_DRAWN))
    }

    fn drawn_edges(&self) -> impl Iterator<Item = &Edge> {
        let is_drawn = |edge: &&Edge| (edge.from.max(edge.to) as usize) < MAX_DRAWN;
        self.edges.iter().filter(is_drawn)
    }

    /// Returns what a box holds: the number and the kind, the heading above, the begin of the text.
    fn lines(&self, at: u32, node: &Node) -> Vec<String> {
        let short = |text: &str, max_chars: usize| clipped(&printable(&one_line(text)), max_chars);
        let section = node.section.and_then(|section| self.tree.sections.get(section as usize));
        let heading = section.map(|section| short(section.title(self.body), MAX_HEADING_CHARS));
        let text = node.text(self.body).unwrap_or("");
        // A long part is not read whole for its begin.
        let begin = &text[..text.floor_char_boundary(8 * MAX_TEXT_CHARS)];
        let first = format!("{at} {}", node.kind.as_str());
        let lines = [Some(first), heading, Some(short(begin.trim(), MAX_TEXT_CHARS))];
        lines.into_iter().flatten().filter(|line| !line.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a body as Mermaid and as Graphviz draw it.
    fn drawn(body: &str) -> [String; 2] {
        let tree = NodeTree::parse(body);
        let mut edges = skillmux::page::text_edges(body, &tree);
        edges.push(Edge { kind: EdgeKind::Semantic, ..edges[0] });
        let shown: PartList = [1].into_iter().collect();
        let graph = PartGraph { body, tree: &tree, edges: &edges, shown: &shown };
        [graph.mermaid(), graph.dot()]
    }

    const BODY: &str =
        "# A \"b\"\n\nYou must <b>own</b> it\\.\n\n1. Open it.\n\n# C\n\nSee \"A b\".\u{200b}\n";

    #[test]
    fn text_of_a_skill_stays_text() {
        let [mermaid, dot] = drawn(BODY);
        assert_eq!(
            mermaid,
            "flowchart TD\n    classDef shown stroke-width:4px\n    \
             n0[\"#48; precondition<br>A #34;b#34;<br>You must #60;b#62;own#60;/b#62; it#92;.\"]\n    \
             n1[\"#49; step<br>A #34;b#34;<br>#49;. Open it.\"]:::shown\n    \
             n2[\"#50; concept<br>C<br>See #34;A b#34;.\"]\n    \
             n0 --> n1\n    n0 ==>|guards| n1\n    n1 --> n2\n    n2 -.->|names| n0\n    \
             n0 -.-|alike| n1\n"
        );
        assert!(dot.contains("n0 [label=\"0 precondition\\nA \\\"b\\\"\\nYou must"), "{dot}");
        assert!(
            dot.contains("it\\\\.\"];") && dot.contains("1. Open it.\", penwidth=4];"),
            "{dot}"
        );
        assert!(dot.contains("n0 -> n1 [label=guards, style=bold];"), "{dot}");
        assert!(dot.ends_with("}\n"), "{dot}");
    }

    #[test]
    fn only_the_first_parts_are_drawn() {
        let body = "Words.\n\n".repeat(MAX_DRAWN + 5);
        let [_, drawn] = drawn(&body);
        assert!(drawn.contains("n199 [") && !drawn.contains("n200"), "{drawn}");
    }
}
