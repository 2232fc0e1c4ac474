//! [`Judgement`]: the decision on one ranking, made once for every composer.

use super::{Calibration, Evidence, small_talk::is_small_talk};
use crate::{model::probability, retrieve::Candidate};

/// What is thought of the best candidate of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// Estimate in `[0, 1]` that it helps; `None` if no calibration was fitted to this kind of
    /// ranking.
    pub confidence: Option<f32>,
    /// Whether to load it.
    pub verdict: Verdict,
}

impl Judgement {
    /// Returns the judgement of a request with pasted material. `self` is that of both together,
    /// `alone` that of the request. What is pasted says which skill is meant, and the request
    /// whether one is. So the log-odds are at most [`MOST_BY_MATERIAL`] above those of the request,
    /// and not below them if both find the same skill.
    pub(crate) fn agreed(self, alone: Self, is_same_skill: bool, threshold: Option<f32>) -> Self {
        let (Some(both), Some(alone_confidence)) = (self.confidence, alone.confidence) else {
            return self;
        };
        if alone.verdict == Verdict::SmallTalk {
            return alone;
        }
        let least = if is_same_skill { alone_confidence } else { 0.0 };
        let most = discounted(alone_confidence, -MOST_BY_MATERIAL);
        Self::by(both.min(most).max(least), threshold)
    }

    /// Returns the judgement of a long task. `self` is that of the task as a whole, `asked` that of
    /// what asks for something in it: the log-odds are the mean of both.
    pub(crate) fn shared(self, asked: Self, threshold: Option<f32>) -> Self {
        let (Some(whole), Some(asked)) = (self.confidence, asked.confidence) else { return self };
        let log_odds = |confidence: f32| {
            let confidence = confidence.clamp(MIN_CONFIDENCE, 1.0 - MIN_CONFIDENCE);
            (confidence / (1.0 - confidence)).ln()
        };
        let mean = f32::midpoint(log_odds(whole), log_odds(asked));
        Self::by(probability(mean), threshold)
    }

    fn by(confidence: f32, threshold: Option<f32>) -> Self {
        let is_enough = threshold.is_none_or(|threshold| confidence >= threshold);
        let verdict = if is_enough { Verdict::Helps } else { Verdict::DoesNotHelp };
        Self { confidence: Some(confidence), verdict }
    }
}

/// A confidence counts as this one at least, and as far from 1.
const MIN_CONFIDENCE: f32 = 1e-4;

/// Most log-odds that what is pasted adds to those of a request. Chosen with a look at
/// `pasted-fit.jsonl` and `pasted-tasks.jsonl` of `datasets/`.
const MOST_BY_MATERIAL: f32 = 3.0;

/// Whether the best candidate is worth loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is, as far as can be told; always for a skill that the task names, and for a ranking
    /// without a calibration.
    Helps,
    /// The confidence is below the threshold, or nothing was found.
    DoesNotHelp,
    /// The task greets, thanks or agrees, and asks for nothing.
    SmallTalk,
}

/// Judges the best candidate, whose words were read. `is_asked_for` tells that the task asks for
/// something, whatever this text says by itself.
pub(crate) fn judge(
    task: &str,
    is_asked_for: bool,
    n_skills: usize,
    best: Option<&Candidate>,
    calibration: Option<&Calibration>,
) -> Judgement {
    // What is certain has a number only where other answers of the ranking have one.
    let certainly_not = calibration.map(|_| 0.0);
    let Some(best) = best else {
        return Judgement { confidence: certainly_not, verdict: Verdict::DoesNotHelp };
    };
    // A skill cannot take greetings over by its name.
    if is_small_talk(task) {
        return Judgement { confidence: certainly_not, verdict: Verdict::SmallTalk };
    }
    let Some(calibration) = calibration else {
        return Judgement { confidence: None, verdict: Verdict::Helps };
    };
    let evidence = Evidence::of(task, n_skills, best);
    let evidence = if is_asked_for { evidence.asked_for() } else { evidence };
    let discount = if evidence.is_named {
        0.0
    } else {
        let of_translation = best.signals.translation.as_ref().map_or(0.0, |found| found.discount);
        best.signals.trust_penalty + of_translation
    };
    let threshold = calibration.threshold_of(n_skills);
    let estimate = calibration.confidence(&evidence);
    // No calibration was fitted to tasks of one word, which lack nearly all that it weighs.
    let estimate = if evidence.is_of_name { f32::max(estimate, threshold) } else { estimate };
    let confidence = discounted(estimate, discount);
    let is_enough = confidence >= threshold || evidence.is_named;
    let verdict = if is_enough { Verdict::Helps } else { Verdict::DoesNotHelp };
    Judgement { confidence: Some(confidence), verdict }
}

