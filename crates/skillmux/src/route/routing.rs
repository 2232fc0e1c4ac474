//! [`Router::route`]: from a task to an answer, stage by stage.

use std::time::Duration;

use rayon::prelude::*;

use super::{
    Route, RouteStep, Router, Stage, StageTrace,
    found::{Found, Loaded},
    hints::{MAX_HINTS, hints},
    merge::{N_MERGED, OfTask, TaskScores},
    page_words::PageWords,
    profiles::Profiles,
    reading::Reading,
    router::N_SPARE_CANDIDATES,
    task::OfTexts,
};
use crate::{
    compose::{ComposeRequest, Decision, Plan, PlanStep, Split, StepCandidates},
    decompose::{dependencies, is_request, likely_asks},
    error::Result,
    index::{Index, IndexedSkill},
    page::Page,
    query::{Need, Query},
    retrieve::{Ranking, ScoreScale},
    skill::SkillId,
};

/// Limits of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteOptions {
    /// Most skills to load. `None` means three; six if the task has parts; one a need if the caller
    /// named more than three needs.
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

/// Places of a part's ranking in which a skill that the plan loads serves the part as well.
const N_SERVING: usize = 3;

/// The rankings of a query.
struct Rankings {
    /// One of each need, in their order.
    of_needs: Vec<Ranking>,
    /// That of the task, where the caller gave the needs: they do not hold it.
    whole: Option<Ranking>,
    /// Where no need was given: that of the request alone, where something is pasted with it, or of
    /// what asks for something in a long task.
    request: Option<Ranking>,
}

impl Rankings {
    /// Returns what the task as a whole says of the skills of its needs, and of its parts.
    fn of_whole(&self, split: Split) -> OfWhole {
        let of_parts = self.of_needs.first().filter(|_| split == Split::Parts);
        OfWhole {
            of_task: self.whole.as_ref().and_then(OfTask::of),
            scores: of_parts.and_then(TaskScores::of),
        }
    }
}

/// What a task as a whole says of the skills of its needs, or of its parts.
struct OfWhole {
    of_task: Option<OfTask>,
    scores: Option<TaskScores>,
}

/// A task whose needs are ranked.
struct RankedTask<'t> {
    reading: &'t Reading,
    needs: &'t [(Need, Query)],
    split: Split,
    of_whole: &'t OfWhole,
}

impl Router {
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
        let (needs, split) = self.needs(&index, &reading)?;
        let max_skills = options.max_skills.unwrap_or_else(|| split.usual_limit(needs.len()));
        let n_candidates = max_skills.saturating_add(N_SPARE_CANDIDATES);
        // Each text is ranked once: a ranking may cost a request to a model.
        let is_deep = split != Split::Whole || options.n_hints > 0;
        let n_ranked = if is_deep { n_candidates.max(N_MERGED) } else { n_candidates };
        let rankings = self.rankings(&index, &reading, &needs, split, n_ranked)?;
        let n_hints = options.n_hints.min(MAX_HINTS);
        // Those that the plan loads are taken out again.
        let n_spare = if n_hints > 0 { max_skills } else { 0 };
        let in_turn: Vec<&Ranking> = rankings.of_needs.iter().chain(&rankings.whole).collect();
        let mut hints = hints(&index, &in_turn, n_hints.saturating_add(n_spare))?;
        let of_whole = rankings.of_whole(split);
        let task = RankedTask { reading: &reading, needs: &needs, split, of_whole: &of_whole };
        let mut found = self.found_of(&index, &task, rankings, n_candidates)?;
        let n_found = found.iter().map(|found| found.step.candidates.len()).sum();
        trace.push(self.stage_trace(Stage::Retrieve, started, index.n_skills(), n_found));

        let started = (self.stages.clock)();
        let steps: Vec<StepCandidates> = found.iter().map(|found| found.step.clone()).collect();
        let scale = found.first().map_or(ScoreScale::RankOnly, |found| found.scale);
        let plan = self.plan(&index, query, &steps, scale, split, max_skills)?;
        let confidence = confidence_of(&plan, &steps, split);
        let Plan { decision, reason, steps: mut planned } = plan;
        if split == Split::Parts {
            leave_out_idle(&mut planned, &steps);
        }
        let (steps, loaded) = self.load(&index, &reading, &planned, &mut found)?;
        trace.push(self.stage_trace(Stage::Compose, started, n_found, loaded.len()));
        hints.retain(|hint| loaded.iter().all(|loaded| loaded.skill.skill.id != hint.id));
        hints.truncate(n_hints);

