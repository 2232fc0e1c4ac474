//! What holds for all pagers.

use proptest::prelude::*;
use skillmux::{
    model::{Encoder, EncoderIdentity},
    page::{FullPager, Page, PageNode, PageRequest, Pager, PartList, TermSource},
    skill::{NodeTree, Skill, SkillId},
    text::Analyzer,
};

use super::{
    chunk::{ChunkPager, ChunkSelection},
    graph::{GreedyGraphPager, TopKDependencyPager},
    spans::shown_spans,
};

fn page_of(pager: &dyn Pager, body: &str, query: &str, budget_tokens: u32) -> Page {
    let skill = Skill {
        id: SkillId::new("scans"),
        name: "scans".into(),
        description: String::new(),
        body: body.into(),
        source: "tests".into(),
    };
    let terms = TermSource {
        terms: &|text, visit| Analyzer::new().for_each_term(text, visit),
        idf: &|_| 1.0,
    };
    let nodes = NodeTree::parse(body);
    let request = PageRequest {
        skill: &skill,
        nodes: &nodes,
        query,
        terms: &terms,
        budget_tokens,
        had: PartList::none(),
    };
    pager.page(&request)
}

fn texts(pager: &dyn Pager, body: &str, query: &str, budget: u32) -> Vec<String> {
    page_of(pager, body, query, budget).nodes.into_iter().map(|node| node.text).collect()
}

fn pagers() -> [Box<dyn Pager>; 4] {
    [
        Box::new(ChunkPager::new(ChunkSelection::Mmr)),
        Box::new(ChunkPager::new(ChunkSelection::TopK)),
        Box::new(GreedyGraphPager::default()),
        Box::new(TopKDependencyPager::default()),
    ]
}

/// Asserts the contract of [`Pager`].
fn assert_contract(pager: &dyn Pager, body: &str, query: &str, budget: u32) {
    let page = page_of(pager, body, query, budget);
    assert_eq!(page, page_of(pager, body, query, budget));
    assert!(page.n_tokens <= budget, "{} of {budget} tokens", page.n_tokens);
    assert!(page.n_tokens <= page.full_tokens);
    let mut end = 0;
    for PageNode { start_byte, end_byte, text, .. } in &page.nodes {
        assert!(*start_byte >= end);
        end = *end_byte;
        assert_eq!(text, &body[*start_byte as usize..end as usize]);
    }
    assert!(page.nodes.is_sorted_by_key(|node| node.position));
    let spans = shown_spans(&page, &NodeTree::parse(body), body);
    assert!(spans.windows(2).all(|pair| pair[0][1] < pair[1][0]));
}

const BODY: &str = "# Scans\n\nAbout scans.\n\n## Rotate\n\n1. Turn pages.\n\n```\nrotate\n```\n\n\
                    ## Merge\n\nYou must own both scans.\n\n### Join\n\n- `--out`: file\n\n\
                    # Notes\n\nSee Rotate before.\n";

