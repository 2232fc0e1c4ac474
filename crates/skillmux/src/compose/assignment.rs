//! [`first_places`]: which skill of its ranking each need begins with, where several needs want the same one.

use super::{Considered, StepCandidates, Verdict};

/// Tells whether one skill nearly repeats another.
type Repeats<'a> = &'a dyn Fn(&Considered, &Considered) -> bool;

/// A need leaves its best skill to another need only if its next one is at most this much worse, in
/// log-odds. Beyond, one skill serves both. `docs/needs.md` measures it.
const MAX_GAP: f32 = 2.0;

/// Returns the place in its ranking that each need begins with, from 0.
///
/// Needs name what is to be done by different skills. So of two needs that begin with the same
/// skill the one keeps it whose next skill is further below, of equals the earlier one. The other
/// need goes on to its next skill that does not repeat this one, unless that is much worse or the
/// need names the skill.
pub(super) fn first_places(steps: &[StepCandidates], repeats: Repeats<'_>) -> Vec<usize> {
    let mut places = vec![0; steps.len()];
    while let Some((step, place)) = displaced(steps, &places, repeats) {
        places[step] = place;
    }
    places
}

/// Returns a need that goes on to another skill, and the place of that; `None` if none does.
fn displaced(
    steps: &[StepCandidates],
    places: &[usize],
    repeats: Repeats<'_>,
) -> Option<(usize, usize)> {
    let first = |step: usize| -> Option<&Considered> {
        let StepCandidates { candidates, judgement, .. } = &steps[step];
        candidates.get(places[step]).filter(|_| judgement.verdict == Verdict::Helps)
    };
    let next = |step: usize| -> Option<(usize, f32)> {
        let candidates = &steps[step].candidates;
        let here = candidates.get(places[step])?;
        let after = candidates.iter().enumerate().skip(places[step] + 1);
        let (place, other) = after.into_iter().find(|(_, other)| !repeats(here, other))?;
        Some((place, here.candidate.score - other.candidate.score))
    };
    let gap = |step: usize| next(step).map_or(f32::INFINITY, |(_, gap)| gap);
    (0..steps.len()).find_map(|later| {
        (0..later).find_map(|earlier| {
            let (a, b) = (first(earlier)?, first(later)?);
            if a.id() != b.id() {
                return None;
            }
            let (loser, skill) = if gap(later) > gap(earlier) { (earlier, a) } else { (later, b) };
            let (place, gap) = next(loser)?;
            (gap <= MAX_GAP && !skill.candidate.signals.is_named).then_some((loser, place))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{compose::Judgement, query::Need, retrieve::Candidate, skill::SkillId};

    fn step(verdict: Verdict, scores: &[(&str, f32)]) -> StepCandidates {
        let considered = |(id, score): &(&str, f32)| Considered {
            candidate: Candidate::new(SkillId::new(*id), *score),
            name: (*id).to_owned(),
        };
        StepCandidates {
            need: Need::new("a need"),
            candidates: scores.iter().map(considered).collect(),
            judgement: Judgement { confidence: None, verdict },
        }
    }

    fn helps(scores: &[(&str, f32)]) -> StepCandidates {
        step(Verdict::Helps, scores)
    }

    fn places(steps: &[StepCandidates]) -> Vec<usize> {
        first_places(steps, &|_, _| false)
    }

    #[test]
    fn a_copy_of_the_skill_is_no_next_one() {
        let a = helps(&[("x", 4.0), ("x-pro", 3.9), ("y", 3.5)]);
        let repeats = |one: &Considered, other: &Considered| other.name.starts_with(&one.name);
        assert_eq!(first_places(&[a.clone(), a.clone()], &repeats), [0, 2]);
        let only_copy = helps(&[("x", 4.0), ("x-pro", 3.9)]);
        assert_eq!(first_places(&[only_copy.clone(), only_copy], &repeats), [0, 0]);
    }

    #[test]
    fn the_need_whose_next_skill_is_further_below_keeps_it() {
        let a = helps(&[("x", 4.0), ("y", 3.5)]);
        let b = helps(&[("x", 2.0), ("z", -3.0)]);
        assert_eq!(places(&[a.clone(), b.clone()]), [1, 0]);
        assert_eq!(places(&[b, a]), [0, 1]);
    }

    #[test]
    fn of_equals_the_earlier_need_keeps_it() {
        let one = helps(&[("x", 4.0), ("y", 3.0)]);
        assert_eq!(places(&[one.clone(), one]), [0, 1]);
    }

    #[test]
    fn one_skill_serves_both_where_the_next_one_is_much_worse_or_there_is_none() {
        let sure = helps(&[("x", 4.0), ("y", 0.5)]);
        let alone = helps(&[("x", 1.0)]);
        assert_eq!(places(&[sure.clone(), sure.clone()]), [0, 0]);
        assert_eq!(places(&[alone, sure]), [0, 0]);
    }

    #[test]
    fn a_need_goes_on_until_its_skill_is_free() {
        let a = helps(&[("x", 4.0), ("y", -4.0)]);
        let b = helps(&[("y", 4.0), ("z", -4.0)]);
        let c = helps(&[("x", 3.0), ("y", 2.0), ("z", 1.0)]);
        assert_eq!(places(&[a, b, c]), [0, 0, 2]);
    }

    #[test]
    fn a_need_that_no_skill_helps_with_and_a_named_skill_move_nothing() {
        let near = [("x", 4.0), ("y", 3.5)];
        let unserved = step(Verdict::DoesNotHelp, &near);
        assert_eq!(places(&[unserved.clone(), helps(&near)]), [0, 0]);
        assert_eq!(places(&[helps(&near), unserved]), [0, 0]);
        let mut named = helps(&near);
        named.candidates[0].candidate.signals.is_named = true;
        assert_eq!(places(&[named.clone(), named]), [0, 0]);
    }
}