        let started = (self.stages.clock)();
        let pages = self.pages(&index, &reading.whole()?, &loaded, options.budget_tokens);
        let n_nodes = loaded.iter().map(|loaded| loaded.skill.nodes.nodes.len()).sum();
        let n_selected = pages.iter().map(|page| page.nodes.len()).sum();
        trace.push(self.stage_trace(Stage::Page, started, n_nodes, n_selected));

        let request = reading.request();
        let Reading { formalities, corrections, ruled_out, .. } = reading;
        Ok(Route {
            query_id: None,
            decision,
            confidence,
            reason,
            steps,
            pages,
            hints,
            request,
            formalities,
            corrections,
            ruled_out,
            passes: Vec::new(),
            trace,
        })
    }

    /// Ranks each need, the task as a whole beside needs of the caller, and a request without what is
    /// pasted with it, `k` skills deep.
    fn rankings(
        &self,
        index: &Index,
        reading: &Reading,
        needs: &[(Need, Query)],
        split: Split,
        k: usize,
    ) -> Result<Rankings> {
        let texts = needs.iter().map(|(_, query)| query.clone());
        let has_needs = split == Split::Needs;
        let texts: Vec<Query> = texts.skip(usize::from(!has_needs)).collect();
        let OfTexts { whole, others, request } =
            self.stages.ranker.rank_task(index, reading, &texts, k)?;
        if has_needs {
            return Ok(Rankings { of_needs: others, whole: Some(whole), request: None });
        }
        let of_needs = [vec![whole], others].concat();
        Ok(Rankings { of_needs, whole: None, request })
    }

    /// Returns the best `k` skills for each need, judged.
    fn found_of<'r>(
        &'r self,
        index: &'r Index,
        task: &RankedTask<'r>,
        rankings: Rankings,
        k: usize,
    ) -> Result<Vec<Found<'r>>> {
        let Rankings { of_needs, request, .. } = rankings;
        let RankedTask { reading, needs, split, of_whole: OfWhole { of_task, scores } } = *task;
        // Who names needs asks for them.
        let is_asked_for = split == Split::Needs || self.stages.ranker.asks(reading.query.text());
        // At once: each may ask a network about its best skill.
        let found = needs.par_iter().zip(of_needs).map(|(need, mut ranking)| {
            if let Some(of_task) = of_task {
                of_task.add_to(&mut ranking);
            }
            let of_need = self.found(index, need, is_asked_for, ranking, k)?;
            Ok(of_need.beside(of_task.as_ref(), scores.as_ref()))
        });
        let mut found = found.collect::<Result<Vec<Found<'_>>>>()?;
        let request = request.filter(|_| !reading.is_bare());
        if let (Some(ranking), Some(whole)) = (request, found.first_mut()) {
            let asked = reading.asked()?;
            let is_long = asked.is_some();
            let request = asked.unwrap_or_else(|| reading.query.clone());
            let request = (Need::new(request.text()), request);
            let alone = self.found(index, &request, is_asked_for, ranking, 1)?;
            if is_long {
                whole.share_with(&alone, index.n_skills());
            } else {
                whole.agree_with(&alone, index.n_skills());
            }
        }
        Ok(found)
    }

    /// Returns the steps that the composer would be asked about a query with a plan of the usual
    /// size: the task or its needs, with their rankings.
    ///
    /// # Errors
    /// As for [`Router::route`].
    pub fn step_candidates(&self, query: &Query) -> Result<Vec<StepCandidates>> {
        let index = self.index();
        let reading = self.stages.ranker.read_request(&index, query)?;
        let (needs, split) = self.needs(&index, &reading)?;
        let k = split.usual_limit(needs.len()) + N_SPARE_CANDIDATES;
        let n_ranked = if split == Split::Whole { k } else { k.max(N_MERGED) };
        let rankings = self.rankings(&index, &reading, &needs, split, n_ranked)?;
        let of_whole = rankings.of_whole(split);
        let task = RankedTask { reading: &reading, needs: &needs, split, of_whole: &of_whole };
        let found = self.found_of(&index, &task, rankings, k)?;
        Ok(found.into_iter().map(|found| found.step).collect())
    }

    /// Asks the composer which skills each step loads.
    fn plan(
        &self,
        index: &Index,
        query: &Query,
        steps: &[StepCandidates],
        scale: ScoreScale,
        split: Split,
        max_skills: usize,
    ) -> Result<Plan> {
        let profiles = Profiles::new(index);
        let headline = |id: &SkillId| {
            let headline = index.headline(index.find(id).ok()?).ok()?;
            Some(format!("{}\n{}", headline.name, headline.description))
        };
        self.stages.composer.compose(&ComposeRequest {
            task: query.text(),
            steps,
            scale,
            // A damaged row repeats nothing; it is found out when its skill is read.
            similarity: &|a, b| similarity(index, a, b).unwrap_or(0.0),
            compatibility: &|a, b| profiles.compatibility(a, b).unwrap_or(0.0),
            headline: &headline,
            library: &|| index.ids().filter_map(Result::ok).collect(),
            max_skills,
            split,
            n_skills: index.n_skills(),
        })
    }

    /// Reads the skills of a plan. Returns its steps as the answer has them, and the skills in the
    /// order of the steps.
    fn load(
        &self,
        index: &Index,
        reading: &Reading,
        planned: &[PlanStep],
        found: &mut [Found<'_>],
    ) -> Result<(Vec<RouteStep>, Vec<Loaded>)> {
        let standing = self.stages.ranker.standing(index);
        let subtask = |step: &PlanStep| step.need.text() != reading.query.text();
        let subtasks: Vec<Option<&str>> =
            planned.iter().map(|step| subtask(step).then(|| step.need.text())).collect();
        let (mut steps, mut loaded) = (Vec::with_capacity(planned.len()), Vec::new());
        for (step, depends_on) in planned.iter().zip(dependencies(&subtasks)) {
            let of_need = found.iter_mut().find(|found| found.step.need == step.need);
            let (skills, alternatives, confidence) = match of_need {
                Some(found) => {
                    let skills = found.load(index, step, standing.as_ref(), &mut loaded)?;
                    (skills, found.left_out(step), found.confidence(index, step)?)
                }
                None => (Vec::new(), Vec::new(), None),
            };
            let skills =
                skills.into_iter().map(|skill| self.placed(index, skill)).collect::<Result<_>>()?;
            let subtask = reading.as_written(step.need.text());
            steps.push(RouteStep { subtask, confidence, depends_on, skills, alternatives });
        }
        Ok((steps, loaded))
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

    fn stage_trace(
        &self,
        stage: Stage,
        started: Duration,
        n_in: usize,
        n_out: usize,
    ) -> StageTrace {
        let elapsed = (self.stages.clock)().saturating_sub(started);
        let time_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        StageTrace { stage, time_us, n_in, n_out }
    }
}

/// Leaves out the steps that load nothing, if a loaded skill serves the part as well, or it asks
/// for nothing; if none loads, all but the first. The task as a whole is no part.
fn leave_out_idle(planned: &mut Vec<PlanStep>, steps: &[StepCandidates]) {
    let loaded: Vec<SkillId> = planned.iter().flat_map(|step| step.skills.clone()).collect();
    if loaded.is_empty() {
        planned.truncate(1);
        return;
    }
    let is_missed = |part: &StepCandidates| {
        let best = part.candidates.iter().take(N_SERVING);
        let mut serving = best.filter(|found| loaded.contains(&found.candidate.skill));
        let is_asked = part.need.asks().map_or_else(|| is_request(part.need.text()), likely_asks);
        is_asked && serving.next().is_none()
    };
    let missed: Vec<&Need> =
        steps.iter().skip(1).filter(|part| is_missed(part)).map(|part| &part.need).collect();
    planned.retain(|step| !step.skills.is_empty() || missed.contains(&&step.need));
}

fn similarity(index: &Index, a: &SkillId, b: &SkillId) -> Result<f32> {
    index.similarity(index.find(a)?, index.find(b)?)
}

/// Returns the highest confidence of the steps that load something. A task with parts always counts
/// as a whole, too. If nothing is loaded, a task without parts counts, or all needs do. `None` if one
/// of these has none.
fn confidence_of(plan: &Plan, steps: &[StepCandidates], split: Split) -> Option<f32> {
    let is_loaded =
        |need: &Need| plan.steps.iter().any(|step| step.need == *need && !step.skills.is_empty());
    let (whole, rest) = split.divide(steps);
    let is_unsplit = plan.decision == Decision::Abstain && split != Split::Parts;
    let counts = |step: &&StepCandidates| is_unsplit || is_loaded(&step.need);
    let mut highest = 0.0_f32;
    for step in whole.into_iter().chain(rest.iter().filter(counts)) {
        highest = highest.max(step.judgement.confidence?);
    }
    Some(highest)
}
