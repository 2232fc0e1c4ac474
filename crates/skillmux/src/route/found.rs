//! [`Found`]: what was found for one need, and what a plan takes of it.

use std::sync::Arc;

use super::{
    Alternative, ExplainedSkill,
    copies::copies_of,
    merge::{OfTask, TaskScores},
    ranker::Reasons,
    standing::Standing,
};
use crate::{
    compose::{Calibration, Considered, DropReason, PlanStep, StepCandidates, judge},
    error::Result,
    index::{Index, IndexedSkill},
    retrieve::{Candidate, Contribution, ScoreScale, Translation},
    skill::SkillId,
};

/// Contribution of the task as a whole to the score of a skill for one of its needs or parts.
const TASK: &str = "task";

/// A skill of a plan.
pub(super) struct Loaded {
    pub(super) skill: IndexedSkill,
    /// What found it, if that is a translation.
    pub(super) translation: Option<Arc<Translation>>,
}

/// What was found for one need.
pub(super) struct Found<'r> {
    pub(super) scale: ScoreScale,
    pub(super) step: StepCandidates,
    pub(super) reasons: Reasons<'r>,
    /// What the task as a whole added to the scores of a need.
    pub(super) of_task: Option<&'r OfTask>,
    /// What the skills of a part are shown with.
    pub(super) scores: Option<&'r TaskScores>,
    /// The best skill, which was read to be judged.
    pub(super) best: Option<IndexedSkill>,
    /// What the need says, as it is judged.
    pub(super) text: &'r str,
    /// Whether the task asks for something, whatever the need says by itself.
    pub(super) is_asked_for: bool,
    /// What the best skill was judged by.
    pub(super) calibration: Option<&'r Calibration>,
}

impl<'r> Found<'r> {
    /// Returns what was found, with what the task as a whole says of the skills of a need and of a
    /// part.
    pub(super) fn beside(
        self,
        of_task: Option<&'r OfTask>,
        scores: Option<&'r TaskScores>,
    ) -> Self {
        Self { of_task, scores, ..self }
    }

    /// Corrects the judgement of a request with something pasted by that of the request alone.
    pub(super) fn agree_with(&mut self, alone: &Found<'_>, n_skills: usize) {
        let best = |found: &Found<'_>| {
            found.step.candidates.first().map(|considered| considered.id().clone())
        };
        let is_same_skill = best(self) == best(alone);
        let both = self.step.judgement;
        self.step.judgement =
            both.agreed(alone.step.judgement, is_same_skill, alone.threshold(n_skills));
    }

    /// Judges what was found for a long task by what asks for something in it as well, and gives
    /// reasons in the words of that first, unless the task names its best skill.
    pub(super) fn share_with(&mut self, asked: &Found<'_>, n_skills: usize) {
        if let Some(best) = self.step.candidates.first_mut() {
            let signals = &mut best.candidate.signals;
            if signals.is_named {
                return;
            }
            if let Some(words) = &mut signals.words {
                words.put_first(asked.text);
            }
        }
        let whole = self.step.judgement;
        self.step.judgement = whole.shared(asked.step.judgement, asked.threshold(n_skills));
    }

    fn threshold(&self, n_skills: usize) -> Option<f32> {
        self.calibration.map(|calibration| calibration.threshold_of(n_skills))
    }

    /// Returns what is added to the score of a candidate where it is shown.
    fn shift(&self, candidate: &Candidate) -> f32 {
        self.scores.map_or(0.0, |scores| scores.of_candidate(candidate))
    }

    /// Returns the score that a skill is shown with; 0 for one that the ranking does not hold.
    fn shown_score(&self, id: &SkillId) -> f32 {
        let candidate = self.considered(id).map(|considered| &considered.candidate);
        candidate.map_or(0.0, |candidate| candidate.score + self.shift(candidate))
    }

    fn considered(&self, id: &SkillId) -> Option<&Considered> {
        self.step.candidates.iter().find(|considered| considered.candidate.skill == *id)
    }

    /// Returns the skills that a step loads, explained, and adds them to those that are paged.
    pub(super) fn load(
        &mut self,
        index: &Index,
        step: &PlanStep,
        standing: Option<&Standing<'_>>,
        loaded: &mut Vec<Loaded>,
    ) -> Result<Vec<ExplainedSkill>> {
        let mut explained = Vec::with_capacity(step.skills.len());
        let mut ids: Vec<&SkillId> = step.skills.iter().collect();
        ids.sort_by(|a, b| self.shown_score(b).total_cmp(&self.shown_score(a)));
        for id in ids {
            let known = self.considered(id).map(|considered| considered.candidate.clone());
            let mut candidate = known.unwrap_or_else(|| Candidate::new(id.clone(), 0.0));
            let indexed = match self.best.take_if(|best| best.skill.id == *id) {
                Some(best) => best,
                None => index.skill(index.find(id)?)?,
            };
            self.reasons.read(&mut candidate, &indexed)?;
            let mut explanation = self.reasons.explain(&candidate);
            // What a name adds is the rest of the score, whatever it is.
            if let Some(of_task) = self.of_task.filter(|_| !candidate.signals.is_named) {
                let value = of_task.of_candidate(&candidate);
                explanation.contributions.push(Contribution { feature: TASK.to_owned(), value });
            }
            let shift = self.shift(&candidate);
            if shift != 0.0 {
                let feature = TASK.to_owned();
                explanation.contributions.push(Contribution { feature, value: shift });
            }
            let mut skill = ExplainedSkill::new(&candidate, &indexed.skill, explanation);
            skill.score += shift;
            let others = self.step.candidates.iter().map(|other| &other.candidate.skill);
            skill.copies = copies_of(index, id, others)?;
            if let Some(standing) = standing {
                skill.trust = standing.note(&indexed, candidate.signals.behind.as_ref())?;
            }
            explained.push(skill);
            let translation = candidate.signals.translation;
            loaded.push(Loaded { skill: indexed, translation });
        }
        Ok(explained)
    }

    /// Returns the confidence of a step: that of its best skill, or of the skill that it has
    /// because another need keeps the best one.
    pub(super) fn confidence(&mut self, index: &Index, step: &PlanStep) -> Result<Option<f32>> {
        let is_moved = step.left_out.iter().any(|left| left.reason == DropReason::ServesOther);
        let moved_to = step.skills.first().filter(|_| is_moved);
        let Some(considered) = moved_to.and_then(|id| self.considered(id)) else {
            return Ok(self.step.judgement.confidence);
        };
        let mut candidate = considered.candidate.clone();
        let indexed = index.skill(index.find(&candidate.skill)?)?;
        self.reasons.read(&mut candidate, &indexed)?;
        let n_skills = index.n_skills();
        self.reasons.verify_for(self.calibration, n_skills, &mut candidate, &indexed)?;
        Ok(judge(self.text, self.is_asked_for, n_skills, Some(&candidate), self.calibration)
            .confidence)
    }

    /// Returns the skills that a step leaves out, with their names and scores.
    pub(super) fn left_out(&self, step: &PlanStep) -> Vec<Alternative> {
        let alternatives = step.left_out.iter().filter_map(|left_out| {
            let Considered { candidate, name } = self.considered(&left_out.skill)?;
            Some(Alternative {
                id: left_out.skill.clone(),
                name: name.clone(),
                score: candidate.score + self.shift(candidate),
                reason: left_out.reason.clone(),
            })
        });
        let mut alternatives: Vec<Alternative> = alternatives.collect();
        alternatives.sort_by(|a, b| b.score.total_cmp(&a.score));
        alternatives
    }
}
