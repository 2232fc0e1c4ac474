//! Selects the parts of a skill's body that a query needs, within a token budget (`SkillPager`
//! §3.2).
//!
//! ```
//! use skillmux::{skill::{NodeTree, Skill, SkillId}, page::{MmrConfig, MmrPager, PageRequest, Pager, PartList, TermSource}};
//!
//! let skill = Skill {
//!     id: SkillId::new("scans"),
//!     name: "scans".into(),
//!     description: "Work with scanned pages".into(),
//!     body: "# Scans\n\n## Rotate\n\nTurn crooked pages upright.\n\n## Merge\n\nJoin two scans.\n".into(),
//!     source: "docs".into(),
//! };
//! let nodes = NodeTree::parse(&skill.body);
//! let terms = TermSource {
//!     terms: &|text, visit| text.split_whitespace().for_each(|word| visit(&word.to_lowercase())),
//!     idf: &|_term| 1.0,
//! };
//! let request = PageRequest {
//!     skill: &skill,
//!     nodes: &nodes,
//!     query: "join scans",
//!     terms: &terms,
//!     budget_tokens: 12,
//!     had: PartList::none(),
//! };
//!
//! let page = MmrPager::new(MmrConfig::default()).page(&request);
//!
//! assert_eq!(page.to_markdown(), "# Scans\n\n[...]\n\n## Merge\n\nJoin two scans.\n");
//! assert!(page.n_tokens < page.full_tokens);
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::skill::{NodeKind, NodeTree, Skill, SkillId};

mod blocks;
mod brief;
mod companion;
mod edge;
mod fence;
mod full;
mod kinds;
mod markdown;
mod markers;
mod mmr;
mod outline;
mod parts;
mod scene;
mod title;
mod value;
mod vector;

pub use edge::{Edge, EdgeKind, SEMANTIC_COSINE, semantic_edges, text_edges};
pub use full::FullPager;
pub use kinds::{KindPager, classified};
pub use mmr::{KindPrior, MmrConfig, MmrPager};
pub use parts::PartList;
pub use value::{
    LeftOutValue, NodeFeatures, NodeValues, NodeWeights, PagerWeights, SufficiencyWeights,
    ValuePager,
};

/// Selects the part of a skill that a query needs.
///
/// Every implementation keeps to this:
///
/// - Nodes are in the order of the source, each at most once, and their text is that of the body,
///   byte for byte. A node is whole, or some of its first lines stand for it
///   ([`PageNode::is_brief`]).
/// - No node is shown that the agent has already ([`PageRequest::had`]).
/// - [`Page::n_tokens`] never exceeds [`PageRequest::budget_tokens`]. A budget too small for any
///   node gives a page without nodes, whose totals tell how much there is.
/// - The same request gives the same page; nodes that are worth the same are taken in source order.
/// - Nothing panics, whatever the body, the query, the terms or the budget. A node that doesn't
///   fit the body (the tree is that of another one) is left out.
pub trait Pager: Send + Sync {
    /// Returns the name of the pager.
    fn identity(&self) -> String;

    /// Returns the selected nodes of one skill.
    fn page(&self, request: &PageRequest<'_>) -> Page;

    /// Returns a page for each request, in their order, which take no more than `budget_tokens`
    /// together. The budgets of the requests don't count.
    ///
    /// Unless a pager does it otherwise, each page has an equal share of the budget, and what one
    /// leaves goes to the next.
    fn pages(&self, requests: &[PageRequest<'_>], budget_tokens: u32) -> Vec<Page> {
        let mut left = budget_tokens;
        let page = |(request, n_left): (&PageRequest<'_>, usize)| {
            let page = self.page(&PageRequest { budget_tokens: share(left, n_left), ..*request });
            left -= page.n_tokens.min(left);
            page
        };
        requests.iter().zip((1..=requests.len()).rev()).map(page).collect()
    }
}

/// Returns the tokens of one of `n` pages that share a budget.
fn share(budget_tokens: u32, n: usize) -> u32 {
    budget_tokens / u32::try_from(n.max(1)).unwrap_or(u32::MAX)
}

/// What a [`Pager`] is asked.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// The skill to select from.
    pub skill: &'a Skill,
    /// Its parsed body.
    pub nodes: &'a NodeTree,
    /// What the agent wants to do, in plain words; may be empty.
    pub query: &'a str,
    /// Splits and weighs text.
    pub terms: &'a TermSource<'a>,
    /// Most tokens that the nodes and the headings above them may take.
    pub budget_tokens: u32,
    /// Nodes that the agent has from earlier pages; none of them is shown again.
    pub had: &'a PartList,
}

/// Terms of a text and how rare they are, in the terms of the index that holds the skill.
#[derive(Clone, Copy)]
pub struct TermSource<'a> {
    /// Calls its second argument with each normalised term of a text, in source order, repeats
    /// included.
    pub terms: &'a TermVisitor<'a>,
    /// Returns the inverse document frequency of a term in the library, at least 0; what is
    /// negative, infinite or NaN counts as 0.
    pub idf: &'a (dyn Fn(&str) -> f32 + 'a),
}

