//! [`PagedPassage`]: a cross-encoder reads what the pager chose.

use super::page_words::PageWords;
use crate::{
    error::Result,
    index::IndexedSkill,
    page::{Pager, PartList},
    rerank::{Passage, RerankRequest},
};

/// Reads `name | description | page`: the parts of the body that a pager chooses for the query, in
/// place of its beginning.
///
/// It stands here and not beside [`SkillStart`](crate::rerank::SkillStart), for paging is a later
/// stage than reranking.
pub struct PagedPassage {
    pager: Box<dyn Pager>,
    budget_tokens: u32,
}

impl PagedPassage {
    /// Returns the passage of at most so many tokens of the body.
    pub fn new(pager: Box<dyn Pager>, budget_tokens: u32) -> Self {
        Self { pager, budget_tokens }
    }
}

impl Passage for PagedPassage {
    fn identity(&self) -> String {
        format!("{} {}", self.pager.identity(), self.budget_tokens)
    }

    fn texts(&self, request: &RerankRequest<'_>, skills: &[IndexedSkill]) -> Result<Vec<String>> {
        let words = PageWords::new(request.index);
        let text = |indexed: &IndexedSkill| {
            let query = request.query.text();
            let page = words.page(
                self.pager.as_ref(),
                indexed,
                query,
                self.budget_tokens,
                PartList::none(),
            );
            let skill = &indexed.skill;
            format!("{} | {} | {}", skill.name, skill.description, page.to_markdown())
        };
        Ok(skills.iter().map(text).collect())
    }
}
