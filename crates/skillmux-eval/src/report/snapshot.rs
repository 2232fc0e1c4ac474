//! [`Snapshot`]: a row a task, to keep under version control and compare.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
};

use super::{
    number::number,
    scores::{SystemScores, TaskScores, View},
};
use crate::{
    error::Error,
    file,
    printable::{csv, one_line},
};

/// Measures of a snapshot besides the rank of the first right skill and the confidence.
pub const SNAPSHOT_MEASURES: [&str; 5] =
    ["Hit@1", "Recall@10", "Set F1", "Sufficiency", "Token reduction"];

/// Name of the column with the rank of the first right skill.
const FIRST_RIGHT: &str = "rank of the first right skill";
/// Name of the column with the confidence.
const CONFIDENCE: &str = "confidence";
/// Name of the first column.
const TASK_ID: &str = "task_id";
/// What a rank is if no skill of the ranking is right.
const NOT_FOUND: &str = "none";

/// A row a task with what systems scored: texts, so that equal files are equal snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Columns after the id, as `bm25: Hit@1`.
    columns: Vec<String>,
    /// The id of each task and its cells, one a column; empty where a column says nothing.
    rows: Vec<(String, Vec<String>)>,
}

/// What differs between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskChange {
    /// Only the new snapshot has the column.
    ColumnAdded {
        /// The column.
        column: String,
    },
    /// Only the old snapshot has the column.
    ColumnRemoved {
        /// The column.
        column: String,
    },
    /// Only the new snapshot has the task.
    Added {
        /// The task.
        task_id: String,
    },
    /// Only the old snapshot has the task.
    Removed {
        /// The task.
        task_id: String,
    },
    /// A cell is another.
    Changed {
        /// The task.
        task_id: String,
        /// The column, as `bm25: Hit@1`.
        column: String,
        /// What stood there; empty if the column said nothing.
        old: String,
        /// What stands there now.
        new: String,
    },
}

impl fmt::Display for TaskChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ColumnAdded { column } => write!(f, "{}: new column", one_line(column)),
            Self::ColumnRemoved { column } => write!(f, "{}: column is gone", one_line(column)),
            Self::Added { task_id } => write!(f, "{}: new task", one_line(task_id)),
            Self::Removed { task_id } => write!(f, "{}: task is gone", one_line(task_id)),
            Self::Changed { task_id, column, old, new } => {
                let cell =
                    |text: &str| if text.is_empty() { "nothing".into() } else { one_line(text) };
                let (task_id, column) = (one_line(task_id), one_line(column));
                write!(f, "{task_id}: {column} {} -> {}", cell(old), cell(new))
            }
        }
    }
}

impl Snapshot {
    /// Returns the snapshot of scores, with these measures where they say something.
    pub fn new(scores: &TaskScores<'_>, view: View, measures: &[&str]) -> Self {
        let tasks = &scores.dataset.tasks;
        let mut columns: Vec<(String, Vec<String>)> = Vec::new();
        for system in &scores.systems {
            let mut push = |name: &str, cells: Vec<String>| {
                if cells.iter().any(|cell| !cell.is_empty()) {
                    columns.push((format!("{}: {name}", system.name), cells));
                }
            };
            let rank = |at: usize| first_right(scores, system, view, at);
            push(FIRST_RIGHT, (0..tasks.len()).map(rank).collect());
            for name in measures {
                let column = system.column(view, name).iter();
                push(name, column.map(|value| value.map_or(String::new(), number)).collect());
            }
            let confidence = |at: usize| system.rows[at].answer.confidence.map(f64::from);
            let cells = (0..tasks.len()).map(|at| confidence(at).map_or(String::new(), number));
            push(CONFIDENCE, cells.collect());
        }
        let row = |at: usize| columns.iter().map(|(_, cells)| cells[at].clone()).collect();
        let rows = tasks.iter().enumerate().map(|(at, task)| (task.id.clone(), row(at))).collect();
        Self { columns: columns.into_iter().map(|(name, _)| name).collect(), rows }
    }

