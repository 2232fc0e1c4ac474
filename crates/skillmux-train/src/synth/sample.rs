//! [`Sampler`]: the skills of an index in an order that a seed decides, each family once.

use skillmux::{
    index::{Index, SkillIdx},
    skill::Skill,
};

use super::text::units;
use crate::error::Result;

/// Skills whose bodies are more alike are near-duplicates, as for a plan.
pub(super) const MAX_SIMILARITY: f32 = 0.6;

/// A skill with fewer words or characters in description and body says too little to write about.
pub(super) const MIN_SKILL_UNITS: usize = 15;

/// Gives the skills of an index in an order that depends on the seed and their ids alone, so that
/// the others keep their order when some are added.
pub(super) struct Sampler<'i> {
    index: &'i Index,
    /// Those to come, the next one last.
    rest: Vec<SkillIdx>,
    /// Those that were given.
    given: Vec<SkillIdx>,
    n_near_duplicates: usize,
    n_thin: usize,
}

impl<'i> Sampler<'i> {
    pub(super) fn new(index: &'i Index, seed: u64) -> Result<Self> {
        let mut keyed = Vec::with_capacity(index.n_skills());
        for idx in index.skills() {
            keyed.push((chance(seed, &["order", index.id(idx)?.as_str()]), idx));
        }
        keyed.sort_unstable_by(|a, b| b.cmp(a));
        let rest = keyed.into_iter().map(|(_, idx)| idx).collect();
        Ok(Self { index, rest, given: Vec::new(), n_near_duplicates: 0, n_thin: 0 })
    }

    /// Returns the next skill that says enough and is no near-duplicate of one that was given.
    pub(super) fn next(&mut self) -> Result<Option<Skill>> {
        while let Some(idx) = self.rest.pop() {
            if self.nearly_repeats(idx)? {
                self.n_near_duplicates += 1;
                continue;
            }
            let skill = self.index.skill(idx)?.skill;
            if units(&skill.description).len() + units(&skill.body).len() < MIN_SKILL_UNITS {
                self.n_thin += 1;
                continue;
            }
            self.given.push(idx);
            return Ok(Some(skill));
        }
        Ok(None)
    }

    /// Returns a skill that was given, by the order in which they were.
    pub(super) fn given(&self, position: usize) -> Result<Option<Skill>> {
        let Some(idx) = self.given.get(position) else { return Ok(None) };
        Ok(Some(self.index.skill(*idx)?.skill))
    }

    /// Returns the number of skills that were passed over: near-duplicates, and those that say too
    /// little.
    pub(super) fn n_passed_over(&self) -> (usize, usize) {
        (self.n_near_duplicates, self.n_thin)
    }

    fn nearly_repeats(&self, idx: SkillIdx) -> Result<bool> {
        for given in &self.given {
            if self.index.similarity(idx, *given)? > MAX_SIMILARITY {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns a number that a seed and some texts decide, evenly spread.
pub(super) fn chance(seed: u64, texts: &[&str]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    for text in texts {
        // A length prefix keeps ("ab", "c") apart from ("a", "bc").
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

/// Returns a number in `[0, 1)` that a seed and some texts decide, evenly spread.
pub(super) fn unit(seed: u64, texts: &[&str]) -> f64 {
    // As many bits as it takes exactly.
    (chance(seed, texts) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns one of some things, as a seed and some texts decide.
pub(super) fn chosen<T: Copy>(things: &[T], seed: u64, texts: &[&str]) -> T {
    let n = things.len() as u64;
    let at = usize::try_from(chance(seed, texts) % n).expect("it is below a count");
    things[at]
}

/// Returns a short name for what is written, the same in every run.
pub(super) fn key(parts: &[&str]) -> String {
    format!("{:016x}", chance(0, parts))[..12].to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{index_of, skill, words};
    use super::*;

    fn ids(index: &Index, seed: u64) -> Vec<String> {
        let mut sampler = Sampler::new(index, seed).unwrap();
        let mut ids = Vec::new();
        while let Some(skill) = sampler.next().unwrap() {
            ids.push(skill.id.to_string());
        }
        ids
    }

    /// A body that has no sequence of words in common with another one.
    fn body(n: usize) -> String {
        words(&format!("word{n}"), 40)
    }

    #[test]
    fn the_seed_decides_the_order_and_new_skills_do_not_change_it() {
        let all: Vec<Skill> = (0..20).map(|n| skill(&format!("s{n:02}"), "d", &body(n))).collect();
        let (_folder, small) = index_of(&all[..12]);
        let (_other, large) = index_of(&all);
        let order = ids(&small, 7);
        assert_eq!(order.len(), 12);
        assert_eq!(order, ids(&small, 7));
        assert_ne!(order, ids(&small, 8));
        let of_large: Vec<String> =
            ids(&large, 7).into_iter().filter(|id| order.contains(id)).collect();
        assert_eq!(of_large, order);
    }

    #[test]
    fn near_duplicates_are_given_once_and_thin_skills_never() {
        let skills = [
            skill("a", "first", &body(1)),
            skill("b", "second", &format!("{} and more", body(1))),
            skill("c", "third", &body(2)),
            skill("d", "thin", "Nothing here."),
        ];
        let (_folder, index) = index_of(&skills);
        let mut sampler = Sampler::new(&index, 1).unwrap();
        let mut n_given = 0;
        while sampler.next().unwrap().is_some() {
            n_given += 1;
        }
        assert_eq!((n_given, sampler.n_passed_over()), (2, (1, 1)));
        assert!(sampler.given(1).unwrap().is_some() && sampler.given(2).unwrap().is_none());
    }
}
