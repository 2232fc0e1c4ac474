//! [`Hit`]: a skill of one snapshot with its score, before it has a name.

use std::cmp::Ordering;

use crate::{
    error::Result,
    index::{Index, SkillIdx},
};

use super::{Candidate, Signals};

/// A skill of one snapshot of the index with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub(crate) skill: SkillIdx,
    pub(crate) score: f32,
}

impl Hit {
    /// Orders by falling score, and ties by rising [`SkillIdx`], which is the order of ids.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what sorting and selecting call")]
    pub(crate) fn best_first(a: &Self, b: &Self) -> Ordering {
        b.score.total_cmp(&a.score).then_with(|| a.skill.cmp(&b.skill))
    }

    /// Returns the best `k`, best first; a score that is no number is dropped.
    pub(crate) fn best(mut hits: Vec<Self>, k: usize) -> Vec<Self> {
        hits.retain(|hit| !hit.score.is_nan());
        if k < hits.len() {
            if k > 0 {
                hits.select_nth_unstable_by(k - 1, Self::best_first);
            }
            hits.truncate(k);
        }
        hits.sort_unstable_by(Self::best_first);
        hits
    }

    /// Returns the best `k` and all that are `named` (sorted) besides, best first.
    pub(crate) fn best_and_named(hits: Vec<Self>, k: usize, named: &[SkillIdx]) -> Vec<Self> {
        let is_named = |hit: &Self| named.binary_search(&hit.skill).is_ok();
        let also: Vec<Self> = hits.iter().copied().filter(is_named).collect();
        let mut best = Self::best(hits, k);
        let last = best.last().copied();
        // What is after the last of the best is not among them.
        let is_beyond = |hit: &Self| last.is_none_or(|last| Self::best_first(&last, hit).is_lt());
        best.extend(also.into_iter().filter(is_beyond));
        best.sort_unstable_by(Self::best_first);
        best
    }

    /// Returns the candidate, which has the name that lasts.
    pub(crate) fn named_by(self, index: &Index, signals: Signals) -> Result<Candidate> {
        Ok(Candidate { skill: index.id(self.skill)?, score: self.score, signals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(skill: u32, score: f32) -> Hit {
        Hit { skill: SkillIdx(skill), score }
    }

    #[test]
    fn ties_break_by_skill_idx_and_no_number_is_dropped() {
        let hits = vec![hit(4, 1.0), hit(2, 1.0), hit(1, f32::NAN), hit(9, 3.0)];
        assert_eq!(Hit::best(hits.clone(), 2), [hit(9, 3.0), hit(2, 1.0)]);
        assert_eq!(Hit::best(hits.clone(), 0), []);
        assert_eq!(Hit::best(hits, 9).len(), 3);
    }

    #[test]
    fn named_skills_join_the_best_once() {
        let hits = vec![hit(0, 5.0), hit(1, 4.0), hit(2, 3.0), hit(3, 0.0)];
        let named = [SkillIdx(1), SkillIdx(3)];
        let best = Hit::best_and_named(hits.clone(), 2, &named);
        assert_eq!(best, [hit(0, 5.0), hit(1, 4.0), hit(3, 0.0)]);
        assert_eq!(Hit::best_and_named(hits, 0, &named), [hit(1, 4.0), hit(3, 0.0)]);
    }
}
