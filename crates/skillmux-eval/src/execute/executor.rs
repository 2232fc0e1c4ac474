//! [`MockExecutors`]: calls that succeed as often as a rate says.

use std::collections::BTreeMap;

/// Lowest rate of a category (`SkillWeaver` appendix I).
pub(crate) const MIN_RATE: f64 = 0.80;

/// Highest rate of a category.
pub(crate) const MAX_RATE: f64 = 0.95;

/// A mock executor for each skill.
///
/// A category has a rate between [`MIN_RATE`] and [`MAX_RATE`], which follows from its name and the
/// seed; a skill without a category is a category of its own. Half of all failures are those of a
/// skill that is down for a whole trial, so that only a substitute helps; the other half are those
/// of a single call, so that a retry may help.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MockExecutors<'a> {
    categories: &'a BTreeMap<String, String>,
    seed: u64,
}

impl<'a> MockExecutors<'a> {
    /// Returns the executors of skills with these categories, by id.
    pub(crate) fn new(categories: &'a BTreeMap<String, String>, seed: u64) -> Self {
        Self { categories, seed }
    }

    /// Returns the share of calls of a skill that succeed.
    pub(crate) fn rate(&self, skill_id: &str) -> f64 {
        let category = self.categories.get(skill_id).map_or(skill_id, String::as_str);
        MIN_RATE + (MAX_RATE - MIN_RATE) * self.draw(&["rate", category])
    }

    /// Returns whether a call succeeds; the same call of the same trial always says the same.
    pub(crate) fn call(&self, trial: usize, task_id: &str, skill_id: &str, attempt: usize) -> bool {
        let rate = self.rate(skill_id);
        let up = 1.0 - (1.0 - rate) / 2.0;
        let (trial, attempt) = (trial.to_string(), attempt.to_string());
        self.draw(&["up", &trial, skill_id]) < up
            && self.draw(&["call", &trial, task_id, skill_id, &attempt]) < rate / up
    }

    /// Returns a number in `[0, 1)` that follows from the seed and these names.
    fn draw(&self, names: &[&str]) -> f64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_le_bytes());
        for name in names {
            // A length before each name keeps ("ab", "c") apart from ("a", "bc").
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        }
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_succeed_as_often_as_the_rate_of_their_category_says() {
        let of = |id: &str| (id.to_owned(), "finance".to_owned());
        let categories = BTreeMap::from([of("a"), of("b")]);
        let executors = MockExecutors::new(&categories, 42);
        let rate = executors.rate("a");
        assert!((MIN_RATE..=MAX_RATE).contains(&rate));
        assert!((rate - executors.rate("b")).abs() < 1e-12);
        assert!((rate - executors.rate("alone")).abs() > 1e-6);
        let n = (0..20_000).filter(|trial| executors.call(*trial, "task", "a", 0)).count();
        assert!((n as f64 / 20_000.0 - rate).abs() < 0.01, "{n} of {rate}");
        let again = |trial: &usize| {
            executors.call(*trial, "task", "a", 0) || executors.call(*trial, "task", "a", 1)
        };
        let n_again = (0..20_000).filter(again).count();
        let missed = |n: usize| 1.0 - n as f64 / 20_000.0;
        assert!(
            missed(n_again) < 0.75 * missed(n) && missed(n_again) > 0.45 * missed(n),
            "a retry mends no skill that is down"
        );
    }
}
