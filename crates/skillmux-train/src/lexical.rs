//! What BM25 finds for a text: rivals of a right skill, and neighbours of one.

use skillmux::{
    index::{Index, SkillIdx},
    query::Query,
    retrieve::{Bm25Retriever, RetrieveRequest, Retriever},
};

use crate::error::Result;

/// A skill that BM25 found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LexicalHit {
    pub(crate) skill: SkillIdx,
    pub(crate) score: f32,
}

/// Returns the best `k` skills by BM25.
pub(crate) fn find_by_words(index: &Index, query: &Query, k: usize) -> Result<Vec<LexicalHit>> {
    let request = RetrieveRequest { index, query, named: &[], k };
    let hits = Bm25Retriever::default().retrieve(&request)?.into_iter().map(|candidate| {
        Ok(LexicalHit { skill: index.find(&candidate.skill)?, score: candidate.score })
    });
    hits.collect()
}
