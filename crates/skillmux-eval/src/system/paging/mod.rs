//! Pages the skill of a task, as `IntraSkill-Bench` asks (`SkillPager` §4): our pager and the
//! baselines of its §4.3.
//!
//! All methods get the same budget of tokens, where the paper counts nodes, but for the full
//! document. Where it has embeddings, these have TF-IDF vectors over the terms of the index.

mod chunk;
mod graph;
mod vector;

use std::{collections::BTreeSet, sync::Arc};

use rustc_hash::FxHashMap;
use skillmux::{
    index::{Index, IndexedSkill},
    page::{FullPager, MmrPager, Page, PageRequest, Pager, TermSource},
    skill::{NodeTree, SkillId},
    text::Analyzer,
};

pub use chunk::{ChunkPager, ChunkSelection};
pub use graph::{GreedyGraphPager, TopKDependencyPager};

use super::{
    System, SystemContext,
    engine::{query_of, refused},
};
use crate::{
    answer::{Answer, AnswerPage},
    dataset::Aliases,
    error::Error,
    task::Task,
};

/// How a skill is paged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageMethod {
    /// The engine's own, [`MmrPager`].
    Mmr,
    /// Everything, whatever the budget.
    FullDocument,
    /// From the top as far as the budget goes, [`FullPager`].
    Head,
    /// [`ChunkPager`] with MMR.
    Chunk,
    /// [`ChunkPager`] by cosine alone.
    ChunkTopK,
    /// [`GreedyGraphPager`].
    GreedyGraph,
    /// [`TopKDependencyPager`].
    TopKDependency,
}

impl PageMethod {
    pub(super) const ALL: [Self; 7] = [
        Self::Mmr,
        Self::FullDocument,
        Self::Head,
        Self::Chunk,
        Self::ChunkTopK,
        Self::GreedyGraph,
        Self::TopKDependency,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Mmr => "mmr",
            Self::FullDocument => "full-document",
            Self::Head => "head",
            Self::Chunk => "chunk",
            Self::ChunkTopK => "chunk-topk",
            Self::GreedyGraph => "greedy-graph",
            Self::TopKDependency => "topk-dep",
        }
    }

    fn pager(self) -> Box<dyn Pager> {
        match self {
            Self::Mmr => Box::new(MmrPager::default()),
            Self::FullDocument | Self::Head => Box::new(FullPager),
            Self::Chunk => Box::new(ChunkPager::new(ChunkSelection::Mmr)),
            Self::ChunkTopK => Box::new(ChunkPager::new(ChunkSelection::TopK)),
            Self::GreedyGraph => Box::new(GreedyGraphPager),
            Self::TopKDependency => Box::new(TopKDependencyPager),
        }
    }

    fn config(self) -> String {
        match self {
            Self::Mmr | Self::FullDocument | Self::Head => String::new(),
            Self::Chunk | Self::ChunkTopK => chunk::config(),
            Self::GreedyGraph | Self::TopKDependency => graph::config(),
        }
    }
}

/// Shows the part of a task's skill that a pager selects for the task's query.
///
/// Which skill it is says [`Task::evidence`]; a task without it gets no page.
pub(super) struct PagingSystem<'a> {
    name: String,
    method: PageMethod,
    budget_tokens: u32,
    index: &'a Index,
    aliases: Arc<Aliases>,
}

impl<'a> PagingSystem<'a> {
    pub(super) fn open(
        name: String,
        method: PageMethod,
        budget_tokens: u32,
        context: &SystemContext<'a>,
    ) -> Result<Self, Error> {
        let (index, aliases) = (context.index(), context.aliases()?);
        Ok(Self { name, method, budget_tokens, index, aliases })
    }

    fn page(&self, indexed: &IndexedSkill, query: &str) -> AnswerPage {
        let IndexedSkill { skill, nodes, .. } = indexed;
        let body_bytes = u32::try_from(skill.body.len()).unwrap_or(u32::MAX);
        let idfs = std::cell::RefCell::new(FxHashMap::default());
        let idf = |term: &str| {
            if let Some(idf) = idfs.borrow().get(term) {
                return *idf;
            }
            // As in the router: without the statistics of the library all words weigh the same.
            let idf = self.index.body_idf(term).unwrap_or(1.0);
            idfs.borrow_mut().insert(term.to_owned(), idf);
            idf
        };
        let request = PageRequest {
            skill,
            nodes,
            query,
            terms: &TermSource {
                terms: &|text, visit| Analyzer::new().for_each_term(text, visit),
                idf: &idf,
            },
            budget_tokens: self.budget_tokens,
        };
        // Chunks have tokens of their own; the whole body is measured alike for all methods.
        let full_tokens = FullPager.page(&PageRequest { budget_tokens: 0, ..request }).full_tokens;
        let skill_id = skill.id.as_str().to_owned();
        if self.method == PageMethod::FullDocument {
            let spans = vec![[0, body_bytes]];
            return AnswerPage { skill_id, spans, n_tokens: full_tokens, full_tokens, body_bytes };
        }
        let page = self.method.pager().page(&request);
        let spans = match self.method {
            PageMethod::Chunk | PageMethod::ChunkTopK => {
                shown_spans(&page, &NodeTree::default(), &skill.body)
            }
            _ => shown_spans(&page, nodes, &skill.body),
        };
        AnswerPage { skill_id, spans, n_tokens: page.n_tokens, full_tokens, body_bytes }
    }
}

