//! [`ChangedGold`]: why the rank of a right skill changed.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use skillmux::retrieve::Contribution;

use super::tested::NOISE;
use crate::{answer::RankedSkill, task::Task};

/// Reasons of a change at most.
const N_REASONS: usize = 5;

/// A right skill whose rank changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedGold {
    /// The skill.
    pub skill_id: String,
    /// Its rank in the first system's answer, from 1.
    pub rank_a: Option<usize>,
    /// Its rank in the second's.
    pub rank_b: Option<usize>,
    /// The wrong skill that explains the change: it stands above the right one where that ranks
    /// lower, and if possible not where it ranks higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rival: Option<Rival>,
    /// How the features of the right skill changed; the largest change first.
    pub features: Vec<FeatureChange>,
}

/// A wrong skill that stands above a right one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rival {
    /// The skill.
    pub skill_id: String,
    /// Its rank in the first system's answer, from 1.
    pub rank_a: Option<usize>,
    /// Its rank in the second's.
    pub rank_b: Option<usize>,
    /// How its features changed; the largest change first.
    pub features: Vec<FeatureChange>,
    /// By how much its features exceed those of the right skill in the answer where it stands
    /// above; the largest first.
    pub leads: Vec<FeatureLead>,
}

/// What a feature adds to the score of a skill in both answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureChange {
    /// Name of the feature.
    pub feature: String,
    /// In the first system's answer.
    pub a: f32,
    /// In the second's.
    pub b: f32,
}

/// What a feature adds to the scores of two skills in one answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureLead {
    /// Name of the feature.
    pub feature: String,
    /// To the score of the right skill.
    pub gold: f32,
    /// To the score of the rival.
    pub rival: f32,
}

/// Returns whether a skill ranks lower in the second answer than in the first.
pub(super) fn worse_in_b(rank_a: Option<usize>, rank_b: Option<usize>) -> bool {
    rank_a.unwrap_or(usize::MAX) < rank_b.unwrap_or(usize::MAX)
}

/// Returns the right skills whose rank changed, in the order of the better ranks.
pub(super) fn changed_gold(task: &Task, a: &[RankedSkill], b: &[RankedSkill]) -> Vec<ChangedGold> {
    let (ranks_a, ranks_b) = (ranks(a), ranks(b));
    let rank = |ranks: &HashMap<&str, usize>, id: &str| ranks.get(id).copied();
    let ids = task.gold.iter().map(|(id, _)| id);
    let moved =
        ids.map(|id| (id, rank(&ranks_a, id), rank(&ranks_b, id))).filter(|(_, a, b)| a != b);
    let mut changed: Vec<ChangedGold> = moved
        .map(|(id, rank_a, rank_b)| {
            let is_worse = worse_in_b(rank_a, rank_b);
            let (low, low_rank) = if is_worse { (b, rank_b) } else { (a, rank_a) };
            let (high, high_rank) = if is_worse { (&ranks_a, rank_a) } else { (&ranks_b, rank_b) };
            let above = &low[..low_rank.map_or(low.len(), |rank| rank - 1)];
            let is_wrong = |skill: &&RankedSkill| !task.gold.contains(&skill.skill_id);
            let was_above = |skill: &RankedSkill| {
                let high_rank = high_rank.unwrap_or(usize::MAX);
                rank(high, &skill.skill_id).is_some_and(|rank| rank < high_rank)
            };
            let newcomer = above.iter().filter(is_wrong).find(|skill| !was_above(skill));
            let rival = newcomer.or_else(|| above.iter().find(is_wrong)).map(|skill| Rival {
                skill_id: skill.skill_id.clone(),
                rank_a: rank(&ranks_a, &skill.skill_id),
                rank_b: rank(&ranks_b, &skill.skill_id),
                features: feature_changes(a, b, &skill.skill_id),
                leads: feature_leads(low, id, &skill.skill_id),
            });
            let features = feature_changes(a, b, id);
            ChangedGold { skill_id: id.to_owned(), rank_a, rank_b, rival, features }
        })
        .collect();
    changed.sort_by_key(|gold| gold.rank_a.into_iter().chain(gold.rank_b).min());
    changed
}

/// Returns the rank of each skill, from 1.
fn ranks(ranking: &[RankedSkill]) -> HashMap<&str, usize> {
    ranking.iter().map(|skill| skill.skill_id.as_str()).zip(1..).collect()
}

/// Returns what each feature adds to a skill's score in two answers, 0 where only the other names
/// it; nothing if an answer does not explain the skill.
fn feature_changes(a: &[RankedSkill], b: &[RankedSkill], id: &str) -> Vec<FeatureChange> {
    let pairs = feature_pairs(contributions(a, id), contributions(b, id));
    let changed = pairs.into_iter().filter(|(_, a, b)| f64::from((a - b).abs()) > NOISE);
    changed.take(N_REASONS).map(|(feature, a, b)| FeatureChange { feature, a, b }).collect()
}

/// Returns by how much the features of a rival exceed those of a right skill.
fn feature_leads(ranking: &[RankedSkill], gold: &str, rival: &str) -> Vec<FeatureLead> {
    let pairs = feature_pairs(contributions(ranking, gold), contributions(ranking, rival));
    let leads = pairs.into_iter().filter(|(_, gold, rival)| rival > gold);
    let lead = |(feature, gold, rival)| FeatureLead { feature, gold, rival };
    leads.take(N_REASONS).map(lead).collect()
}

fn contributions<'a>(ranking: &'a [RankedSkill], id: &str) -> &'a [Contribution] {
    let skill = ranking.iter().find(|skill| skill.skill_id == id);
    skill.map_or(&[], |skill| skill.contributions.as_slice())
}

/// Returns the features of two explanations with both values, the largest difference first.
fn feature_pairs(a: &[Contribution], b: &[Contribution]) -> Vec<(String, f32, f32)> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let mut values: BTreeMap<&str, (f32, f32)> = BTreeMap::new();
    for Contribution { feature, value } in a {
        values.entry(feature).or_default().0 += value;
    }
    for Contribution { feature, value } in b {
        values.entry(feature).or_default().1 += value;
    }
    let pairs = values.into_iter().map(|(feature, (a, b))| (feature.to_owned(), a, b));
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by(|x, y| (y.2 - y.1).abs().total_cmp(&(x.2 - x.1).abs()));
    pairs
}
