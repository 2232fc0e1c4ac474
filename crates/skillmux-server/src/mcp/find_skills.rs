//! The tool `find_skills`: whether a task needs skills, and which.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skillmux::{
    Result,
    query::Query,
    route::{MAX_HINTS, RouteOptions, Router},
    text::one_line,
};

use super::{read_skill, text::route_text};
use crate::view::RouteView;

pub(super) const DESCRIPTION: &str = "Find the skills that help with a task: instructions on how to do one kind of work well. Call \
this when a task begins that is more than a short answer, and again when it changes. Pass \
the task in the user's words, in any language, and your needs: one short phrase for each \
capability that it asks for. You get `load`, with the skills in the order of use and the \
needs that each serves; or `abstain`. If a need gets no skill or a wrong one, call again \
with `hints: 15`, and then with needs in the words of the skills that you see. After `load`, \
call read_skill, or set budget_tokens to get the parts right away.";

/// What the tool takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindSkills {
    /// The task in the user's words, without attached files or logs.
    task: String,
    /// What the task asks for, one short phrase for each capability, in the order of use.
    #[serde(default)]
    needs: Vec<String>,
    /// Most skills to return; 0 for the usual number: three, or one for each need.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20))]
    max_skills: u32,
    /// Most other skills to name in a line each, to choose from or to revise the needs by; 0 for none.
    #[serde(default)]
    #[schemars(range(min = 0, max = 15))]
    hints: u32,
    /// Most tokens of skill text to return in pages; 0 for none.
    #[serde(default)]
    #[schemars(range(min = 0, max = 50_000))]
    budget_tokens: u32,
}

/// What the tool gives.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FindSkillsAnswer {
    #[serde(flatten)]
    route: RouteView,
    /// What to do with this answer.
    next: String,
}

impl FindSkills {
    /// Answers the call.
    pub(super) fn answer(self, router: &Router) -> Result<FindSkillsAnswer> {
        let query = Query::new(self.task)?.with_needs(self.needs)?;
        let max_skills = usize::try_from(self.max_skills).ok().filter(|n| *n > 0);
        let options = RouteOptions {
            max_skills,
            budget_tokens: self.budget_tokens,
            n_hints: usize::try_from(self.hints).unwrap_or(MAX_HINTS),
        };
        let route = RouteView::from(router.route(&query, &options)?);
        let next = next_step(&route);
        Ok(FindSkillsAnswer { route, next })
    }
}

impl FindSkillsAnswer {
    /// Returns the answer as a model reads it.
    pub(super) fn to_text(&self) -> String {
        format!("{}\nnext: {}", route_text(&self.route), self.next)
    }
}

/// Returns what the agent should do with the answer.
fn next_step(route: &RouteView) -> String {
    let read = read_skill::NAME;
    let id = |id: &str| format!("`{}`", one_line(id));
    let ids: Vec<_> = route.skills.iter().map(|skill| id(skill.skill_id.as_str())).collect();
    match ids.as_slice() {
        [] if route.alternatives.is_empty() => "do the task without a skill".to_owned(),
        [] => "do the task without a skill; the ones left out most likely do not help".to_owned(),
        _ if !route.pages.is_empty() => format!(
            "apply the pages as far as they serve the task; call {read} for parts that they leave \
             out"
        ),
        [id] => format!("call {read} with skill_id {id} and the task as query"),
        _ => format!(
            "call {read} with the task as query for each skill_id you need, in this order: {}",
            ids.join(", ")
        ),
    }
}
