//! [`Gate`]: whether a new ranking may replace an old one.

mod text;

use serde::Serialize;

use super::{
    scores::{SystemScores, TaskScores, View},
    setting::Setting,
    slices::parts,
    tested::{NOISE, Tested, correct},
};
use crate::{
    error::Error,
    metric::{Measure, measures},
    printable::json,
    stats::BootstrapConfig,
};

/// Measures by which a gate judges: what an agent gets first, and what a later stage can choose
/// from.
pub(crate) const GATED: [&str; 2] = ["Hit@1", "Recall@10"];

/// How a gate judges.
#[derive(Debug, Clone, Copy)]
pub struct GateOptions {
    /// How intervals and tests are drawn.
    pub bootstrap: BootstrapConfig,
    /// What counts as right.
    pub view: View,
    /// Fewest tasks that can tell whether something is worse.
    pub min_tasks: usize,
}

impl Default for GateOptions {
    /// By id, and with 20 tasks: of so many, three that are lost and none that is won are worse, so
    /// that a drop of 15 points is the smallest that is seen. On fewer it would be larger.
    fn default() -> Self {
        Self { bootstrap: BootstrapConfig::default(), view: View::default(), min_tasks: 20 }
    }
}

/// Whether a new ranking may replace an old one, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Gate {
    /// Whether it may: nothing is worse, and every dataset has enough tasks to tell.
    pub is_promoted: bool,
    /// What counts as right.
    pub view: View,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Resamples of the bootstrap.
    pub n_resamples: usize,
    /// Level of the intervals.
    pub level: f64,
    /// Fewest tasks that can tell whether something is worse.
    pub min_tasks: usize,
    /// Comparisons with enough tasks: so many chances to look worse.
    pub n_judged: usize,
    /// The datasets, in the order in which they were given.
    pub datasets: Vec<GateDataset>,
}

/// A dataset that both were asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GateDataset {
    /// Name of the dataset.
    pub name: String,
    /// The ranking in use.
    pub old: String,
    /// The ranking that is to replace it.
    pub new: String,
    /// What was measured, besides the rankings.
    pub setting: Setting,
    /// Number of tasks.
    pub n_tasks: usize,
    /// The whole dataset first, then its slices.
    pub comparisons: Vec<GateComparison>,
}

/// One measure of both rankings over a dataset or a slice of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GateComparison {
    /// What the tasks have in common; nothing for the whole dataset.
    pub slice: Option<GateSlice>,
    /// What is to be made of it.
    pub verdict: Verdict,
    /// Mean of the old ranking.
    pub old: f64,
    /// Mean of the new one.
    pub new: f64,
    /// The paired test, of new less old.
    pub test: Tested,
}

/// What the tasks of a slice have in common, as `lang` `zh`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateSlice {
    /// What the tasks are divided by.
    pub key: String,
    /// What these have.
    pub value: String,
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The whole interval is below 0.
    Worse,
    /// The interval holds 0: a loss is not shown.
    NotWorse,
    /// The whole interval is above 0.
    Better,
    /// No task has another score.
    Same,
    /// Scores differ, on too few tasks to tell.
    CannotTell,
}

impl Gate {
    /// Returns the verdict on datasets that were compared with these options.
    ///
    /// A comparison is worse if its own interval is below 0, however many there are. A correction
    /// for their number would let larger losses pass with each dataset that is added, and a gate is
    /// there to stop them. The price: between equally good rankings, up to one comparison in 20
    /// looks worse by chance, most often where few tasks differ. The tests say which differences
    /// are left after Holm's correction.
    pub fn new(mut datasets: Vec<GateDataset>, options: &GateOptions) -> Self {
        let all = datasets.iter_mut().flat_map(|dataset| &mut dataset.comparisons);
        let judged = all.filter(|comparison| comparison.verdict != Verdict::CannotTell);
        let n_judged = correct(judged.map(|comparison| &mut comparison.test));
        let BootstrapConfig { n_resamples, level, seed } = options.bootstrap;
        Self {
            is_promoted: !datasets
                .iter()
                .flat_map(|of| &of.comparisons)
                .any(GateComparison::blocks),
            view: options.view,
            seed,
            n_resamples,
            level,
            min_tasks: options.min_tasks,
            n_judged,
            datasets,
        }
    }

    /// Returns the verdict as JSON, with a line feed at its end.
    pub fn to_json(&self) -> String {
        json(self)
    }
}

