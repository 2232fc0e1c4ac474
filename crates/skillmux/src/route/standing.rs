//! [`Standing`]: what trust does to a ranking.

use std::cmp::Reverse;

use super::copies::{CopyReader, Likeness};
use crate::{
    error::{Error, Result},
    index::{Index, IndexedSkill, SkillIdx, name_key},
    retrieve::{Behind, Candidate, ScoreScale},
    skill::{SkillId, risk::Risks},
    trust::{Tier, TrustNote, TrustPolicy, Verdict},
};

/// Fewest candidates among which originals are looked for. A copy whose original is not among them
/// has words of its own that the original has not, and is left out.
pub(super) const MIN_COMPARED: usize = 24;

/// Applies a [`TrustPolicy`] to rankings over one index.
///
/// 1. Skills with a risk that the policy blocks are left out.
/// 2. Risks lower the score of a skill that is not trusted, by [`Risks::penalty`]; so does being
///    untrusted.
/// 3. A copy never stands above a skill that outranks it: one that is trusted more, or one that is
///    trusted as much and lacks risks that the copy has. Nor does a skill with the name of one that
///    is trusted more, if both are found.
pub(super) struct Standing<'r> {
    index: &'r Index,
    policy: &'r TrustPolicy,
    /// The highest tier of the index.
    highest: Tier,
}

/// What a policy says of one skill.
#[derive(Debug, Clone, Copy)]
struct Rank {
    idx: SkillIdx,
    tier: Tier,
    risks: Risks,
    is_blocked: bool,
    /// Log-odds that its score is lowered by.
    penalty: f32,
}

impl Rank {
    /// Returns whether a copy of this skill must not stand above it.
    fn outranks(&self, copy: &Self) -> bool {
        let has_more_risks =
            !copy.risks.without(self.risks).is_empty() && self.risks.without(copy.risks).is_empty();
        self.tier > copy.tier || self.tier == copy.tier && has_more_risks
    }

    /// Returns how a skill that this one outranks passes for it.
    fn likeness(&self, copy: &Self, copies: &mut CopyReader<'_>) -> Result<Likeness> {
        if !self.outranks(copy) {
            return Ok(Likeness::None);
        }
        copies.likeness(copy.idx, self.idx, self.tier > copy.tier)
    }
}

impl<'r> Standing<'r> {
    pub(super) fn new(index: &'r Index, policy: &'r TrustPolicy) -> Self {
        let highest = policy.highest(index.manifest().origins.keys().copied());
        Self { index, policy, highest }
    }

    /// Applies the policy to candidates in any order; they are in order afterwards.
    pub(super) fn apply(&self, candidates: &mut Vec<Candidate>, scale: ScoreScale) -> Result<()> {
        let mut ranks = Vec::with_capacity(candidates.len());
        for candidate in candidates.iter_mut() {
            let rank = self.rank(self.index.find(&candidate.skill)?)?;
            if rank.penalty > 0.0 {
                let score = lowered(candidate.score, scale, rank.penalty);
                candidate.signals.trust_penalty = rank.penalty;
                candidate.signals.lowered += candidate.score - score;
                candidate.score = score;
            }
            ranks.push(rank);
        }
        let mut ranked: Vec<(Candidate, Rank)> = candidates.drain(..).zip(ranks).collect();
        ranked.retain(|(_, rank)| !rank.is_blocked);
        ranked.sort_unstable_by(|a, b| Candidate::best_first(&a.0, &b.0));
        self.put_copies_behind(&mut ranked)?;
        candidates.extend(ranked.into_iter().map(|(candidate, _)| candidate));
        Ok(())
    }

    /// Returns which of the skills that a task names are put first: of one name, those of the
    /// highest tier; none that is not trusted, and none that is blocked.
    pub(super) fn pinned(&self, named: Vec<SkillId>) -> Result<Vec<SkillId>> {
        if named.is_empty() {
            return Ok(named);
        }
        let mut copies = CopyReader::new(self.index);
        let mut all = Vec::with_capacity(named.len());
        for id in named {
            let rank = self.rank(self.index.find(&id)?)?;
            all.push((name_key(copies.name(rank.idx)?), rank, id));
        }
        let best = |key: &str| {
            let of_name = all.iter().filter(|(other, ..)| other == key);
            of_name.map(|(_, rank, _)| rank.tier).max().unwrap_or_default()
        };
        let is_pinned = |key: &str, rank: &Rank| {
            rank.tier > Tier::Untrusted && rank.tier == best(key) && !rank.is_blocked
        };
        let pinned = all.iter().filter(|(key, rank, _)| is_pinned(key, rank));
        Ok(pinned.map(|(_, _, id)| id.clone()).collect())
    }

    /// Returns what an answer says of a skill; `behind` is the skill that it was put behind in the
    /// ranking.
    pub(super) fn note(
        &self,
        indexed: &IndexedSkill,
        behind: Option<&Behind>,
    ) -> Result<TrustNote> {
        let idx = self.index.find(&indexed.skill.id)?;
        let note = TrustNote::of(indexed, self.index.content_hash(idx)?, self.policy);
        let of_name = if behind.is_none() { self.of_name(idx)? } else { None };
        Ok(match behind.or(of_name.as_ref()) {
            Some(Behind { skill, is_copy: true }) => {
                TrustNote { copy_of: Some(skill.clone()), ..note }
            }
            Some(Behind { skill, is_copy: false }) => {
                TrustNote { namesake_of: Some(skill.clone()), ..note }
            }
            None => note,
        })
    }

    /// Returns whether a note may have warnings: without a look at the text, which costs time.
    pub(super) fn may_have_warnings(&self, idx: SkillIdx) -> Result<bool> {
        Ok(self.verdict(idx)?.is_changed || self.may_be_outranked(&self.rank(idx)?))
    }

