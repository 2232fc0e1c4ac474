//! Metrics of a plan against the sub-tasks of a task (`SkillWeaver` §5.3).
//!
//! Steps are aligned by position: step 2 of the answer is compared to sub-task 2, and a missing
//! step is wrong. The paper does not state its alignment.

use std::collections::BTreeMap;

use super::ranking::indicator;
use crate::{answer::Answer, task::GoldStep, task::Task};

/// Returns the ranking of each step of an answer, or `None` if it has no plan.
///
/// A system that loads skills without naming steps is judged by them, each as the only skill of its
/// step, as `SkillWeaver` §7.3 does for LLM-Direct, which only selects tools; one that loads
/// nothing has a plan of no steps. A system that only ranks has no plan.
pub(crate) fn step_rankings(answer: &Answer) -> Option<Vec<&[String]>> {
    if !answer.steps.is_empty() {
        return Some(answer.steps.iter().map(|step| step.ranking.as_slice()).collect());
    }
    answer.loaded.as_ref().map(|loaded| loaded.chunks(1).collect())
}

/// Returns 1 if the number of steps is at most `n_off` from that of the sub-tasks, else 0: DA with
/// 0, DA±1 with 1 (`SkillWeaver` §5.3).
pub(crate) fn decomposition_accuracy(n_off: usize, steps: &[&[String]], gold: &[GoldStep]) -> f64 {
    indicator(steps.len().abs_diff(gold.len()) <= n_off)
}

/// Returns the share of the sub-tasks with a skill of the right category among the first `k` of
/// their step (CatR@k, `SkillWeaver` §5.3).
///
/// `None` if no sub-task has a category, or no skill has one. The mean over tasks weighs tasks, as
/// the paper's per-query tests do (appendix G), not steps.
pub(crate) fn category_recall_at(
    k: usize,
    steps: &[&[String]],
    gold: &[GoldStep],
    categories: &BTreeMap<String, String>,
) -> Option<f64> {
    let of_category = |step: &[String], category: &String| {
        step.iter().take(k).any(|id| categories.get(id) == Some(category))
    };
    let known = gold.iter().enumerate().filter(|(_, step)| !step.category.is_empty());
    let found = known.map(|(at, sub_task)| {
        indicator(steps.get(at).is_some_and(|step| of_category(step, &sub_task.category)))
    });
    if categories.is_empty() { None } else { mean(found) }
}

/// Returns the share of the sub-tasks whose skill is among the first `k` of their step (R@k,
/// `SkillWeaver` §5.3); `None` if no sub-task names a skill.
pub(crate) fn step_recall_at(k: usize, steps: &[&[String]], gold: &[GoldStep]) -> Option<f64> {
    let named =
        gold.iter().enumerate().filter_map(|(at, step)| Some((at, step.skill_id.as_ref()?)));
    mean(named.map(|(at, skill_id)| {
        indicator(steps.get(at).is_some_and(|step| step.iter().take(k).any(|id| id == skill_id)))
    }))
}

/// Returns 1 if the chain is the right one, skill by skill, else 0 (Chain Exact Match,
/// `SkillWeaver` §5.3).
///
/// A chain that goes on after the last right skill is wrong.
pub(crate) fn chain_exact(chain: &[Option<&str>], gold: &[&str]) -> f64 {
    indicator(chain.len() == gold.len() && chain.iter().zip(gold).all(|(a, b)| *a == Some(*b)))
}

/// Returns 1 if there are as many steps as sub-tasks, and the first skill of each has the right
/// category, else 0 (Chain Category Match, `SkillWeaver` Table 2); `None` where CatR@k says
/// nothing.
///
/// §5.3 defines the average over the steps instead, which is CatR@1 by task. The paper's numbers
/// are of Table 2's definition: its test statistic in appendix G, W = 52.5 of 20 untied queries, is
/// five times 10.5, so that all differences are of one size.
pub(crate) fn chain_category(
    steps: &[&[String]],
    gold: &[GoldStep],
    categories: &BTreeMap<String, String>,
) -> Option<f64> {
    let share = category_recall_at(1, steps, gold, categories)?;
    Some(indicator(steps.len() == gold.len() && share >= 1.0))
}

