//! Splits the Markdown body of a skill into typed nodes, the units of paging (`SkillPager` §3.1).
//!
//! ```
//! use skillmux::skill::{NodeKind, NodeTree};
//!
//! let body = "# Scans\n\n## Prerequisites\n\nPython 3.12.\n\n## Steps\n\n1. Read it.\n2. Check it.\n";
//! let tree = NodeTree::parse(body);
//!
//! let kinds: Vec<NodeKind> = tree.nodes.iter().map(|node| node.kind).collect();
//! assert_eq!(kinds, [NodeKind::Precondition, NodeKind::Step]);
//! assert_eq!(tree.nodes[1].text(body), Some("1. Read it.\n2. Check it."));
//! let titles: Vec<&str> = tree.sections.iter().map(|section| section.title(body)).collect();
//! assert_eq!(titles, ["Scans", "Prerequisites", "Steps"]);
//! ```

mod block;
mod chat;
mod classifier;
mod codec;
mod cue;
mod fence;
mod kind;
mod learned;
mod parse;
mod sentence;
mod tree;

pub use chat::{ChatKinds, KindFailure, OnKindFailure};
pub use classifier::{KindClassifier, KindRules};
pub use learned::{KindWeights, N_KIND_FEATURES, kind_features};
pub(crate) use sentence::is_step_condition;
pub use tree::{Node, NodeKind, NodeTree, Section};

#[cfg(test)]
mod tests {
    use crate::growth::{Growing, assert_linear, assert_linear_in};
    use proptest::prelude::*;

    use super::*;
    use crate::text::estimate_tokens;