#[test]
fn every_pager_keeps_the_contract() {
    for pager in pagers() {
        for body in ["", "\n\n", "# Only a heading", "text", BODY, &BODY.repeat(4)] {
            for query in ["", "rotate pages", "旋转"] {
                for budget in [0, 1, 20, 150, u32::MAX] {
                    assert_contract(&*pager, body, query, budget);
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
        let skill = Skill {
            id: SkillId::new("other"),
            name: String::new(),
            description: String::new(),
            body: body.into(),
            source: String::new(),
        };
        for pager in pagers() {
            let page = pager.page(&PageRequest {
                skill: &skill,
                nodes: &nodes,
                query: "rotate",
                terms: &terms,
                budget_tokens: 900,
                had: PartList::none(),
            });
            assert!(page.nodes.iter().all(|node| body.contains(&node.text)));
        }
    }
}

#[test]
fn long_bodies_are_paged_within_the_budget() {
    for unit in ["##\nx\n", "## scans rotate\n\n```\nx\n```\n\n", "x\n\n"] {
        let body = unit.repeat((1 << 14) / unit.len());
        for pager in pagers() {
            assert!(page_of(&*pager, &body, "rotate scans x", 2_000).n_tokens <= 2_000);
        }
    }
}

/// Two texts about fish with others between them.
fn far_apart() -> String {
    let between: Vec<String> = (0..12).map(|n| format!("Birds fly over hill {n}.")).collect();
    let between = between.join("\n\n");
    format!("Fish swim in ponds.\n\n{between}\n\nFish sleep in rivers.\n")
}

#[test]
fn a_walk_does_not_get_far_and_a_global_choice_does() {
    let walked = texts(&GreedyGraphPager::default(), &far_apart(), "fish", 20);
    assert_eq!(walked[0], "Fish swim in ponds.");
    assert!(walked.len() > 1 && walked.iter().all(|text| !text.contains("rivers")));
    let chosen = texts(&TopKDependencyPager::default(), &far_apart(), "fish", 20);
    assert_eq!(chosen.first().unwrap(), "Fish swim in ponds.");
    assert_eq!(chosen.last().unwrap(), "Fish sleep in rivers.");
}

#[test]
fn a_walk_follows_references_and_sections() {
    let between = "Birds fly over many hills and far away.\n\n".repeat(9);
    let body =
        format!("Fish swim; see Deep water.\n\n{between}\n## Deep water\n\nMind the current.\n");
    let walked = texts(&GreedyGraphPager::default(), &body, "fish water", 20);
    assert_eq!(walked, ["Fish swim; see Deep water.", "Mind the current."]);
}

/// Knows texts that speak of fish from others.
struct Fish(EncoderIdentity);

impl Encoder for Fish {
    fn identity(&self) -> &EncoderIdentity {
        &self.0
    }

    fn encode(&self, texts: &[&str]) -> skillmux::Result<Vec<f32>> {
        let row = |text: &&str| if text.contains("Fish") { [1.0, 0.0] } else { [0.0, 0.0] };
        Ok(texts.iter().flat_map(row).collect())
    }
}

#[test]
fn a_walk_follows_what_says_the_same() {
    let fish = Fish(EncoderIdentity { name: "fish".into(), dim: 2, fingerprint: "1".into() });
    let walked = |encoder| texts(&GreedyGraphPager::new(encoder), &far_apart(), "fish", 20);
    let with_edges = walked(Some(&fish as &dyn Encoder));
    assert_eq!(with_edges.last().map(String::as_str), Some("Fish sleep in rivers."));
    assert!(walked(None).iter().all(|text| !text.contains("rivers")));
}

#[test]
fn chosen_nodes_come_with_what_must_hold_before() {
    let body = "You must own it.\n\nBirds fly.\n\n- Open the fish box.\n\nCats sleep.\n";
    let chosen = texts(&TopKDependencyPager::default(), body, "open fish box", 14);
    assert_eq!(chosen, ["You must own it.", "- Open the fish box."]);
}

#[test]
fn spans_join_over_blanks_and_include_headings() {
    let page = page_of(&FullPager, BODY, "", 400);
    let spans = shown_spans(&page, &NodeTree::parse(BODY), BODY);
    assert_eq!(spans, [[0, u32::try_from(BODY.trim_end().len()).unwrap()]]);
    let mut part = page;
    part.nodes.retain(|node| node.text == "1. Turn pages.");
    let spans = shown_spans(&part, &NodeTree::parse(BODY), BODY);
    let shown: Vec<&str> =
        spans.iter().map(|[start, end]| &BODY[*start as usize..*end as usize]).collect();
    assert_eq!(shown, ["# Scans", "## Rotate\n\n1. Turn pages."]);
}

proptest! {
    #[test]
    fn any_skill_keeps_the_contract(
        body in "((#{1,3} [a-c]{0,8}|[a-c .:]{1,40}|- [a-c ]{1,20}|```\n[a-c]{0,9}\n```)\n\n?){0,20}",
        query in "[a-c ]{0,9}",
        budget in 0..200_u32,
    ) {
        for pager in pagers() {
            assert_contract(&*pager, &body, &query, budget);
        }
    }
}
