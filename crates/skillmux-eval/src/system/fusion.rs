//! [`Fusion`]: one ranking out of several.

use rustc_hash::FxHashMap;

use super::{contract::System, engine::best_first};
use crate::{
    answer::{Answer, RankedSkill},
    error::Error,
    task::Task,
};

/// Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009, §3).
const RRF_K: f32 = 60.0;

/// Skills of each ranking that are fused, at least: what a skill gets must not depend much on how
/// many are asked for.
const MIN_POOL: usize = 100;

/// How a ranking's places or scores become summands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FusionRule {
    /// `1 / (60 + rank)` (Cormack, Clarke and Büttcher 2009). Skills with the same score have the
    /// same rank, the best of theirs: copies must not push each other down.
    ReciprocalRank,
    /// The score on a scale where the ranking's lowest has 0 and its highest 1; all have 1 where
    /// they are the same (`CombSUM` over min-max, Fox and Shaw 1994, Lee 1997).
    MinMax,
    /// The score's distance from the mean of the ranking in standard deviations; all have 0 where
    /// they are the same.
    ZScore,
}

impl FusionRule {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::ReciprocalRank => "rrf",
            Self::MinMax => "score",
            Self::ZScore => "zscore",
        }
    }

    /// Returns the summand of each skill of a ranking, and that of the skills that it lacks.
    fn summands(self, ranking: &[RankedSkill]) -> (Vec<f32>, f32) {
        let scores: Vec<f32> = ranking.iter().map(|skill| skill.score).collect();
        let lowest = scores.iter().copied().fold(f32::INFINITY, f32::min);
        let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        match self {
            Self::ReciprocalRank => {
                let mut rank_of_tie = 0.0;
                let mut last = f32::NAN;
                let summand = |(rank, score): (f32, f32)| {
                    if score.to_bits() != last.to_bits() {
                        (rank_of_tie, last) = (rank, score);
                    }
                    1.0 / (RRF_K + rank_of_tie)
                };
                (ranks().zip(scores).map(summand).collect(), 0.0)
            }
            Self::MinMax if highest > lowest => {
                let range = f64::from(highest) - f64::from(lowest);
                let scale = |score| narrow((f64::from(score) - f64::from(lowest)) / range);
                (scores.into_iter().map(scale).collect(), 0.0)
            }
            Self::MinMax => (vec![1.0; scores.len()], 0.0),
            Self::ZScore if highest > lowest => {
                // The square of a large score is beyond what 32 bits hold.
                let n = scores.len() as f64;
                let wide = || scores.iter().copied().map(f64::from);
                let mean = wide().sum::<f64>() / n;
                let deviation =
                    (wide().map(|score| (score - mean).powi(2)).sum::<f64>() / n).sqrt();
                let scale = |score| narrow((f64::from(score) - mean) / deviation);
                (scores.iter().copied().map(scale).collect(), scale(lowest))
            }
            Self::ZScore => (vec![0.0; scores.len()], 0.0),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "precision beyond that of scores is dropped")]
fn narrow(number: f64) -> f32 {
    number as f32
}

/// Returns the ranks from 1.
fn ranks() -> impl Iterator<Item = f32> {
    (1_u16..).map(f32::from)
}

/// Ranks by the weighted sum of what the parts say.
///
/// The first 100 skills of each part are fused, or as many as are asked for if that is more. A
/// skill that a ranking lacks gets what its last one gets for `score` and `zscore`, and nothing
/// for `rrf`.
pub(super) struct Fusion<'a> {
    name: String,
    rule: FusionRule,
    parts: Vec<(Box<dyn System + 'a>, f32)>,
}

impl<'a> Fusion<'a> {
    pub(super) fn new(
        name: String,
        rule: FusionRule,
        parts: Vec<(Box<dyn System + 'a>, f32)>,
    ) -> Self {
        Self { name, rule, parts }
    }
}

impl System for Fusion<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn config(&self) -> String {
        let rule = match self.rule {
            FusionRule::ReciprocalRank => format!("rrf k={RRF_K}"),
            FusionRule::MinMax | FusionRule::ZScore => self.rule.as_str().to_owned(),
        };
        let part = |(system, weight): &(Box<dyn System + '_>, f32)| {
            format!("{weight} of [{}]", system.config())
        };
        let parts: Vec<String> = self.parts.iter().map(part).collect();
        format!("{rule} pool={MIN_POOL} {}", parts.join(" + "))
    }

    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error> {
        let mut rankings = Vec::with_capacity(self.parts.len());
        for (system, weight) in &self.parts {
            let answer = system.answer(task, depth.max(MIN_POOL))?;
            rankings.push((answer.ranking.unwrap_or_default(), *weight));
        }
        Ok(Answer::of_ranking(best_first(fused(self.rule, &rankings), depth)))
    }
}

