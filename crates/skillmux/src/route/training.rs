//! What training asks of a router: the same as a route, before anything is decided.

use super::{
    Router,
    page_words::{PageWords, request},
};
use crate::{
    compose::{Calibration, Evidence},
    error::Result,
    index::IndexedSkill,
    page::PageRequest,
    query::Query,
    retrieve::{Candidate, Ranking, RankingIdentity},
};

/// The best skill of a ranking, and what speaks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct BestEvidence {
    /// The best skill.
    pub best: Candidate,
    /// What speaks for and against loading it.
    pub evidence: Evidence,
    /// Who ranked: a calibration of this ranking judges the evidence.
    pub ranking: RankingIdentity,
}

impl Router {
    /// Returns the best skill with what speaks for and against loading it; `None` if nothing was
    /// found.
    ///
    /// # Errors
    /// As for [`Router::search_explained`].
    pub fn evidence(&self, query: &Query) -> Result<Option<BestEvidence>> {
        let index = self.index();
        let reading = self.stages.ranker.read(&index, query)?;
        let query = &reading.query;
        let Ranking { mut candidates, identity: ranking, .. } =
            self.stages.ranker.rank_text(&index, &reading, query, 1)?;
        let Some(mut best) = candidates.pop() else { return Ok(None) };
        let indexed = index.skill(index.find(&best.skill)?)?;
        let mut reasons = self.stages.ranker.reasons(&index, query)?;
        reasons.read(&mut best, &indexed)?;
        if Calibration::may_ask_verifier(index.n_skills()) {
            reasons.verify(&mut best, &indexed)?;
        }
        let by_translation = best.signals.translation.as_ref();
        let ranking = by_translation.map_or(ranking, |found| found.ranking.clone());
        let evidence = Evidence::of(query.text(), index.n_skills(), &best);
        Ok(Some(BestEvidence { best, evidence, ranking }))
    }

    /// Calls `f` with what a pager of this router is asked for a skill and a query: with a budget
    /// of 0, and as if the agent had no part of the skill.
    pub fn with_page_request<T>(
        &self,
        skill: &IndexedSkill,
        query: &Query,
        f: impl FnOnce(&PageRequest<'_>) -> T,
    ) -> T {
        let (index, text) = (self.index(), self.stages.ranker.page_text(query));
        PageWords::new(&index).with_terms(|terms| f(&request(skill, &text, terms, 0)))
    }
}
