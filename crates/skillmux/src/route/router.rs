//! [`Router`]: the stages over an index that can be swapped.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use arc_swap::ArcSwap;
use rayon::prelude::*;

use super::{
    ExplainedSkill, Hint, Stages,
    copies::{Distinct, distinct, exact_copies},
    found::Found,
    hints::{MAX_HINTS, hints},
    merge::N_MERGED,
    page_words::{PageWords, request},
};
use crate::{
    compose::{Calibration, Considered, Evidence, Split, StepCandidates, judge},
    error::Result,
    index::{Index, IndexedSkill},
    library::SkillPlaces,
    page::{FullPager, Page, PageRequest, Pager, PartList},
    query::{Need, Query},
    retrieve::{Candidate, Ranking, RankingIdentity, named},
    skill::SkillId,
};

/// Skills that give the best Set F1 on the sample tasks.
pub(super) const MAX_SKILLS: usize = 3;

/// Candidates that are looked at first for each skill that is no copy.
const COPIES_PER_SKILL: usize = 4;

/// Candidates that are looked at beyond those that a plan may hold, for alternatives.
pub(super) const N_SPARE_CANDIDATES: usize = 10;

/// Routes queries over one index.
///
/// A router is shared by any number of threads. Each call works on the snapshot of the index that was
/// current when it began; [`refresh`](Self::refresh) puts a newer one in its place, and no call waits
/// for it.
pub struct Router {
    snapshot: ArcSwap<Index>,
    /// Held while a newer generation is opened, so that it is opened once.
    refreshing: Mutex<()>,
    pub(super) stages: Stages,
    places: SkillPlaces,
}

impl Router {
    /// Opens the index in a folder with the default stages.
    ///
    /// # Errors
    /// As for [`Index::open`].
    pub fn open(index_path: &Path) -> Result<Self> {
        Self::new(Index::open(index_path)?, Stages::default())
    }

    /// Returns a router over an open index.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`](crate::Error::EncoderMismatch) if the stages need vectors that the
    /// index does not have.
    pub fn new(index: Index, stages: Stages) -> Result<Self> {
        stages.ranker.check(&index)?;
        Ok(Self {
            snapshot: ArcSwap::from_pointee(index),
            refreshing: Mutex::default(),
            stages,
            places: SkillPlaces::default(),
        })
    }

    /// Returns the router with what it says of the folders of skills; without it, it says nothing.
    #[must_use]
    pub fn with_places(self, places: SkillPlaces) -> Self {
        Self { places, ..self }
    }

    /// Returns where the skills are on disk.
    pub fn places(&self) -> &SkillPlaces {
        &self.places
    }

    /// Returns the [`folder`](ExplainedSkill::folder) of a skill.
    ///
    /// # Errors
    /// As for [`Router::page`].
    pub fn folder(&self, id: &SkillId) -> Result<Option<String>> {
        let index = self.index();
        let source = index.skill(index.find(id)?)?.skill.source;
        Ok(self.places.folder(id, &source))
    }

    /// Returns the present snapshot of the index.
    pub fn index(&self) -> Arc<Index> {
        self.snapshot.load_full()
    }

    /// Returns what the router was assembled from.
    pub fn stages(&self) -> &Stages {
        &self.stages
    }

    /// Returns the number of skills in the index.
    pub fn n_skills(&self) -> usize {
        self.snapshot.load().n_skills()
    }

    /// Opens the newest generation of the index, and returns whether there was a newer one.
    ///
    /// Calls that are under way go on with the generation that they began with.
    ///
    /// # Errors
    /// As for [`Index::open`] and [`Router::new`]; the router then keeps the generation that it has.
    pub fn refresh(&self) -> Result<bool> {
        let _one_at_a_time = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let present = self.index();
        if present.is_current()? {
            return Ok(false);
        }
        let index = Index::open(present.path())?;
        self.stages.ranker.check(&index)?;
        self.snapshot.store(Arc::new(index));
        Ok(true)
    }

