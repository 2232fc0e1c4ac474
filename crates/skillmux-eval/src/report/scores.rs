//! [`TaskScores`]: every measure of every task, for every system.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::{
    answer::{Answer, RankedSkill},
    dataset::Dataset,
    error::Error,
    evaluate::{Evaluation, Row},
    metric::{Case, GRADED, Measure, measures},
    task::Task,
};

/// What counts as the right skill.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum View {
    /// The ids of the gold only.
    #[default]
    ById,
    /// A skill of the same near-duplicate cluster as one of the gold, too.
    NearDuplicates,
}

impl View {
    /// Returns what a table says about itself.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::ById => "by id",
            Self::NearDuplicates => "near-duplicates of the gold count as gold",
        }
    }

    /// Returns the name for the corner of a table.
    pub(crate) fn short_label(self) -> &'static str {
        match self {
            Self::ById => "by id",
            Self::NearDuplicates => "near-duplicates count",
        }
    }

    /// Returns a caption that says what counts as right.
    pub(crate) fn caption(self, title: &str) -> String {
        format!("{title}, {}", self.label())
    }
}

/// Returns an answer to a task as it is to be judged, with near-duplicates of right skills named as
/// the right ones.
pub type Credit<'a> = &'a (dyn Fn(&Answer, &Task) -> Answer + Sync);

/// What a system scored.
#[derive(Debug, Clone)]
pub struct SystemScores<'a> {
    /// Name of the system.
    pub name: &'a str,
    /// Its configuration.
    pub config: &'a str,
    /// Its answers, in the order of the tasks.
    pub rows: Vec<&'a Row>,
    /// The scores, by view.
    views: BTreeMap<View, ViewScores>,
}

/// What a system scored when one thing counts as right.
#[derive(Debug, Clone, Default)]
struct ViewScores {
    /// A column for each of [`measures`], in their order.
    columns: Vec<Vec<Option<f64>>>,
    /// By task, the ranks from 1 at which there are right skills, ascending.
    right_ranks: Vec<Vec<usize>>,
}

/// Every measure of every task, for every system.
#[derive(Debug, Clone)]
pub struct TaskScores<'a> {
    /// What was asked.
    pub dataset: &'a Dataset,
    /// What the systems scored, in the order in which they were given.
    pub systems: Vec<SystemScores<'a>>,
    views: Vec<View>,
}

impl<'a> TaskScores<'a> {
    /// Measures the answers of systems; with `credit`, in both views.
    ///
    /// # Errors
    /// [`Error::SystemTwice`], and [`Error::Unanswered`] if a task has no row.
    pub fn new(
        dataset: &'a Dataset,
        evaluations: &'a [Evaluation],
        credit: Option<Credit<'_>>,
    ) -> Result<Self, Error> {
        let mut views = vec![View::ById];
        if credit.is_some() {
            views.push(View::NearDuplicates);
        }
        let mut systems: Vec<SystemScores<'a>> = Vec::new();
        for evaluation in evaluations {
            let name = evaluation.system.as_str();
            if systems.iter().any(|system| system.name == name) {
                return Err(Error::SystemTwice { system: name.to_owned() });
            }
            let rows = rows_of(dataset, evaluation)?;
            let mut by_view = BTreeMap::from([(View::ById, ViewScores::new(dataset, &rows, None))]);
            if credit.is_some() {
                by_view.insert(View::NearDuplicates, ViewScores::new(dataset, &rows, credit));
            }
            systems.push(SystemScores { name, config: &evaluation.config, rows, views: by_view });
        }
        Ok(Self { dataset, systems, views })
    }

    /// Leaves out the measures that look at more skills than rankings of this depth have. 0: the
    /// depth is not known, and nothing is left out.
    #[must_use]
    pub fn within(mut self, depth: usize) -> Self {
        let is_beyond = |measure: &Measure| measure.n_ranked().is_some_and(|n| n > depth);
        for scores in self.systems.iter_mut().flat_map(|system| system.views.values_mut()) {
            let columns = scores.columns.iter_mut().zip(measures());
            for (column, _) in columns.filter(|(_, measure)| depth > 0 && is_beyond(measure)) {
                column.fill(None);
            }
        }
        self
    }

    /// Returns the views that there are.
    pub(crate) fn views(&self) -> &[View] {
        &self.views
    }

    /// Returns the measures that say something about some task, for some system.
    pub(crate) fn measures(&self) -> Vec<&'static Measure> {
        let says_something = |at: usize| {
            let mut of_systems = self.systems.iter().flat_map(|system| system.views.values());
            of_systems.any(|scores| scores.columns[at].iter().any(Option::is_some))
        };
        let all = measures().iter().enumerate();
        all.filter(|(at, _)| says_something(*at)).map(|(_, measure)| measure).collect()
    }
}

