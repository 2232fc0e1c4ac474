//! Asks a system all tasks.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use rayon::prelude::*;

use super::{
    journal::{JOURNAL_FORMAT, Journal, JournalHead},
    rows::{Evaluation, Row},
};
use crate::{answer::Answer, dataset::Dataset, error::Error, system::System, task::Task};

/// How tasks are asked.
#[derive(Clone, Copy)]
pub struct EvaluateOptions<'a> {
    /// Length of the rankings.
    pub depth: usize,
    /// Names the library that is asked, such as the hash of an index: part of what a journal must
    /// agree with.
    pub library: &'a str,
    /// File that keeps every answer as it comes. If it is there, its answers are taken over and
    /// only the other tasks are asked.
    pub journal: Option<&'a Path>,
    /// Returns the time since some fixed moment.
    pub clock: fn() -> Duration,
    /// Called with the number of tasks done so far, from any thread.
    pub on_done: &'a (dyn Fn(usize) + Sync),
}

/// Returns the answers of a system to all tasks, in their order; the same whatever the number of
/// threads and however often the work was interrupted. Skills that a task ignores are dropped. A
/// task that cannot be asked, as one without words, has an answer of nothing, and says so.
///
/// # Errors
/// An error of the system, but for [`Error::TaskRefused`], after which no more tasks are begun;
/// [`Error::JournalOfAnother`], and [`Error::Read`] or [`Error::Write`] for the journal.
pub fn evaluate(
    system: &dyn System,
    dataset: &Dataset,
    options: &EvaluateOptions<'_>,
) -> Result<Evaluation, Error> {
    let head = JournalHead {
        format: JOURNAL_FORMAT,
        system: system.name(),
        config: system.config(),
        library: options.library.to_owned(),
        tasks: fingerprint(&dataset.tasks),
        depth: options.depth,
    };
    let (known, journal) = match options.journal {
        Some(path) => {
            let (rows, journal) = Journal::open(path, &head)?;
            (rows, Some(journal))
        }
        None => (BTreeMap::new(), None),
    };
    let n_done = AtomicUsize::new(known.len());
    (options.on_done)(known.len());
    let answer = |task: &Task| -> Result<Row, Error> {
        if let Some(row) = known.get(&task.id) {
            return Ok(row.clone());
        }
        let depth = options.depth + task.ignored.len();
        let (mut answer, elapsed) = match system.timed_answer(task, depth, options.clock) {
            Err(Error::TaskRefused { source, .. }) => {
                let refused = Some(source.to_string());
                (Answer { refused, ..system.empty_answer() }, Duration::ZERO)
            }
            answered => answered?,
        };
        answer.drop_skills(&task.ignored);
        if let Some(ranking) = &mut answer.ranking {
            ranking.truncate(options.depth);
        }
        let time_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let row = Row { task_id: task.id.clone(), answer, time_us };
        if let Some(journal) = &journal {
            journal.append(&row)?;
        }
        (options.on_done)(n_done.fetch_add(1, Ordering::Relaxed) + 1);
        Ok(row)
    };
    let rows = dataset.tasks.par_iter().map(answer).collect::<Result<Vec<Row>, Error>>()?;
    Ok(Evaluation { system: head.system, config: head.config, rows })
}

