//! Trains the [`AskingWeights`] that tell what a task asks for.
//!
//! Each task comes with the excerpts that carry its wishes. A piece of it ([`pieces`]) asks for
//! something if more than half of it, or of an excerpt, is shared by both. A logistic regression
//! over what is seen of a piece tells those that ask.

mod fit;

use std::{ops::Range, path::Path};

use serde::Deserialize;
use skillmux::decompose::{AskingWeights, Piece, pieces};

use self::fit::{Example, fit};
use crate::{error::Result, file::lines, split::key_of_name};

/// Parts that tasks are dealt out to, by their library, one of which is held out in turn.
const N_FOLDS: u64 = 5;

/// Pieces of a task that the score looks at: as many as a plan has parts at most.
const N_BEST: usize = 8;

#[derive(Deserialize)]
struct Line {
    query: String,
    #[serde(default)]
    query_id: String,
    /// Tasks of one library are held out together.
    #[serde(default)]
    library: Option<String>,
    #[serde(default, alias = "spans")]
    asks: Option<Vec<String>>,
}

/// Tasks with the pieces that ask for something.
#[derive(Debug, Clone, Default)]
pub struct AskingExamples {
    tasks: Vec<Task>,
}

#[derive(Debug, Clone)]
struct Task {
    fold: u64,
    pieces: Vec<Example>,
    /// The pieces that each excerpt shares bytes with.
    of_excerpts: Vec<Vec<usize>>,
}

/// How well pieces are told, of tasks that were held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AskingScores {
    /// Probability that a piece that asks for something is told to be likelier than one that does
    /// not, in `[0, 1]` (area under the ROC curve).
    pub auc: f64,
    /// Share of the excerpts that share bytes with one of the eight likeliest pieces of their task,
    /// in `[0, 1]`.
    pub found: f64,
}

impl AskingExamples {
    /// Adds the tasks of a file, plain or `.zst`: `{"query", "asks"}` a line, where `asks` has
    /// excerpts of the query; `spans` is another name for it. Lines with the same `library` are
    /// held out together in the scores. A line without excerpts is left out.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read) and [`Error::TrainingData`](crate::Error::TrainingData).
    pub fn add(&mut self, path: &Path) -> Result<()> {
        let lines: Vec<Line> = lines(path, "a `query` and what it `asks`: excerpts of it")?;
        self.tasks.extend(lines.iter().filter_map(Task::of));
        Ok(())
    }

    /// Returns the number of tasks.
    pub fn n_tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Returns the number of pieces, and of those that ask for something.
    pub fn n_pieces(&self) -> [usize; 2] {
        let pieces = || self.tasks.iter().flat_map(|task| &task.pieces);
        [pieces().count(), pieces().filter(|piece| piece.asks).count()]
    }

    /// Returns the weights that fit all tasks, and how well weights tell the pieces of tasks that
    /// were held out.
    pub fn fit(&self) -> (AskingWeights, AskingScores) {
        let mut told: Vec<(f32, bool)> = Vec::new();
        let (mut n_found, mut n_excerpts) = (0, 0);
        for held_out in 0..N_FOLDS {
            let of_fold = |is_held_out: bool| {
                self.tasks.iter().filter(move |task| (task.fold == held_out) == is_held_out)
            };
            let weights = fit(&of_fold(false).flat_map(|task| &task.pieces).collect::<Vec<_>>());
            for task in of_fold(true) {
                let probability = |piece: &Example| weights.probability(&piece.features);
                let all: Vec<f32> = task.pieces.iter().map(probability).collect();
                told.extend(all.iter().copied().zip(task.pieces.iter().map(|piece| piece.asks)));
                let mut best: Vec<usize> = (0..all.len()).collect();
                best.sort_by(|a, b| all[*b].total_cmp(&all[*a]));
                best.truncate(N_BEST);
                let is_found = |pieces: &&Vec<usize>| pieces.iter().any(|at| best.contains(at));
                n_found += task.of_excerpts.iter().filter(is_found).count();
                n_excerpts += task.of_excerpts.len();
            }
        }
        let found = n_found as f64 / n_excerpts.max(1) as f64;
        let weights = fit(&self.tasks.iter().flat_map(|task| &task.pieces).collect::<Vec<_>>());
        (weights, AskingScores { auc: auc(told), found })
    }
}

