//! The tool `explain_route`: why skills were chosen or left out.

use schemars::JsonSchema;
use serde::Deserialize;
use skillmux::{
    Result,
    query::Query,
    retrieve::{Candidate, Ranking},
    route::{N_SPARE_CANDIDATES, Route, RouteOptions, RouteStep, Router},
    skill::SkillId,
};

use crate::{
    explanation::{AskedSkill, ExplanationView, StandingView, told},
    view::{in_words, label, warnings},
};

pub(super) const DESCRIPTION: &str = "Explain the answer of find_skills: scores and what they are \
made of, words, and what took the place of what. Pass the same task and needs. Not needed to do a task.";

/// Skills of a ranking among which the one in question is looked for.
const N_RANKED: usize = 100;

/// What the tool takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainRoute {
    /// The task.
    task: String,
    /// The needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    needs: Vec<String>,
    /// Why was this one chosen, or not?
    #[serde(default, skip_serializing_if = "String::is_empty")]
    skill_id: String,
}

impl ExplainRoute {
    /// Answers the call.
    pub(super) fn answer(self, router: &Router) -> Result<ExplanationView> {
        let query = Query::new(self.task)?.with_needs(self.needs)?;
        // An unknown id is told before anything is ranked.
        let asked = Some(self.skill_id.trim()).filter(|id| !id.is_empty());
        let asked = asked.map(|id| router.resolve(id)).transpose()?;
        let options = RouteOptions { max_skills: None, budget_tokens: 0, n_hints: 0 };
        let route = router.route(&query, &options)?;
        let skill = asked.map(|id| asked_skill(router, &route, id)).transpose()?;
        Ok(ExplanationView { skill, ..ExplanationView::from(route) })
    }
}

/// Returns how a skill stands in a route.
fn asked_skill(router: &Router, route: &Route, id: SkillId) -> Result<AskedSkill> {
    let loads = |step: &RouteStep| step.skills.iter().any(|skill| skill.id == id);
    let chosen = route.steps.iter().position(loads);
    let standings = route.steps.iter().map(|step| standing(router, &step.subtask, &id));
    let standings: Vec<Option<StandingView>> = standings.collect::<Result<_>>()?;
    let standing = standings.into_iter().flatten().min_by_key(|standing| standing.place);
    let mut left_out = route.steps.iter().flat_map(|step| &step.alternatives);
    let trust = router.trust(&id)?;
    let reason = match (chosen, left_out.find(|skill| skill.id == id), &standing) {
        _ if router.is_blocked(&id)? => "the user does not want it loaded".to_owned(),
        (Some(step), _, _) => format!("it is chosen for step {}", step + 1),
        (None, Some(skill), _) => in_words(&skill.reason),
        (None, None, Some(standing)) if route.ruled_out.is_empty() => {
            format!("it ranks too low to be considered: at place {}", standing.place)
        }
        // Every plan considers at least so many.
        (None, None, Some(standing)) if standing.place <= N_SPARE_CANDIDATES => {
            format!("it is what the task does not want (`{}`)", told(&route.ruled_out).join("`, `"))
        }
        (None, None, Some(standing)) => format!(
            "it is what the task does not want (`{}`), or it ranks too low: at place {}",
            told(&route.ruled_out).join("`, `"),
            standing.place
        ),
        (None, None, None) => format!("it is not among the first {N_RANKED} skills"),
    };
    let missing = match (&standing, route.steps.first()) {
        (None, Some(step)) => missing(router, &step.subtask, &id)?,
        _ => Vec::new(),
    };
    Ok(AskedSkill {
        skill_id: id,
        is_chosen: chosen.is_some(),
        reason,
        trust: label(&trust.to_string()),
        warnings: warnings(&trust),
        missing,
        standing,
    })
}

/// Returns the words of a step that a skill does not have, though no ranking holds it.
fn missing(router: &Router, subtask: &str, id: &SkillId) -> Result<Vec<String>> {
    let unranked = Candidate::new(id.clone(), 0.0);
    let explained = router.explain(&Query::new(subtask)?, &[unranked])?;
    Ok(explained.first().map(|skill| told(&skill.explanation.missing)).unwrap_or_default())
}

/// Returns how a skill stands in the ranking for a step; `None` where it is not among the first.
fn standing(router: &Router, subtask: &str, id: &SkillId) -> Result<Option<StandingView>> {
    let query = Query::new(subtask)?;
    let Ranking { candidates, .. } = router.search(&query, N_RANKED)?;
    let Some(at) = candidates.iter().position(|candidate| candidate.skill == *id) else {
        return Ok(None);
    };
    let explained = router.explain(&query, &[candidates[at].clone(), candidates[0].clone()])?;
    Ok(match &explained[..] {
        [skill, first] => Some(StandingView::new(subtask, at + 1, skill, first)),
        _ => None,
    })
}
