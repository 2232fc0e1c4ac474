//! [`Route`]: the whole answer to a query.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Correction, Hint, NeedsPass};
use crate::{
    compose::{Decision, DropReason},
    explain::Explanation,
    page::Page,
    retrieve::Candidate,
    skill::{Skill, SkillId},
    trust::TrustNote,
};

/// The whole answer to a query.
///
/// The same index and query give the same route, but for [`StageTrace::time_us`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Route {
    /// Identifier of the query in a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_id: Option<String>,
    /// Load or abstain.
    pub decision: Decision,
    /// Calibrated estimate in `[0, 1]` that the best skill helps; `null` if the ranking is not
    /// calibrated.
    pub confidence: Option<f32>,
    /// The decision in a sentence.
    pub reason: String,
    /// The plan, in execution order.
    pub steps: Vec<RouteStep>,
    /// The parts of the planned skills that the query needs, in plan order.
    pub pages: Vec<Page>,
    /// Other skills that may help, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
    /// What of the task was read as the request, if the rest was taken for pasted material (a log,
    /// code, a mail), or for the background of a long task. The rest counts less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// What of a long task was not read, in its order: a licence, front matter, a table of contents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formalities: Vec<String>,
    /// Words of the task that were taken for typing errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<Correction>,
    /// What the task says it does not want, in its order: skills with a name that says so were left
    /// out. Then what it says is not to be done, which was taken out of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ruled_out: Vec<String>,
    /// What a chat model said that the task needs, if one was asked: the steps are for the needs of
    /// the last pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<NeedsPass>,
    /// What each stage did.
    pub trace: Vec<StageTrace>,
}

impl Route {
    /// Returns the skills that no step loads, each once: first those that only the limit keeps out,
    /// then by step, the best first.
    pub fn left_out(&self) -> Vec<&Alternative> {
        let loaded = self.steps.iter().flat_map(|step| &step.skills).map(|skill| &skill.id);
        let mut seen: HashSet<&SkillId> = loaded.collect();
        let all = self.steps.iter().flat_map(|step| &step.alternatives);
        let is_over = |other: &&Alternative| other.reason == DropReason::OverLimit;
        let (over, rest): (Vec<_>, Vec<_>) = all.partition(is_over);
        over.into_iter().chain(rest).filter(|other| seen.insert(&other.id)).collect()
    }
}

/// One step of the answer: a subtask and the skills that serve it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RouteStep {
    /// What the step is about; the whole task where the task is not split.
    pub subtask: String,
    /// Calibrated estimate in `[0, 1]` that the best skill for it helps; `null` if the ranking is
    /// not calibrated.
    pub confidence: Option<f32>,
    /// Positions of the steps that must come first, counted from 0, rising: the direct ones.
    pub depends_on: Vec<u32>,
    /// Skills to load, best first.
    pub skills: Vec<ExplainedSkill>,
    /// Skills that were considered and left out, best first.
    pub alternatives: Vec<Alternative>,
}

/// A skill that is shown, with the reasons for its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedSkill {
    /// Identifier.
    pub id: SkillId,
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Where the skill comes from.
    pub source: String,
    /// Absolute path of its folder, with the files that belong to it, if it is on disk: one line,
    /// without hidden characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// How far it is trusted, and what speaks against it.
    #[serde(default)]
    pub trust: TrustNote,
    /// Score of the ranking; comparable within one answer only. A skill of a part of the task has
    /// the score that it has for the task as a whole; one of a need that the caller gave has that
    /// for the need.
    pub score: f32,
    /// What the score is made of.
    pub explanation: Explanation,
    /// Copies of it among the candidates, best first: exact ones, those of its name whose bodies
    /// have much in common, and those of its description whose bodies are nearly the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<SkillId>,
}

impl ExplainedSkill {
    /// Returns a skill without copies, folder and trust.
    pub(super) fn new(candidate: &Candidate, skill: &Skill, explanation: Explanation) -> Self {
        Self {
            id: skill.id.clone(),
            name: skill.name.clone(),
            description: skill.description.clone(),
            source: skill.source.clone(),
            folder: None,
            trust: TrustNote::default(),
            score: candidate.score,
            explanation,
            copies: Vec::new(),
        }
    }
}

/// A skill that was considered and left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    /// Identifier.
    pub id: SkillId,
    /// Name.
    pub name: String,
    /// Score of the ranking, as that of an [`ExplainedSkill`].
    pub score: f32,
    /// Why it was left out.
    pub reason: DropReason,
}

/// A stage of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Rankings of the task and of its parts.
    Retrieve,
    /// The choice of skills.
    Compose,
    /// Parts of the chosen skills.
    Page,
}

/// What one stage did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageTrace {
    /// Which one.
    pub stage: Stage,
    /// Wall-clock time in microseconds.
    pub time_us: u64,
    /// Number of inputs: skills in the index, candidates, or nodes of the planned skills.
    pub n_in: usize,
    /// Number of outputs: candidates, planned skills, or selected nodes.
    pub n_out: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_limit_keeps_out_is_told_first_and_all_once() {
        let loaded = |id: &str| {
            let [name, description, body, source] = [""; 4].map(str::to_owned);
            let skill = Skill { id: SkillId::new(id), name, description, body, source };
            let candidate = Candidate::new(skill.id.clone(), 1.0);
            ExplainedSkill::new(&candidate, &skill, Explanation::default())
        };
        let other = |id: &str, reason| Alternative {
            id: SkillId::new(id),
            name: id.to_owned(),
            score: 0.0,
            reason,
        };
        let step = |id: &str, alternatives| RouteStep {
            subtask: String::new(),
            confidence: None,
            depends_on: Vec::new(),
            skills: vec![loaded(id)],
            alternatives,
        };
        let (below, over) = (DropReason::BelowCut, DropReason::OverLimit);
        let steps = vec![
            step("a", vec![other("c", below.clone()), other("b", DropReason::LoadedBefore)]),
            step("b", vec![other("d", over), other("c", below)]),
        ];
        let route = Route {
            query_id: None,
            decision: Decision::Load,
            confidence: None,
            reason: String::new(),
            steps,
            pages: Vec::new(),
            hints: Vec::new(),
            request: None,
            corrections: Vec::new(),
            formalities: Vec::new(),
            ruled_out: Vec::new(),
            passes: Vec::new(),
            trace: Vec::new(),
        };
        let ids: Vec<&str> = route.left_out().iter().map(|other| other.id.as_str()).collect();
        assert_eq!(ids, ["d", "c"]);
    }
}