    /// Returns the snapshot as CSV (RFC 4180, but with plain line feeds).
    pub fn to_csv(&self) -> String {
        let head = std::iter::once((TASK_ID, &self.columns));
        let rows = self.rows.iter().map(|(task_id, cells)| (task_id.as_str(), cells));
        csv(head
            .chain(rows)
            .map(|(first, cells)| std::iter::once(first).chain(cells.iter().map(String::as_str))))
    }

    /// Reads what [`to_csv`](Self::to_csv) wrote.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::NotAFile`], [`Error::TooLarge`], and as for [`Snapshot::parse`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&file::read_text(path)?, path)
    }

    /// Reads what [`to_csv`](Self::to_csv) wrote; the path is for messages.
    ///
    /// # Errors
    /// [`Error::Csv`], [`Error::CsvHead`] and [`Error::TaskTwice`] name the line.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let mut records = reader.records();
        let malformed =
            |source: csv::Error| Error::Csv { path: path.to_owned(), source: Box::new(source) };
        let head = records.next().transpose().map_err(malformed)?.unwrap_or_default();
        if head.get(0) != Some(TASK_ID) {
            let found = head.get(0).unwrap_or_default().to_owned();
            return Err(Error::CsvHead { path: path.to_owned(), found, expected: TASK_ID });
        }
        let mut seen = BTreeSet::new();
        let mut snapshot =
            Self { columns: head.iter().skip(1).map(str::to_owned).collect(), rows: Vec::new() };
        for record in records {
            let record = record.map_err(malformed)?;
            let task_id = record[0].to_owned();
            if !seen.insert(task_id.clone()) {
                let line = record.position().map_or(0, csv::Position::line);
                return Err(Error::TaskTwice { path: path.to_owned(), line, task_id });
            }
            snapshot.rows.push((task_id, record.iter().skip(1).map(str::to_owned).collect()));
        }
        Ok(snapshot)
    }

    /// Returns what differs: columns, then tasks in the order of the new snapshot, then the tasks
    /// that are gone.
    pub fn diff(old: &Self, new: &Self) -> Vec<TaskChange> {
        let position =
            |columns: &[String], column: &String| columns.iter().position(|c| c == column);
        let mut changes = Vec::new();
        let mut pairs = Vec::new();
        for (at, column) in new.columns.iter().enumerate() {
            match position(&old.columns, column) {
                Some(old_at) => pairs.push((old_at, at)),
                None => changes.push(TaskChange::ColumnAdded { column: column.clone() }),
            }
        }
        for column in old.columns.iter().filter(|column| position(&new.columns, column).is_none()) {
            changes.push(TaskChange::ColumnRemoved { column: column.clone() });
        }
        let old_rows: BTreeMap<&str, &Vec<String>> =
            old.rows.iter().map(|(task_id, cells)| (task_id.as_str(), cells)).collect();
        for (task_id, cells) in &new.rows {
            let Some(old_cells) = old_rows.get(task_id.as_str()) else {
                changes.push(TaskChange::Added { task_id: task_id.clone() });
                continue;
            };
            for (old_at, at) in &pairs {
                let (old, new_cell) = (&old_cells[*old_at], &cells[*at]);
                if old != new_cell {
                    changes.push(TaskChange::Changed {
                        task_id: task_id.clone(),
                        column: new.columns[*at].clone(),
                        old: old.clone(),
                        new: new_cell.clone(),
                    });
                }
            }
        }
        let kept: BTreeSet<&str> = new.rows.iter().map(|(task_id, _)| task_id.as_str()).collect();
        let gone = old.rows.iter().filter(|(task_id, _)| !kept.contains(task_id.as_str()));
        changes.extend(gone.map(|(task_id, _)| TaskChange::Removed { task_id: task_id.clone() }));
        changes
    }
}

/// Returns the cell of the rank of the first right skill; empty for a task without gold, and for a
/// system that does not rank.
fn first_right(
    scores: &TaskScores<'_>,
    system: &SystemScores<'_>,
    view: View,
    at: usize,
) -> String {
    let has_gold = !scores.dataset.tasks[at].gold.is_empty();
    if !has_gold || system.rows[at].answer.ranking.is_none() {
        return String::new();
    }
    let rank = system.right_ranks(view, at).first();
    rank.map_or_else(|| NOT_FOUND.to_owned(), usize::to_string)
}
