//! [`SetHead`]: skills that complement each other.
//!
//! `SkillComposer` (section 4) predicts a set with a set head and a cardinality head over a closed library. This one is open: it
//! looks at candidates, so that a skill that was added a second ago can be chosen.

mod features;
mod table;
mod weights;

use super::{
    ComposeRequest, Composer, Considered, DropReason, LeftOut, Plan, PlanStep, ScoreCut, Split,
    StepCandidates, Verdict, reason,
    repetition::{MAX_SIMILARITY, repetition},
};
use crate::{error::Result, retrieve::ScoreScale, skill::SkillId};

pub use features::SetFeatures;
pub use table::SetTable;
pub use weights::SetWeights;

/// Log-odds below a chosen skill from which on another one could not take its place.
const CLOSE: f32 = 2.0;

/// Confidence from which on a plan is sure of its skill.
const SURE: f32 = 0.5;

/// Loads the best skill for a task, and then, one by one, what most likely belongs to it: a skill for another
/// part of the task rather than a second one for the same part. None for a task that the best skill most likely does not help
/// with, and none of whose parts another one does.
///
/// As [`ScoreCut`] where the caller named the needs, and where scores are no log-odds or nothing is calibrated: there are no
/// weights for that.
#[derive(Debug, Clone, Copy)]
pub struct SetHead {
    weights: SetWeights,
    fallback: ScoreCut,
}

impl SetHead {
    /// Returns a composer with these weights.
    pub fn new(weights: SetWeights) -> Self {
        Self { weights, fallback: ScoreCut::default() }
    }

    /// Returns the skills of a plan in the order in which they are chosen, whatever the scale.
    pub fn chosen(&self, request: &ComposeRequest<'_>) -> Vec<SkillId> {
        let chosen = self.choose(request);
        chosen.into_iter().map(|chosen| chosen.skill.candidate.skill.clone()).collect()
    }

    /// Returns the skills of the plan in the order in which they are chosen, each with its step.
    fn choose<'a>(&self, request: &ComposeRequest<'a>) -> Vec<Chosen<'a>> {
        let table = SetTable::new(request.steps, request.n_skills);
        let Some(first) = first(request.steps) else { return Vec::new() };
        let mut chosen = Choice { request, table: &table, chosen: Vec::new() };
        chosen.add(first);
        for named in all_named(request.steps) {
            chosen.add(named);
        }
        let probability = |skill: &SkillId, ids: &[SkillId]| {
            self.weights.probability(&table.features(skill, ids))
        };
        loop {
            let ids = chosen.ids();
            let open = request.steps.iter().flat_map(|step| &step.candidates);
            let open = open.filter(|skill| chosen.is_open(skill));
            let judged = open.map(|skill| (probability(&skill.candidate.skill, &ids), skill));
            // Of equals the first one, so the last of a reversed order.
            let best = judged.rev().max_by(|a, b| a.0.total_cmp(&b.0));
            match best {
                Some((probability, skill)) if probability >= self.weights.threshold => {
                    chosen.add(skill);
                }
                _ => return chosen.chosen,
            }
        }
    }
}

/// A skill of a plan, and the number of the step that loads it.
struct Chosen<'a> {
    skill: &'a Considered,
    step: usize,
}

/// Skills that are chosen so far.
struct Choice<'r, 'a> {
    request: &'r ComposeRequest<'a>,
    table: &'r SetTable,
    chosen: Vec<Chosen<'a>>,
}

impl<'a> Choice<'_, 'a> {
    fn skills(&self) -> Vec<&'a Considered> {
        self.chosen.iter().map(|chosen| chosen.skill).collect()
    }

    fn ids(&self) -> Vec<SkillId> {
        self.chosen.iter().map(|chosen| chosen.skill.candidate.skill.clone()).collect()
    }

    fn is_open(&self, skill: &Considered) -> bool {
        self.chosen.len() < self.request.max_skills
            && repetition(self.request, MAX_SIMILARITY, &self.skills(), skill).is_none()
    }

    /// Adds a skill if it is open: to the part that it serves best, else to the whole task.
    fn add(&mut self, skill: &'a Considered) {
        if self.is_open(skill) {
            let part = self.table.best_part(&skill.candidate.skill);
            self.chosen.push(Chosen { skill, step: part.map_or(0, |part| part + 1) });
        }
    }
}

