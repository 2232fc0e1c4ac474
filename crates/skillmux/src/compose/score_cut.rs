//! [`ScoreCut`]: as many skills as the scores say.

use super::{
    Alternative, Calibration, ComposeRequest, Composer, DropReason, Plan, PlannedSkill, ScoreScale,
    confidence::{is_named, is_small_talk},
};

/// Words of the task that a reason quotes.
const N_QUOTED: usize = 4;

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
    fn default() -> Self {
        Self { min_score_share: 0.6, max_score_drop: 0.2, max_log_odds: 1.0, max_similarity: 0.6 }
    }
}

/// Loads the skills whose scores stand out, without those that repeat one another; abstains where
/// the best one most likely does not help.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoreCut {
    config: ScoreCutConfig,
    calibration: Calibration,
}

impl ScoreCut {
    /// Returns a composer with these constants that abstains by a calibration.
    pub fn new(config: ScoreCutConfig, calibration: Calibration) -> Self {
        Self { config, calibration }
    }

    /// Returns why the skill at `at` adds nothing to the kept ones, if it does not.
    fn repetition(
        &self,
        request: &ComposeRequest<'_>,
        kept: &[usize],
        at: usize,
    ) -> Option<DropReason> {
        let found = request.found;
        kept.iter().find_map(|earlier| {
            let of = || found[*earlier].id.clone();
            // Of two skills with one name an agent can load but one; forks keep their name.
            if found[at].name.eq_ignore_ascii_case(&found[*earlier].name) {
                Some(DropReason::SameName { of: of() })
            } else if (request.similarity)(*earlier, at) > self.config.max_similarity {
                Some(DropReason::NearDuplicate { of: of() })
            } else {
                None
            }
        })
    }
}

impl Composer for ScoreCut {
    fn compose(&self, request: &ComposeRequest<'_>) -> Plan {
        let found = request.found;
        let (Some(best), Some(evidence)) = (found.first(), request.evidence()) else {
            let reason = "no skill shares a word with the task".to_owned();
            return Plan::of_one_step(request.task, 0.0, Vec::new(), Vec::new(), reason);
        };
        // A skill cannot take greetings over by its name.
        let is_small_talk = is_small_talk(request.task);
        let confidence = if is_small_talk { 0.0 } else { self.calibration.confidence(&evidence) };
        if is_small_talk || confidence < self.calibration.threshold && !evidence.is_named {
            let alternatives =
                found.iter().map(|skill| Alternative::of(skill, DropReason::Abstained)).collect();
            let reason = if is_small_talk {
                "the task asks for nothing that a skill could help with".to_owned()
            } else {
                abstention_reason(best)
            };
            return Plan::of_one_step(request.task, confidence, Vec::new(), alternatives, reason);
        }
        let mut kept: Vec<usize> = Vec::new();
        let mut alternatives = Vec::new();
        let mut is_cut = false;
        for (at, skill) in found.iter().enumerate() {
            is_cut |= self.is_below_cut(request, at);
            let drop = if is_cut {
                Some(DropReason::BelowCut)
            } else if let Some(reason) = self.repetition(request, &kept, at) {
                Some(reason)
            } else if kept.len() >= request.max_skills {
                Some(DropReason::OverLimit)
            } else {
                None
            };
            match drop {
                Some(reason) => alternatives.push(Alternative::of(skill, reason)),
                None => kept.push(at),
            }
        }
        let skills: Vec<PlannedSkill> = kept.iter().map(|at| found[*at].clone()).collect();
        let reason = reason(best, skills.len());
        Plan::of_one_step(request.task, confidence, skills, alternatives, reason)
    }
}

impl ScoreCut {
    fn is_below_cut(&self, request: &ComposeRequest<'_>, at: usize) -> bool {
        let score = |at: usize| request.found[at].score;
        let (best, before) = (score(0), score(at.saturating_sub(1)));
        match request.scale {
            ScoreScale::Proportional => {
                score(at) < self.config.min_score_share * best
                    || before - score(at) > self.config.max_score_drop * best
            }
            ScoreScale::LogOdds => best - score(at) > self.config.max_log_odds,
        }
    }
}

