//! [`merge`]: one ranking of those of a task and of its needs.

use std::collections::BTreeMap;

use crate::{
    query::Query,
    retrieve::{
        Candidate, Contribution, Ranking, RankingIdentity, ScoreScale, Signals, log_odds_shares,
        shares,
    },
    skill::SkillId,
};

/// Candidates of each ranking that count; the share of those beyond is next to nothing.
pub(super) const N_MERGED: usize = 200;

/// How slowly shares fall by place where scores are no log-odds. Set by hand.
const PLACE_OFFSET: f32 = 10.0;

/// The signals of a merged candidate: its share in the ranking of the task and in that of each
/// need.
const SHARES: [&str; Query::MAX_NEEDS + 1] = [
    "task", "need 1", "need 2", "need 3", "need 4", "need 5", "need 6", "need 7", "need 8",
    "need 9", "need 10", "need 11", "need 12", "need 13", "need 14", "need 15", "need 16",
];

/// Returns the ranking by the sum of what a skill has of each ranking: that of the task, and then
/// those of its needs.
///
/// A ranking by log-odds is shared out by them (a softmax); of another one, places count. So a
/// ranking that is sure of a skill says more than one that is not. To the log-odds for a need are
/// added those for the task, as in a plan.
pub(super) fn merge(mut rankings: Vec<Ranking>) -> Ranking {
    let n = rankings.len();
    let names = SHARES.get(..n).unwrap_or(&SHARES);
    let identity = rankings.first().map_or("nothing", |ranking| ranking.identity.as_str());
    let identity = RankingIdentity::new(format!("needs over {identity}"));
    if let Some((task, needs)) = rankings.split_first_mut()
        && let Some(of_task) = OfTask::of(task)
    {
        for need in needs {
            of_task.add_to(need);
        }
    }
    let mut shares_of: BTreeMap<SkillId, Vec<f32>> = BTreeMap::new();
    for (at, Ranking { candidates, scale, .. }) in
        rankings.into_iter().enumerate().take(names.len())
    {
        let shares = ranking_shares(&candidates, scale);
        for (candidate, share) in candidates.into_iter().zip(shares) {
            shares_of.entry(candidate.skill).or_insert_with(|| vec![0.0; names.len()])[at] = share;
        }
    }
    let merged = |(skill, shares): (SkillId, Vec<f32>)| Candidate {
        skill,
        score: shares.iter().sum(),
        signals: Signals::new(names, shares),
    };
    let mut candidates: Vec<Candidate> = shares_of.into_iter().map(merged).collect();
    candidates.sort_unstable_by(Candidate::best_first);
    Ranking { candidates, scale: ScoreScale::Share, identity }
}

/// Returns what a merged candidate has of each ranking; `None` for one that was not merged.
pub(super) fn contributions(candidate: &Candidate) -> Option<Vec<Contribution>> {
    if candidate.signals.names().first() != SHARES.first() {
        return None;
    }
    let named = candidate.signals.names().iter().zip(candidate.signals.values());
    let part =
        |(name, value): (&&str, &f32)| Contribution { feature: (*name).to_owned(), value: *value };
    Some(named.map(part).filter(|part| part.value > 0.0).collect())
}

/// Returns the shares of candidates, best first; they add up to 1.
fn ranking_shares(candidates: &[Candidate], scale: ScoreScale) -> Vec<f32> {
    match scale {
        ScoreScale::LogOdds => log_odds_shares(candidates.iter().map(|found| found.score)),
        _ => {
            shares((0..candidates.len()).map(|place| 1.0 / (PLACE_OFFSET + place as f32)).collect())
        }
    }
}

/// How far candidates are below the best one that the task does not name, in log-odds, 0 or less:
/// what a ranking of the task as a whole, or by one of its readings, says of them.
pub(super) struct OfTask(BTreeMap<SkillId, f32>);

/// A candidate of a need is this much worse than the best of the task at most: what is right for
/// one need of five may be far down. Set by hand.
const MAX_BELOW_TASK: f32 = 5.0;

impl OfTask {
    /// Returns what a ranking of the task says; nothing if its scores are no log-odds.
    pub(super) fn of(ranking: &Ranking) -> Option<Self> {
        if ranking.scale != ScoreScale::LogOdds {
            return None;
        }
        let candidates = &ranking.candidates;
        let is_unnamed = |candidate: &&Candidate| !candidate.signals.is_named;
        let best = candidates.iter().find(is_unnamed).or_else(|| candidates.first())?.score;
        let below = |candidate: &Candidate| {
            (candidate.skill.clone(), f32::min(candidate.score - best, 0.0))
        };
        Some(Self(ranking.candidates.iter().map(below).collect()))
    }

    /// Adds to each score of the ranking of a need what the task says of the candidate, and orders
    /// them again.
    pub(super) fn add_to(&self, ranking: &mut Ranking) {
        for candidate in &mut ranking.candidates {
            candidate.score += self.of_candidate(candidate);
        }
        ranking.candidates.sort_unstable_by(Candidate::best_first);
    }

    /// Returns what the task adds to the score of a candidate, in `[-5, 0]`; nothing to one that
    /// the need names, which stays first.
    pub(super) fn of_candidate(&self, candidate: &Candidate) -> f32 {
        if candidate.signals.is_named {
            return 0.0;
        }
        self.below(candidate, MAX_BELOW_TASK)
    }

