//! [`plan_of_sequence`]: the plan of skills that were chosen for a task as a whole.

use super::{
    ComposeRequest, Considered, DropReason, LeftOut, Plan, PlanStep, SetTable, StepCandidates,
    Verdict, reason,
    repetition::{MAX_SIMILARITY, repetition},
};
use crate::skill::SkillId;

/// Log-odds below a chosen skill from which on another one could not take its place. Set by hand.
const CLOSE: f32 = 2.0;

/// Confidence from which on a plan is sure of its skill.
const SURE: f32 = 0.5;

/// Skills beyond the limit that are told from those that fit less.
pub(super) const N_BEYOND: usize = 8;

/// A skill of a plan, and the number of the step that loads it.
pub(super) struct Chosen<'a> {
    pub(super) skill: &'a Considered,
    pub(super) step: usize,
}

/// Returns the skill that a plan begins with by the rankings: the best one of the task if it helps,
/// else that of the part that is surest of one; `None` if no skill helps.
///
/// Of many parts, one or another looks like a skill by chance. So where the task as a whole says
/// no, a part has to be surer than not. Where a model tells which parts ask for something, its
/// confidence counts times the root of how likely it asks.
pub fn first_skill(steps: &[StepCandidates]) -> Option<&Considered> {
    let (whole, parts) = steps.split_first()?;
    match whole.judgement.verdict {
        Verdict::SmallTalk => None,
        Verdict::Helps => whole.candidates.first(),
        Verdict::DoesNotHelp => {
            let sure = |step: &StepCandidates| {
                let share = step.need.asks().map_or(1.0, f32::sqrt);
                step.judgement.confidence.unwrap_or(0.0) * share
            };
            let helps = |step: &&StepCandidates| {
                step.judgement.verdict == Verdict::Helps && sure(step) >= SURE
            };
            let helps = parts.iter().filter(helps);
            let surest = helps.rev().max_by(|a, b| sure(a).total_cmp(&sure(b)))?;
            surest.candidates.first()
        }
    }
}

/// Returns the plan that loads a sequence of skills, each in the step of the part that it serves
/// best, and the steps in the order of their first skills.
///
/// Skills that the task names come with it. A skill that no ranking holds, one that repeats another
/// and one beyond the limit are left out.
pub fn plan_of_sequence(request: &ComposeRequest<'_>, sequence: &[SkillId]) -> Plan {
    let table = SetTable::new(request.steps, request.n_skills);
    let considered = || request.steps.iter().flat_map(|step| &step.candidates);
    let of_sequence =
        sequence.iter().filter_map(|id| considered().find(|considered| considered.id() == id));
    let mut chosen: Vec<Chosen<'_>> = Vec::new();
    for skill in of_sequence.chain(all_named(request.steps)) {
        let loaded = chosen.iter().map(|chosen| chosen.skill);
        if chosen.len() < request.max_skills.saturating_add(N_BEYOND)
            && repetition(request, MAX_SIMILARITY, loaded, skill).is_none()
        {
            chosen.push(Chosen { skill, step: step_of(&table, skill) });
        }
    }
    let mut plan = plan_of(request, &chosen);
    let place = |step: &PlanStep| {
        let is_first = |chosen: &Chosen<'_>| step.skills.contains(chosen.skill.id());
        chosen.iter().position(is_first).unwrap_or(chosen.len())
    };
    plan.steps.sort_by_key(place);
    plan
}

/// Returns the number of the step that loads a skill: the part that it serves best, else the task
/// as a whole.
pub(super) fn step_of(table: &SetTable, skill: &Considered) -> usize {
    table.best_part(skill.id()).map_or(0, |part| part + 1)
}

/// Returns the plan that loads these skills up to the limit, with the steps in the order of the
/// request.
pub(super) fn plan_of(request: &ComposeRequest<'_>, chosen: &[Chosen<'_>]) -> Plan {
    let (chosen, beyond) = chosen.split_at(chosen.len().min(request.max_skills));
    let steps: Vec<PlanStep> =
        (0..request.steps.len()).map(|number| step(request, number, chosen, beyond)).collect();
    Plan::of_steps(steps, reason(request.steps, chosen))
}

/// Returns the skills that the task names.
pub(super) fn all_named(steps: &[StepCandidates]) -> impl Iterator<Item = &Considered> {
    let all = steps.iter().flat_map(|step| &step.candidates);
    all.filter(|considered| considered.candidate.signals.is_named)
}

/// Returns a step with the skills that were chosen for it, and why the others were not: those
/// `beyond` the limit would have been.
fn step(
    request: &ComposeRequest<'_>,
    number: usize,
    all: &[Chosen<'_>],
    beyond: &[Chosen<'_>],
) -> PlanStep {
    let StepCandidates { need, candidates, .. } = &request.steps[number];
    let of_step = all.iter().find(|chosen| chosen.step == number);
    let (mut skills, mut left_out) = (Vec::new(), Vec::new());
    for considered in candidates {
        let id = considered.id().clone();
        let is_here = all.iter().any(|chosen| chosen.step == number && *chosen.skill.id() == id);
        if is_here {
            skills.push(id);
            continue;
        }
        let loaded = all.iter().map(|chosen| chosen.skill);
        let reason = match (repetition(request, MAX_SIMILARITY, loaded, considered), of_step) {
            (Some(reason), _) => reason,
            (None, _) if all.is_empty() => DropReason::Abstained,
            (None, _) if beyond.iter().any(|over| *over.skill.id() == id) => DropReason::OverLimit,
            (None, Some(chosen)) if is_close(candidates, chosen.skill, considered) => {
                DropReason::Substitute { of: chosen.skill.id().clone() }
            }
            (None, _) => DropReason::BelowCut,
        };
        left_out.push(LeftOut { skill: id, reason });
    }
    PlanStep { need: need.clone(), skills, left_out }
}

/// Returns whether a skill is so close to a chosen one in a ranking that it could take its place.
fn is_close(ranking: &[Considered], chosen: &Considered, other: &Considered) -> bool {
    let of_chosen = ranking.iter().find(|found| found.id() == chosen.id());
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
            let id = first.skill.id();
            let next = best.iter().find(|considered| considered.id() != id);
            reason::of_doubt(first.skill, next)
        }
        ([first], _) => reason::of_load(first.skill, 1),
        ([first, rest @ ..], _) => {
            let of = |is_beside: bool| -> Vec<&Considered> {
                let of_part = rest.iter().filter(|c| (c.step == first.step) == is_beside);
                of_part.map(|chosen| chosen.skill).collect()
            };
            let reason = reason::of_set(first.skill, &of(true), &of(false));
            if is_unsure(steps) { reason::in_doubt(&reason) } else { reason }
        }
    }
}
