//! [`Chain`]: one skill for each step, as it fits the steps before.

use super::{
    ComposeRequest, Composer, Considered, DropReason, LeftOut, Plan, PlanStep, StepCandidates,
    Verdict, reason,
    repetition::{MAX_SIMILARITY, repetition},
};
use crate::{error::Result, retrieve::ScoreScale, skill::SkillId};

/// Loads one skill for each step: the one with the highest `alpha` x similarity + (1 - `alpha`) x
/// mean compatibility with the skills of the steps before (`SkillWeaver` equation 4).
///
/// The similarity is 1 for the best candidate of a step. Of equals, the better one of the ranking
/// is taken. As in the paper, a step is never refused, but small talk loads nothing, and no skill
/// is loaded twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chain {
    alpha: f32,
}

impl Default for Chain {
    /// 0.5, as in the paper.
    fn default() -> Self {
        Self { alpha: 0.5 }
    }
}

impl Chain {
    /// Returns a composer with this weight of the similarity, which is brought into `[0, 1]`; NaN
    /// counts as 0.
    pub fn new(alpha: f32) -> Self {
        Self { alpha: if alpha.is_nan() { 0.0 } else { alpha.clamp(0.0, 1.0) } }
    }

    /// Returns the skill of a step; `None` if none is open.
    fn choose<'a>(
        self,
        request: &ComposeRequest<'_>,
        step: &'a StepCandidates,
        before: &[&Considered],
    ) -> Option<&'a Considered> {
        if step.judgement.verdict == Verdict::SmallTalk || before.len() >= request.max_skills {
            return None;
        }
        let best = step.candidates.first()?.candidate.score;
        let value = |(place, skill): (usize, &Considered)| {
            let similarity = similarity(request.scale, best, skill.candidate.score, place);
            self.alpha * similarity + (1.0 - self.alpha) * compatibility(request, before, skill)
        };
        let open = step.candidates.iter().enumerate();
        let open = open.filter(|(_, skill)| {
            repetition(request, MAX_SIMILARITY, before.iter().copied(), skill).is_none()
        });
        let judged = open.map(|found| (value(found), found.1));
        // Of equals the first one, so the last of a reversed order.
        let best = judged.rev().max_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, skill)| skill)
    }
}

/// Returns how near a candidate is to the best one of its step, in `[0, 1]`.
fn similarity(scale: ScoreScale, best: f32, score: f32, place: usize) -> f32 {
    match scale {
        ScoreScale::LogOdds => (score - best).exp().min(1.0),
        ScoreScale::RankOnly => 1.0 / (1 + place) as f32,
        ScoreScale::Points | ScoreScale::Share | ScoreScale::Cosine if best > 0.0 => {
            (score / best).clamp(0.0, 1.0)
        }
        ScoreScale::Points | ScoreScale::Share | ScoreScale::Cosine => f32::from(place == 0),
    }
}

/// Returns the mean compatibility of a skill with those of the steps before; 0 in the first step.
fn compatibility(request: &ComposeRequest<'_>, before: &[&Considered], skill: &Considered) -> f32 {
    let of = |before: &&Considered| (request.compatibility)(before.id(), skill.id());
    let sum: f32 = before.iter().map(of).sum();
    sum / before.len().max(1) as f32
}

impl Composer for Chain {
    fn identity(&self) -> String {
        format!("chain alpha={}", self.alpha)
    }

    fn compose(&self, request: &ComposeRequest<'_>) -> Result<Plan> {
        // Of a task in parts, the whole is no step of its own.
        let (whole, parts) = request.split.divide(request.steps);
        let mut loaded: Vec<&Considered> = Vec::new();
        let mut chosen: Vec<Option<SkillId>> = whole.map(|_| None).into_iter().collect();
        for step in parts {
            let skill = self.choose(request, step, &loaded);
            loaded.extend(skill);
            chosen.push(skill.map(|skill| skill.id().clone()));
        }
        let steps: Vec<PlanStep> = request
            .steps
            .iter()
            .zip(&chosen)
            .map(|(step, chosen)| planned(request, step, chosen.as_ref(), &loaded))
            .collect();
        Ok(Plan::of_steps(steps, reason_of(request.steps, &loaded)))
    }
}

fn planned(
    request: &ComposeRequest<'_>,
    step: &StepCandidates,
    chosen: Option<&SkillId>,
    loaded: &[&Considered],
) -> PlanStep {
    let drop = |skill: &Considered| match (
        repetition(request, MAX_SIMILARITY, loaded.iter().copied(), skill),
        chosen,
    ) {
        (Some(reason), _) => reason,
        (None, Some(of)) => DropReason::Substitute { of: of.clone() },
        (None, None) if step.judgement.verdict == Verdict::SmallTalk => DropReason::Abstained,
        (None, None) if loaded.len() >= request.max_skills => DropReason::OverLimit,
        (None, None) => DropReason::BelowCut,
    };
    let others = step.candidates.iter().filter(|skill| Some(skill.id()) != chosen);
    let left_out = others.map(|skill| LeftOut { skill: skill.id().clone(), reason: drop(skill) });
    PlanStep {
        need: step.need.clone(),
        skills: chosen.into_iter().cloned().collect(),
        left_out: left_out.collect(),
    }
}

fn reason_of(steps: &[StepCandidates], loaded: &[&Considered]) -> String {
    match loaded {
        [] if steps.iter().all(|step| step.candidates.is_empty()) => {
            reason::NOTHING_FOUND.to_owned()
        }
        [] if steps.iter().any(|step| step.judgement.verdict == Verdict::SmallTalk) => {
            reason::SMALL_TALK.to_owned()
        }
        [] => reason::NONE_WANTED.to_owned(),
        [only] => reason::of_load(only, 1),
        [first, rest @ ..] => reason::of_set(first, &[], rest),
    }
}
