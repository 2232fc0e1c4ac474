//! [`Composer`]: the port of what makes plans.

use super::{Judgement, Plan};
use crate::{
    error::Result,
    query::Need,
    retrieve::{Candidate, ScoreScale, WordMatch},
    skill::SkillId,
};

/// What a [`Composer`] is asked.
pub struct ComposeRequest<'a> {
    /// The task as it was read.
    pub task: &'a str,
    /// The needs of the task with their rankings, in the order of the task; what they are says
    /// `split`.
    pub steps: &'a [StepCandidates],
    /// How the task was split.
    pub split: Split,
    /// What scores mean.
    pub scale: ScoreScale,
    /// Returns how much the bodies of two skills have in common, in `[0, 1]`.
    pub similarity: &'a dyn Fn(&SkillId, &SkillId) -> f32,
    /// Returns how well the second of two skills works after the first, in `[0, 1]`.
    pub compatibility: &'a dyn Fn(&SkillId, &SkillId) -> f32,
    /// Returns the name and the description of a skill, in a line each; `None` for one that the
    /// library lacks.
    pub headline: &'a dyn Fn(&SkillId) -> Option<String>,
    /// Returns the ids of all skills of the library, ascending.
    pub library: &'a dyn Fn() -> Vec<SkillId>,
    /// Most skills that a plan may load.
    pub max_skills: usize,
    /// Skills of the library.
    pub n_skills: usize,
}

/// What the steps of a request are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// The task as a whole, alone.
    Whole,
    /// The task as a whole, and then its parts, which a decomposer found; not every part asks for a
    /// skill.
    Parts,
    /// Needs that the caller named: each asks for one skill, and the others could replace it.
    Needs,
}

/// Most skills of a plan, if nobody says so: more of one thing are seldom right.
const MAX_SKILLS: usize = 3;

/// The same of a task in parts: `SkillComposer`'s sequences are no longer.
const MAX_SKILLS_OF_PARTS: usize = 6;

impl Split {
    /// Returns how many skills a plan may load if nobody says so.
    pub fn usual_limit(self, n_needs: usize) -> usize {
        match self {
            Self::Whole => MAX_SKILLS,
            Self::Parts => MAX_SKILLS_OF_PARTS,
            Self::Needs => n_needs.max(MAX_SKILLS),
        }
    }

    /// Returns the task as a whole, where it stands before its parts, and the steps that ask for
    /// skills of their own.
    pub fn divide<T>(self, steps: &[T]) -> (Option<&T>, &[T]) {
        match (self, steps) {
            (Self::Parts, [whole, parts @ ..]) => (Some(whole), parts),
            _ => (None, steps),
        }
    }
}

/// The best skills for one need.
#[derive(Debug, Clone, PartialEq)]
pub struct StepCandidates {
    /// The need.
    pub need: Need,
    /// The best skills of its ranking, best first; the words of the first are read.
    pub candidates: Vec<Considered>,
    /// Whether the best one helps.
    pub judgement: Judgement,
}

/// A skill that a plan may load.
#[derive(Debug, Clone, PartialEq)]
pub struct Considered {
    /// The skill with its score and signals.
    pub candidate: Candidate,
    /// Its name.
    pub name: String,
}

impl Considered {
    /// Returns the identifier of the skill.
    pub fn id(&self) -> &SkillId {
        &self.candidate.skill
    }

    /// Returns how the words of the need and of the skill meet, if they were read.
    pub(super) fn words(&self) -> Option<&WordMatch> {
        self.candidate.signals.words.as_ref()
    }
}

/// Decides which of the skills to load, and in which steps; may order steps anew.
///
/// The contract, which one test suite checks for every implementation:
/// - every need is one step of the plan, in whatever order the steps are to be done;
/// - every candidate of a need is in its step exactly once: as a skill, or left out with the
///   reason;
/// - at most `max_skills` skills are loaded over all steps, none twice;
/// - skills and those left out keep the order of the ranking;
/// - the decision is to abstain exactly if no skill is loaded.
pub trait Composer: Send + Sync {
    /// Returns the name of the composer with its constants.
    fn identity(&self) -> String;

    /// Returns the plan.
    ///
    /// # Errors
    /// [`Error::Chat`](crate::Error::Chat) if a model that it asks fails; the composers of this
    /// crate ask none and never fail.
    fn compose(&self, request: &ComposeRequest<'_>) -> Result<Plan>;
}
