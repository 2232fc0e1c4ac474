//! [`Router`]: the stages over an index that can be swapped.

use std::{
    path::Path,
    sync::{Arc, Mutex, TryLockError},
};

use arc_swap::ArcSwap;

use super::{
    ExplainedSkill, Stages,
    found::Found,
    page_words::PageWords,
    reading::{Reading, read_need},
};
use crate::{
    compose::{Calibration, Considered, Split, StepCandidates, judge},
    error::{Error, ErrorKind, Result},
    index::{Current, Index, name_key},
    library::{SkillPlaces, Whereabouts},
    page::{FullPager, Page, Pager, PartList},
    query::{Need, Query},
    retrieve::{Candidate, Ranking, named},
    skill::SkillId,
};

/// Candidates of each ranking that are looked at beyond those that a plan may hold, for
/// alternatives.
pub const N_SPARE_CANDIDATES: usize = 10;

/// Routes queries over one index.
///
/// A router is shared by any number of threads. Each call works on the snapshot of the index that
/// was current when it began; [`refresh`](Self::refresh) puts a newer one in its place, and no call
/// waits for it.
pub struct Router {
    snapshot: ArcSwap<Index>,
    /// Held while a newer generation is opened, so that it is opened once: the last one that cannot
    /// be used, however often it is opened.
    refused: Mutex<Option<Current>>,
    pub(super) stages: Arc<Stages>,
    places: Arc<SkillPlaces>,
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
    /// [`Error::EncoderMismatch`](crate::Error::EncoderMismatch) if the stages need vectors that
    /// the index does not have.
    pub fn new(index: Index, stages: Stages) -> Result<Self> {
        stages.ranker.check(&index)?;
        Ok(Self {
            snapshot: ArcSwap::from_pointee(index),
            refused: Mutex::default(),
            stages: Arc::new(stages),
            places: Arc::default(),
        })
    }

    /// Returns the router with what it says of the folders of skills; without it, it says nothing.
    #[must_use]
    pub fn with_places(self, places: SkillPlaces) -> Self {
        Self { places: Arc::new(places), ..self }
    }

    /// Returns a router that stays at the present snapshot: for several calls that must see the
    /// same skills, whatever [`refresh`](Self::refresh) does meanwhile.
    #[must_use]
    pub fn fixed(&self) -> Self {
        Self {
            snapshot: ArcSwap::new(self.index()),
            refused: Mutex::default(),
            stages: Arc::clone(&self.stages),
            places: Arc::clone(&self.places),
        }
    }

    /// Returns where the skills are on disk.
    pub fn places(&self) -> &SkillPlaces {
        &self.places
    }

    /// Returns where a skill of the index is on disk.
    ///
    /// # Errors
    /// As for [`Router::page`].
    pub fn whereabouts(&self, id: &SkillId) -> Result<Whereabouts> {
        self.whereabouts_in(&self.index(), id)
    }

    fn whereabouts_in(&self, index: &Index, id: &SkillId) -> Result<Whereabouts> {
        let idx = index.find(id)?;
        Ok(self.places.find(id, &index.source(idx)?, index.content_hash(idx)?))
    }

    /// Returns the [`folder`](ExplainedSkill::folder) of a skill.
    ///
    /// # Errors
    /// As for [`Router::page`].
    pub fn folder(&self, id: &SkillId) -> Result<Option<String>> {
        self.folder_in(&self.index(), id)
    }

    /// Returns the folder of a skill of this snapshot.
    pub(super) fn folder_in(&self, index: &Index, id: &SkillId) -> Result<Option<String>> {
        Ok(self.whereabouts_in(index, id)?.shown())
    }

