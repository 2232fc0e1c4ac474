//! The parts that tasks are divided into, and what is measured over them.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    context::Context,
    scores::{SystemScores, View},
    summary::{Measured, Report, Slice, ViewReport},
};
use crate::{
    metric::chain::{category_recall_at, step_rankings},
    stats,
    task::{GoldStep, Task},
};

/// Values of a key that tasks are divided by, at most: the largest stand alone.
const MAX_VALUES: usize = 64;

/// The value of all tasks whose own value is not among the largest.
const OTHER_VALUES: &str = "(all others)";

/// Key of the slices by the category of sub-tasks.
const STEP_CATEGORY: &str = "step category";

/// What is measured of sub-tasks of a category.
const STEP_MEASURE: &str = "CatR@1";

impl Context<'_> {
    /// Returns the headline measures over the parts of all tasks, then those of sub-tasks.
    pub(super) fn slices(&self, system: &SystemScores<'_>, view: View) -> Vec<Slice> {
        let parts = parts(&self.scores.dataset.tasks);
        let slice = |((key, value), tasks): (&(&str, &str), &Vec<usize>)| Slice {
            key: (*key).to_owned(),
            value: (*value).to_owned(),
            n_tasks: tasks.len(),
            measures: self.measured(system, view, self.headline, Some(tasks)),
        };
        let mut slices: Vec<Slice> = parts.iter().map(slice).collect();
        slices.extend(self.step_categories(system, view));
        slices
    }

    /// Returns CatR@1 over the sub-tasks of each category; a task with several of one has their
    /// mean.
    fn step_categories(&self, system: &SystemScores<'_>, view: View) -> Vec<Slice> {
        let dataset = self.scores.dataset;
        // No step of a plan is credited to a copy: categories are by id.
        if view != View::ById || dataset.categories.is_empty() {
            return Vec::new();
        }
        let mut columns: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
        for (at, (task, row)) in dataset.tasks.iter().zip(&system.rows).enumerate() {
            let Some(steps) = step_rankings(&row.answer) else { continue };
            let categories = task.steps.iter().map(|step| step.category.as_str());
            let categories: BTreeSet<&str> = categories.filter(|name| !name.is_empty()).collect();
            for category in categories {
                // What has no category is not counted, and steps keep their positions.
                let only = |step: &GoldStep| {
                    if step.category == category { step.clone() } else { GoldStep::default() }
                };
                let gold: Vec<GoldStep> = task.steps.iter().map(only).collect();
                let column = columns.entry(category);
                let column = column.or_insert_with(|| vec![None; dataset.tasks.len()]);
                column[at] = category_recall_at(1, &steps, &gold, &dataset.categories);
            }
        }
        let (names, columns): (Vec<&str>, Vec<Vec<Option<f64>>>) = columns.into_iter().unzip();
        let intervals = stats::bootstrap_means(&columns, &self.options.bootstrap);
        let slice = |(name, interval): (&str, stats::Interval)| Slice {
            key: STEP_CATEGORY.to_owned(),
            value: name.to_owned(),
            n_tasks: interval.n,
            measures: vec![Measured::new(STEP_MEASURE, &interval)],
        };
        names.into_iter().zip(intervals).map(slice).collect()
    }
}

impl Report {
    /// Returns the measure that tables show over the parts of a key.
    pub(crate) fn slice_measure(&self, key: &str) -> Option<&str> {
        if key == STEP_CATEGORY {
            Some(STEP_MEASURE)
        } else {
            self.headline.first().map(String::as_str)
        }
    }
}

/// Returns the keys by which tasks are divided, in order.
pub(crate) fn slice_keys(view: &ViewReport) -> BTreeSet<&str> {
    view.slices.iter().map(|slice| slice.key.as_str()).collect()
}

/// Positions of tasks by what they have of a key.
pub(super) type Parts<'a> = BTreeMap<(&'a str, &'a str), Vec<usize>>;

/// Returns the parts that tasks are divided into: by the number of right skills, and by what their
/// dataset says of them.
pub(super) fn parts(tasks: &[Task]) -> Parts<'_> {
    let mut parts = Parts::new();
    for (at, task) in tasks.iter().enumerate() {
        let n_right = match task.gold.len() {
            0 if task.needs_no_skill() => "none",
            0 if task.steps.is_empty() => "not known",
            0 => "by category",
            1 => "one skill",
            _ => "several skills",
        };
        parts.entry(("gold", n_right)).or_default().push(at);
        for (key, value) in task.slices.iter().filter(|(key, _)| *key != "gold") {
            parts.entry((key, value)).or_default().push(at);
        }
    }
    kept_values(parts)
}

/// Returns the parts of the keys that divide anything; the small ones of a key with many values
/// become one.
fn kept_values(parts: Parts<'_>) -> Parts<'_> {
    let mut by_key: BTreeMap<&str, Vec<(&str, Vec<usize>)>> = BTreeMap::new();
    for ((key, value), tasks) in parts {
        by_key.entry(key).or_default().push((value, tasks));
    }
    // A key that all tasks agree in divides nothing.
    by_key.retain(|_, values| values.len() > 1);
    let mut kept = Parts::new();
    for (key, mut values) in by_key {
        // The sort is stable: equal ones stay in the order of their names.
        values.sort_by_key(|(_, tasks)| std::cmp::Reverse(tasks.len()));
        let mut others: Vec<usize> =
            values.drain(values.len().min(MAX_VALUES)..).flat_map(|(_, tasks)| tasks).collect();
        if !others.is_empty() {
            others.sort_unstable();
            kept.insert((key, OTHER_VALUES), others);
        }
        kept.extend(values.into_iter().map(|(value, tasks)| ((key, value), tasks)));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_many_values_keeps_the_largest() {
        let names: Vec<String> = (0..1000).map(|n| format!("v{n:03}")).collect();
        let mut parts = Parts::new();
        for (at, name) in names.iter().enumerate() {
            parts.insert(("repository", name), vec![at]);
        }
        parts.insert(("repository", "v500"), vec![500, 1000]);
        parts.insert(("language", "en"), (0..=1000).collect());
        let kept = kept_values(parts);
        assert_eq!(kept.len(), MAX_VALUES + 1);
        assert_eq!(kept[&("repository", "v500")], [500, 1000]);
        assert_eq!(kept[&("repository", OTHER_VALUES)].len(), 1000 - MAX_VALUES);
        assert!(kept.keys().all(|(key, _)| *key == "repository"), "all tasks are in English");
    }
}