/// Returns the skill of each step that an answer chose, and the right ones; `None` if either side
/// has no chain.
///
/// The right chain is that of the sub-tasks, if each names a skill, or else the task's order. An
/// order is compared with what is loaded, sub-tasks with the first skill of each step.
pub(crate) fn chains<'a>(
    task: &'a Task,
    answer: &'a Answer,
) -> Option<(Vec<Option<&'a str>>, Vec<&'a str>)> {
    if task.steps.is_empty() {
        let gold: Vec<&str> = task.order.iter().map(String::as_str).collect();
        let chosen = answer.loaded.as_ref()?.iter().map(|id| Some(id.as_str())).collect();
        return (!gold.is_empty()).then_some((chosen, gold));
    }
    let gold =
        task.steps.iter().map(|step| step.skill_id.as_deref()).collect::<Option<Vec<_>>>()?;
    let first = |step: &&'a [String]| step.first().map(String::as_str);
    Some((step_rankings(answer)?.iter().map(first).collect(), gold))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_u32, 0.0), |(n, sum), value| (n + 1, sum + value));
    (n > 0).then(|| sum / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::AnswerStep;

    fn gold(steps: &[(&str, Option<&str>)]) -> Vec<GoldStep> {
        let step = |(category, skill_id): &(&str, Option<&str>)| GoldStep {
            subtask: String::new(),
            category: (*category).to_owned(),
            skill_id: skill_id.map(str::to_owned),
        };
        steps.iter().map(step).collect()
    }

    fn owned(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    fn plan(rankings: &[&[&str]]) -> Answer {
        let step = |ids: &&[&str]| AnswerStep { subtask: String::new(), ranking: owned(ids) };
        Answer { steps: rankings.iter().map(step).collect(), ..Answer::default() }
    }

    fn categories() -> BTreeMap<String, String> {
        let of = |(id, category): (&str, &str)| (id.to_owned(), category.to_owned());
        [("pg", "db"), ("my", "db"), ("s3", "files"), ("slack", "chat")].map(of).into()
    }

    #[test]
    fn decomposition_counts_steps() {
        let gold = gold(&[("db", None), ("chat", None)]);
        let answer = plan(&[&["pg"], &["s3"], &["slack"]]);
        let steps = step_rankings(&answer).unwrap();
        let is_right = |steps| [0, 1].map(|n| decomposition_accuracy(n, steps, &gold) > 0.5);
        assert_eq!(is_right(&steps), [false, true]);
        assert_eq!(is_right(&steps[..2]), [true, true]);
        assert_eq!(is_right(&[]), [false, false]);
    }

    /// Three sub-tasks: the first has its category at once, the second at rank 2, the third no
    /// step.
    #[test]
    fn step_metrics_worked_by_hand() {
        let gold = gold(&[("db", Some("pg")), ("chat", Some("slack")), ("files", None)]);
        let answer = plan(&[&["my", "pg"], &["s3", "slack"]]);
        let steps = step_rankings(&answer).unwrap();
        let categories = categories();
        assert_eq!(category_recall_at(1, &steps, &gold, &categories), Some(1.0 / 3.0));
        assert_eq!(category_recall_at(5, &steps, &gold, &categories), Some(2.0 / 3.0));
        assert_eq!(step_recall_at(1, &steps, &gold), Some(0.0));
        assert_eq!(step_recall_at(2, &steps, &gold), Some(1.0));
        assert_eq!(category_recall_at(1, &steps, &gold, &BTreeMap::new()), None);
        assert_eq!(step_recall_at(1, &steps, &gold[2..]), None);
    }

    #[test]
    fn a_chain_matches_as_a_whole() {
        let gold = gold(&[("db", Some("pg")), ("chat", Some("slack"))]);
        let categories = categories();
        let task = Task { steps: gold.clone(), ..Task::default() };
        let judge = |answer: &Answer| {
            let (chosen, right) = chains(&task, answer).unwrap();
            let steps = step_rankings(answer).unwrap();
            (chain_exact(&chosen, &right), chain_category(&steps, &gold, &categories))
        };
        assert_eq!(judge(&plan(&[&["pg"], &["slack"]])), (1.0, Some(1.0)));
        assert_eq!(judge(&plan(&[&["my", "pg"], &["slack"]])), (0.0, Some(1.0)));
        assert_eq!(judge(&plan(&[&["pg"], &["s3"]])), (0.0, Some(0.0)));
        assert_eq!(judge(&plan(&[&["pg"], &[]])), (0.0, Some(0.0)));
        assert_eq!(judge(&plan(&[&["pg"], &["slack"], &["s3"]])), (0.0, Some(0.0)));
    }

    #[test]
    fn loaded_skills_are_steps_if_none_are_named() {
        let answer = Answer { loaded: Some(owned(&["a", "b"])), ..Answer::default() };
        assert_eq!(step_rankings(&answer).unwrap(), [owned(&["a"]), owned(&["b"])]);
        let abstains = Answer { loaded: Some(Vec::new()), ..Answer::default() };
        assert_eq!(step_rankings(&abstains).unwrap().len(), 0);
        assert_eq!(step_rankings(&Answer::default()), None);
    }

    #[test]
    fn an_order_is_compared_with_what_is_loaded() {
        let task = Task { order: owned(&["a", "b"]), ..Task::default() };
        let loads = |ids: &[&str]| Answer { loaded: Some(owned(ids)), ..Answer::default() };
        let judge = |answer: &Answer| chains(&task, answer).map(|(a, b)| chain_exact(&a, &b));
        assert_eq!(judge(&loads(&["a", "b"])), Some(1.0));
        assert_eq!(judge(&loads(&["b", "a"])), Some(0.0));
        assert_eq!(judge(&loads(&[])), Some(0.0));
        assert_eq!(judge(&Answer::default()), None);
        assert_eq!(chains(&Task::default(), &loads(&["a"])), None);
    }
}
