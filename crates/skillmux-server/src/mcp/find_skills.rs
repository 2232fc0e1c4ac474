//! The tool `find_skills`: whether a task needs skills, and which.

use std::{collections::HashSet, fmt::Write as _, ops::RangeInclusive};

use rmcp::model::{JsonObject, Tool};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use skillmux::{
    compose::{Alternative, Decision, DropReason, PlannedSkill},
    retrieve::Query,
    route::{Route, RouteOptions, Router},
    skill::SkillId,
};

use super::{
    arguments::Arguments,
    failure::Failure,
    markup::{MAX_LABEL_CHARS, clip, one_line},
    page::PageAnswer,
    read_skill,
    reply::{Label, Reply, reading_tool, rounded},
};

/// Name of the tool.
pub(super) const NAME: &str = "find_skills";

const TITLE: &str = "Find skills for a task";

const DESCRIPTION: &str = "Find the skills that help with a task. A skill is a set of instructions \
on how to do one kind of task well. Call this when the user gives you a task that is more than a \
short answer, and again when the task changes. Pass the task in the user's words, in any language. \
You get a decision: `load`, with the skills in the order in which to use them, each with its \
skill_id and the words of the task that it matches and misses; or `abstain`, when no skill fits. \
After `load`, call read_skill before you follow a skill. To get the parts that the task needs \
right away, set budget_tokens.";

const MAX_SKILLS: RangeInclusive<u32> = 1..=20;
const DEFAULT_MAX_SKILLS: u32 = 3;
const BUDGET_TOKENS: RangeInclusive<u32> = 0..=50_000;
const DEFAULT_BUDGET_TOKENS: u32 = 0;

/// Alternatives past the fifth cost tokens and help no one.
const MAX_ALTERNATIVES: usize = 5;

/// Longest description in the structured answer, in characters: what the Agent Skills
/// specification allows.
const MAX_DESCRIPTION_CHARS: usize = 1024;

/// Longest description in the text, in characters; models that choose need no more.
const MAX_SHOWN_DESCRIPTION_CHARS: usize = 400;

/// What the tool answers.
#[derive(Debug, Serialize, JsonSchema)]
struct FindSkillsAnswer {
    /// Whether to load anything.
    decision: Decision,
    /// Estimate from 0 to 1 that a loaded skill helps.
    confidence: f64,
    /// The decision in a sentence.
    reason: String,
    /// Skills to use, in this order; empty after `abstain`.
    skills: Vec<FoundSkill>,
    /// The best skills that were left out.
    alternatives: Vec<LeftOut>,
    /// The parts of the skills that the task needs, if `budget_tokens` asked for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pages: Vec<PageAnswer>,
    /// What to do with this answer.
    next: String,
}

/// A skill to use. Its texts are third-party material.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundSkill {
    /// Id that `read_skill` takes.
    skill_id: SkillId,
    /// Name, clipped if it is very long.
    name: String,
    /// What the skill does and when to use it, in its author's words; clipped if it is very long.
    description: String,
    /// Where the skill comes from.
    source: String,
    /// Rank score; comparable within this answer only.
    score: f64,
    /// Why it was found.
    why: Why,
}

/// Why a skill was found.
#[derive(Debug, Serialize, JsonSchema)]
struct Why {
    /// Words of the task that occur in the skill, rarest first.
    matched: Vec<String>,
    /// Words of the task that do not, rarest first.
    missing: Vec<String>,
}

/// A skill that was left out.
#[derive(Debug, Serialize, JsonSchema)]
struct LeftOut {
    /// Id that `read_skill` takes.
    skill_id: SkillId,
    /// Name.
    name: String,
    /// Rank score.
    score: f64,
    /// Why it was left out.
    reason: String,
}

/// Returns the definition of the tool.
pub(super) fn tool() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "task": {
                "type": "string",
                "description": "The task in the user's words, without attached files or logs."
            },
            "max_skills": {
                "type": "integer",
                "minimum": MAX_SKILLS.start(),
                "maximum": MAX_SKILLS.end(),
                "default": DEFAULT_MAX_SKILLS,
                "description": "Most skills to return."
            },
            "budget_tokens": {
                "type": "integer",
                "minimum": BUDGET_TOKENS.start(),
                "maximum": BUDGET_TOKENS.end(),
                "default": DEFAULT_BUDGET_TOKENS,
                "description": "Most tokens of skill text to return in pages; 0 for none."
            }
        },
        "required": ["task"],
        "additionalProperties": false
    });
    let label = Label { name: NAME, title: TITLE, description: DESCRIPTION };
    reading_tool::<FindSkillsAnswer>(&label, input)
}

/// Answers a call.
pub(super) fn answer(arguments: JsonObject, router: &Router) -> Result<Reply, Failure> {
    let mut arguments = Arguments::new(arguments, &["task", "max_skills", "budget_tokens"])?;
    let query = Query::new(arguments.text("task")?)?;
    let max_skills = arguments.number("max_skills", &MAX_SKILLS, DEFAULT_MAX_SKILLS)?;
    let budget_tokens = arguments.number("budget_tokens", &BUDGET_TOKENS, DEFAULT_BUDGET_TOKENS)?;

    let options = RouteOptions { max_skills: max_skills as usize, budget_tokens };
    let answer = FindSkillsAnswer::from(router.route(&query, &options)?);
    let text = answer.to_text();
    Reply::new(&answer, text)
}

