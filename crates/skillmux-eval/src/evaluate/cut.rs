//! Turns rankings into sets of skills to load, as a [`Cut`] says.

use std::fmt::Write;

use super::rows::{Evaluation, Row};
use crate::{
    answer::RankedSkill,
    metric::set::f1,
    system::Cut,
    task::{Gold, Task},
};

/// Sums of Set F1 that are closer than this are equal but for rounding.
const ROUNDING: f64 = 1e-12;

/// Folds of cross-fitting.
const N_FOLDS: u64 = 5;

/// Returns the evaluation of the system that loads the first skills of each ranking, in their
/// order.
///
/// The paper tunes `best-k` on a validation split, which our datasets do not have. So the tasks are
/// dealt to five folds by a hash of their ids, and the K of a task is the best one of the tasks in
/// the other folds: no task has a say in its own K.
///
/// Rows and tasks belong together in their order, as [`evaluate`](super::evaluate) returns them.
/// Rankings, confidences and times stay as they are; plans and pages, which are of what the system
/// itself would load, are dropped.
#[must_use]
pub fn apply_cut(evaluation: &Evaluation, tasks: &[Task], cut: Cut) -> Evaluation {
    let mut config = format!("{} cut={cut}", evaluation.config);
    let k_of: Box<dyn Fn(&Task) -> usize> = match cut {
        Cut::Fixed(k) => Box::new(move |_| k),
        Cut::OracleK => Box::new(|task| task.gold.len()),
        Cut::BestK => {
            let judged = || evaluation.rows.iter().zip(tasks);
            let best: Vec<usize> = (0..N_FOLDS)
                .map(|fold| best_k(judged().filter(|(_, task)| fold_of(&task.id) != fold)))
                .collect();
            let ks: Vec<String> = best.iter().map(ToString::to_string).collect();
            let _ = write!(config, " k by fold={}", ks.join("/"));
            Box::new(move |task| {
                (0..).zip(&best).find(|(fold, _)| *fold == fold_of(&task.id)).map_or(1, |(_, k)| *k)
            })
        }
    };
    let cut_row = |(row, task): (&Row, &Task)| {
        let mut row = row.clone();
        let ids = |ranking: &Vec<RankedSkill>| {
            ranking.iter().take(k_of(task)).map(|skill| skill.skill_id.clone()).collect()
        };
        let answer = &mut row.answer;
        answer.loaded = answer.ranking.as_ref().map(ids);
        // These belong to what the system itself would load.
        (answer.steps, answer.pages, answer.judged_sufficient) = (Vec::new(), None, None);
        row
    };
    Evaluation {
        system: format!("{}{cut}", evaluation.system),
        config,
        rows: evaluation.rows.iter().zip(tasks).map(cut_row).collect(),
    }
}

/// Returns the number of skills to load that has the best mean Set F1 over tasks with right skills;
/// the smallest of equal ones, at least 1.
pub(crate) fn best_k<'a>(judged: impl IntoIterator<Item = (&'a Row, &'a Task)>) -> usize {
    let judged = judged.into_iter().filter(|(_, task)| !task.gold.is_empty());
    let by_task: Vec<Vec<f64>> = judged.map(|(row, task)| set_f1_by_k(row, &task.gold)).collect();
    let max_k = by_task.iter().map(Vec::len).max().unwrap_or(0);
    let sum_at = |k: usize| -> f64 {
        // A ranking that is shorter than K is loaded whole.
        by_task.iter().filter_map(|by_k| by_k.get(k - 1).or(by_k.last())).sum()
    };
    let mut best = (1, f64::NEG_INFINITY);
    for k in 1..=max_k {
        let sum = sum_at(k);
        if sum > best.1 + ROUNDING {
            best = (k, sum);
        }
    }
    best.0
}

/// Returns Set F1 of the first 1, 2, ... skills of a ranking.
fn set_f1_by_k(row: &Row, gold: &Gold) -> Vec<f64> {
    let mut n_right = 0;
    let f1_at = |(n_loaded, skill): (usize, &RankedSkill)| {
        n_right += usize::from(gold.contains(&skill.skill_id));
        f1(n_right, n_loaded, gold.len())
    };
    (1..).zip(row.answer.ranked()).map(f1_at).collect()
}

