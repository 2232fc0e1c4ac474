//! [`Ranker::rank_task`]: the ranking of a task, by all texts that it is read as and by its needs.

use super::{
    merge::{N_MERGED, OfTask, merge},
    pin::pin,
    ranker::{Ranker, pinned},
    reading::{Reading, read_need},
};
use crate::{
    error::Result,
    index::Index,
    query::Query,
    retrieve::{Candidate, Ranking, named},
};

/// Weight of the sum over the readings of a request with something pasted. It is below 1, since
/// they share most of their words. Set by hand, with a look at `pasted-fit.jsonl` and
/// `pasted-tasks.jsonl` of `datasets/`.
const READINGS_SHARE: f32 = 0.5;

/// A candidate is this much worse than the best of another reading at most. Set by hand.
const MAX_BELOW_READING: f32 = 5.0;

/// Weight of the beginning of a long task. Chosen with a look at the
/// tasks of SWE-Skills-Bench, as the next one.
const BEGINNING_SHARE: f32 = 1.0 / 6.0;

/// Weight of what asks for something in a long task. Chosen by `long-requests.jsonl` of `datasets/`,
/// with weights of asking that were fitted to the other half of it.
const ASKED_SHARE: f32 = 0.3;

/// A candidate is this much worse than the best for the beginning, or for what is asked, at most.
const MAX_BELOW_LONG: f32 = 10.0;

/// The rankings of a task and of other texts.
pub(super) struct OfTexts {
    pub(super) whole: Ranking,
    pub(super) others: Vec<Ranking>,
    /// That of the request alone, where something is pasted with it, or of what asks for something in
    /// a long task.
    pub(super) request: Option<Ranking>,
}

impl Ranker {
    /// As [`Ranker::rank`], for a query that was read.
    pub(super) fn rank_reading(
        &self,
        index: &Index,
        reading: &Reading,
        k: usize,
    ) -> Result<Ranking> {
        let needs = reading.query.needs().iter().map(read_need).collect::<Result<Vec<Query>>>()?;
        if needs.is_empty() {
            let OfTexts { mut whole, .. } = self.rank_task(index, reading, &[], k)?;
            whole.candidates.truncate(k);
            return Ok(whole);
        }
        let standing = self.standing(index);
        let mut all_named = Vec::new();
        for text in std::iter::once(&reading.whole()?).chain(&needs) {
            all_named.extend(pinned(standing.as_ref(), named(index, text)?)?);
        }
        all_named.sort_unstable();
        all_named.dedup();
        let n = usize::max(k, N_MERGED);
        let OfTexts { whole, others, .. } = self.rank_task(index, reading, &needs, n)?;
        let mut merged = merge([vec![whole], others].concat());
        pin(&mut merged.candidates, &all_named, merged.scale);
        merged.candidates.truncate(k);
        Ok(merged)
    }

    /// Ranks a task as a whole, by all its readings, and other texts: its parts or needs. The
    /// rankings are `k` skills deep, and deeper where readings are added.
    pub(super) fn rank_task(
        &self,
        index: &Index,
        reading: &Reading,
        others: &[Query],
        k: usize,
    ) -> Result<OfTexts> {
        let mut texts = vec![reading.whole()?];
        let beginning = reading.beginning()?;
        let is_long = beginning.is_some();
        let asked = reading.asked()?;
        let has_asked = asked.is_some();
        texts.extend(beginning);
        texts.extend(asked);
        texts.extend(reading.others()?.into_iter().flatten());
        let n_readings = texts.len();
        let n = if n_readings > 1 { k.max(N_MERGED) } else { k };
        texts.extend_from_slice(others);
        let mut readings = self.rank_texts(index, reading, &texts, n)?;
        let others = readings.split_off(n_readings);
        let mut whole = readings.remove(0);
        let beginning = is_long.then(|| readings.remove(0));
        let asked = has_asked.then(|| readings.remove(0));
        add_of_long(&mut whole, beginning.as_ref(), asked.as_ref());
        add_readings(&mut whole, &readings);
        let request = asked.or_else(|| readings.into_iter().next());
        Ok(OfTexts { whole, others, request })
    }
}

/// Changes the scores of a ranking of a task by its other readings, and orders the candidates again.
/// Where the others have no log-odds, it changes nothing.
///
/// The new distance of a candidate from the best one that is not named is half of the sum of its
/// distances in all readings. In the others, a distance counts 5 at most, and 5 for a skill that
/// was not found. Named skills keep their scores.
fn add_readings(ranking: &mut Ranking, others: &[Ranking]) {
    let others: Vec<OfTask> = others.iter().filter_map(OfTask::of).collect();
    if !others.is_empty() {
        let below = |candidate: &Candidate| -> f32 {
            others.iter().map(|other| other.below(candidate, MAX_BELOW_READING)).sum()
        };
        change(ranking, |candidate, own| READINGS_SHARE * (own + below(candidate)));
    }
}