    /// Returns how far a candidate is below the best one of the task, in `[-max_below, 0]`;
    /// `-max_below` for one that was not found.
    pub(super) fn below(&self, candidate: &Candidate, max_below: f32) -> f32 {
        self.0.get(&candidate.skill).map_or(-max_below, |below| below.max(-max_below))
    }
}

/// The scores that skills have for a task as a whole. Those of two of its parts do not compare: so
/// an answer shows these.
pub(super) struct TaskScores {
    scores: BTreeMap<SkillId, f32>,
    lowest: f32,
}

impl TaskScores {
    /// Returns the scores of a ranking of the task; nothing if they are no log-odds.
    pub(super) fn of(ranking: &Ranking) -> Option<Self> {
        let lowest = ranking.candidates.last()?.score;
        let score = |candidate: &Candidate| (candidate.skill.clone(), candidate.score);
        let scores = ranking.candidates.iter().map(score).collect();
        (ranking.scale == ScoreScale::LogOdds).then_some(Self { scores, lowest })
    }

    /// Returns what makes the score of a candidate of a part that for the task. One that the task
    /// did not find has the lowest score of all.
    pub(super) fn of_candidate(&self, candidate: &Candidate) -> f32 {
        let lowest = || self.lowest.min(candidate.score);
        self.scores.get(&candidate.skill).copied().unwrap_or_else(lowest) - candidate.score
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(scale: ScoreScale, scores: &[(&str, f32)]) -> Ranking {
        let candidate = |(id, score): &(&str, f32)| Candidate::new(SkillId::new(*id), *score);
        let candidates = scores.iter().map(candidate).collect();
        Ranking { candidates, scale, identity: RankingIdentity::new("test") }
    }

    fn order(ranking: &Ranking) -> Vec<&str> {
        ranking.candidates.iter().map(|candidate| candidate.skill.as_str()).collect()
    }

    #[test]
    fn a_ranking_that_is_sure_says_more_than_one_that_is_not() {
        let odds = ScoreScale::LogOdds;
        let task = ranking(odds, &[("a", 0.2), ("b", 0.1), ("c", 0.0)]);
        let sure = ranking(odds, &[("c", 9.0), ("a", 0.0)]);
        let merged = merge(vec![task, sure]);
        assert_eq!(order(&merged), ["c", "a", "b"]);
        assert_eq!(merged.identity.as_str(), "needs over test");
        for candidate in &merged.candidates {
            let parts = contributions(candidate).unwrap();
            let sum: f32 = parts.iter().map(|part| part.value).sum();
            assert!((sum - candidate.score).abs() < 1e-6, "{parts:?}");
        }
        let sum: f32 = merged.candidates.iter().map(|candidate| candidate.score).sum();
        assert!((sum - 2.0).abs() < 1e-5, "each ranking gives one share: {sum}");
    }

    #[test]
    fn a_skill_for_a_need_must_also_suit_the_task() {
        let odds = ScoreScale::LogOdds;
        let task = ranking(odds, &[("a", 4.0), ("b", 3.0)]);
        // `c` is a little better for the need, but the task has not found it.
        let need = ranking(odds, &[("c", 2.0), ("b", 1.5), ("a", 0.0)]);
        assert_eq!(order(&merge(vec![task, need])), ["a", "b", "c"]);
        // Where the need is much surer of it, it is first.
        let task = ranking(odds, &[("a", 4.0), ("b", 3.0)]);
        let need = ranking(odds, &[("c", 12.0), ("b", 1.5), ("a", 0.0)]);
        assert_eq!(order(&merge(vec![task, need])), ["c", "a", "b"]);
    }

    #[test]
    fn places_count_where_scores_are_no_log_odds() {
        let points = ScoreScale::Points;
        let task = ranking(points, &[("a", 90.0), ("b", 1.0)]);
        let need = ranking(points, &[("b", 0.2), ("a", 0.1), ("c", 0.1)]);
        assert_eq!(order(&merge(vec![task, need.clone()])), ["a", "b", "c"]);
        assert!(OfTask::of(&need).is_none());
    }

    #[test]
    fn the_task_takes_five_from_what_it_does_not_hold() {
        let of_task =
            OfTask::of(&ranking(ScoreScale::LogOdds, &[("a", 3.0), ("b", 2.0), ("c", -9.0)]));
        let of = |id: &str| {
            of_task.as_ref().unwrap().of_candidate(&Candidate::new(SkillId::new(id), 0.0))
        };
        let found = [of("a"), of("b"), of("c"), of("d")];
        for (found, expected) in found.into_iter().zip([0.0, -1.0, -5.0, -5.0]) {
            assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
        }
    }

    #[test]
    fn a_skill_of_a_part_is_shown_with_the_score_that_it_has_for_the_task() {
        let task = ranking(ScoreScale::LogOdds, &[("a", 5.0), ("b", 1.0)]);
        let scores = TaskScores::of(&task).unwrap();
        let shown = |id: &str, score: f32| {
            score + scores.of_candidate(&Candidate::new(SkillId::new(id), score))
        };
        // What the task did not find is behind all that it found.
        let expected = [("a", 2.0, 5.0), ("b", 9.0, 1.0), ("c", 9.0, 1.0), ("c", -3.0, -3.0)];
        for (id, score, expected) in expected {
            assert!((shown(id, score) - expected).abs() < 1e-6, "{id} of {score}");
        }
        assert!(TaskScores::of(&ranking(ScoreScale::RankOnly, &[("a", 5.0)])).is_none());
        assert!(TaskScores::of(&ranking(ScoreScale::LogOdds, &[])).is_none());
    }
}