/// Returns a confidence that some log-odds were taken from.
fn discounted(confidence: f32, log_odds: f32) -> f32 {
    if log_odds == 0.0 {
        return confidence;
    }
    let odds = confidence / f32::max(1.0 - confidence, f32::MIN_POSITIVE);
    let odds = odds * (-log_odds).exp();
    if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compose::Features,
        retrieve::{RankingIdentity, Signals, Translation, WordMatch},
        skill::SkillId,
    };

    const TASK: &str = "which river flows through Budapest";

    fn calibration(threshold: f32) -> Calibration {
        let ranking = RankingIdentity::new("test");
        Calibration {
            ranking,
            bias: 0.0,
            weights: Features::default(),
            verifier: None,
            threshold,
            large_threshold: None,
        }
    }

    fn best(is_named: bool) -> Candidate {
        let mut signals = Signals::default();
        signals.is_named = is_named;
        Candidate { skill: SkillId::new("a"), score: 1.0, signals }
    }

    #[test]
    fn a_long_task_has_the_mean_of_the_log_odds() {
        let of = |confidence: f32| Judgement::by(confidence, Some(0.3));
        // Odds of 9 and of 1/4: their mean is 1.5.
        let both = of(0.9).shared(of(0.2), Some(0.3));
        assert!((both.confidence.unwrap() - 0.6).abs() < 1e-5);
        assert_eq!(both.verdict, Verdict::Helps);
        let unsure = of(0.9).shared(of(0.001), Some(0.3));
        assert_eq!(unsure.verdict, Verdict::DoesNotHelp);
        let certain = of(1.0).shared(of(1.0), Some(0.3));
        assert!(certain.confidence.unwrap() > 0.999);
        let unknown = Judgement { confidence: None, verdict: Verdict::Helps };
        assert_eq!(unknown.shared(of(0.001), Some(0.3)), unknown);
    }

    #[test]
    fn the_threshold_itself_is_enough() {
        let confidence = calibration(0.0).confidence(&Evidence::of(TASK, 50, &best(false)));
        let verdict_at =
            |t| judge(TASK, false, 50, Some(&best(false)), Some(&calibration(t))).verdict;
        assert_eq!(verdict_at(confidence), Verdict::Helps);
        assert_eq!(verdict_at(confidence.next_up()), Verdict::DoesNotHelp);
    }

    #[test]
    fn what_is_pasted_adds_little_to_a_request_that_asks_for_no_skill() {
        let judged = |confidence, verdict| Judgement { confidence: Some(confidence), verdict };
        let both = judged(0.9, Verdict::Helps);
        let with = |alone| both.agreed(alone, false, Some(0.25));
        assert_eq!(with(judged(0.5, Verdict::Helps)), both);
        // Log-odds of -5, and so of -2 with what is pasted.
        let alone = judged(1.0 / (1.0 + 5_f32.exp()), Verdict::DoesNotHelp);
        let found = with(alone);
        assert_eq!(found.verdict, Verdict::DoesNotHelp);
        let confidence = found.confidence.unwrap();
        assert!((confidence - 1.0 / (1.0 + 2_f32.exp())).abs() < 1e-5, "{confidence}");
        let thanks = judged(0.0, Verdict::SmallTalk);
        assert_eq!(with(thanks), thanks);
        let unknown = Judgement { confidence: None, verdict: Verdict::Helps };
        assert_eq!(unknown.agreed(unknown, true, None), unknown);
        // A request that is clear by itself stays so, whatever is pasted.
        let (sure, unsure) = (judged(0.9, Verdict::Helps), judged(0.1, Verdict::DoesNotHelp));
        assert_eq!(unsure.agreed(sure, true, Some(0.25)), sure);
        assert_eq!(unsure.agreed(sure, false, Some(0.25)), unsure);
    }

    #[test]
    fn a_named_skill_helps_whatever_the_threshold_but_not_in_small_talk() {
        let judged = judge(TASK, false, 50, Some(&best(true)), Some(&calibration(2.0)));
        assert_eq!(judged, Judgement { confidence: Some(1.0), verdict: Verdict::Helps });
        let judged = judge("hi", false, 50, Some(&best(true)), Some(&calibration(0.0)));
        assert_eq!(judged.verdict, Verdict::SmallTalk);
    }

    #[test]
    fn words_of_its_name_are_enough_for_a_skill_without_risks() {
        let judged = |task: &str, n_terms, n_terms_in_name, trust_penalty| {
            let mut found = best(false);
            found.signals.words =
                Some(WordMatch { n_terms, n_terms_in_name, ..WordMatch::default() });
            found.signals.trust_penalty = trust_penalty;
            judge(task, false, 50, Some(&found), Some(&calibration(0.8))).verdict
        };
        assert_eq!(judged("regex", 1, 1, 0.0), Verdict::Helps);
        assert_eq!(judged("what is regex", 1, 1, 0.0), Verdict::DoesNotHelp);
        assert_eq!(judged("what is GitHub", 3, 3, 0.0), Verdict::DoesNotHelp);
        assert_eq!(judged("regex tester", 2, 1, 0.0), Verdict::DoesNotHelp);
        assert_eq!(judged("one two three four five", 5, 5, 0.0), Verdict::DoesNotHelp);
        assert_eq!(judged("which of them", 0, 0, 0.0), Verdict::DoesNotHelp);
        assert_eq!(judged("regex", 1, 1, 0.1), Verdict::DoesNotHelp);
    }

    #[test]
    fn what_a_translation_found_is_less_sure() {
        for (confidence, expected) in [(0.0, 0.0), (0.5, 0.047), (0.9526, 0.5), (1.0, 1.0)] {
            let found = discounted(confidence, 3.0);
            assert!((found - expected).abs() < 1e-3, "{confidence}: {found}");
        }
        let mut translated = best(false);
        let ranking = RankingIdentity::new("test");
        let translation =
            Translation { text: "which river flows".to_owned(), ranking, discount: 3.0 };
        translated.signals.translation = Some(translation.into());
        let judged = judge(TASK, false, 50, Some(&translated), Some(&calibration(0.4)));
        assert_eq!(judged.verdict, Verdict::DoesNotHelp);
        let plain = judge(TASK, false, 50, Some(&best(false)), Some(&calibration(0.4)));
        assert_eq!(plain.verdict, Verdict::Helps);
    }

    #[test]
    fn a_skill_with_risks_is_less_sure_unless_the_task_names_it() {
        let judged = |is_named| {
            let mut risky = best(is_named);
            risky.signals.trust_penalty = 3.0;
            judge(TASK, false, 50, Some(&risky), Some(&calibration(0.4))).verdict
        };
        assert_eq!((judged(false), judged(true)), (Verdict::DoesNotHelp, Verdict::Helps));
    }

    #[test]
    fn without_a_calibration_there_is_no_number() {
        for (task, best, verdict) in [
            (TASK, Some(best(false)), Verdict::Helps),
            (TASK, Some(best(true)), Verdict::Helps),
            ("hi", Some(best(true)), Verdict::SmallTalk),
            (TASK, None, Verdict::DoesNotHelp),
        ] {
            let judged = judge(task, false, 50, best.as_ref(), None);
            assert_eq!(judged, Judgement { confidence: None, verdict });
        }
    }
}