impl Task {
    /// Returns the task of a line, if it has excerpts.
    fn of(line: &Line) -> Option<Self> {
        let Line { query, query_id, library, asks } = line;
        let asks = asks.as_ref()?;
        let range = |excerpt: &String| {
            let start = query.find(excerpt.as_str())?;
            Some(start..start + excerpt.len())
        };
        let excerpts: Vec<Range<usize>> = asks.iter().filter_map(range).collect();
        let found = pieces(query);
        let example = |Piece { range, features, .. }: &Piece| {
            let is_most = |excerpt: &Range<usize>| {
                2 * n_shared(range, excerpt) > range.len().min(excerpt.len())
            };
            Example { features: features.clone(), asks: excerpts.iter().any(is_most) }
        };
        let of_excerpt = |excerpt: &Range<usize>| {
            (0..found.len()).filter(|at| n_shared(&found[*at].range, excerpt) > 0).collect()
        };
        Some(Self {
            fold: key_of_name(library.as_ref().unwrap_or(query_id)) % N_FOLDS,
            pieces: found.iter().map(example).collect(),
            of_excerpts: excerpts.iter().map(of_excerpt).collect(),
        })
    }
}

/// Returns the number of bytes that two ranges share.
fn n_shared(a: &Range<usize>, b: &Range<usize>) -> usize {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

/// Returns the area under the ROC curve; equal numbers count half. One half without both answers.
fn auc(mut told: Vec<(f32, bool)>) -> f64 {
    told.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut n_below, mut n_won, mut n_right) = (0.0, 0.0, 0.0);
    for equal in told.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let right = equal.iter().filter(|(_, asks)| *asks).count() as f64;
        let wrong = equal.len() as f64 - right;
        n_won += right * (n_below + wrong / 2.0);
        n_below += wrong;
        n_right += right;
    }
    let n_pairs = n_below * n_right;
    if n_pairs > 0.0 { n_won / n_pairs } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_an_excerpt_covers_ask() {
        let line = Line {
            query: "It rained all day. Please draw the chart. It is for Ann.".to_owned(),
            query_id: String::new(),
            library: None,
            asks: Some(vec!["draw the chart".to_owned(), "not there".to_owned()]),
        };
        let task = Task::of(&line).unwrap();
        let asks: Vec<bool> = task.pieces.iter().map(|piece| piece.asks).collect();
        assert_eq!(asks, [false, true, false]);
        assert_eq!(task.of_excerpts, [[1]]);
    }

    #[test]
    fn held_out_tasks_are_told_by_their_words() {
        let line = |number: usize, rest: &str| Line {
            query: format!("Order {number} came late. Please {rest}. Nobody knew of it."),
            query_id: number.to_string(),
            library: None,
            asks: Some(vec![format!("Please {rest}")]),
        };
        let tasks = (0..40).filter_map(|number| Task::of(&line(number, "draw it up for Ann")));
        let examples = AskingExamples { tasks: tasks.collect() };
        let (weights, scores) = examples.fit();
        assert!(scores.auc > 0.99 && scores.found > 0.99, "{scores:?}");
        assert_eq!(examples.n_pieces(), [120, 40]);
        let of = |text: &str| weights.probability(&pieces(text)[0].features);
        assert!(of("Please draw the boat.") > of("Nobody saw the boat."));
    }

    #[test]
    fn the_area_is_that_of_pairs_in_order() {
        let near = |told: &[(f32, bool)], area: f64| {
            assert!((auc(told.to_vec()) - area).abs() < 1e-9, "{told:?}");
        };
        near(&[(0.9, true), (0.1, false)], 1.0);
        near(&[(0.5, true), (0.5, false)], 0.5);
        near(&[(0.9, false), (0.5, true), (0.1, false)], 0.5);
        near(&[(0.9, true)], 0.5);
    }
}
