//! [`Router::search`] and its kin: rankings without a plan.

use super::{
    ExplainedSkill, Hint, Router,
    copies::{Distinct, distinct, exact_copies},
    hints::{MAX_HINTS, hints},
    merge::N_MERGED,
    reading::read_need,
    task::OfTexts,
};
use crate::{
    error::Result,
    index::Index,
    query::Query,
    retrieve::{Candidate, Ranking},
};

/// Candidates that are looked at first for each skill that is no copy.
const COPIES_PER_SKILL: usize = 4;

impl Router {
    /// Returns the best `k` skills, without a plan.
    ///
    /// # Errors
    /// As for [`Ranker::rank`](super::Ranker::rank).
    pub fn search(&self, query: &Query, k: usize) -> Result<Ranking> {
        let index = self.index();
        let reading = self.stages.ranker.read_request(&index, query)?;
        self.stages.ranker.rank_reading(&index, &reading, k)
    }

    /// Returns the best `k` skills with their texts and the reasons for their places. Near-copies
    /// have places of their own; exact copies are one skill.
    ///
    /// # Errors
    /// As for [`Router::search`], and [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
    pub fn search_explained(&self, query: &Query, k: usize) -> Result<Vec<ExplainedSkill>> {
        let index = self.index();
        let reading = self.stages.ranker.read_request(&index, query)?;
        let ranking = self.stages.ranker.rank_reading(&index, &reading, k)?;
        self.explained(&index, &reading.whole()?, ranking.candidates)
    }

    /// Returns the best `k` skills that are no copies of a better one, each with its
    /// [`copies`](ExplainedSkill::copies). So the copy that is shown is the one whose text fits the
    /// query best; of equals, that of the first id.
    ///
    /// # Errors
    /// As for [`Router::search_explained`].
    pub fn search_distinct(&self, query: &Query, k: usize) -> Result<Vec<ExplainedSkill>> {
        let index = self.index();
        let reading = self.stages.ranker.read_request(&index, query)?;
        let mut n = k.saturating_mul(COPIES_PER_SKILL);
        let found = loop {
            let ranking = self.stages.ranker.rank_reading(&index, &reading, n)?;
            let is_all = ranking.candidates.len() < n;
            let found = distinct(&index, ranking.candidates, k)?;
            if is_all || found.len() >= k {
                break found;
            }
            n = n.saturating_mul(COPIES_PER_SKILL);
        };
        let (candidates, copies): (Vec<_>, Vec<_>) =
            found.into_iter().map(|Distinct { candidate, copies }| (candidate, copies)).unzip();
        let mut explained = self.explained(&index, &reading.whole()?, candidates)?;
        for (skill, copies) in explained.iter_mut().zip(copies) {
            skill.copies = copies;
        }
        Ok(explained)
    }

    /// Returns candidates of a ranking for this query with their texts and the reasons for their
    /// places.
    ///
    /// # Errors
    /// [`Error::SkillUnknown`](crate::Error::SkillUnknown) if one is no longer in the index, and
    /// [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
    pub fn explain(&self, query: &Query, candidates: &[Candidate]) -> Result<Vec<ExplainedSkill>> {
        let index = self.index();
        let reading = self.stages.ranker.read_request(&index, query)?;
        self.explained(&index, &reading.whole()?, candidates.to_vec())
    }

    /// Returns up to `n` skills that may help with a task or one of its needs, in a line each; see
    /// [`Hint`].
    ///
    /// # Errors
    /// As for [`Router::search`].
    pub fn hints(&self, query: &Query, n: usize) -> Result<Vec<Hint>> {
        let index = self.index();
        let reading = self.stages.ranker.read_request(&index, query)?;
        let needs = reading.query.needs().iter().map(read_need).collect::<Result<Vec<Query>>>()?;
        let OfTexts { whole, others, .. } =
            self.stages.ranker.rank_task(&index, &reading, &needs, N_MERGED)?;
        // The needs come first, as in an answer.
        let in_turn: Vec<&Ranking> = others.iter().chain([&whole]).collect();
        hints(&index, &in_turn, n.min(MAX_HINTS))
    }

    fn explained(
        &self,
        index: &Index,
        query: &Query,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<ExplainedSkill>> {
        let mut reasons = self.stages.ranker.reasons(index, query)?;
        let standing = self.stages.ranker.standing(index);
        let explained = |mut candidate: Candidate| {
            let indexed = index.skill(index.find(&candidate.skill)?)?;
            reasons.read(&mut candidate, &indexed)?;
            let copies = exact_copies(index, &candidate.skill)?;
            let skill =
                ExplainedSkill::new(&candidate, &indexed.skill, reasons.explain(&candidate));
            let trust = match &standing {
                Some(standing) => standing.note(&indexed, candidate.signals.behind.as_ref())?,
                None => skill.trust.clone(),
            };
            self.placed(index, ExplainedSkill { trust, copies, ..skill })
        };
        candidates.into_iter().map(explained).collect()
    }
}