/// Returns the fold of a task, from a hash of its id.
fn fold_of(task_id: &str) -> u64 {
    let hash = blake3::hash(task_id.as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(bytes) % N_FOLDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;

    fn row(task_id: &str, ids: &[&str]) -> Row {
        let ranked = ids.iter().map(|id| ((*id).to_owned(), 1.0));
        Row { task_id: task_id.into(), answer: Answer::of_ranking(ranked), time_us: 7 }
    }

    fn task(id: &str, gold: &[&str]) -> Task {
        Task { id: id.into(), gold: gold.iter().copied().collect(), ..Task::default() }
    }

    fn evaluation(rows: Vec<Row>) -> Evaluation {
        Evaluation { system: "s".into(), config: "c".into(), rows }
    }

    fn loaded(evaluation: &Evaluation) -> Vec<Vec<String>> {
        evaluation.rows.iter().map(|row| row.answer.loaded.clone().unwrap()).collect()
    }

    #[test]
    fn fixed_and_oracle_cuts_take_the_first_skills() {
        let answers =
            evaluation(vec![row("1", &["a", "b", "c"]), row("2", &["d"]), row("3", &["e"])]);
        let tasks = [task("1", &["b", "c"]), task("2", &["d", "x", "y"]), task("3", &[])];
        let fixed = apply_cut(&answers, &tasks, Cut::Fixed(1));
        assert_eq!(fixed.system, "s@1");
        assert_eq!(loaded(&fixed), [["a"], ["d"], ["e"]]);
        let oracle = apply_cut(&answers, &tasks, Cut::OracleK);
        assert_eq!(loaded(&oracle), [vec!["a", "b"], vec!["d"], vec![]]);
        assert_eq!(oracle.rows[0].time_us, 7);
    }

    #[test]
    fn the_best_k_has_the_best_mean_set_f1() {
        // F1 by k of the first: 2/3, 1, 4/5; of the second, which is shorter: 0, 2/3, 2/3.
        let rows = [row("1", &["a", "b", "c"]), row("2", &["x", "d"]), row("3", &["a"])];
        let tasks = [task("1", &["a", "b"]), task("2", &["d"]), task("3", &[])];
        assert_eq!(best_k(rows.iter().zip(&tasks)), 2);
        assert_eq!(best_k(rows[2..].iter().zip(&tasks[2..])), 1);
        // The second: 0, 2/3; with a third of 1 right at k = 1, both have the same mean.
        let rows = [row("1", &["a", "b"]), row("2", &["x", "y"])];
        let tasks = [task("1", &["a", "b", "c"]), task("2", &["z"])];
        assert_eq!(best_k(rows.iter().zip(&tasks)), 2);
    }

    #[test]
    fn of_equal_sums_the_smallest_k_is_taken() {
        // Three short rankings are loaded whole for each k: the sums must be equal for all of them.
        let tenths = |id: &str, ids: &[&str]| {
            let gold = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
            (row(id, ids), task(id, &gold))
        };
        let cases = [tenths("1", &["a"]), tenths("2", &["b"]), tenths("3", &["c"])];
        let longer = (row("4", &["x", "y", "z"]), task("4", &["w"]));
        let judged = cases.iter().chain([&longer]).map(|(row, task)| (row, task));
        assert_eq!(best_k(judged), 1);
    }

    #[test]
    fn plans_and_pages_are_not_those_of_the_cut() {
        let mut whole = row("1", &["a", "b"]);
        whole.answer.steps = vec![crate::answer::AnswerStep::default()];
        whole.answer.pages = Some(Vec::new());
        whole.answer.judged_sufficient = Some(true);
        whole.answer.confidence = Some(0.5);
        let cut = apply_cut(&evaluation(vec![whole]), &[task("1", &["a"])], Cut::Fixed(1));
        let answer = &cut.rows[0].answer;
        assert!(answer.steps.is_empty() && answer.pages.is_none());
        assert_eq!((answer.judged_sufficient, answer.confidence), (None, Some(0.5)));
        let pager = Row { task_id: "1".into(), ..Row::default() };
        let cut = apply_cut(&evaluation(vec![pager]), &[task("1", &["a"])], Cut::Fixed(1));
        assert_eq!(cut.rows[0].answer.loaded, None);
    }

    #[test]
    fn no_task_has_a_say_in_its_own_k() {
        // Two skills are right for the one task, and one for all others.
        let odd = "t0";
        let tasks: Vec<Task> = (0..40)
            .map(|n| format!("t{n}"))
            .map(|id| if id == odd { task(&id, &["a", "b"]) } else { task(&id, &["a"]) })
            .collect();
        let rows = tasks.iter().map(|task| row(&task.id, &["a", "b"])).collect();
        let answers = evaluation(rows);
        let cut = apply_cut(&answers, &tasks, Cut::BestK);
        assert_eq!(cut.system, "s@best-k");
        assert_eq!(cut.config, "c cut=@best-k k by fold=1/1/1/1/1");
        // With that one alone, K would be 2; alone, it has no others to learn from, and K is 1.
        let alone = evaluation(vec![row(odd, &["a", "b"])]);
        assert_eq!(loaded(&apply_cut(&alone, &tasks[..1], Cut::BestK)), [["a"]]);
        let folds: std::collections::BTreeSet<u64> =
            tasks.iter().map(|task| fold_of(&task.id)).collect();
        assert_eq!(folds.len(), 5);
    }
}
