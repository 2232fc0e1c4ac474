//! [`SetHead`]: skills that complement each other.
//!
//! `SkillComposer` (section 4) predicts a set with a set head and a cardinality head over a closed
//! library. This one is open: it looks at candidates, so that a skill that was added a second ago
//! can be chosen.

mod features;
mod table;
mod weights;

use std::{collections::BTreeSet, sync::Arc};

use super::{
    ComposeRequest, Composer, Considered, Plan, ScoreCut, Split,
    repetition::{MAX_SIMILARITY, repetition},
    set_plan::{Chosen, N_BEYOND, all_named, first_skill, plan_of, step_of},
};
use crate::{error::Result, model::fingerprint, retrieve::ScoreScale, skill::SkillId};

pub use features::SetFeatures;
pub use table::SetTable;
pub use weights::SetWeights;

/// Loads the best skill for a task, and then, one by one, what most likely belongs to it: a skill
/// for another part of the task rather than a second one for the same part. None for a task that
/// the best skill most likely does not help with, and none of whose parts another one does.
///
/// When to stop follows from the Set F1 that a plan can expect: of `n` chosen skills, `s` are right
/// by their probabilities, and `m` are by those of all candidates. The expected Set F1 is near `2 s
/// / (n + m)`. A skill of the probability `p` raises it if `p` is more than `s / (n + m)`. So a
/// task that is sure of one skill takes no second one that may be right, and a plan that is unsure
/// of all takes some more. `SkillComposer` has a stop token and a cardinality head for that.
///
/// As [`ScoreCut`] where the caller named the needs, and where scores are no log-odds or nothing is
/// calibrated: there are no weights for that.
#[derive(Debug, Clone)]
pub struct SetHead {
    weights: Arc<SetWeights>,
    fallback: ScoreCut,
}

impl SetHead {
    /// Returns a composer with these weights.
    pub fn new(weights: impl Into<Arc<SetWeights>>) -> Self {
        Self { weights: weights.into(), fallback: ScoreCut::default() }
    }

    /// Returns the skills of a plan in the order in which they are chosen, whatever the scale.
    pub fn chosen(&self, request: &ComposeRequest<'_>) -> Vec<SkillId> {
        let chosen = self.choose(request).into_iter().take(request.max_skills);
        chosen.map(|chosen| chosen.skill.id().clone()).collect()
    }

    /// Returns the skills of the plan in the order in which they are chosen, each with its step;
    /// then some that it would have if there were no limit.
    fn choose<'a>(&self, request: &ComposeRequest<'a>) -> Vec<Chosen<'a>> {
        let table = SetTable::new(request.steps, request.n_skills);
        let Some(first) = first_skill(request.steps) else { return Vec::new() };
        let mut chosen = Choice { request, table: &table, chosen: Vec::new() };
        let probability = |skill: &Considered, ids: &[SkillId]| {
            let features = table.features(skill.id(), ids);
            features.map(|features| self.weights.probability(&features))
        };
        let mut n_right = probability(first, &[]).unwrap_or(0.0);
        chosen.add(first);
        for named in all_named(request.steps) {
            // Who names a skill wants it.
            n_right += if chosen.add(named) { 1.0 } else { 0.0 };
        }
        loop {
            let ids = chosen.ids();
            let mut seen = BTreeSet::new();
            let open = request.steps.iter().flat_map(|step| &step.candidates);
            let open = open.filter(|skill| seen.insert(skill.id()) && chosen.is_open(skill));
            let judged: Vec<(f32, &Considered)> =
                open.filter_map(|skill| Some((probability(skill, &ids)?, skill))).collect();
            // Of equals the first one, so the last of a reversed order.
            let Some((best, skill)) = judged.iter().rev().max_by(|a, b| a.0.total_cmp(&b.0)) else {
                return chosen.chosen;
            };
            let n_all = n_right + judged.iter().map(|(probability, _)| probability).sum::<f32>();
            let [least, most] = self.weights.threshold;
            let threshold = (n_right / (ids.len() as f32 + n_all)).clamp(least, most);
            if *best < threshold {
                return chosen.chosen;
            }
            n_right += best;
            chosen.add(skill);
        }
    }
}

/// Skills that are chosen so far.
struct Choice<'r, 'a> {
    request: &'r ComposeRequest<'a>,
    table: &'r SetTable,
    chosen: Vec<Chosen<'a>>,
}

impl<'a> Choice<'_, 'a> {
    fn skills(&self) -> impl Iterator<Item = &'a Considered> {
        self.chosen.iter().map(|chosen| chosen.skill)
    }

    fn ids(&self) -> Vec<SkillId> {
        self.skills().map(|skill| skill.id().clone()).collect()
    }

    fn is_open(&self, skill: &Considered) -> bool {
        self.chosen.len() < self.request.max_skills.saturating_add(N_BEYOND)
            && repetition(self.request, MAX_SIMILARITY, self.skills(), skill).is_none()
    }

    /// Adds a skill if it is open: to the part that it serves best, else to the whole task. Returns
    /// whether it was.
    fn add(&mut self, skill: &'a Considered) -> bool {
        let is_open = self.is_open(skill);
        if is_open {
            self.chosen.push(Chosen { skill, step: step_of(self.table, skill) });
        }
        is_open
    }
}

impl Composer for SetHead {
    fn identity(&self) -> String {
        format!("set-head {}", fingerprint(self.weights.as_ref()))
    }

    fn compose(&self, request: &ComposeRequest<'_>) -> Result<Plan> {
        let is_calibrated = request.steps.iter().all(|step| step.judgement.confidence.is_some());
        if request.split == Split::Needs || request.scale != ScoreScale::LogOdds || !is_calibrated {
            return self.fallback.compose(request);
        }
        Ok(plan_of(request, &self.choose(request)))
    }
}
