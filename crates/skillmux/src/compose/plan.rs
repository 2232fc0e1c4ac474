//! [`Plan`]: what to load, and what was left out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{query::Need, skill::SkillId};

/// Whether the agent should load anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Load the skills of the plan.
    Load,
    /// No skill fits; answer without one.
    Abstain,
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
    /// An earlier step loads it.
    LoadedBefore,
    /// Another need keeps it, or a near-copy of it, and the next skill of this need is not much
    /// worse.
    ServesOther,
    /// It would serve a need that another skill of the plan serves.
    Substitute {
        /// That skill.
        of: SkillId,
    },
    /// The plan holds as many skills as were asked for, and this one is next: without that limit,
    /// it would be loaded as well.
    OverLimit,
}

impl DropReason {
    /// Returns the skill of an earlier step that is there in place of the one that was left out, if
    /// that is the reason.
    pub fn server<'s>(&'s self, left_out: &'s SkillId) -> Option<&'s SkillId> {
        match self {
            Self::LoadedBefore => Some(left_out),
            Self::SameName { of } | Self::NearDuplicate { of } => Some(of),
            _ => None,
        }
    }
}

/// A skill that was considered and left out.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The skill.
    pub skill: SkillId,
    /// Why.
    pub reason: DropReason,
}

/// One step of a plan: a need and the skills that serve it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanStep {
    /// What the step is about; the whole task where the task is not split.
    pub need: Need,
    /// Skills to load, best first.
    pub skills: Vec<SkillId>,
    /// Skills that were considered and left out, best first.
    pub left_out: Vec<LeftOut>,
}

/// Which skills to load, in what order.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Load or abstain.
    pub decision: Decision,
    /// The decision in a sentence.
    pub reason: String,
    /// Steps in execution order.
    pub steps: Vec<PlanStep>,
}

impl PlanStep {
    /// Returns whether a skill of the plan serves the need, of this step or of an earlier one.
    pub(super) fn is_served(&self) -> bool {
        let is_server = |left: &LeftOut| left.reason.server(&left.skill).is_some();
        !self.skills.is_empty() || self.left_out.iter().any(is_server)
    }
}

impl Plan {
    /// Returns the plan with these steps, which loads if any of them does.
    pub fn of_steps(steps: Vec<PlanStep>, reason: String) -> Self {
        let is_any = steps.iter().any(|step| !step.skills.is_empty());
        let decision = if is_any { Decision::Load } else { Decision::Abstain };
        Self { decision, reason, steps }
    }
}