    /// Asserts what [`Node`], [`Section`] and [`NodeTree::parse`] promise.
    fn assert_invariants(body: &str) {
        let tree = NodeTree::parse(body);
        let mut is_covered = vec![false; body.len()];
        let mut end = 0;
        for node in &tree.nodes {
            let text = node.text(body).expect("a node lies on character boundaries");
            assert!(node.start >= end && node.end > node.start, "{node:?} after {end}");
            assert!(!text.trim().is_empty());
            assert_eq!(node.n_tokens, estimate_tokens(text));
            let n_before =
                tree.sections.iter().filter(|section| section.start < node.start).count();
            assert_eq!(node.section.map_or(0, |section| section as usize + 1), n_before);
            end = node.end;
            is_covered[node.start as usize..node.end as usize].fill(true);
        }
        for (idx, section) in tree.sections.iter().enumerate() {
            assert!((1..=6).contains(&section.level));
            assert!(section.parent.is_none_or(|parent| (parent as usize) < idx));
            let range = section.start as usize..section.end as usize;
            assert!(is_covered[range.clone()].iter().all(|is_covered| !is_covered), "{section:?}");
            is_covered[range].fill(true);
        }
        for (start, c) in body.char_indices().filter(|(start, _)| !is_covered[*start]) {
            // A lone carriage return ends a line as well (`CommonMark` §2.1).
            let line_start = body[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
            let line = body[line_start..].split(['\n', '\r']).next().unwrap_or("");
            let is_rule = line.chars().all(|c| matches!(c, '-' | '*' | '_') || c.is_whitespace());
            assert!(c.is_whitespace() || is_rule, "{c:?} at {start} of {body:?} is in no node");
        }
        let mut bytes = Vec::new();
        tree.encode(&mut bytes);
        assert_eq!(NodeTree::decode(&bytes, body.len()), Some(tree));
    }

    fn texts(body: &str) -> Vec<&str> {
        NodeTree::parse(body).nodes.iter().map(|node| node.text(body).unwrap()).collect()
    }

    #[test]
    fn short_items_share_a_node_and_headers_join_what_follows() {
        assert_eq!(
            texts("Do this:\n\n- one\n- two\n\nText.\n"),
            ["Do this:\n\n- one\n- two", "Text."]
        );
        assert_eq!(texts("先运行：\n\n```\nls\n```\n"), ["先运行：\n\n```\nls\n```"]);
        assert_eq!(texts("If it is locked\n\n- unlock\n"), ["If it is locked\n\n- unlock"]);
        assert_eq!(texts("Text\n\n- one\n\n<!-- -->\n\n- two\n").len(), 3);
        let item = "- some words about one thing and another, in one line of a list\n";
        assert_eq!(texts(&item.repeat(16)).len(), 3);
    }

    #[test]
    fn a_condition_between_steps_is_of_the_one_before() {
        let steps =
            ["1. Stop it.\n\nIf it fails, call us.", "2. Copy it.\n\n否则停止。", "3. Go on."];
        assert_eq!(texts(&steps.join("\n\n")), steps);
        let two = ["1. Stop it.\n\n**Unless** it stops,\nwait.\n\nOtherwise call us.", "2. Go on."];
        assert_eq!(texts(&two.join("\n\n")), two);
        let long = "word ".repeat(160);
        let nested = format!("- {long}\n\n  More.\n\n  {long}\n\n  If it fails, stop.\n\n- Go on.");
        let found = texts(&nested);
        assert!(found[found.len() - 2].ends_with("If it fails, stop."), "{found:?}");
        assert_eq!(found.last(), Some(&"- Go on."));
        let behind_code = "1. Stop it.\n\n```\nstop\n```\n\nIf it fails, call us.\n\n2. Go on.\n";
        assert_eq!(
            texts(behind_code),
            ["1. Stop it.", "```\nstop\n```", "If it fails, call us.", "2. Go on."]
        );
    }

    #[test]
    fn other_conditions_are_of_what_follows() {
        for body in [
            "If it is locked\n\n1. Unlock it.\n2. Open it.",
            "If it is locked:\n\n2. Unlock it.",
            "If it is locked\n\n2. Unlock it.",
            "Text.\n\nIf it is locked:\n\n2. Unlock it.",
            "- Stop it.\n\nIf it is locked\n\n- unlock it",
            "1. Stop it.\n\nIf it stands still, skip the next step.\n\n2. Wait.",
            "1. Stop it.\n\nIf it is locked, do the following.\n\n2. Unlock it.",
        ] {
            let last = *texts(body).last().unwrap();
            assert!(last.starts_with("If"), "{body}: {last}");
        }
        assert_eq!(
            texts("## A\n\nIf it is locked\n\n2. Unlock it."),
            ["If it is locked\n\n2. Unlock it."]
        );
    }

    #[test]
    fn a_template_with_code_in_it_is_one_node() {
        let body = "Write this:\n\n```markdown\n# Title\n\n```sh\nls\n```\n\n## Part\n```\n\n## Next\n\nText.\n";
        let tree = NodeTree::parse(body);
        assert_eq!(tree.nodes[0].text(body).unwrap(), body.split("\n\n## Next").next().unwrap());
        assert_eq!(tree.sections.len(), 1);
        assert_invariants(body);
    }

    #[test]
    fn a_comment_joins_what_follows() {
        assert_eq!(texts("A.\n\n<!-- why -->\n\nB.\n"), ["A.", "<!-- why -->\n\nB."]);
        assert_eq!(texts("A.\n\n<!-- why -->\n\n# B\n"), ["A.", "<!-- why -->"]);
        assert_eq!(texts("<p>x</p>\n\nB.\n"), ["<p>x</p>", "B."]);
    }

    #[test]
    fn headings_and_rules_end_a_node() {
        assert_eq!(texts("Note:\n\n# A\n\ntext:\n\n---\n\nmore"), ["Note:", "text:", "more"]);
        let body = "A\nb\n===\n\ntext\n\n## C# ##\n\n#\n";
        let tree = NodeTree::parse(body);
        let titles: Vec<&str> = tree.sections.iter().map(|section| section.title(body)).collect();
        assert_eq!(titles, ["A\nb", "C#", ""]);
        assert_eq!(tree.sections[1].parent, Some(0));
    }

    #[test]
    fn nested_code_keeps_its_indentation() {
        let text = "word ".repeat(160);
        let body = format!("1. {text}\n\n   Then it is done.\n\n   - a\n   - b\n");
        assert_eq!(texts(&body).last(), Some(&"   - a\n   - b"));
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for unit in [
            "[",
            "`",
            "*",
            "_a ",
            ">",
            "- ",
            "> - ",
            "1. ",
            "#",
            "|",
            "<",
            "![",
            "](",
            "\\[",
            "a:\n\n",
            "```\n",
            "\t",
            "- a\n ",
            "|a|b|\n|-|-|\n",
            "<!--",
            "&",
            "[a]: b\n",
            "**a",
            "~~~~\n",
            ". ",
            "。",
            "If a\n\n",
            "\u{3000}",
        ] {
            assert_linear(unit, 100_000, |body| drop(NodeTree::parse(body)));
        }
        // No line ends a part before a connective, however far on.
        let growing = Growing { head: "Word\n", unit: "_\n", tail: "and then" };
        assert_linear_in(growing, 100_000, |body| drop(NodeTree::parse(body)));
        assert_invariants("***\r\0\t\n\n-");
        assert_invariants(&"> - 1. ".repeat(500));
        assert_invariants(
            &(0..200).flat_map(|n| [" ".repeat(2 * n), "- a\n".into()]).collect::<String>(),
        );
    }

    /// Markdown of all kinds of blocks, most of it well-formed.
    fn markdown() -> impl Strategy<Value = String> {
        let block = prop_oneof![
            "#{1,7} [a-z #*`]{0,12}#{0,2}",
            "[a-zA-Z .:!?*`。：如果\n]{1,60}",
            "([A-Za-z ,]{5,60}[.!?。] ?){1,30}",
            "(- [a-z :]{1,40}\n( {0,6}[-*+>#1.`|]{0,3} [a-z]{0,300}\n){0,3}){1,6}",
            "([1-9][.)] [a-z\n ]{1,90}\n){1,6}",
            "```[a-z]{0,4}\n[a-z \n#|]{0,60}(\n```)?",
            "\\|a\\|b\\|\n\\|-\\|-\\|\n(\\|[a-z ]{1,90}\\|c\\|\n){0,30}",
            "(> [a-z>#\\- \n]{1,90}\n){1,30}",
            "<(div|pre|!--)[a-z >\n]{0,20}",
            "(---|\\* \\* \\*|===|    [a-z]{1,9}|\t- [a-z]{1,5})",
            "\\[[a-z]{1,3}\\]: [a-z/:]{1,9}",
        ];
        let separator = prop_oneof![Just("\n\n"), Just("\n"), Just("\n\n\n   ")];
        prop::collection::vec((block, separator), 0..12)
            .prop_map(|blocks| blocks.into_iter().map(|(block, end)| block + end).collect())
    }

    proptest! {
        #[test]
        fn any_text_keeps_the_invariants(body in "(.|\n|\t|[#>*`|\\-]){0,200}") {
            assert_invariants(&body);
        }

        #[test]
        fn markdown_keeps_the_invariants(body in markdown()) {
            assert_invariants(&body);
        }
    }
}