    /// Returns the id of the skill that a text means: it is an id, that of an exact duplicate of a
    /// skill, or the name of one skill alone.
    ///
    /// # Errors
    /// [`Error::SkillUnknown`] with the ids of all skills of that name, else with ids that look
    /// alike.
    pub fn resolve(&self, id_or_name: &str) -> Result<SkillId> {
        let index = self.index();
        let id = SkillId::new(id_or_name);
        if index.search(&id)?.is_ok() {
            return Ok(id);
        }
        let named = index.named(&name_key(id_or_name))?;
        let mut named = named.into_iter().map(|idx| index.id(idx)).collect::<Result<Vec<_>>>()?;
        match named.len() {
            0 => index.original_of(&id)?.ok_or_else(|| index.unknown(&id)),
            1 => Ok(named.remove(0)),
            _ => Err(Error::SkillUnknown { id, nearest: named }),
        }
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

    /// Opens the newest generation of the index, and returns whether there was a newer one. One that
    /// cannot be used, because it is damaged or made for other stages, is not opened again; nor is
    /// one that another thread is opening, which is not waited for.
    ///
    /// Calls that are under way go on with the generation that they began with.
    ///
    /// # Errors
    /// As for [`Index::open`] and [`Router::new`]; the router then keeps the generation that it
    /// has.
    pub fn refresh(&self) -> Result<bool> {
        let mut refused = match self.refused.try_lock() {
            Ok(refused) => refused,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(false),
        };
        let present = self.index();
        if present.is_current()? {
            return Ok(false);
        }
        let newest = present.current()?;
        if newest.is_some() && newest == *refused {
            return Ok(false);
        }
        let opened = Index::open(present.path()).and_then(|index| {
            self.stages.ranker.check(&index)?;
            Ok(index)
        });
        let index = opened.inspect_err(|error| {
            *refused = newest.filter(|_| error.kind() == ErrorKind::Index);
        })?;
        self.snapshot.store(Arc::new(index));
        Ok(true)
    }

    /// Returns the calibration for the way in which the router ranks; `None` if no one fitted one.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.stages.calibrations.of(&self.stages.ranker.identity())
    }

    /// Returns the parts of one skill that a query and its needs ask for, whatever it says in
    /// English as well; without a query, its beginning. Parts that the agent had before are not
    /// shown again.
    ///
    /// # Errors
    /// [`Error::SkillUnknown`](crate::Error::SkillUnknown) with ids that look alike,
    /// [`Error::SkillBlocked`](crate::Error::SkillBlocked), and
    /// [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
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

    /// Returns what is ranked for a task, each as a query of its own: the needs that the caller
    /// gave, if any; then a task that names skills is a need as well, for these. Else the task, and
    /// its parts if it has several.
    pub(super) fn needs(
        &self,
        index: &Index,
        reading: &Reading,
    ) -> Result<(Vec<(Need, Query)>, Split)> {
        let task = &reading.query;
        let query = |need: Need| {
            let is_whole = need.text() == task.text();
            let query = if is_whole { reading.whole()? } else { read_need(&need)? };
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
        is_asked_for: bool,
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
        if let (Some(candidate), Some(indexed)) = (candidates.first_mut(), &best) {
            reasons.verify_for(calibration, index.n_skills(), candidate, indexed)?;
        }
        let judgement =
            judge(query.text(), is_asked_for, index.n_skills(), candidates.first(), calibration);
        let considered = |candidate: Candidate| -> Result<Considered> {
            let name = index.headline(index.find(&candidate.skill)?)?.name.to_owned();
            Ok(Considered { candidate, name })
        };
        let candidates = candidates.into_iter().map(considered).collect::<Result<_>>()?;
        let step = StepCandidates { need: need.clone(), candidates, judgement };
        let text = query.text();
        Ok(Found {
            scale,
            step,
            reasons,
            of_task: None,
            scores: None,
            best,
            text,
            is_asked_for,
            calibration,
        })
    }

    /// Returns a skill of this snapshot with its folder.
    pub(super) fn placed(&self, index: &Index, skill: ExplainedSkill) -> Result<ExplainedSkill> {
        let folder = self.folder_in(index, &skill.id)?;
        Ok(ExplainedSkill { folder, ..skill })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{index::UpdateOptions, library::Library};

    #[test]
    fn a_refresh_does_not_wait_for_another_one() {
        let dir = tempfile::tempdir().unwrap();
        let (skills, path) = (dir.path().join("skills"), dir.path().join("index"));
        let add = |name: &str| {
            std::fs::create_dir_all(skills.join(name)).unwrap();
            let text = format!("---\nname: {name}\ndescription: How to brew {name}\n---\nBoil.\n");
            std::fs::write(skills.join(name).join("SKILL.md"), text).unwrap();
            let library = Library::open([&skills]).unwrap();
            Index::update(&path, &library, &UpdateOptions::default(), &mut |_| {}).unwrap();
        };
        add("tea");
        let router = Router::open(&path).unwrap();
        add("coffee");
        let other = router.refused.lock().unwrap();
        assert!(!router.refresh().unwrap());
        drop(other);
        assert!(router.refresh().unwrap());
        assert_eq!(router.n_skills(), 2);
    }
}