/// Type of [`TermSource::terms`].
pub type TermVisitor<'a> = dyn Fn(&str, &mut dyn FnMut(&str)) + 'a;

impl std::fmt::Debug for TermSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TermSource").finish_non_exhaustive()
    }
}

/// The parts of one skill that were selected for a query, in source order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    /// The skill.
    pub skill_id: SkillId,
    /// Its name.
    pub name: String,
    /// Selected nodes, in the order of the source.
    pub nodes: Vec<PageNode>,
    /// What stands after the last node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub end_marks: Vec<PageMark>,
    /// Estimated tokens of the selected nodes and of the headings shown above them.
    pub n_tokens: u32,
    /// Estimated tokens of all nodes and all headings of the body, long headings clipped.
    pub full_tokens: u32,
    /// Number of nodes in the whole body.
    pub full_nodes: u32,
    /// What was left out, by heading, in the order of the source: the first 32 sections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutSection>,
    /// The node that is needed most, if it does not fit the budget: its heading, and the budget
    /// that has room for it alone, with the headings above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_left_out: Option<LeftOutSection>,
    /// How likely the page has all that the query needs, in `[0, 1]`; `None` if the pager does not
    /// estimate it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sufficiency: Option<f32>,
}

/// Most sections that a page names as left out.
const MAX_LEFT_OUT: usize = 32;

/// What a page leaves out of one section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutSection {
    /// Its heading, as in [`PageNode::headings`]; empty before the first heading.
    pub heading: String,
    /// Estimated tokens of the nodes that were left out.
    pub n_tokens: u32,
}

/// One selected node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageNode {
    /// Role of the node.
    pub kind: NodeKind,
    /// Headings above the node, outermost first, each on one line and without `#`;
    /// long ones are clipped at 256 bytes and end in `[...]`, and empty ones are left out.
    pub headings: Vec<String>,
    /// Position of the node among those of the whole body.
    pub position: u32,
    /// What stands between the node before and this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<PageMark>,
    /// Whether only the first lines of the node are shown, which stand for all of it: the head of a
    /// table, the text before a list, the first line of a numbered step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_brief: bool,
    /// First byte in the body.
    pub start_byte: u32,
    /// One past the last byte in the body.
    pub end_byte: u32,
    /// Estimated tokens.
    pub n_tokens: u32,
    /// The text, byte for byte as in the body.
    pub text: String,
}