/// Says which skill came closest, and what it lacks.
fn abstention_reason(best: &PlannedSkill) -> String {
    let closest = format!("no skill fits well enough: the closest, `{}`,", short_name(best));
    let explanation = &best.explanation;
    if explanation.missing.is_empty() {
        if explanation.matched.is_empty() {
            return format!("{closest} has no word in common with the task");
        }
        let words = quoted(&explanation.matched);
        return format!("{closest} has no more than {words} in common with the task");
    }
    format!("{closest} says nothing of {}", quoted(&explanation.missing))
}

/// Returns the first words, quoted.
fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().take(N_QUOTED).map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

/// Returns as much of the name as a sentence can bear; the specification allows 64 characters.
fn short_name(skill: &PlannedSkill) -> &str {
    skill.name.char_indices().nth(64).map_or(skill.name.as_str(), |(end, _)| &skill.name[..end])
}

fn reason(best: &PlannedSkill, n_skills: usize) -> String {
    let rest = match n_skills {
        0 => return "no skill was asked for".to_owned(),
        1 => String::new(),
        2 => "; 1 more stands close to it".to_owned(),
        n => format!("; {} more stand close to it", n - 1),
    };
    if is_named(best) {
        return format!("the task names `{}`{rest}", short_name(best));
    }
    format!("`{}` speaks of {}{rest}", short_name(best), quoted(&best.explanation.matched))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compose::Decision,
        explain::{Contribution, Explanation},
        skill::SkillId,
    };

    fn compose(explanation: Explanation, calibration: Calibration) -> Plan {
        let found = [PlannedSkill {
            id: SkillId::new("documents/pdf-forms"),
            name: "pdf-forms".to_owned(),
            description: String::new(),
            source: String::new(),
            score: 3.0,
            explanation,
        }];
        let composer = ScoreCut::new(ScoreCutConfig::default(), calibration);
        composer.compose(&ComposeRequest {
            task: "which river flows through Budapest",
            found: &found,
            scale: ScoreScale::Proportional,
            n_skills: 50,
            similarity: &|_, _| 0.0,
            max_skills: 5,
        })
    }

    fn unsure() -> Calibration {
        Calibration { threshold: 1.0, ..Calibration::default() }
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn an_abstention_says_what_the_closest_skill_lacks() {
        let missing = words(&["river", "Budapest"]);
        let plan = compose(Explanation { missing, ..Explanation::default() }, unsure());
        assert_eq!(plan.decision, Decision::Abstain);
        assert_eq!(
            plan.reason,
            "no skill fits well enough: the closest, `pdf-forms`, says nothing of `river`, `Budapest`"
        );
        let matched = words(&["flows"]);
        let plan = compose(Explanation { matched, ..Explanation::default() }, unsure());
        assert!(plan.reason.ends_with("has no more than `flows` in common with the task"));
        let plan = compose(Explanation::default(), unsure());
        assert!(plan.reason.ends_with("has no word in common with the task"));
    }

    #[test]
    fn a_named_skill_is_loaded_whatever_the_threshold() {
        let feature = "exact_name".to_owned();
        let contributions = vec![Contribution { feature, value: 1.0 }];
        let plan = compose(Explanation { contributions, ..Explanation::default() }, unsure());
        assert_eq!(plan.decision, Decision::Load);
        assert!((plan.confidence - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn the_threshold_itself_is_enough() {
        let calibration = Calibration::default();
        let plan = compose(Explanation::default(), Calibration { threshold: 0.0, ..calibration });
        let threshold = plan.confidence;
        let decision_at = |threshold| {
            compose(Explanation::default(), Calibration { threshold, ..calibration }).decision
        };
        assert_eq!(decision_at(threshold), Decision::Load);
        assert_eq!(decision_at(threshold.next_up()), Decision::Abstain);
    }
}