impl SystemScores<'_> {
    /// Returns the scores of a measure by task; none of a measure or view that there is not.
    pub(crate) fn column(&self, view: View, measure: &str) -> &[Option<f64>] {
        let at = measures().iter().position(|known| known.name == measure);
        let scores = self.views.get(&view);
        scores.zip(at).map_or(&[], |(scores, at)| scores.columns[at].as_slice())
    }

    /// Returns the ranks, from 1 and ascending, of the right skills of a task.
    pub(crate) fn right_ranks(&self, view: View, task: usize) -> &[usize] {
        self.views.get(&view).map_or(&[], |scores| scores.right_ranks[task].as_slice())
    }
}

impl ViewScores {
    fn new(dataset: &Dataset, rows: &[&Row], credit: Option<Credit<'_>>) -> Self {
        let mut scores = Self { columns: vec![Vec::new(); measures().len()], right_ranks: vec![] };
        for (task, row) in dataset.tasks.iter().zip(rows) {
            let credited = credit.map(|credit| credit(&row.answer, task));
            let answer = credited.as_ref().unwrap_or(&row.answer);
            // Where skills that help somewhat count, so do their copies, and they are none
            // themselves.
            let graded = credit.filter(|_| !task.partial.is_empty()).map(|credit| {
                let task = Task { gold: task.graded(), ..task.clone() };
                credit(&row.answer, &task)
            });
            for (measure, column) in measures().iter().zip(&mut scores.columns) {
                let graded = graded.as_ref().filter(|_| measure.name == GRADED);
                let answer = graded.unwrap_or(answer);
                let case = Case { task, answer, categories: &dataset.categories };
                column.push((measure.of)(&case).filter(|value| value.is_finite()));
            }
            let ranked = (1..).zip(answer.ranked());
            let mut counted = BTreeSet::new();
            let right = ranked.filter(|(_, RankedSkill { skill_id, .. })| {
                task.gold.contains(skill_id) && counted.insert(skill_id)
            });
            scores.right_ranks.push(right.map(|(rank, _)| rank).collect());
        }
        scores
    }
}

/// Returns the rows of an evaluation in the order of the tasks.
pub(crate) fn rows_of<'a>(
    dataset: &Dataset,
    evaluation: &'a Evaluation,
) -> Result<Vec<&'a Row>, Error> {
    let by_task: HashMap<&str, &Row> =
        evaluation.rows.iter().map(|row| (row.task_id.as_str(), row)).collect();
    let row_of = |task: &Task| {
        by_task.get(task.id.as_str()).copied().ok_or_else(|| Error::Unanswered {
            system: evaluation.system.clone(),
            task_id: task.id.clone(),
        })
    };
    dataset.tasks.iter().map(row_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Clusters;

    #[test]
    fn copies_of_partly_right_skills_count_by_grade_and_they_are_none_themselves() {
        let mut task =
            Task { id: "t".into(), gold: ["gold"].into_iter().collect(), ..Task::default() };
        task.partial.insert("fork", 3);
        task.partial.insert("other", 2);
        let dataset = Dataset { tasks: vec![task], ..Dataset::default() };
        let clusters = Clusters::of(
            [["gold", "fork"], ["other", "copy"]].map(|ids| ids.map(str::to_owned).to_vec()),
        );
        let credit = |answer: &Answer, task: &Task| clusters.credit(answer, &task.gold);
        let score = |ranking: &[&str], measure: &str| {
            let ranked = ranking.iter().map(|id| ((*id).to_owned(), 1.0));
            let answer = Answer::of_ranking(ranked);
            let rows = vec![Row { task_id: "t".into(), answer, time_us: 0 }];
            let system = Evaluation { system: "s".into(), config: String::new(), rows };
            let evaluations = [system];
            let scores = TaskScores::new(&dataset, &evaluations, Some(&credit)).unwrap();
            scores.systems[0].column(View::NearDuplicates, measure)[0]
        };
        // The best ranking by grade is also the best one of this view.
        assert_eq!(score(&["fork", "other", "gold"], GRADED), Some(1.0));
        assert_eq!(score(&["fork", "copy", "gold"], GRADED), Some(1.0));
        assert!(score(&["copy", "fork", "gold"], GRADED) < Some(0.95));
        // For the others a copy of the right skill is that skill.
        assert_eq!(score(&["fork"], "Hit@1"), Some(1.0));
        assert_eq!(score(&["copy"], "Hit@1"), Some(0.0));
    }
}
