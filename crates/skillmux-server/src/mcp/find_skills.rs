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

pub(super) const DESCRIPTION: &str = "Find the skills (instructions on one kind of work) that help with \
a task. Call it when a task begins, and again when it changes. You get `load` with skills in the order of \
use, or `abstain`. If a need gets no skill or a wrong one, call again with hints: 15, then with needs in the \
words of the skills you see. Then call read_skill, or set budget_tokens.";

/// What a model should look at that no score tells: a skill for `PostgreSQL` is found for
/// `MongoDB`, too.
const CAUTION: &str = "use a skill only if its description covers the subject of the task; a word under `missing` that \
names the subject, such as a product, speaks against it. Then ";

/// What the tool takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindSkills {
    /// The task in the user's words, in any language, without files or logs.
    task: String,
    /// A short phrase for each capability that the task asks for, in the order of use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    needs: Vec<String>,
    /// Most skills; without it 3, for a task in parts 6, for needs as many, but at least 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 20))]
    max_skills: Option<u32>,
    /// Other skills to name, in a line each.
    #[serde(default)]
    #[schemars(range(min = 0, max = 15))]
    hints: u32,
    /// Tokens of skill text to return.
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
        let options = RouteOptions {
            max_skills: self.max_skills.and_then(|n| usize::try_from(n).ok()),
            budget_tokens: self.budget_tokens,
            n_hints: usize::try_from(self.hints).unwrap_or(MAX_HINTS),
        };
        let route = RouteView::from(router.route(&query, &options)?);
        let next = next_step(&route);
        Ok(FindSkillsAnswer { route, next })
    }

    /// Answers the call where there are no skills.
    pub(super) fn answer_without_skills(&self) -> FindSkillsAnswer {
        let route = RouteView::without_skills(&self.needs);
        let next = next_step(&route);
        FindSkillsAnswer { route, next }
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
    let is_doubtful = route.skills.iter().any(|skill| !skill.why.missing.is_empty());
    let caution = if is_doubtful { CAUTION } else { "" };
    match ids.as_slice() {
        [] if route.alternatives.is_empty() => "do the task without a skill".to_owned(),
        [] => "do the task without a skill; the ones left out most likely do not help".to_owned(),
        _ if !route.pages.is_empty() => format!(
            "{caution}apply the pages as far as they serve the task; call {read} for parts that they leave \
             out"
        ),
        [id] => format!("{caution}call {read} with skill_id {id} and the task as query"),
        _ => format!(
            "{caution}call {read} with the task as query for each skill_id you need, in this order: {}",
            ids.join(", ")
        ),
    }
}
