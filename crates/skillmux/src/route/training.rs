//! What training asks of a router: the same as a route, before anything is decided.

use super::{
    Router,
    page_words::{PageWords, request},
    router::N_SPARE_CANDIDATES,
};
use crate::{
    compose::{Calibration, Evidence, Split, StepCandidates},
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

    /// Returns the steps that the composer would be asked about a query with a plan of the usual
    /// size: the task or its needs, with their rankings.
    ///
    /// # Errors
    /// As for [`Router::route`].
    pub fn step_candidates(&self, query: &Query) -> Result<Vec<StepCandidates>> {
        let index = self.index();
        let reading = self.stages.ranker.read(&index, query)?;
        let (needs, split) = self.needs(&index, &reading)?;
        let is_asked_for = split == Split::Needs || self.stages.ranker.asks(reading.query.text());
        let k = Split::Whole.usual_limit(1) + N_SPARE_CANDIDATES;
        let texts: Vec<Query> = needs.iter().map(|(_, text)| text.clone()).collect();
        let rankings = self.stages.ranker.rank_texts(&index, &reading, &texts, k)?;
        let step = |(need, ranking)| Ok(self.found(&index, need, is_asked_for, ranking, k)?.step);
        needs.iter().zip(rankings).map(step).collect()
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
