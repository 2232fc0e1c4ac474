//! [`Router`]: the stages over an index that can be swapped.

use std::{
    cell::RefCell,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use rayon::prelude::*;

use super::{
    ExplainedSkill, Hint, Route, RouteStep, StageTrace, Stages,
    copies::{Distinct, distinct, exact_copies},
    found::{Found, Loaded},
    hints::{MAX_HINTS, hints},
    merge::{N_MERGED, OfTask, TaskScores},
    page_words::{PageWords, request},
    profiles::Profiles,
    reading::Reading,
};
use crate::{
    compose::{
        Calibration, ComposeRequest, Considered, Decision, Evidence, Plan, PlanStep, Split,
        StepCandidates, judge,
    },
    decompose::{asks, dependencies},
    error::Result,
    index::{Index, IndexedSkill},
    library::SkillPlaces,
    page::{FullPager, Page, PageRequest, Pager, PartList},
    query::{Need, Query},
    retrieve::{Candidate, Ranking, RankingIdentity, ScoreScale, named},
    skill::SkillId,
};

/// Limits of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteOptions {
    /// Most skills to load; `None` for three, or for one a need where a query has more needs.
    pub max_skills: Option<usize>,
    /// Most tokens over all pages; 0 for no pages.
    pub budget_tokens: u32,
    /// Most hints, up to [`MAX_HINTS`](super::MAX_HINTS); 0 for none.
    pub n_hints: usize,
}

impl Default for RouteOptions {
    /// 4,000 tokens, less than one body of the length that the Agent Skills specification allows.
    fn default() -> Self {
        Self { max_skills: None, budget_tokens: 4000, n_hints: 0 }
    }
}

/// Skills that give the best Set F1 on the sample tasks.
const MAX_SKILLS: usize = 3;

/// Most skills of a task in parts: SkillComposer's sequences are no longer.
const MAX_SKILLS_OF_PARTS: usize = 6;

/// Candidates that are looked at first for each skill that is no copy.
const COPIES_PER_SKILL: usize = 4;

/// Candidates that are looked at beyond those that a plan may hold, for alternatives.
const N_SPARE_CANDIDATES: usize = 10;

/// Routes queries over one index.
///
/// A router is shared by any number of threads. Each call works on the snapshot of the index that was
/// current when it began; [`refresh`](Self::refresh) puts a newer one in its place, and no call waits
/// for it.
pub struct Router {
    snapshot: ArcSwap<Index>,
    /// Held while a newer generation is opened, so that it is opened once.
    refreshing: Mutex<()>,
    stages: Stages,
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

