//! [`PagingSystem`]: pages the skill of a task.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use skillmux::{
    index::{Index, IndexedSkill},
    model::Encoder,
    page::{FullPager, PageRequest, Pager, PartList, TermSource},
    route::Router,
    skill::{NodeTree, SkillId},
    text::Analyzer,
};

use super::{budget::PageBudget, method::PageMethod, spans::shown_spans};
use crate::{
    answer::{Answer, AnswerPage},
    dataset::Aliases,
    error::Error,
    system::{
        context::SystemContext,
        contract::System,
        engine::{query_of, refused},
    },
    task::Task,
};

/// Shows the part of a task's skill that a pager selects for the task's query.
///
/// Which skill it is says [`Task::evidence`]; a task without it gets no page.
pub(crate) struct PagingSystem<'a> {
    name: String,
    method: PageMethod,
    budget: PageBudget,
    index: &'a Index,
    router: &'a Router,
    encoder: Option<&'a dyn Encoder>,
    aliases: Arc<Aliases>,
}

impl<'a> PagingSystem<'a> {
    pub(crate) fn open(
        name: String,
        method: PageMethod,
        budget: PageBudget,
        context: &SystemContext<'a>,
    ) -> Result<Self, Error> {
        let (index, router, aliases) = (context.index(), context.router, context.aliases()?);
        let encoder = context.encoder;
        Ok(Self { name, method, budget, index, router, encoder, aliases })
    }

    fn page(&self, indexed: &IndexedSkill, task: &Task) -> Result<AnswerPage, Error> {
        let IndexedSkill { skill, nodes, .. } = indexed;
        let query = query_of(task)?;
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
            query: query.text(),
            terms: &TermSource {
                terms: &|text, visit| Analyzer::new().for_each_term(text, visit),
                idf: &idf,
            },
            budget_tokens: 0,
            had: PartList::none(),
        };
        // Chunks have tokens of their own; the whole body is measured alike for all methods.
        let full_tokens = FullPager.page(&request).full_tokens;
        let skill_id = skill.id.as_str().to_owned();
        if self.method == PageMethod::FullDocument {
            let spans = vec![[0, body_bytes]];
            let n_tokens = full_tokens;
            let n_parts = u32::try_from(nodes.nodes.len()).unwrap_or(u32::MAX);
            let n_parts = Some(n_parts);
            return Ok(AnswerPage { skill_id, spans, n_tokens, full_tokens, body_bytes, n_parts });
        }
        let budget_tokens = self.budget.tokens(full_tokens);
        let page = if let Some(pager) = self.method.pager(self.encoder) {
            pager.page(&PageRequest { budget_tokens, ..request })
        } else {
            let page = self.router.page(&skill.id, Some(&query), budget_tokens, PartList::none());
            page.map_err(|error| refused(task, error))?
        };
        let spans = match self.method {
            PageMethod::Chunk | PageMethod::ChunkTopK => {
                shown_spans(&page, &NodeTree::default(), &skill.body)
            }
            _ => shown_spans(&page, nodes, &skill.body),
        };
        let n_parts = Some(u32::try_from(page.nodes.len()).unwrap_or(u32::MAX));
        let n_tokens = page.n_tokens;
        Ok(AnswerPage { skill_id, spans, n_tokens, full_tokens, body_bytes, n_parts })
    }
}

impl System for PagingSystem<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn config(&self) -> String {
        let method = self.method;
        // Answers of one pager of the router are not those of another.
        let pager = match method {
            PageMethod::Default => format!(" {}", self.router.stages().pager.identity()),
            _ => String::new(),
        };
        format!(
            "page {method}{pager} budget_tokens={} {}",
            self.budget,
            self.method.config(self.encoder)
        )
    }

    fn empty_answer(&self) -> Answer {
        Answer { pages: Some(Vec::new()), ..Answer::default() }
    }

    fn answer(&self, task: &Task, _depth: usize) -> Result<Answer, Error> {
        let Some(evidence) = &task.evidence else { return Ok(Answer::default()) };
        let idx = if let Some(idx) = self.aliases.position(&evidence.skill_id) {
            idx
        } else {
            // The engine's error names ids that look alike.
            let found = self.index.find(&SkillId::new(evidence.skill_id.as_str()));
            found.map_err(|error| refused(task, error))?
        };
        let page = self.page(&self.index.skill(idx)?, task)?;
        Ok(Answer { pages: Some(vec![page]), ..Answer::default() })
    }
}