/// What stands before a node of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PageMark {
    /// Something was left out here.
    Gap,
    /// Rows of the table were left out here.
    RowGap,
    /// A heading that no node above stands under.
    Heading {
        /// Number of headings around it, and itself; at least 1.
        depth: u32,
        /// The heading, as in [`PageNode::headings`].
        title: String,
    },
    /// The node goes on in the line of the one before.
    SameLine,
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn skill(body: &str) -> Skill {
        Skill {
            id: SkillId::new("scans"),
            name: "scans".into(),
            description: String::new(),
            body: body.into(),
            source: "tests".into(),
        }
    }

    /// Calls `f` with the outline of a body, of which nothing is selected, and its tree.
    pub(super) fn outlined<T>(
        body: &str,
        budget_tokens: u32,
        f: impl FnOnce(outline::Outline<'_>, &NodeTree) -> T,
    ) -> T {
        let skill = skill(body);
        let nodes = NodeTree::parse(body);
        let terms = TermSource { terms: &|_, _| (), idf: &|_| 1.0 };
        let request = PageRequest {
            skill: &skill,
            nodes: &nodes,
            query: "",
            terms: &terms,
            budget_tokens,
            had: PartList::none(),
        };
        f(outline::Outline::new(&request), &nodes)
    }

    /// Calls `pager` with the words of the text as terms, all as rare as each other.
    pub(crate) fn page_of(pager: &dyn Pager, body: &str, query: &str, budget: u32) -> Page {
        page_without(pager, body, query, budget, PartList::none())
    }

    /// Pages as [`page_of`] for an agent that has some nodes.
    pub(super) fn page_without(
        pager: &dyn Pager,
        body: &str,
        query: &str,
        budget: u32,
        had: &PartList,
    ) -> Page {
        let skill = skill(body);
        let nodes = NodeTree::parse(body);
        let split = |c: char| !c.is_alphanumeric();
        let terms = TermSource {
            terms: &|text, visit| {
                for word in text.split(split).filter(|word| !word.is_empty()) {
                    visit(&word.to_lowercase());
                }
            },
            idf: &|_| 1.0,
        };
        pager.page(&PageRequest {
            skill: &skill,
            nodes: &nodes,
            query,
            terms: &terms,
            budget_tokens: budget,
            had,
        })
    }

    fn pagers() -> [Box<dyn Pager>; 4] {
        let never_whole = MmrConfig { whole_tokens: 0, ..MmrConfig::default() };
        [
            Box::new(MmrPager::default()),
            Box::new(MmrPager::new(never_whole)),
            Box::new(FullPager),
            Box::new(value::tests::pager()),
        ]
    }

    /// Asserts the contract of [`Pager`].
    fn assert_contract(pager: &dyn Pager, body: &str, query: &str, budget: u32) {
        let page = page_of(pager, body, query, budget);
        assert_eq!(page, page_of(pager, body, query, budget));
        assert!(page.n_tokens <= budget, "{} of {budget} tokens", page.n_tokens);
        assert!(page.n_tokens <= page.full_tokens);
        assert_eq!(page.full_nodes as usize, NodeTree::parse(body).nodes.len());
        let mut end = 0;
        for node in &page.nodes {
            assert!(node.start_byte >= end);
            end = node.end_byte;
            assert_eq!(node.text, body[node.start_byte as usize..end as usize]);
        }
        let node_tokens: u32 = page.nodes.iter().map(|node| node.n_tokens).sum();
        assert!(node_tokens <= page.n_tokens);
        let markdown = page.to_markdown();
        assert!(page.nodes.iter().all(|node| markdown.contains(&node.text)));
    }

    /// Asserts that a second page, for an agent that has the first, has only what is new.
    fn assert_only_new(pager: &dyn Pager, body: &str, query: &str, budget: u32) {
        let had = page_of(pager, body, query, budget).parts();
        let next = page_without(pager, body, query, budget, &had);
        assert!(next.n_tokens <= budget);
        assert!(next.nodes.iter().all(|node| !had.contains(node.position)), "{had}: {next:?}");
        let all: PartList = (0..next.full_nodes).collect();
        assert_eq!(page_without(pager, body, query, u32::MAX, &all).nodes, []);
    }

    const BODY: &str = "# Scans\n\nAbout scans.\n\n## Rotate\n\n1. Turn pages.\n\n```\nrotate\n```\n\n\
                        ## Merge\n\n### Join\n\n- `--out`: file\n\n# Notes\n\nNothing else.\n";

    #[test]
    fn every_pager_keeps_the_contract() {
        for pager in pagers() {
            for body in ["", "\n\n", "# Only a heading", "text", BODY] {
                for query in ["", "rotate pages", "rotate rotate", "旋转"] {
                    for budget in [0, 1, 5, 9, 20, 40, 100, u32::MAX] {
                        assert_contract(&*pager, body, query, budget);
                        assert_only_new(&*pager, body, query, budget);
                    }
                }
            }
        }
    }

    #[test]
    fn a_tree_of_another_body_gives_no_text() {
        let nodes = NodeTree::parse(BODY);
        let terms = TermSource { terms: &|_, _| (), idf: &|_| f32::NAN };
        for body in ["", "short", "汉字汉字汉字汉字汉字"] {
            let skill = skill(body);
            let request = PageRequest {
                skill: &skill,
                nodes: &nodes,
                query: "rotate",
                terms: &terms,
                budget_tokens: 900,
                had: PartList::none(),
            };
            for pager in pagers() {
                for node in pager.page(&request).nodes {
                    assert!(body.contains(&node.text));
                }
            }
        }
    }

    /// Bodies of 128 KiB that are cheap to write and were made to be dear to page.
    fn hostile_bodies() -> [String; 6] {
        let title = format!("# {}\n", "long title ".repeat(6_000));
        let fill = |head: &str, line: &str| {
            let n_lines = (1_usize << 17).saturating_sub(head.len()) / line.len();
            format!("{head}{}", line.repeat(n_lines))
        };
        [
            // Many sections, and many nodes, below a title of 64 KB.
            fill(&title, "##\n"),
            fill(&title, "##\nx\n"),
            // Every section and every node has a long path above it.
            fill(&format!("{title}## {}\n", "b".repeat(1 << 14)), "###### a b c d\nx\n"),
            // The title ends in what does not belong to it.
            fill(&format!("# x {}\n", "#".repeat(1 << 16)), "## s\nx y z\n"),
            fill("", "x\n\n"),
            fill("", "## scans rotate\n\n```\nx\n```\n\n"),
        ]
    }

    #[test]
    fn hostile_bodies_are_paged_within_the_budget() {
        for body in hostile_bodies() {
            for pager in pagers() {
                let page = page_of(&*pager, &body, "rotate scans title x", 2_000);
                assert!(page.n_tokens <= 2_000);
                let n_bytes: usize =
                    page.nodes.iter().flat_map(|n| &n.headings).map(String::len).sum();
                assert!(n_bytes <= page.nodes.len() * 6 * (256 + " [...]".len()));
            }
        }
    }

    proptest! {
        #[test]
        fn any_skill_keeps_the_contract(
            body in "((#{1,3} [a-c]{0,3}|[a-c .:]{1,40}|- [a-c ]{1,20}|```\n[a-c]{0,9}\n```)\n\n?){0,20}",
            query in "[a-c ]{0,9}",
            budget in 0..200_u32,
        ) {
            for pager in pagers() {
                assert_contract(&*pager, &body, &query, budget);
                assert_only_new(&*pager, &body, &query, budget);
            }
        }
    }
}
