//! [`TaskScores`]: how well the plan for one task does.

use skillmux::skill::SkillId;

use super::tasks::Right;

/// Scores of the plan for one task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskScores {
    /// Set F1, in `[0, 1]`; a skill that would do as well counts neither way.
    pub set_f1: f64,
    /// 1 if exactly the right skills are loaded, else 0; what would do as well counts neither way.
    pub exact: f64,
    /// Kendall's tau of the right skills that are loaded; `None` for fewer than two.
    pub order: Option<f64>,
    /// Skills that are loaded, less those that are right.
    pub count: f64,
}

impl TaskScores {
    /// Returns the scores of a plan.
    pub(super) fn of(loaded: &[SkillId], right: &Right) -> Self {
        let counted: Vec<&SkillId> = loaded
            .iter()
            .filter(|id| right.skills.contains(id) || !right.also.contains(id))
            .collect();
        let n_right = counted.iter().filter(|id| right.skills.contains(id)).count();
        let n_all = counted.len() + right.skills.len();
        let is_exact = n_right == right.skills.len() && counted.len() == n_right;
        let places: Vec<usize> = loaded
            .iter()
            .filter_map(|id| right.skills.iter().position(|right| right == id))
            .collect();
        Self {
            set_f1: 2.0 * n_right as f64 / n_all.max(1) as f64,
            exact: f64::from(u8::from(is_exact)),
            order: kendall(&places),
            count: loaded.len() as f64 - right.skills.len() as f64,
        }
    }
}

/// Returns Kendall's tau of distinct places: 1 if they rise, -1 if they fall; `None` for fewer than
/// two.
fn kendall(places: &[usize]) -> Option<f64> {
    let mut sum = 0_i64;
    let mut n_pairs = 0_i64;
    for (at, a) in places.iter().enumerate() {
        for b in &places[at + 1..] {
            sum += if a < b { 1 } else { -1 };
            n_pairs += 1;
        }
    }
    (n_pairs > 0).then(|| sum as f64 / n_pairs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_do_as_well_counts_neither_way_and_order_is_of_right_skills_alone() {
        let ids = |ids: &[&str]| ids.iter().map(|id| SkillId::new(*id)).collect::<Vec<_>>();
        let right =
            Right { skills: ids(&["a", "b", "c"]), also: ids(&["d"]), rejected: Vec::new() };
        let scores = TaskScores::of(&ids(&["c", "d", "a", "b"]), &right);
        assert!((scores.set_f1 - 1.0).abs() < 1e-12 && (scores.exact - 1.0).abs() < 1e-12);
        // Of three pairs, `a` before `b` alone is right.
        assert!((scores.order.unwrap() + 1.0 / 3.0).abs() < 1e-12);
        assert!((scores.count - 1.0).abs() < 1e-12);
        let scores = TaskScores::of(&ids(&["a", "e"]), &right);
        assert!((scores.set_f1 - 0.4).abs() < 1e-12 && scores.exact.abs() < 1e-12);
        assert_eq!(scores.order, None);
    }
}