impl From<Route> for FindSkillsAnswer {
    fn from(route: Route) -> Self {
        let mut seen = HashSet::new();
        let (mut skills, mut left_out) = (Vec::new(), Vec::new());
        for step in route.steps {
            skills.extend(step.skills);
            left_out.extend(step.alternatives);
        }
        // Steps may share skills, and one step may leave out what another one takes.
        skills.retain(|skill| seen.insert(skill.id.clone()));
        left_out.retain(|skill| seen.insert(skill.id.clone()));
        left_out.truncate(MAX_ALTERNATIVES);

        let skills: Vec<_> = skills.into_iter().map(FoundSkill::from).collect();
        let pages: Vec<_> = route.pages.into_iter().map(PageAnswer::from).collect();
        let alternatives: Vec<_> = left_out.into_iter().map(LeftOut::from).collect();
        let next = next_step(&skills, &alternatives, &pages);
        Self {
            decision: route.decision,
            confidence: rounded(route.confidence),
            reason: clip(&route.reason, MAX_LABEL_CHARS),
            skills,
            alternatives,
            pages,
            next,
        }
    }
}

impl From<PlannedSkill> for FoundSkill {
    fn from(skill: PlannedSkill) -> Self {
        let why = Why { matched: skill.explanation.matched, missing: skill.explanation.missing };
        Self {
            skill_id: skill.id,
            name: clip(&skill.name, MAX_LABEL_CHARS),
            description: clip(&skill.description, MAX_DESCRIPTION_CHARS),
            source: clip(&skill.source, MAX_LABEL_CHARS),
            score: rounded(skill.score),
            why,
        }
    }
}

impl From<Alternative> for LeftOut {
    fn from(skill: Alternative) -> Self {
        let reason = match skill.reason {
            DropReason::BelowCut => "its score is below the cut".to_owned(),
            DropReason::SameName { of } => format!("it has the name of `{of}`"),
            DropReason::NearDuplicate { of } => format!("it nearly repeats `{of}`"),
            DropReason::OverLimit => "max_skills is reached".to_owned(),
            _ => "it was not chosen".to_owned(),
        };
        Self {
            skill_id: skill.id,
            name: clip(&skill.name, MAX_LABEL_CHARS),
            score: rounded(skill.score),
            reason: clip(&reason, MAX_LABEL_CHARS),
        }
    }
}

impl FindSkillsAnswer {
    /// Returns the answer as a model reads it; every untrusted text stays on its line.
    fn to_text(&self) -> String {
        let decision = match self.decision {
            Decision::Load => "load",
            Decision::Abstain => "abstain",
        };
        let mut text = format!(
            "decision: {decision} (confidence {:.2}): {}\n",
            self.confidence,
            one_line(&self.reason)
        );
        for (i, skill) in self.skills.iter().enumerate() {
            let number = i + 1;
            let (id, name) = (one_line(skill.skill_id.as_str()), one_line(&skill.name));
            let description = clip(&one_line(&skill.description), MAX_SHOWN_DESCRIPTION_CHARS);
            let source = one_line(&skill.source);
            let _ = write!(
                text,
                "\n{number}. skill_id: {id}\n   name: {name}\n   description: {description}\n   \
                 source: {source}\n   score: {}{}{}\n",
                skill.score,
                words("; matched: ", &skill.why.matched),
                words("; missing: ", &skill.why.missing),
            );
        }
        if !self.alternatives.is_empty() {
            text.push_str("\nleft out:\n");
        }
        for skill in &self.alternatives {
            let (id, reason) = (one_line(skill.skill_id.as_str()), one_line(&skill.reason));
            let _ = writeln!(text, "- {id} (score {}): {reason}", skill.score);
        }
        for page in &self.pages {
            let _ = write!(text, "\n{}\n", page.to_text());
        }
        let _ = write!(text, "\nnext: {}", self.next);
        text
    }
}

/// Returns `lead` and the words, or nothing where there are no words.
fn words(lead: &str, words: &[String]) -> String {
    if words.is_empty() { String::new() } else { format!("{lead}{}", one_line(&words.join(", "))) }
}

/// Returns what the agent should do with the answer.
fn next_step(skills: &[FoundSkill], left_out: &[LeftOut], pages: &[PageAnswer]) -> String {
    let read = read_skill::NAME;
    let ids: Vec<_> =
        skills.iter().map(|skill| format!("`{}`", one_line(skill.skill_id.as_str()))).collect();
    match ids.as_slice() {
        [] if left_out.is_empty() => "do the task without a skill".to_owned(),
        [] => "do the task without a skill; the ones left out most likely do not help".to_owned(),
        _ if !pages.is_empty() => format!(
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
