//! [`ExplanationView`]: why skills were chosen or left out, as it goes over the wire.

use schemars::JsonSchema;
use serde::Serialize;
use skillmux::{
    compose::Decision,
    explain::{Explanation, whole_words},
    retrieve::Contribution,
    route::{Alternative, ExplainedSkill, Route, RouteStep},
    skill::SkillId,
};

use crate::view::{in_words, label, rounded};

/// Features of a skill that are told, and skills that a step left out.
const MAX_PARTS: usize = 5;

/// Words of each kind that are told.
const MAX_WORDS: usize = 12;

/// Why a route is as it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExplanationView {
    /// Whether to load anything.
    pub(crate) decision: Decision,
    /// Estimate from 0 to 1 that a loaded skill helps; null where none was fitted.
    pub(crate) confidence: Option<f64>,
    /// The decision in a sentence.
    pub(crate) reason: String,
    /// What was looked for, in the order of use.
    pub(crate) steps: Vec<StepView>,
    /// The skill that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) skill: Option<AskedSkill>,
}

/// The task, one of its parts, or one of the needs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StepView {
    /// What was looked for.
    pub(crate) subtask: String,
    /// Estimate from 0 to 1 that the best skill for it helps; null where none was fitted.
    pub(crate) confidence: Option<f64>,
    /// Steps that must come first, counted from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<u32>,
    /// Skills that were chosen.
    pub(crate) skills: Vec<ChosenSkill>,
    /// The best skills that were not.
    pub(crate) left_out: Vec<LeftOutSkill>,
}

/// A skill that was chosen.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChosenSkill {
    /// Id by which the skill is read.
    pub(crate) skill_id: SkillId,
    /// What speaks for it.
    #[serde(flatten)]
    pub(crate) grounds: Grounds,
}

/// A skill that was not chosen.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LeftOutSkill {
    /// Id by which the skill is read.
    pub(crate) skill_id: SkillId,
    /// Rank score.
    pub(crate) score: f64,
    /// Why it was left out.
    pub(crate) reason: String,
}

/// The skill that was asked about, and how it stands beside the best one of its step.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AskedSkill {
    /// Its id.
    pub(crate) skill_id: SkillId,
    /// Whether it was chosen.
    pub(crate) is_chosen: bool,
    /// Why, or why not.
    pub(crate) reason: String,
    /// Kind of place, how far the user trusts it, license.
    pub(crate) trust: String,
    /// What speaks against it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// Words of the first step that it does not have, if it was not ranked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) missing: Vec<String>,
    /// How it was ranked, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) standing: Option<StandingView>,
}

/// How a skill was ranked for the step where it comes nearest to the top.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StandingView {
    /// The step.
    pub(crate) subtask: String,
    /// Its place, from 1, among the skills that are ranked for the step alone.
    pub(crate) place: usize,
    /// Score of the first of them.
    pub(crate) best_score: f64,
    /// What speaks for it.
    #[serde(flatten)]
    pub(crate) grounds: Grounds,
    /// What the first has more of, the most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) lacks: Vec<PartView>,
}

/// What speaks for a skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Grounds {
    /// Rank score; comparable within one step only.
    pub(crate) score: f64,
    /// What the score is made of, the largest parts of it.
    pub(crate) parts: Vec<PartView>,
    /// Words of the step that occur in the skill, rarest first.
    pub(crate) matched: Vec<String>,
    /// Words of the step that do not, rarest first.
    pub(crate) missing: Vec<String>,
}

/// A part of a score.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct PartView {
    /// Name of the feature.
    pub(crate) feature: String,
    /// What it adds.
    pub(crate) value: f64,
}

impl From<Route> for ExplanationView {
    fn from(route: Route) -> Self {
        Self {
            decision: route.decision,
            confidence: route.confidence.map(rounded),
            reason: label(&route.reason),
            steps: route.steps.into_iter().map(StepView::from).collect(),
            skill: None,
        }
    }
}