/// As [`add_readings`], for the beginning of a long task and for what asks for something in it: a
/// title and a first paragraph say what a task is about, a few sentences say what is wanted, and a
/// transformer reads these whole.
///
/// Of the new distance, one sixth is that for the beginning and three tenths that for what is asked,
/// each of which counts 10 at most; the rest is that for the whole.
fn add_of_long(ranking: &mut Ranking, beginning: Option<&Ranking>, asked: Option<&Ranking>) {
    let others = [(BEGINNING_SHARE, beginning), (ASKED_SHARE, asked)];
    let of_task = |(share, ranking): (f32, Option<&Ranking>)| Some((share, OfTask::of(ranking?)?));
    let others: Vec<(f32, OfTask)> = others.into_iter().filter_map(of_task).collect();
    let rest = 1.0 - others.iter().map(|(share, _)| share).sum::<f32>();
    if !others.is_empty() {
        change(ranking, |candidate, own| {
            let below =
                others.iter().map(|(share, of)| share * of.below(candidate, MAX_BELOW_LONG));
            rest * own + below.sum::<f32>()
        });
    }
}

/// Gives the candidates that are not named a new distance from the best one of them. `distance` has
/// a candidate and its present distance, which is 0 or less.
fn change(ranking: &mut Ranking, distance: impl Fn(&Candidate, f32) -> f32) {
    let mut unnamed: Vec<&mut Candidate> =
        ranking.candidates.iter_mut().filter(|candidate| !candidate.signals.is_named).collect();
    let Some(best) = unnamed.first().map(|best| best.score) else { return };
    for candidate in &mut unnamed {
        let score = best + distance(candidate, candidate.score - best);
        candidate.signals.of_readings = score - candidate.score;
        candidate.score = score;
    }
    ranking.candidates.sort_unstable_by(Candidate::best_first);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        retrieve::{RankingIdentity, ScoreScale},
        skill::SkillId,
    };

    const ODDS: ScoreScale = ScoreScale::LogOdds;

    fn ranking(scale: ScoreScale, scores: &[(&str, f32)]) -> Ranking {
        let candidate = |(id, score): &(&str, f32)| Candidate::new(SkillId::new(*id), *score);
        let candidates = scores.iter().map(candidate).collect();
        Ranking { candidates, scale, identity: RankingIdentity::new("test") }
    }

    fn assert_scores(ranking: &Ranking, expected: &[(&str, f32, f32)]) {
        assert_eq!(ranking.candidates.len(), expected.len());
        for (found, (id, score, change)) in ranking.candidates.iter().zip(expected) {
            assert_eq!(found.skill.as_str(), *id);
            assert!((found.score - score).abs() < 1e-5, "{found:?}");
            assert!((found.signals.of_readings - change).abs() < 1e-5, "{found:?}");
        }
    }

    #[test]
    fn readings_of_a_task_have_half_of_their_sum() {
        let mut task = ranking(ODDS, &[("a", 4.0), ("b", 3.0), ("c", 2.0)]);
        let others = [
            ranking(ODDS, &[("b", 9.0), ("a", 6.0)]),
            ranking(ODDS, &[("b", 1.0), ("a", 0.0), ("c", 0.0)]),
        ];
        add_readings(&mut task, &others);
        assert_scores(&task, &[("b", 3.5, 0.5), ("a", 2.0, -2.0), ("c", 0.0, -2.0)]);
        let mut alone = ranking(ODDS, &[("a", 4.0), ("b", 3.0)]);
        add_readings(&mut alone, &[]);
        assert_scores(&alone, &[("a", 4.0, 0.0), ("b", 3.0, 0.0)]);
        let mut points = ranking(ScoreScale::Points, &[("a", 4.0), ("b", 3.0)]);
        add_readings(&mut points, &[ranking(ScoreScale::Points, &[("b", 9.0)])]);
        assert_scores(&points, &[("a", 4.0, 0.0), ("b", 3.0, 0.0)]);
    }

    #[test]
    fn the_beginning_of_a_long_task_and_what_it_asks_have_their_shares() {
        let beginning = ranking(ODDS, &[("b", 9.0), ("c", 8.0), ("a", 3.0)]);
        let mut task = ranking(ODDS, &[("a", 6.0), ("b", 5.4), ("c", 0.0)]);
        task.candidates[2].signals.is_named = true;
        add_of_long(&mut task, Some(&beginning), None);
        assert_scores(&task, &[("b", 5.5, 0.1), ("a", 5.0, -1.0), ("c", 0.0, 0.0)]);
        let mut task = ranking(ODDS, &[("a", 6.0)]);
        add_of_long(&mut task, Some(&ranking(ODDS, &[("b", 90.0), ("a", 3.0)])), None);
        assert_scores(&task, &[("a", 6.0 - 10.0 / 6.0, -10.0 / 6.0)]);
        add_of_long(&mut task, Some(&ranking(ScoreScale::Points, &[("b", 9.0)])), None);
        assert_scores(&task, &[("a", 6.0 - 10.0 / 6.0, -10.0 / 6.0)]);
        let asked = ranking(ODDS, &[("b", 2.0), ("a", 0.0)]);
        let mut task = ranking(ODDS, &[("a", 6.0), ("b", 5.0)]);
        add_of_long(&mut task, None, Some(&asked));
        assert_scores(&task, &[("a", 5.4, -0.6), ("b", 5.3, 0.3)]);
        let mut task = ranking(ODDS, &[("a", 6.0), ("b", 3.3)]);
        add_of_long(&mut task, Some(&beginning), Some(&asked));
        assert_scores(&task, &[("b", 4.56, 1.26), ("a", 4.4, -1.6)]);
    }
}