/// Returns the best skill: that of the task if it helps, else that of the part that is surest of one; `None` if
/// no skill helps.
fn first(steps: &[StepCandidates]) -> Option<&Considered> {
    let (whole, parts) = steps.split_first()?;
    match whole.judgement.verdict {
        Verdict::SmallTalk => None,
        Verdict::Helps => whole.candidates.first(),
        Verdict::DoesNotHelp => {
            let helps = parts.iter().filter(|part| part.judgement.verdict == Verdict::Helps);
            let sure = |step: &&StepCandidates| step.judgement.confidence.unwrap_or(0.0);
            let surest = helps.rev().max_by(|a, b| sure(a).total_cmp(&sure(b)))?;
            surest.candidates.first()
        }
    }
}

fn all_named(steps: &[StepCandidates]) -> impl Iterator<Item = &Considered> {
    let all = steps.iter().flat_map(|step| &step.candidates);
    all.filter(|considered| considered.candidate.signals.is_named)
}

impl Composer for SetHead {
    fn identity(&self) -> String {
        "set-head".to_owned()
    }

    fn compose(&self, request: &ComposeRequest<'_>) -> Result<Plan> {
        let is_calibrated = request.steps.iter().all(|step| step.judgement.confidence.is_some());
        if request.split == Split::Needs || request.scale != ScoreScale::LogOdds || !is_calibrated {
            return self.fallback.compose(request);
        }
        let chosen = self.choose(request);
        let steps: Vec<PlanStep> =
            (0..request.steps.len()).map(|number| step(request, number, &chosen)).collect();
        let reason = reason(request.steps, &chosen);
        Ok(Plan::of_steps(steps, reason))
    }
}

/// Returns a step with the skills that were chosen for it, and why the others were not.
fn step(request: &ComposeRequest<'_>, number: usize, all: &[Chosen<'_>]) -> PlanStep {
    let StepCandidates { need, candidates, .. } = &request.steps[number];
    let loaded: Vec<&Considered> = all.iter().map(|chosen| chosen.skill).collect();
    let of_step = all.iter().find(|chosen| chosen.step == number);
    let (mut skills, mut left_out) = (Vec::new(), Vec::new());
    for considered in candidates {
        let id = considered.candidate.skill.clone();
        let is_here =
            all.iter().any(|chosen| chosen.step == number && chosen.skill.candidate.skill == id);
        if is_here {
            skills.push(id);
            continue;
        }
        let reason = match (repetition(request, MAX_SIMILARITY, &loaded, considered), of_step) {
            (Some(reason), _) => reason,
            (None, _) if all.is_empty() => DropReason::Abstained,
            (None, _) if all.len() >= request.max_skills => DropReason::OverLimit,
            (None, Some(chosen)) if is_close(candidates, chosen.skill, considered) => {
                DropReason::Substitute { of: chosen.skill.candidate.skill.clone() }
            }
            (None, _) => DropReason::BelowCut,
        };
        left_out.push(LeftOut { skill: id, reason });
    }
    PlanStep { need: need.clone(), skills, left_out }
}

/// Returns whether a skill is so close to a chosen one in a ranking that it could take its place.
fn is_close(ranking: &[Considered], chosen: &Considered, other: &Considered) -> bool {
    let of_chosen = ranking.iter().find(|found| found.candidate.skill == chosen.candidate.skill);
    of_chosen.is_some_and(|found| other.candidate.score >= found.candidate.score - CLOSE)
}

/// Returns whether no step is more likely than not to have the right skill.
fn is_unsure(steps: &[StepCandidates]) -> bool {
    steps.iter().all(|step| step.judgement.confidence.is_some_and(|confidence| confidence < SURE))
}

/// Says the decision in a sentence.
fn reason(steps: &[StepCandidates], chosen: &[Chosen<'_>]) -> String {
    let closest = steps.first().and_then(|whole| whole.candidates.first());
    match (chosen, closest) {
        ([], None) => reason::NOTHING_FOUND.to_owned(),
        ([], Some(closest)) => match steps[0].judgement.verdict {
            Verdict::SmallTalk => reason::SMALL_TALK.to_owned(),
            Verdict::DoesNotHelp => reason::of_abstention(closest),
            Verdict::Helps => reason::NONE_WANTED.to_owned(),
        },
        ([first], _) if is_unsure(steps) => {
            let best = steps.first().map_or(&[] as &[Considered], |whole| &whole.candidates);
            let id = &first.skill.candidate.skill;
            let next = best.iter().find(|considered| considered.candidate.skill != *id);
            reason::of_doubt(first.skill, next)
        }
        ([first], _) => reason::of_load(first.skill, 1),
        ([first, rest @ ..], _) => reason::of_set(first.skill, rest.iter().map(|c| c.skill)),
    }
}