    /// Answers a query.
    ///
    /// # Errors
    /// As for [`Router::search_explained`], and those of the stages.
    pub fn route(&self, query: &Query, options: &RouteOptions) -> Result<Route> {
        let index = self.index();
        let mut trace = Vec::new();

        let started = (self.stages.clock)();
        let reading = self.stages.ranker.read_request(&index, query)?;
        let query = &reading.query;
        let (needs, split) = self.needs(&index, query)?;
        let max_skills = options.max_skills.unwrap_or_else(|| usual_limit(split, needs.len()));
        let n_candidates = max_skills.saturating_add(N_SPARE_CANDIDATES);
        // Each text is ranked once: a ranking may cost a request to a model.
        let is_deep = split != Split::Whole || options.n_hints > 0;
        let n_ranked = if is_deep { n_candidates.max(N_MERGED) } else { n_candidates };
        let rank = |query: &Query| self.stages.ranker.rank_text(&index, &reading, query, n_ranked);
        let rankings =
            needs.par_iter().map(|(_, query)| rank(query)).collect::<Result<Vec<_>>>()?;
        let of_whole = if split == Split::Needs { Some(rank(query)?) } else { None };
        let in_turn: Vec<&Ranking> = rankings.iter().chain(&of_whole).collect();
        let n_hints = options.n_hints.min(MAX_HINTS);
        // Those that the plan loads are taken out again.
        let n_spare = if n_hints > 0 { max_skills } else { 0 };
        let mut hints = hints(&index, &in_turn, n_hints.saturating_add(n_spare))?;
        let of_task = of_whole.as_ref().and_then(OfTask::of);
        let of_parts = rankings.first().filter(|_| split == Split::Parts);
        let scores = of_parts.and_then(TaskScores::of);
        let mut found = Vec::with_capacity(needs.len());
        for (need, mut ranking) in needs.iter().zip(rankings) {
            if let Some(of_task) = &of_task {
                of_task.add_to(&mut ranking);
            }
            let of_need = self.found(&index, need, ranking, n_candidates)?;
            let (of_task, scores) = (of_task.as_ref(), scores.as_ref());
            found.push(Found { of_task, scores, ..of_need });
        }
        let n_found = found.iter().map(|found| found.step.candidates.len()).sum();
        trace.push(self.stage_trace("retrieve", started, index.n_skills(), n_found));

        let started = (self.stages.clock)();
        let steps: Vec<StepCandidates> = found.iter().map(|found| found.step.clone()).collect();
        let profiles = Profiles::new(&index);
        let headlines = RefCell::new(index.headlines()?);
        let headline = |id: &SkillId| {
            let headline = headlines.borrow_mut().read(index.find(id).ok()?).ok()?;
            Some(format!("{}\n{}", headline.name, headline.description))
        };
        let plan = self.stages.composer.compose(&ComposeRequest {
            task: query.text(),
            steps: &steps,
            scale: found.first().map_or(ScoreScale::RankOnly, |found| found.scale),
            // A damaged row repeats nothing; it is found out when its skill is read.
            similarity: &|a, b| similarity(&index, a, b).unwrap_or(0.0),
            compatibility: &|a, b| profiles.compatibility(a, b).unwrap_or(0.0),
            headline: &headline,
            library: &|| index.ids().filter_map(Result::ok).collect(),
            max_skills,
            split,
            n_skills: index.n_skills(),
        })?;
        let confidence = confidence_of(&plan, &steps, split);
        let Plan { decision, reason, steps: mut planned } = plan;
        if split == Split::Parts {
            leave_out_idle(&mut planned, &steps);
        }
        let standing = self.stages.ranker.standing(&index);
        let mut loaded = Vec::new();
        let mut route_steps = Vec::with_capacity(planned.len());
        let subtask = |step: &PlanStep| step.need.text() != query.text();
        let subtasks: Vec<Option<&str>> =
            planned.iter().map(|step| subtask(step).then(|| step.need.text())).collect();
        let all_first = dependencies(&subtasks);
        for (step, depends_on) in planned.iter().zip(all_first) {
            let of_need = found.iter_mut().find(|found| found.step.need == step.need);
            let (skills, alternatives, confidence) = match of_need {
                Some(found) => {
                    let skills = found.load(&index, step, standing.as_ref(), &mut loaded)?;
                    (skills, found.left_out(step), found.confidence(&index, step)?)
                }
                None => (Vec::new(), Vec::new(), None),
            };
            let skills = skills.into_iter().map(|skill| self.placed(skill)).collect();
            let subtask = reading.as_written(step.need.text());
            route_steps.push(RouteStep { subtask, confidence, depends_on, skills, alternatives });
        }
        trace.push(self.stage_trace("compose", started, n_found, loaded.len()));
        hints.retain(|hint| loaded.iter().all(|loaded: &Loaded| loaded.skill.skill.id != hint.id));
        hints.truncate(n_hints);

        let started = (self.stages.clock)();
        let pages = self.pages(&index, query, &loaded, options.budget_tokens);
        let n_nodes = loaded.iter().map(|loaded: &Loaded| loaded.skill.nodes.nodes.len()).sum();
        let n_selected = pages.iter().map(|page| page.nodes.len()).sum();
        trace.push(self.stage_trace("page", started, n_nodes, n_selected));

        let (query_id, steps) = (None, route_steps);
        let Reading { corrections, ruled_out, .. } = reading;
        Ok(Route {
            query_id,
            decision,
            confidence,
            reason,
            steps,
            pages,
            hints,
            corrections,
            ruled_out,
            passes: Vec::new(),
            trace,
        })
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
    fn needs(&self, index: &Index, task: &Query) -> Result<(Vec<(Need, Query)>, Split)> {
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
    fn found<'r>(
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
    fn placed(&self, skill: ExplainedSkill) -> ExplainedSkill {
        let folder = self.places.folder(&skill.id, &skill.source);
        ExplainedSkill { folder, ..skill }
    }

    /// Pages the skills of a plan under one budget.
    fn pages(
        &self,
        index: &Index,
        query: &Query,
        skills: &[Loaded],
        budget_tokens: u32,
    ) -> Vec<Page> {
        if budget_tokens == 0 {
            return Vec::new();
        }
        let mut asked: Vec<(&IndexedSkill, &str)> = Vec::with_capacity(skills.len());
        for Loaded { skill, translation } in skills {
            let text = translation.as_ref().map_or(query.text(), |found| found.text.as_str());
            asked.push((skill, text));
        }
        PageWords::new(index).pages(self.stages.pager.as_ref(), &asked, budget_tokens)
    }

    fn stage_trace(&self, stage: &str, started: Duration, n_in: usize, n_out: usize) -> StageTrace {
        let elapsed = (self.stages.clock)().saturating_sub(started);
        let time_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        StageTrace { stage: stage.to_owned(), time_us, n_in, n_out }
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

/// Returns how many skills a plan may load if nobody says so.
fn usual_limit(split: Split, n_needs: usize) -> usize {
    match split {
        Split::Whole => MAX_SKILLS,
        Split::Parts => MAX_SKILLS_OF_PARTS,
        Split::Needs => n_needs.max(MAX_SKILLS),
    }
}

/// Places of a part's ranking in which a skill that the plan loads serves the part as well.
const N_SERVING: usize = 3;

/// Leaves out the steps that load nothing, if a loaded skill serves the part as well, or it asks for nothing; if none loads, all but
/// the first. The task as a whole is no part.
fn leave_out_idle(planned: &mut Vec<PlanStep>, steps: &[StepCandidates]) {
    let loaded: Vec<SkillId> = planned.iter().flat_map(|step| step.skills.clone()).collect();
    if loaded.is_empty() {
        planned.truncate(1);
        return;
    }
    let is_missed = |part: &StepCandidates| {
        let best = part.candidates.iter().take(N_SERVING);
        let mut serving = best.filter(|found| loaded.contains(&found.candidate.skill));
        asks(part.need.text()) && serving.next().is_none()
    };
    let missed: Vec<&Need> =
        steps.iter().skip(1).filter(|part| is_missed(part)).map(|part| &part.need).collect();
    planned.retain(|step| !step.skills.is_empty() || missed.contains(&&step.need));
}

fn similarity(index: &Index, a: &SkillId, b: &SkillId) -> Result<f32> {
    index.similarity(index.find(a)?, index.find(b)?)
}

/// Returns the highest confidence of what something is loaded for, and of a split task; of all if nothing is; `None` if one has none.
fn confidence_of(plan: &Plan, steps: &[StepCandidates], split: Split) -> Option<f32> {
    let is_loaded =
        |need: &Need| plan.steps.iter().any(|step| step.need == *need && !step.skills.is_empty());
    let (whole, rest) = steps.split_at(usize::from(split == Split::Parts).min(steps.len()));
    let counts =
        |step: &&StepCandidates| plan.decision == Decision::Abstain || is_loaded(&step.need);
    let mut highest = 0.0_f32;
    for step in whole.iter().chain(rest.iter().filter(counts)) {
        highest = highest.max(step.judgement.confidence?);
    }
    Some(highest)
}