impl From<RouteStep> for StepView {
    fn from(step: RouteStep) -> Self {
        Self {
            subtask: label(&step.subtask),
            confidence: step.confidence.map(rounded),
            after: step.depends_on.iter().map(|at| at.saturating_add(1)).collect(),
            skills: step.skills.iter().map(ChosenSkill::from).collect(),
            left_out: step.alternatives.iter().take(MAX_PARTS).map(LeftOutSkill::from).collect(),
        }
    }
}

impl From<&ExplainedSkill> for ChosenSkill {
    fn from(skill: &ExplainedSkill) -> Self {
        Self { skill_id: skill.id.clone(), grounds: Grounds::from(skill) }
    }
}

impl From<&Alternative> for LeftOutSkill {
    fn from(skill: &Alternative) -> Self {
        Self {
            skill_id: skill.id.clone(),
            score: rounded(skill.score),
            reason: label(&in_words(&skill.reason)),
        }
    }
}

impl From<&ExplainedSkill> for Grounds {
    fn from(skill: &ExplainedSkill) -> Self {
        let Explanation { contributions, matched, missing, .. } = &skill.explanation;
        Self {
            score: rounded(skill.score),
            parts: largest(contributions.clone()),
            matched: told(&whole_words(matched)),
            missing: told(missing),
        }
    }
}

/// Returns the words that are told: the rarest.
pub(crate) fn told(words: &[String]) -> Vec<String> {
    words.iter().take(MAX_WORDS).map(|word| label(word)).collect()
}

impl StandingView {
    /// Returns how a skill stands beside the first of a ranking.
    pub(crate) fn new(
        subtask: &str,
        place: usize,
        skill: &ExplainedSkill,
        first: &ExplainedSkill,
    ) -> Self {
        Self {
            subtask: label(subtask),
            place,
            best_score: rounded(first.score),
            grounds: Grounds::from(skill),
            lacks: lacks(&skill.explanation.contributions, &first.explanation.contributions),
        }
    }
}

/// Returns what a better score has more of.
fn lacks(own: &[Contribution], better: &[Contribution]) -> Vec<PartView> {
    let own_value = |feature: &str| {
        own.iter().filter(|part| part.feature == feature).map(|part| part.value).sum::<f32>()
    };
    let more = |part: &Contribution| {
        let value = part.value - own_value(&part.feature);
        (value > 0.0).then(|| Contribution { feature: part.feature.clone(), value })
    };
    largest(better.iter().filter_map(more).collect())
}

/// Returns the parts that weigh most, for or against.
fn largest(mut parts: Vec<Contribution>) -> Vec<PartView> {
    parts.sort_by(|a, b| {
        b.value.abs().total_cmp(&a.value.abs()).then_with(|| a.feature.cmp(&b.feature))
    });
    let views = parts.into_iter().take(MAX_PARTS);
    views.map(|part| PartView { value: rounded(part.value), feature: part.feature }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(parts: &[(&str, f32)]) -> Vec<Contribution> {
        parts
            .iter()
            .map(|(name, value)| Contribution { feature: (*name).to_owned(), value: *value })
            .collect()
    }

    fn named(views: &[PartView]) -> Vec<(&str, f64)> {
        views.iter().map(|part| (part.feature.as_str(), part.value)).collect()
    }

    #[test]
    fn the_parts_that_weigh_most_come_first_and_are_few() {
        let many =
            parts(&[("a", 0.1), ("b", -3.0), ("c", 2.0), ("d", 0.5), ("e", 0.5), ("f", 0.2)]);
        assert_eq!(
            named(&largest(many)),
            [("b", -3.0), ("c", 2.0), ("d", 0.5), ("e", 0.5), ("f", 0.2)]
        );
    }

    #[test]
    fn a_skill_lacks_what_the_better_one_has_more_of() {
        let own = parts(&[("words", 1.0), ("name", 2.0), ("rank", -1.0)]);
        let better = parts(&[("words", 1.5), ("name", 2.0), ("rank", 0.25), ("phrase", 3.0)]);
        assert_eq!(named(&lacks(&own, &better)), [("phrase", 3.0), ("rank", 1.25), ("words", 0.5)]);
        assert_eq!(named(&lacks(&better, &own)), []);
    }
}