impl System for PagingSystem<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn config(&self) -> String {
        let method = self.method.as_str();
        format!("page {method} budget_tokens={} {}", self.budget_tokens, self.method.config())
    }

    fn empty_answer(&self) -> Answer {
        Answer { pages: Some(Vec::new()), ..Answer::default() }
    }

    fn answer(&self, task: &Task, _depth: usize) -> Result<Answer, Error> {
        let Some(evidence) = &task.evidence else { return Ok(Answer::default()) };
        let query = query_of(task)?;
        let idx = if let Some(idx) = self.aliases.position(&evidence.skill_id) {
            idx
        } else {
            // The engine's error names ids that look alike.
            let found = self.index.find(&SkillId::new(evidence.skill_id.as_str()));
            found.map_err(|error| refused(task, error))?
        };
        let page = self.page(&self.index.skill(idx)?, query.text());
        Ok(Answer { pages: Some(vec![page]), ..Answer::default() })
    }
}

/// Returns the bytes of a body that a page shows, with the headings above its nodes, ascending;
/// spans with nothing but blanks between them are one.
pub(super) fn shown_spans(page: &Page, tree: &NodeTree, body: &str) -> Vec<[u32; 2]> {
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

/// A growing selection of nodes that never costs more than the budget.
struct Selection<'r, 'a> {
    request: &'r PageRequest<'a>,
    selected: BTreeSet<usize>,
    page: Page,
}

impl<'r, 'a> Selection<'r, 'a> {
    fn new(request: &'r PageRequest<'a>) -> Self {
        let page = FullPager.page(&PageRequest { budget_tokens: 0, ..*request });
        Self { request, selected: BTreeSet::new(), page }
    }

    /// Selects nodes if all of them fit, and tells whether they are selected.
    fn select(&mut self, nodes: &[usize]) -> bool {
        let tree = self.request.nodes;
        let body = &self.request.skill.body;
        let fits = |idx: &usize| tree.nodes.get(*idx).is_some_and(|node| node.text(body).is_some());
        if !nodes.iter().all(fits) {
            return false;
        }
        let mut selected = self.selected.clone();
        selected.extend(nodes);
        let chosen = NodeTree {
            sections: tree.sections.clone(),
            nodes: selected.iter().map(|idx| tree.nodes[*idx].clone()).collect(),
        };
        // The engine's own pager tells what these nodes cost with the headings above them.
        let budget_tokens = self.request.budget_tokens;
        let page = FullPager.page(&PageRequest { nodes: &chosen, budget_tokens, ..*self.request });
        if page.nodes.len() < selected.len() {
            return false;
        }
        self.page.nodes = page.nodes;
        for (node, idx) in self.page.nodes.iter_mut().zip(&selected) {
            node.position = u32::try_from(*idx).unwrap_or(u32::MAX);
        }
        self.page.n_tokens = page.n_tokens;
        self.selected = selected;
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use skillmux::{page::PageNode, skill::Skill};

    use super::*;

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
        let request =
            PageRequest { skill: &skill, nodes: &nodes, query, terms: &terms, budget_tokens };
        pager.page(&request)
    }

    fn texts(pager: &dyn Pager, body: &str, query: &str, budget: u32) -> Vec<String> {
        page_of(pager, body, query, budget).nodes.into_iter().map(|node| node.text).collect()
    }

    fn pagers() -> [Box<dyn Pager>; 4] {
        [
            Box::new(ChunkPager::new(ChunkSelection::Mmr)),
            Box::new(ChunkPager::new(ChunkSelection::TopK)),
            Box::new(GreedyGraphPager),
            Box::new(TopKDependencyPager),
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
                });
                assert!(page.nodes.iter().all(|node| body.contains(&node.text)));
            }
        }
    }

    #[test]
    fn long_bodies_are_paged_in_bounded_time() {
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
        let walked = texts(&GreedyGraphPager, &far_apart(), "fish", 20);
        assert_eq!(walked[0], "Fish swim in ponds.");
        assert!(walked.len() > 1 && walked.iter().all(|text| !text.contains("rivers")));
        let chosen = texts(&TopKDependencyPager, &far_apart(), "fish", 20);
        assert_eq!(chosen.first().unwrap(), "Fish swim in ponds.");
        assert_eq!(chosen.last().unwrap(), "Fish sleep in rivers.");
    }

    #[test]
    fn a_walk_follows_references_and_sections() {
        let between = "Birds fly over many hills and far away.\n\n".repeat(9);
        let body = format!(
            "Fish swim; see Deep water.\n\n{between}\n## Deep water\n\nMind the current.\n"
        );
        let walked = texts(&GreedyGraphPager, &body, "fish water", 20);
        assert_eq!(walked, ["Fish swim; see Deep water.", "Mind the current."]);
    }

    #[test]
    fn chosen_nodes_come_with_what_must_hold_before() {
        let body = "You must own it.\n\nBirds fly.\n\n- Open the fish box.\n\nCats sleep.\n";
        let chosen = texts(&TopKDependencyPager, body, "open fish box", 14);
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
}
