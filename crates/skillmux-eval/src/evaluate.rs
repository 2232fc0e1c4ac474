//! Asks a system all tasks of a dataset: on all cores, with a journal to go on from.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Seek, SeekFrom, Write},
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{answer::Answer, dataset::Dataset, error::Error, system::System, task::Task};

/// The answer to one task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The task.
    pub task_id: String,
    /// What the system said.
    pub answer: Answer,
    /// Wall-clock time in microseconds.
    #[serde(default)]
    pub time_us: u64,
}

/// What a system answered to the tasks of a dataset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evaluation {
    /// Name of the system.
    pub system: String,
    /// Its configuration, see [`System::config`].
    pub config: String,
    /// One row a task, in the order of the dataset.
    pub rows: Vec<Row>,
}

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

/// The first line of a journal: what its answers depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct JournalHead {
    format: u32,
    system: String,
    config: String,
    library: String,
    tasks: String,
    depth: usize,
}

/// Version of the journal.
const JOURNAL_FORMAT: u32 = 2;

/// Returns the answers of a system to all tasks, in their order; the same whatever the number of
/// threads and however often the work was interrupted. Skills that a task ignores are dropped. A task
/// that cannot be asked, as one without words, has an answer of nothing, and says so.
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

/// A file of answers, appended to as they come.
struct Journal {
    path: std::path::PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens or begins a journal, and returns the answers that it holds.
    ///
    /// A last line without an end was being written when the process ended, and is cut off. A file
    /// that does not begin with the head is not touched.
    fn open(path: &Path, head: &JournalHead) -> Result<(BTreeMap<String, Row>, Self), Error> {
        let cannot_write = |source| Error::Write { path: path.to_owned(), source };
        let cannot_read = |source| Error::Read { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(cannot_write)?;
        let mut rows = BTreeMap::new();
        let mut whole_bytes = 0;
        let mut lines = BufReader::new(&file);
        let mut bytes = Vec::new();
        for line in 1_usize.. {
            bytes.clear();
            // A line may be torn within a character.
            let n_bytes = lines.read_until(b'\n', &mut bytes).map_err(cannot_read)?;
            let is_whole = bytes.ends_with(b"\n");
            if line == 1 && n_bytes > 0 {
                let found = serde_json::from_slice(&bytes).ok();
                // The begin of the head is all that a run that ended at once has written.
                let is_torn = !is_whole && line_of(head).starts_with(&bytes);
                if found.as_ref() != Some(head) && !is_torn {
                    return Err(Error::JournalOfAnother { path: path.to_owned() });
                }
            }
            if !is_whole {
                break;
            }
            if line > 1 {
                let malformed = |source: serde_json::Error| Error::Json {
                    path: path.to_owned(),
                    line,
                    source: Box::new(source),
                };
                let row: Row = serde_json::from_slice(&bytes).map_err(malformed)?;
                rows.insert(row.task_id.clone(), row);
            }
            whole_bytes += n_bytes as u64;
        }
        file.set_len(whole_bytes).map_err(cannot_write)?;
        file.seek(SeekFrom::Start(whole_bytes)).map_err(cannot_write)?;
        let journal = Self { path: path.to_owned(), file: Mutex::new(file) };
        if whole_bytes == 0 {
            journal.append(head)?;
        }
        Ok((rows, journal))
    }

    fn append(&self, value: &impl Serialize) -> Result<(), Error> {
        let json = line_of(value);
        // One write a line, so that a killed process tears at most the last one.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&json).map_err(|source| Error::Write { path: self.path.clone(), source })
    }
}

/// Returns a value as JSON on one line, with its end.
fn line_of(value: &impl Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec(value).expect("a row has string keys only");
    json.push(b'\n');
    json
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