/// Returns the sums, in no order of meaning.
fn fused(rule: FusionRule, rankings: &[(Vec<RankedSkill>, f32)]) -> Vec<(String, f32)> {
    let mut positions: FxHashMap<&str, usize> = FxHashMap::default();
    let mut ids: Vec<&str> = Vec::new();
    for skill in rankings.iter().flat_map(|(ranking, _)| ranking) {
        positions.entry(&skill.skill_id).or_insert_with(|| {
            ids.push(&skill.skill_id);
            ids.len() - 1
        });
    }
    let mut sums = vec![0.0; ids.len()];
    for (ranking, weight) in rankings {
        let (summands, of_missing) = rule.summands(ranking);
        let mut of_skill = vec![of_missing; ids.len()];
        for (skill, summand) in ranking.iter().zip(summands) {
            of_skill[positions[skill.skill_id.as_str()]] = summand;
        }
        for (sum, summand) in sums.iter_mut().zip(of_skill) {
            *sum += weight * summand;
        }
    }
    ids.into_iter().map(str::to_owned).zip(sums).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(scored: &[(&str, f32)]) -> Vec<RankedSkill> {
        Answer::of_ranking(scored.iter().map(|(id, score)| ((*id).to_owned(), *score)))
            .ranking
            .unwrap()
    }

    fn assert_fused(rule: FusionRule, weights: [f32; 2], expected: &[(&str, f32)]) {
        let a = ranking(&[("a", 9.0), ("b", 5.0), ("c", 1.0)]);
        let b = ranking(&[("d", 0.5), ("a", 0.1)]);
        let found = best_first(fused(rule, &[(a, weights[0]), (b, weights[1])]), 9);
        for ((id, score), (expected_id, expected_score)) in found.iter().zip(expected) {
            assert_eq!(id, expected_id, "{found:?}");
            assert!((score - expected_score).abs() < 1e-6, "{found:?}");
        }
        assert_eq!(found.len(), expected.len());
    }

    #[test]
    fn reciprocal_ranks_add_up() {
        let (first, second, third) = (1.0 / 61.0, 1.0 / 62.0, 1.0 / 63.0);
        assert_fused(
            FusionRule::ReciprocalRank,
            [1.0, 1.0],
            &[("a", first + second), ("d", first), ("b", second), ("c", third)],
        );
    }

    #[test]
    fn scores_are_scaled_to_one_and_weighed() {
        assert_fused(
            FusionRule::MinMax,
            [0.6, 0.4],
            &[("a", 0.6), ("d", 0.4), ("b", 0.3), ("c", 0.0)],
        );
    }

    #[test]
    fn deviations_add_up_and_what_is_missing_is_as_the_last() {
        // Of 9, 5 and 1 the mean is 5 and the standard deviation √(32/3).
        let z = 4.0 / (32.0_f32 / 3.0).sqrt();
        assert_fused(
            FusionRule::ZScore,
            [1.0, 1.0],
            &[("a", z - 1.0), ("d", 1.0 - z), ("b", -1.0), ("c", -z - 1.0)],
        );
    }

    #[test]
    fn equal_scores_share_a_rank() {
        let same = ranking(&[("b", 2.0), ("a", 2.0), ("c", 1.0)]);
        let found = best_first(fused(FusionRule::ReciprocalRank, &[(same, 1.0)]), 9);
        let expected = [("a", 1.0 / 61.0), ("b", 1.0 / 61.0), ("c", 1.0 / 63.0)];
        assert_eq!(found, expected.map(|(id, score)| (id.to_owned(), score)));
    }

    #[test]
    fn large_scores_stay_finite() {
        let large = ranking(&[("a", f32::MAX), ("b", 1.0), ("c", f32::MIN)]);
        for rule in [FusionRule::MinMax, FusionRule::ZScore] {
            let (summands, of_missing) = rule.summands(&large);
            assert!(summands.iter().chain([&of_missing]).all(|summand| summand.is_finite()));
            assert!(summands.is_sorted_by(|a, b| a > b), "{summands:?}");
        }
    }

    #[test]
    fn equal_scores_are_no_division_by_zero() {
        for rule in [FusionRule::MinMax, FusionRule::ZScore] {
            let same = ranking(&[("b", 2.0), ("a", 2.0)]);
            let found = best_first(fused(rule, &[(same, 1.0), (Vec::new(), 1.0)]), 9);
            assert_eq!(found[0].0, "a");
            assert!(found.iter().all(|(_, score)| score.is_finite()));
        }
    }
}