/// Returns a hash of everything in the tasks.
fn fingerprint(tasks: &[Task]) -> String {
    let mut hasher = blake3::Hasher::new();
    for task in tasks {
        let json = serde_json::to_vec(task).expect("a task has string keys only");
        hasher.update(&json).update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use std::{fs, sync::atomic::AtomicU32};

    use super::*;

    /// Ranks one skill named after the query, and counts how often it is asked.
    #[derive(Default)]
    struct Echo {
        n_asked: AtomicU32,
    }

    impl System for Echo {
        fn name(&self) -> String {
            "echo".to_owned()
        }

        fn config(&self) -> String {
            String::new()
        }

        fn answer(&self, task: &Task, _depth: usize) -> Result<Answer, Error> {
            self.n_asked.fetch_add(1, Ordering::Relaxed);
            Ok(Answer::of_ranking([(task.query.clone(), 1.0)]))
        }
    }

    fn dataset(n_tasks: usize) -> Dataset {
        let task =
            |n: usize| Task { id: format!("t{n}"), query: format!("q{n}"), ..Task::default() };
        Dataset { tasks: (0..n_tasks).map(task).collect(), ..Dataset::default() }
    }

    fn options(journal: Option<&Path>) -> EvaluateOptions<'_> {
        EvaluateOptions {
            depth: 10,
            library: "l",
            journal,
            clock: || Duration::ZERO,
            on_done: &|_| (),
        }
    }

    #[test]
    fn rows_are_in_task_order() {
        let found = evaluate(&Echo::default(), &dataset(100), &options(None)).unwrap();
        let ids: Vec<_> = found.rows.iter().map(|row| row.task_id.clone()).collect();
        assert_eq!(ids, dataset(100).tasks.into_iter().map(|task| task.id).collect::<Vec<_>>());
        assert_eq!(found.rows[7].answer.ranked()[0].skill_id, "q7");
    }

    #[test]
    fn ignored_skills_are_dropped() {
        let mut dataset = dataset(2);
        dataset.tasks[0].ignored.insert("q0".to_owned());
        let found = evaluate(&Echo::default(), &dataset, &options(None)).unwrap();
        assert!(found.rows[0].answer.ranked().is_empty());
        assert_eq!(found.rows[1].answer.ranked().len(), 1);
    }

    #[test]
    fn a_torn_journal_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let whole = evaluate(&Echo::default(), &dataset(9), &options(Some(&path))).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        fs::write(&path, format!("{}\n{}", lines[..5].join("\n"), &lines[5][..20])).unwrap();

        let echo = Echo::default();
        let resumed = evaluate(&echo, &dataset(9), &options(Some(&path))).unwrap();

        assert_eq!(resumed, whole);
        assert_eq!(echo.n_asked.load(Ordering::Relaxed), 5);
        let echo = Echo::default();
        evaluate(&echo, &dataset(9), &options(Some(&path))).unwrap();
        assert_eq!(echo.n_asked.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_journal_may_be_torn_anywhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let mut dataset = dataset(2);
        dataset.tasks[1].query = "合同".to_owned();
        let whole = evaluate(&Echo::default(), &dataset, &options(Some(&path))).unwrap();
        let bytes = fs::read(&path).unwrap();
        for n_left in 0..bytes.len() {
            fs::write(&path, &bytes[..n_left]).unwrap();
            let resumed = evaluate(&Echo::default(), &dataset, &options(Some(&path))).unwrap();
            assert_eq!(resumed, whole, "{n_left}");
        }
    }

    #[test]
    fn a_file_that_is_no_journal_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        for text in ["my notes", "my notes\n", "{\"a\":1}\n{\"b\"", "\u{feff}"] {
            fs::write(&path, text).unwrap();
            let refused = evaluate(&Echo::default(), &dataset(3), &options(Some(&path)));
            assert!(matches!(refused, Err(Error::JournalOfAnother { .. })), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_refused_task_is_answered_with_nothing() {
        struct Strict;
        impl System for Strict {
            fn name(&self) -> String {
                "strict".to_owned()
            }

            fn config(&self) -> String {
                String::new()
            }

            fn answer(&self, task: &Task, _depth: usize) -> Result<Answer, Error> {
                let source = skillmux::Error::TaskEmpty;
                Err(Error::TaskRefused { task_id: task.id.clone(), source })
            }
        }
        let found = evaluate(&Strict, &dataset(2), &options(None)).unwrap();
        let refused = Some("the task is empty".to_owned());
        assert_eq!(found.rows[1].answer, Answer { refused, ..Answer::of_ranking([]) });
    }

    #[test]
    fn a_journal_of_other_tasks_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        evaluate(&Echo::default(), &dataset(3), &options(Some(&path))).unwrap();
        let refused = evaluate(&Echo::default(), &dataset(4), &options(Some(&path)));
        assert!(matches!(refused, Err(Error::JournalOfAnother { .. })));
    }
}
