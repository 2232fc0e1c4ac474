//! [`ScoreCut`]: as many skills as the scores say.

use super::{
    ComposeRequest, Composer, Considered, DropReason, LeftOut, Plan, PlanStep, Split,
    StepCandidates, Verdict,
    assignment::first_places,
    reason,
    repetition::{MAX_SIMILARITY, repetition},
};
use crate::{error::Result, retrieve::ScoreScale, skill::SkillId};

/// Constants of [`ScoreCut`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreCutConfig {
    /// A skill below this share of the best score is left out, in `[0, 1]`.
    pub min_score_share: f32,
    /// A skill is also left out if its score falls by more than this share of the best score below
    /// the score before it, in `[0, 1]`.
    pub max_score_drop: f32,
    /// Where scores are log-odds: a skill that is this much below the best one is left out.
    pub max_log_odds: f32,
    /// Bodies with more than this in common repeat each other, in `[0, 1]`.
    pub max_similarity: f32,
}

impl Default for ScoreCutConfig {
    /// Set by hand, with a look at the sample tasks.
    fn default() -> Self {
        Self {
            min_score_share: 0.6,
            max_score_drop: 0.2,
            max_log_odds: 1.0,
            max_similarity: MAX_SIMILARITY,
        }
    }
}

/// Loads the skills whose scores stand out, without those that repeat one another; none for a need
/// that the best one most likely does not help with. Where the caller named the needs and scores
/// are log-odds, needs that want the same skill share it out first: one of them takes its next
/// skill if that is not much worse.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoreCut {
    config: ScoreCutConfig,
}

impl ScoreCut {
    /// Returns a composer with these constants.
    pub fn new(config: ScoreCutConfig) -> Self {
        Self { config }
    }

    /// Returns the step of a need, and adds what it loads to `loaded`.
    fn step<'a>(
        &self,
        request: &ComposeRequest<'_>,
        step: &'a StepCandidates,
        first_place: usize,
        loaded: &mut Vec<&'a Considered>,
    ) -> PlanStep {
        let (elsewhere, candidates) = step.candidates.split_at(first_place);
        let left = |skill: &Considered| LeftOut {
            skill: skill.id().clone(),
            reason: DropReason::ServesOther,
        };
        let (mut skills, mut left_out) =
            (Vec::new(), elsewhere.iter().map(left).collect::<Vec<_>>());
        let mut is_cut = false;
        // The skill that serves the need, of this step or of an earlier one.
        let mut server: Option<SkillId> = None;
        for (at, skill) in candidates.iter().enumerate() {
            is_cut |= self.is_below_cut(request.scale, candidates, at);
            let drop = if step.judgement.verdict != Verdict::Helps {
                Some(DropReason::Abstained)
            } else if is_cut {
                Some(DropReason::BelowCut)
            } else if let Some(of) = server.clone().filter(|_| request.split == Split::Needs) {
                Some(DropReason::Substitute { of })
            } else if let Some(reason) =
                repetition(request, self.config.max_similarity, loaded.iter().copied(), skill)
            {
                Some(reason)
            } else if loaded.len() >= request.max_skills {
                Some(DropReason::OverLimit)
            } else {
                None
            };
            let id = skill.id().clone();
            let serves = drop.as_ref().map_or(Some(&id), |reason| reason.server(&id));
            server = server.or(serves.cloned());
            if let Some(reason) = drop {
                left_out.push(LeftOut { skill: id, reason });
            } else {
                loaded.push(skill);
                skills.push(id);
            }
        }
        PlanStep { need: step.need.clone(), skills, left_out }
    }

    fn is_below_cut(&self, scale: ScoreScale, candidates: &[Considered], at: usize) -> bool {
        let score = |at: usize| candidates[at].candidate.score;
        let (best, before) = (score(0), score(at.saturating_sub(1)));
        match scale {
            ScoreScale::Points | ScoreScale::Share | ScoreScale::Cosine => {
                score(at) < self.config.min_score_share * best
                    || before - score(at) > self.config.max_score_drop * best
            }
            ScoreScale::LogOdds => best - score(at) > self.config.max_log_odds,
            // Places alone say nothing of how much worse the next one is.
            ScoreScale::RankOnly => at > 0,
        }
    }
}

impl Composer for ScoreCut {
    fn identity(&self) -> String {
        let ScoreCutConfig { min_score_share, max_score_drop, max_log_odds, max_similarity } =
            self.config;
        format!(
            "score-cut share={min_score_share} drop={max_score_drop} log_odds={max_log_odds} \
             similarity={max_similarity}"
        )
    }

    fn compose(&self, request: &ComposeRequest<'_>) -> Result<Plan> {
        let mut loaded = Vec::new();
        let is_by_need = request.split == Split::Needs && request.scale == ScoreScale::LogOdds;
        let repeats = |one: &Considered, other: &Considered| {
            repetition(request, self.config.max_similarity, [one], other).is_some()
        };
        let places = if is_by_need {
            first_places(request.steps, &repeats)
        } else {
            vec![0; request.steps.len()]
        };
        let in_turn: Vec<_> = request.steps.iter().zip(places).collect();
        // Of a task in parts, the whole comes last: it adds what no part has.
        let (whole, parts) = request.split.divide(&in_turn);
        let in_turn = parts.iter().chain(whole);
        let mut steps: Vec<PlanStep> =
            in_turn.map(|(step, place)| self.step(request, step, *place, &mut loaded)).collect();
        steps.rotate_right(usize::from(whole.is_some()));
        let n_served = steps.iter().filter(|step| step.is_served()).count();
        let reason = if request.split == Split::Needs && n_served > 0 {
            reason::of_needs(n_served, steps.len())
        } else {
            reason_of(request.steps, &steps)
        };
        Ok(Plan::of_steps(steps, reason))
    }
}

/// Says the decision of the first step that loads, else of the first one.
fn reason_of(needs: &[StepCandidates], steps: &[PlanStep]) -> String {
    let n_loaded: usize = steps.iter().map(|step| step.skills.len()).sum();
    let told = steps.iter().position(|step| !step.skills.is_empty()).unwrap_or(0);
    let Some(step) = needs.get(told) else { return reason::NOTHING_FOUND.to_owned() };
    match (step.judgement.verdict, step.candidates.first()) {
        (_, None) => reason::NOTHING_FOUND.to_owned(),
        (Verdict::SmallTalk, _) => reason::SMALL_TALK.to_owned(),
        (Verdict::DoesNotHelp, Some(best)) => reason::of_abstention(best),
        (Verdict::Helps, Some(best)) => reason::of_load(best, n_loaded),
    }
}