    /// Returns the calibration for the way in which the router ranks; `None` if no one fitted one.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.stages.calibrations.of(&self.stages.ranker.identity())
    }

    /// Returns the best `k` skills, without a plan.
    ///
    /// # Errors
    /// As for [`Ranker::rank`](super::Ranker::rank).
    pub fn search(&self, query: &Query, k: usize) -> Result<Ranking> {
        let index = self.index();
        let reading = self.stages.ranker.read_request(&index, query)?;
        self.stages.ranker.rank_reading(&index, &reading, k)
    }

    /// Returns the best `k` skills with their texts and the reasons for their places. Near-copies have places of their own;
    /// exact copies are one skill.
    ///
    /// # Errors
    /// As for [`Router::search`], and [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
    pub fn search_explained(&self, query: &Query, k: usize) -> Result<Vec<ExplainedSkill>> {
        let index = self.index();
        let reading = self.stages.ranker.read_request(&index, query)?;
        let ranking = self.stages.ranker.rank_reading(&index, &reading, k)?;
        self.explained(&index, &reading.query, ranking.candidates)
    }

    /// Returns the best `k` skills that are no copies of a better one, each with its
    /// [`copies`](ExplainedSkill::copies). So the copy that is shown is the one whose text fits the query best; of
    /// equals, that of the first id.
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
        let mut explained = self.explained(&index, &reading.query, candidates)?;
        for (skill, copies) in explained.iter_mut().zip(copies) {
            skill.copies = copies;
        }
        Ok(explained)
    }

    /// Returns candidates of a ranking for this query with their texts and the reasons for their places.
    ///
    /// # Errors
    /// [`Error::SkillUnknown`](crate::Error::SkillUnknown) if one is no longer in the index, and
    /// [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
    pub fn explain(&self, query: &Query, candidates: &[Candidate]) -> Result<Vec<ExplainedSkill>> {
        let index = self.index();
        let reading = self.stages.ranker.read_request(&index, query)?;
        self.explained(&index, &reading.query, candidates.to_vec())
    }

    /// Returns the best skill with what speaks for and against loading it; `None` if nothing was found.
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
        self.stages.ranker.reasons(&index, query)?.read(&mut best, &indexed)?;
        let (text, ranking) = match best.signals.translation.as_deref() {
            Some(found) => (found.text.as_str(), found.ranking.clone()),
            None => (query.text(), ranking),
        };
        let evidence = Evidence::of(text, index.n_skills(), &best);
        Ok(Some(BestEvidence { best, evidence, ranking }))
    }

    /// Returns the steps that the composer would be asked about a query with a plan of the usual size: the task or its needs,
    /// with their rankings.
    ///
    /// # Errors
    /// As for [`Router::route`].
    pub fn step_candidates(&self, query: &Query) -> Result<Vec<StepCandidates>> {
        let index = self.index();
        let reading = self.stages.ranker.read(&index, query)?;
        let (needs, _) = self.needs(&index, &reading.query)?;
        let k = MAX_SKILLS + N_SPARE_CANDIDATES;
        let step = |need: &(Need, Query)| {
            let ranking = self.stages.ranker.rank_text(&index, &reading, &need.1, k)?;
            Ok(self.found(&index, need, ranking, k)?.step)
        };
        needs.iter().map(step).collect()
    }

    /// Returns up to `n` skills that may help with a task or one of its needs, in a line each; see
    /// [`Hint`].
    ///
    /// # Errors
    /// As for [`Router::search`].
    pub fn hints(&self, query: &Query, n: usize) -> Result<Vec<Hint>> {
        let index = self.index();
        let reading = self.stages.ranker.read_request(&index, query)?;
        let needs = reading.query.needs().iter().map(|need| Query::new(need.text()));
        let texts = std::iter::once(Ok(reading.query.clone())).chain(needs);
        let texts = texts.collect::<Result<Vec<Query>>>()?;
        let rank = |text: &Query| self.stages.ranker.rank_text(&index, &reading, text, N_MERGED);
        let rankings = texts.par_iter().map(rank).collect::<Result<Vec<_>>>()?;
        // The needs come first, as in an answer.
        let in_turn: Vec<&Ranking> = rankings[1..].iter().chain(&rankings[..1]).collect();
        hints(&index, &in_turn, n.min(MAX_HINTS))
    }

    /// Returns the parts of one skill that a query and its needs ask for, whatever it says in English as well; without a query,
    /// its beginning. Parts that the agent had before are not shown again.
    ///
    /// # Errors
    /// [`Error::SkillUnknown`](crate::Error::SkillUnknown) with ids that look alike,
    /// [`Error::SkillBlocked`](crate::Error::SkillBlocked), and [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
    pub fn page(
        &self,
        id: &SkillId,
        query: Option<&Query>,
        budget_tokens: u32,
        had: &PartList,
    ) -> Result<Page> {
        let index = self.index();
        if let Some(standing) = self.stages.ranker.standing(&index) {
            standing.check(id)?;
        }
        let skill = index.skill(index.find(id)?)?;
        let pager: &dyn Pager = match query {
            Some(_) => self.stages.pager.as_ref(),
            None => &FullPager,
        };
        let text = query.map(|query| self.stages.ranker.page_text(query)).unwrap_or_default();
        Ok(PageWords::new(&index).page(pager, &skill, &text, budget_tokens, had))
    }

    /// Calls `f` with what a pager of this router is asked for a skill and a query: with a budget of 0, and as if the agent had no
    /// part of the skill.
    pub fn with_page_request<T>(
        &self,
        skill: &IndexedSkill,
        query: &Query,
        f: impl FnOnce(&PageRequest<'_>) -> T,
    ) -> T {
        let (index, text) = (self.index(), self.stages.ranker.page_text(query));
        PageWords::new(&index).with_terms(|terms| f(&request(skill, &text, terms, 0)))
    }

    /// Returns what is ranked for a task, each as a query of its own: the needs that the caller gave, if any; then a task that
    /// names skills is a need as well, for these. Else the task, and its parts if it has several.
    pub(super) fn needs(&self, index: &Index, task: &Query) -> Result<(Vec<(Need, Query)>, Split)> {
        let query = |need: Need| {
            let is_whole = need.text() == task.text();
            let query = if is_whole { task.clone() } else { Query::new(need.text())? };
            Ok((need, query))
        };
        let whole = [Need::new(task.text())];
        let (needs, split) = match task.needs() {
            [] => match self.stages.decomposer.decompose(task)? {
                parts if parts.len() > 1 => ([&whole, &*parts].concat(), Split::Parts),
                _ => (whole.to_vec(), Split::Whole),
            },
            given if named(index, task)?.is_empty() => (given.to_vec(), Split::Needs),
            given => ([given, &whole].concat(), Split::Needs),
        };
        let needs = needs.into_iter().map(query).collect::<Result<_>>()?;
        Ok((needs, split))
    }

    /// Returns the best `k` skills of the ranking of a need, judged.
    pub(super) fn found<'r>(
        &'r self,
        index: &'r Index,
        (need, query): &'r (Need, Query),
        ranking: Ranking,
        k: usize,
    ) -> Result<Found<'r>> {
        let Ranking { mut candidates, scale, identity } = ranking;
        candidates.truncate(k);
        let mut reasons = self.stages.ranker.reasons(index, query)?;
        let best = match candidates.first_mut() {
            Some(best) => {
                let indexed = index.skill(index.find(&best.skill)?)?;
                reasons.read(best, &indexed)?;
                Some(indexed)
            }
            None => None,
        };
        let by_translation = candidates.first().and_then(|best| best.signals.translation.as_ref());
        let ranking = by_translation.map_or(&identity, |found| &found.ranking);
        let calibration = self.stages.calibrations.of(ranking);
        let judgement = judge(query.text(), index.n_skills(), candidates.first(), calibration);
        let mut headlines = index.headlines()?;
        let considered = |candidate: Candidate| -> Result<Considered> {
            let name = headlines.read(index.find(&candidate.skill)?)?.name;
            Ok(Considered { candidate, name })
        };
        let candidates = candidates.into_iter().map(considered).collect::<Result<_>>()?;
        let step = StepCandidates { need: need.clone(), candidates, judgement };
        let text = query.text();
        Ok(Found { scale, step, reasons, of_task: None, scores: None, best, text, calibration })
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
            Ok(self.placed(ExplainedSkill { trust, copies, ..skill }))
        };
        candidates.into_iter().map(explained).collect()
    }

    /// Returns a skill with its folder.
    pub(super) fn placed(&self, skill: ExplainedSkill) -> ExplainedSkill {
        let folder = self.places.folder(&skill.id, &skill.source);
        ExplainedSkill { folder, ..skill }
    }
}

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
