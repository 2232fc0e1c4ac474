//! Puts the skills that a query names before all others.

use crate::{
    retrieve::{Candidate, ScoreScale},
    skill::SkillId,
};

/// How much a named skill is put above all others, in log-odds. Set by hand.
const LOG_ODDS_MARGIN: f32 = 2.0;

/// Marks the named candidates and raises their scores above all others; the order within either
/// group stays. `named` is in ascending order. What puts it above does not depend on candidates that
/// were not measured.
pub(super) fn pin(candidates: &mut [Candidate], named: &[SkillId], scale: ScoreScale) {
    if named.is_empty() {
        return;
    }
    let is_named = |candidate: &Candidate| named.binary_search(&candidate.skill).is_ok();
    let bonus = bonus(candidates, is_named, scale);
    for candidate in candidates.iter_mut() {
        if is_named(candidate) {
            candidate.score += bonus;
            candidate.signals.is_named = true;
        }
    }
    candidates.sort_unstable_by(Candidate::best_first);
}

/// Returns what lifts the lowest named candidate above the best.
fn bonus(
    candidates: &[Candidate],
    is_named: impl Fn(&Candidate) -> bool,
    scale: ScoreScale,
) -> f32 {
    let best = |least| candidates.iter().map(|candidate| candidate.score).fold(least, f32::max);
    match scale {
        ScoreScale::LogOdds => {
            let measured = candidates.iter().filter(|candidate| candidate.signals.is_measured());
            let (floor, best) = measured.fold((f32::MAX, f32::MIN), |(floor, best), candidate| {
                (floor.min(candidate.score), best.max(candidate.score))
            });
            if floor <= best {
                return best - floor + LOG_ODDS_MARGIN;
            }
            // Whatever the number of candidates, the best and the named ones are among them.
            let named = candidates.iter().filter(|candidate| is_named(candidate));
            let lowest = named.map(|candidate| candidate.score).fold(f32::MAX, f32::min);
            candidates.first().map_or(0.0, |best| best.score - lowest + LOG_ODDS_MARGIN)
        }
        ScoreScale::Points => best(0.0) + 1.0,
        // None of these is below -1.
        ScoreScale::Share | ScoreScale::Cosine | ScoreScale::RankOnly => best(0.0) + 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieve::Signals;

    fn candidates(scores: [f32; 4]) -> Vec<Candidate> {
        let named = ["a", "b", "c", "d"].into_iter().zip(scores);
        let candidate = |(id, score)| Candidate {
            skill: SkillId::new(id),
            score,
            signals: Signals::new(&["bm25"], vec![0.5]),
        };
        named.map(candidate).collect()
    }

    #[test]
    fn named_skills_come_first_on_every_scale() {
        for (scale, scores) in [
            (ScoreScale::Points, [9.0, 4.0, 1.0, 0.0]),
            (ScoreScale::Share, [1.1, 0.5, 0.1, -0.2]),
            (ScoreScale::Cosine, [0.9, 0.0, -0.5, -1.0]),
            (ScoreScale::LogOdds, [12.0, -3.0, -50.0, -51.0]),
        ] {
            let mut found = candidates(scores);
            pin(&mut found, &[SkillId::new("c"), SkillId::new("d")], scale);
            let order: Vec<&str> = found.iter().map(|found| found.skill.as_str()).collect();
            assert_eq!(order, ["c", "d", "a", "b"], "{scale:?}");
            assert_eq!(found.iter().filter(|found| found.signals.is_named).count(), 2);
        }
    }

    #[test]
    fn named_skills_come_first_where_nothing_was_measured() {
        let mut found = candidates([12.0, -3.0, -50.0, -51.0]);
        for candidate in &mut found {
            candidate.signals = Signals::default();
        }
        pin(&mut found, &[SkillId::new("d")], ScoreScale::LogOdds);
        assert_eq!((found[0].skill.as_str(), found[1].skill.as_str()), ("d", "a"));
    }

    #[test]
    fn without_a_name_nothing_changes() {
        let mut found = candidates([3.0, 2.0, 1.0, 0.0]);
        pin(&mut found, &[], ScoreScale::Points);
        assert_eq!(found, candidates([3.0, 2.0, 1.0, 0.0]));
    }
}
