//! Turns a ranking into a plan: whether to load anything, which skills, and how many.
//!
//! ```
//! use skillmux::{compose::{ComposeRequest, Composer, Decision, ScoreCut, ScoreScale}, explain::Explanation, skill::SkillId};
//! # use skillmux::compose::PlannedSkill;
//! # let planned = |id: &str, score| PlannedSkill {
//! #     id: SkillId::new(id),
//! #     name: id.to_owned(),
//! #     description: String::new(),
//! #     source: String::new(),
//! #     score,
//! #     explanation: Explanation { score_share: 0.5, n_terms: 7, ..Explanation::default() },
//! # };
//!
//! let found = [planned("pdf-forms", 30.0), planned("pdf-merge", 28.0), planned("excel", 6.0)];
//! let plan = ScoreCut::default().compose(&ComposeRequest {
//!     task: "fill the form and append the annex",
//!     found: &found,
//!     scale: ScoreScale::Proportional,
//!     n_skills: 50,
//!     similarity: &|_, _| 0.0,
//!     max_skills: 5,
//! });
//!
//! assert_eq!(plan.decision, Decision::Load);
//! assert_eq!(plan.steps[0].skills.len(), 2);
//! assert_eq!(plan.steps[0].alternatives[0].id.as_str(), "excel");
//! ```

mod confidence;
mod score_cut;
mod top_k;

pub use confidence::{Calibration, Calibrations, Evidence, Features};
pub use score_cut::{ScoreCut, ScoreCutConfig};
pub use top_k::TopK;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{explain::Explanation, skill::SkillId};

/// Whether the agent should load anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Load the skills of the plan.
    Load,
    /// No skill fits; answer without one.
    Abstain,
}

/// A skill in a plan, with the reasons for its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedSkill {
    /// Identifier.
    pub id: SkillId,
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Where the skill comes from.
    pub source: String,
    /// Score of the ranking; comparable within one answer only.
    pub score: f32,
    /// What the score is made of.
    pub explanation: Explanation,
}

/// A skill that was considered and left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    /// Identifier.
    pub id: SkillId,
    /// Name.
    pub name: String,
    /// Score of the ranking.
    pub score: f32,
    /// Why it was left out.
    pub reason: DropReason,
}

/// Why a skill of the ranking is not in the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "why")]
#[non_exhaustive]
pub enum DropReason {
    /// Its score is below the cut.
    BelowCut,
    /// The plan abstains.
    Abstained,
    /// A skill of the same name is in the plan.
    SameName {
        /// That skill.
        of: SkillId,
    },
    /// It nearly repeats a skill that is in the plan.
    NearDuplicate {
        /// The skill it repeats.
        of: SkillId,
    },
    /// The plan holds as many skills as were asked for.
    OverLimit,
}

/// One step of a plan: a subtask and the skills that serve it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// What the step is about; the whole task where the task is not split.
    pub subtask: String,
    /// Positions of the steps that must come first.
    pub depends_on: Vec<u32>,
    /// Skills to load, best first.
    pub skills: Vec<PlannedSkill>,
    /// Skills that were considered and left out, best first.
    pub alternatives: Vec<Alternative>,
}

/// Which skills to load, in what order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Load or abstain.
    pub decision: Decision,
    /// Calibrated estimate in `[0, 1]` that the best skill helps.
    pub confidence: f32,
    /// The decision in a sentence.
    pub reason: String,
    /// Steps in execution order.
    pub steps: Vec<PlanStep>,
}

/// What the scores of a ranking mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScoreScale {
    /// Half the score of another is half as good a match.
    Proportional,
    /// One less is `e` times less likely the right skill, whatever the scores themselves are.
    LogOdds,
}

/// What a [`Composer`] is asked.
pub struct ComposeRequest<'a> {
    /// The task in plain words.
    pub task: &'a str,
    /// The best skills of the ranking, best first.
    pub found: &'a [PlannedSkill],
    /// What their scores mean.
    pub scale: ScoreScale,
    /// Number of skills that were ranked.
    pub n_skills: usize,
    /// Returns how much the bodies at two positions of `found` have in common, in `[0, 1]`.
    pub similarity: &'a dyn Fn(usize, usize) -> f32,
    /// Most skills that a plan may load.
    pub max_skills: usize,
}

/// Decides which of the found skills to load.
///
/// The contract, which one test suite checks for every implementation:
/// - every found skill is in the plan exactly once: as a skill of a step, or as an alternative
///   with the reason why it was left out;
/// - at most `max_skills` skills are loaded over all steps; none if the decision is to abstain;
/// - skills and alternatives keep the order of the ranking;
/// - the decision is to abstain exactly if no skill is loaded.
pub trait Composer: Send + Sync {
    /// Returns the plan.
    fn compose(&self, request: &ComposeRequest<'_>) -> Plan;
}

impl ComposeRequest<'_> {
    fn evidence(&self) -> Option<Evidence> {
        Evidence::of(self.task, self.n_skills, self.found)
    }
}

impl Plan {
    /// Returns the plan that has one step, the task as a whole.
    fn of_one_step(
        task: &str,
        confidence: f32,
        skills: Vec<PlannedSkill>,
        alternatives: Vec<Alternative>,
        reason: String,
    ) -> Self {
        let decision = if skills.is_empty() { Decision::Abstain } else { Decision::Load };
        let step =
            PlanStep { subtask: task.to_owned(), depends_on: Vec::new(), skills, alternatives };
        Self { decision, confidence, reason, steps: vec![step] }
    }
}

impl Alternative {
    fn of(skill: &PlannedSkill, reason: DropReason) -> Self {
        Self { id: skill.id.clone(), name: skill.name.clone(), score: skill.score, reason }
    }
}
