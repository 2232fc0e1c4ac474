//! [`TopK`]: the best skills, as many as were asked for.

use std::collections::HashSet;

use super::{ComposeRequest, Composer, DropReason, LeftOut, Plan, PlanStep, reason};
use crate::error::Result;

/// Loads the best `max_skills` skills, whatever their scores and judgements: the usual baseline.
/// Needs take turns: the best skill of each, then the next best of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TopK;

impl Composer for TopK {
    fn identity(&self) -> String {
        "top-k".to_owned()
    }

    fn compose(&self, request: &ComposeRequest<'_>) -> Result<Plan> {
        let mut steps: Vec<PlanStep> = request
            .steps
            .iter()
            .map(|step| PlanStep {
                need: step.need.clone(),
                skills: Vec::new(),
                left_out: Vec::new(),
            })
            .collect();
        let mut loaded = HashSet::new();
        let n_longest = request.steps.iter().map(|step| step.candidates.len()).max().unwrap_or(0);
        for place in 0..n_longest {
            for (step, plan) in request.steps.iter().zip(&mut steps) {
                let Some(considered) = step.candidates.get(place) else { continue };
                let skill = considered.id();
                if loaded.contains(skill) {
                    let reason = DropReason::LoadedBefore;
                    plan.left_out.push(LeftOut { skill: skill.clone(), reason });
                } else if loaded.len() < request.max_skills {
                    loaded.insert(skill);
                    plan.skills.push(skill.clone());
                } else {
                    let reason = DropReason::OverLimit;
                    plan.left_out.push(LeftOut { skill: skill.clone(), reason });
                }
            }
        }
        let reason = match loaded.len() {
            0 if n_longest > 0 => reason::NONE_WANTED.to_owned(),
            0 => reason::NOTHING_FOUND.to_owned(),
            1 => "the best skill, as asked".to_owned(),
            n => format!("the best {n} skills, as asked"),
        };
        Ok(Plan::of_steps(steps, reason))
    }
}