    /// Returns whether the user wants a skill in no answer, for its risks.
    pub(super) fn is_blocked(&self, idx: SkillIdx) -> Result<bool> {
        Ok(!self.verdict(idx)?.blocked.is_empty())
    }

    /// Returns the error of a skill that is blocked.
    pub(super) fn check(&self, id: &SkillId) -> Result<()> {
        let blocked = self.verdict(self.index.find(id)?)?.blocked;
        if blocked.is_empty() {
            return Ok(());
        }
        let risks = blocked.iter().map(|risk| risk.meaning().to_owned()).collect();
        Err(Error::SkillBlocked { id: id.clone(), risks })
    }

    /// Returns the skill of the same name that a skill must stand behind: of several, one that it
    /// is a copy of, then that of the highest tier, then that of the first id.
    fn of_name(&self, idx: SkillIdx) -> Result<Option<Behind>> {
        let rank = self.rank(idx)?;
        if !self.may_be_outranked(&rank) {
            return Ok(None);
        }
        let mut copies = CopyReader::new(self.index);
        let others = self.of_same_name(&rank, &mut copies)?;
        let best = others.into_iter().min_by_key(|(other, likeness)| {
            (*likeness != Likeness::Copy, Reverse(other.tier), other.idx)
        });
        let behind = best.map(|(other, likeness)| self.behind(&other, likeness));
        behind.transpose()
    }

    fn behind(&self, other: &Rank, likeness: Likeness) -> Result<Behind> {
        Ok(Behind { skill: self.index.id(other.idx)?, is_copy: likeness == Likeness::Copy })
    }

    fn rank(&self, idx: SkillIdx) -> Result<Rank> {
        let verdict = self.verdict(idx)?;
        let Verdict { tier, risks, blocked, .. } = verdict;
        Ok(Rank { idx, tier, risks, is_blocked: !blocked.is_empty(), penalty: verdict.penalty() })
    }

    fn verdict(&self, idx: SkillIdx) -> Result<Verdict> {
        let index = self.index;
        let (id, origin) = (index.id(idx)?, index.background(idx)?.origin);
        Ok(self.policy.judge(&id, origin, index.content_hash(idx)?, index.risks(idx)?))
    }

    /// Returns whether any skill may outrank this one: without a look at them, which costs time.
    fn may_be_outranked(&self, rank: &Rank) -> bool {
        rank.tier < self.highest || !rank.risks.is_empty()
    }

    /// Puts each copy right behind the skill that outranks it, or leaves it out where that is not
    /// among the candidates. What only has the name of another skill stays where that is not among
    /// them.
    fn put_copies_behind(&self, ranked: &mut Vec<(Candidate, Rank)>) -> Result<()> {
        if !ranked.iter().any(|(_, rank)| self.may_be_outranked(rank)) {
            return Ok(());
        }
        let mut copies = CopyReader::new(self.index);
        // From the last to the first: what moves down has been looked at, and stays behind its
        // original.
        for at in (0..ranked.len()).rev() {
            let rank = ranked[at].1;
            if !self.may_be_outranked(&rank) {
                continue;
            }
            let mut last = None;
            for (other_at, (_, other)) in ranked.iter().enumerate() {
                let likeness = other.likeness(&rank, &mut copies)?;
                if likeness != Likeness::None {
                    last = Some((other_at, self.behind(other, likeness)?));
                }
            }
            let Some((below, behind)) = last else {
                let others = self.of_same_name(&rank, &mut copies)?;
                if others.iter().any(|(_, likeness)| *likeness == Likeness::Copy) {
                    ranked.remove(at);
                }
                continue;
            };
            ranked[at].0.signals.behind = Some(behind);
            if below > at {
                let floor = ranked[below].0.score.next_down();
                let (mut copy, rank) = ranked.remove(at);
                copy.signals.lowered += copy.score - floor;
                copy.score = floor;
                // Others may have been put there before.
                let place = ranked
                    .partition_point(|(other, _)| Candidate::best_first(other, &copy).is_le());
                ranked.insert(place, (copy, rank));
            }
        }
        Ok(())
    }

    /// Returns the skills of the same name that outrank one that passes for them.
    fn of_same_name(
        &self,
        rank: &Rank,
        copies: &mut CopyReader<'_>,
    ) -> Result<Vec<(Rank, Likeness)>> {
        let key = name_key(copies.name(rank.idx)?);
        let mut found = Vec::new();
        for other in self.index.named(&key)? {
            let other = self.rank(other)?;
            let likeness = other.likeness(rank, copies)?;
            if likeness != Likeness::None {
                found.push((other, likeness));
            }
        }
        Ok(found)
    }
}

/// Returns a score that some log-odds were taken from: where scores are ratios, the matching part
/// of it.
fn lowered(score: f32, scale: ScoreScale, log_odds: f32) -> f32 {
    match scale {
        ScoreScale::LogOdds => score - log_odds,
        ScoreScale::Points | ScoreScale::Share | ScoreScale::Cosine if score > 0.0 => {
            score * (-log_odds).exp()
        }
        // Such scores tell an order and nothing else; copies are put behind all the same.
        _ => score,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_lowered_on_their_own_scale() {
        let half = std::f32::consts::LN_2;
        for (scale, expected) in [
            (ScoreScale::LogOdds, 4.0 - half),
            (ScoreScale::Points, 2.0),
            (ScoreScale::Share, 2.0),
            (ScoreScale::Cosine, 2.0),
            (ScoreScale::RankOnly, 4.0),
        ] {
            assert!((lowered(4.0, scale, half) - expected).abs() < 1e-6, "{scale:?}");
        }
        assert!((lowered(-0.5, ScoreScale::Cosine, half) + 0.5).abs() < 1e-6);
    }
}