impl GateDataset {
    /// Compares the first system of the scores, the old one, with the second, the new one: over all
    /// tasks, and over every slice that a report shows.
    ///
    /// # Errors
    /// [`Error::NoSystem`] if there are no two, [`Error::NoRanking`] if one of them does not rank,
    /// [`Error::TooShallow`] if rankings are shorter than what is judged, and
    /// [`Error::NothingToFind`] if no task has a right skill.
    pub fn new(
        name: &str,
        scores: &TaskScores<'_>,
        setting: Setting,
        options: &GateOptions,
    ) -> Result<Self, Error> {
        let [old, new] = scores.systems.as_slice() else { return Err(Error::NoSystem) };
        let tasks = &scores.dataset.tasks;
        let gated: Vec<&Measure> = measures().iter().filter(|m| GATED.contains(&m.name)).collect();
        let beyond = |m: &&&Measure| m.n_ranked().is_some_and(|n| n > setting.depth);
        if let Some(measure) = gated.iter().find(beyond).filter(|_| setting.depth > 0) {
            return Err(Error::TooShallow { measure: measure.name, depth: setting.depth });
        }
        for system in [old, new] {
            let pairs = tasks.iter().zip(&system.rows);
            let mut unranked =
                pairs.filter(|(task, row)| !task.gold.is_empty() && row.answer.ranking.is_none());
            if let Some((task, _)) = unranked.next() {
                let (system, task_id) = (system.name.to_owned(), task.id.clone());
                return Err(Error::NoRanking { system, task_id });
            }
        }
        let compare = |slice: Option<GateSlice>, positions: &[usize]| {
            let compared = gated
                .iter()
                .map(|measure| compared(slice.clone(), measure, (old, new), positions, options));
            compared.flatten().collect::<Vec<GateComparison>>()
        };
        let mut comparisons = compare(None, &(0..tasks.len()).collect::<Vec<_>>());
        let Some(n_found) = comparisons.first().map(|whole| whole.test.n) else {
            return Err(Error::NothingToFind { dataset: name.to_owned() });
        };
        for ((key, value), positions) in parts(tasks) {
            let slice = GateSlice { key: key.to_owned(), value: value.to_owned() };
            // What holds every task that counts is the dataset again.
            let of_slice = compare(Some(slice), &positions).into_iter();
            comparisons.extend(of_slice.filter(|comparison| comparison.test.n < n_found));
        }
        let (old, new) = (old.name.to_owned(), new.name.to_owned());
        let (name, n_tasks) = (name.to_owned(), tasks.len());
        Ok(Self { name, old, new, setting, n_tasks, comparisons })
    }
}

impl GateComparison {
    /// Returns whether this alone keeps the new ranking out: it is worse, or a whole dataset cannot
    /// tell. The tasks of a small slice count in its dataset.
    pub(crate) fn blocks(&self) -> bool {
        match self.verdict {
            Verdict::Worse => true,
            Verdict::CannotTell => self.slice.is_none(),
            Verdict::NotWorse | Verdict::Better | Verdict::Same => false,
        }
    }
}

impl Verdict {
    fn of(test: &Tested, min_tasks: usize) -> Self {
        if test.n_wins + test.n_losses == 0 {
            Self::Same
        } else if test.n < min_tasks {
            Self::CannotTell
        } else if test.high < -NOISE {
            Self::Worse
        } else if test.low > NOISE {
            Self::Better
        } else {
            Self::NotWorse
        }
    }
}

/// Compares a measure over the tasks at some positions; nothing where it says nothing about them.
fn compared(
    slice: Option<GateSlice>,
    measure: &Measure,
    (old, new): (&SystemScores<'_>, &SystemScores<'_>),
    positions: &[usize],
    options: &GateOptions,
) -> Option<GateComparison> {
    let column = |system: &SystemScores<'_>| -> Vec<Option<f64>> {
        let column = system.column(options.view, measure.name);
        positions.iter().map(|at| column[*at]).collect()
    };
    let (of_old, of_new) = (column(old), column(new));
    let test = Tested::new(measure, &of_new, &of_old, &options.bootstrap);
    if test.n == 0 {
        return None;
    }
    let mean = |column: &[Option<f64>]| column.iter().flatten().sum::<f64>() / test.n as f64;
    let verdict = Verdict::of(&test, options.min_tasks);
    let (old, new) = (mean(&of_old), mean(&of_new));
    Some(GateComparison { slice, verdict, old, new, test })
}

#[cfg(test)]
mod tests;
