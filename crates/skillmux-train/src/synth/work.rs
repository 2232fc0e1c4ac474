//! Asks a model for one row after the other, several at a time, and keeps what passes the checks.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use skillmux::{
    model::{ChatMessage, ChatModel, ChatRequest},
    text::estimate_tokens,
};

use super::{
    out::OutFile,
    refusal::{Checked, Refusal},
    sample::chance,
    text::Shingles,
};
use crate::error::{Error, Result};

/// How freely the model chooses words: rows should differ from each other.
const TEMPERATURE: f32 = 0.9;

/// Longest part of a refused answer that is shown to the model again.
const MAX_REPEATED_BYTES: usize = 6_000;

/// Rows in a row for which the endpoint fails, after which nothing more is asked.
const MAX_FAILURES: usize = 3;

/// Rows in a row for which every answer is refused, after which nothing more is asked: a model that
/// cannot do it, or has run out of ideas, costs no more than that.
const MAX_GIVEN_UP: usize = 20;

/// How rows are asked for.
#[derive(Clone, Copy)]
pub struct WorkOptions<'a> {
    /// File of JSON Lines that rows are appended to; its name ends in `.jsonl`.
    pub out: &'a Path,
    /// Rows that the file holds in the end, those of earlier runs included.
    pub n_rows: usize,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Requests under way at the same time, at least 1.
    pub n_parallel: usize,
    /// Most answers that are asked for to get one row, at least 1.
    pub max_attempts: usize,
    /// Name of the model for the rows; what [`ChatModel::name`] says may name a private machine.
    pub model_name: &'a str,
    /// Returns whether a failure of the model means that every other request will fail as well.
    pub is_final: &'a (dyn Fn(&skillmux::Error) -> bool + Sync),
    /// Called after each row that was written or given up, with the number of rows in the file;
    /// from any thread.
    pub on_row: &'a (dyn Fn(usize) + Sync),
}

/// What a run wrote, and what it refused.
#[derive(Debug, Default)]
pub struct WorkReport {
    /// Rows that the file held before.
    pub n_before: usize,
    /// Rows that were written.
    pub n_written: usize,
    /// Rows that were given up because every answer was refused.
    pub n_given_up: usize,
    /// Rows that were given up because the endpoint failed.
    pub n_failed: usize,
    /// Requests that were answered.
    pub n_requests: usize,
    /// Estimated tokens that the model read.
    pub n_tokens_sent: u64,
    /// Estimated tokens that the model wrote, thoughts that are not shown aside.
    pub n_tokens_received: u64,
    /// Number of answers that were refused, by reason.
    pub refusals: BTreeMap<&'static str, usize>,
    /// Skills that were passed over because their body nearly repeats that of another one.
    pub n_near_duplicates: usize,
    /// Skills that were passed over because they say too little.
    pub n_thin: usize,
    /// Whether nothing is left to ask about.
    pub is_exhausted: bool,
    /// Why no more was asked for; what had been written is kept.
    pub stopped: Option<Error>,
}

/// One row that a model is asked to write.
pub(super) trait Assignment: Send {
    /// Returns the name of the row, the same in every run.
    fn key(&self) -> &str;

    /// Returns the most tokens of an answer.
    fn max_tokens(&self) -> u32;

    /// Returns what is asked.
    fn messages(&self) -> Vec<ChatMessage>;

    /// Returns the row that an answer holds, if it can be taken.
    fn check(&self, answer: &str) -> Result<Checked<Draft>>;
}

/// A row that passed all checks but those against other rows.
#[derive(Debug)]
pub(super) struct Draft {
    /// JSON on one line.
    pub(super) row: Vec<u8>,
    pub(super) mark: Mark,
}

/// What a row is told from others by.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    pub(super) shingles: Shingles,
    /// Two rows cannot have the same one.
    pub(super) name_key: Option<String>,
    /// Hash of the text, where it is compared as such.
    pub(super) text_key: Option<u64>,
    /// What the row means, of length 1 or 0; empty where that is not compared.
    pub(super) vector: Vec<f32>,
}

/// How much rows may have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Likeness {
    /// Rows whose shingles are more alike are duplicates, in `[0, 1]`.
    pub(super) max_similarity: f64,
    /// So are those whose vectors have a larger cosine.
    pub(super) max_cosine: f64,
}

impl Likeness {
    /// Returns why a row repeats one of some others, if it does: the same text first, then the
    /// words, then the meaning (`SkillComposer` appendix B.3).
    pub(super) fn repeats(&self, mark: &Mark, known: &[Mark]) -> Option<Refusal> {
        let (mut is_near, mut has_name, mut means_same) = (false, false, false);
        for other in known {
            if mark.text_key.is_some() && mark.text_key == other.text_key {
                return Some(Refusal::SameText);
            }
            is_near |= mark.shingles.similarity(&other.shingles) > self.max_similarity;
            has_name |= mark.name_key.is_some() && mark.name_key == other.name_key;
            let cosine: f32 = mark.vector.iter().zip(&other.vector).map(|(a, b)| a * b).sum();
            means_same |= f64::from(cosine) > self.max_cosine;
        }
        match &mark.name_key {
            _ if is_near => Some(Refusal::Duplicate),
            Some(name) if has_name => Some(Refusal::NameTaken { name: name.clone() }),
            _ => means_same.then_some(Refusal::SameMeaning),
        }
    }
}

/// The rows to ask for, in order.
pub(super) trait Assignments: Send {
    type Item: Assignment;

    fn next(&mut self) -> Result<Option<Self::Item>>;

    /// See [`super::sample::Sampler::n_passed_over`].
    fn n_passed_over(&self) -> (usize, usize);
}

/// The rows so far.
pub(super) struct Rows {
    pub(super) out: OutFile,
    /// Names of the rows that are not asked for again.
    pub(super) keys: HashSet<String>,
    pub(super) marks: Vec<Mark>,
    /// Rows that count as being there.
    pub(super) n_before: usize,
    pub(super) likeness: Likeness,
}

impl Rows {
    fn take(&mut self, draft: Draft) -> Result<Checked<()>> {
        let Draft { row, mark } = draft;
        if let Some(refusal) = self.likeness.repeats(&mark, &self.marks) {
            return Ok(Checked::Refused(refusal));
        }
        self.out.append(&row)?;
        self.marks.push(mark);
        Ok(Checked::Accepted(()))
    }
}

/// Asks for rows until there are enough, or nothing is left to ask about.
pub(super) fn work<A: Assignments>(
    model: &dyn ChatModel,
    assignments: A,
    rows: Rows,
    options: &WorkOptions<'_>,
) -> WorkReport {
    let report = WorkReport { n_before: rows.n_before, ..WorkReport::default() };
    let state = State { assignments, rows, report, n_under_way: 0, n_failures: 0, n_given_up: 0 };
    let floor = Floor { model, options, state: Mutex::new(state), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 0..options.n_parallel.max(1) {
            scope.spawn(|| floor.work());
        }
    });
    let State { assignments, mut report, .. } =
        floor.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    (report.n_near_duplicates, report.n_thin) = assignments.n_passed_over();
    report
}

/// A row that needs no model.
pub(super) struct Made {
    pub(super) key: String,
    pub(super) draft: Checked<Draft>,
}

/// Appends rows that need no model until there are enough, or no more can be made.
pub(super) fn collect(
    next: &mut dyn FnMut() -> Result<Option<Made>>,
    mut rows: Rows,
    options: &WorkOptions<'_>,
) -> Result<WorkReport> {
    let mut report = WorkReport { n_before: rows.n_before, ..WorkReport::default() };
    while report.n_before + report.n_written < options.n_rows {
        let Some(Made { key, draft }) = next()? else {
            report.is_exhausted = true;
            break;
        };
        if !rows.keys.insert(key) {
            continue;
        }
        let taken = match draft {
            Checked::Accepted(draft) => rows.take(draft)?,
            Checked::Refused(refusal) => Checked::Refused(refusal),
        };
        match taken {
            Checked::Accepted(()) => report.n_written += 1,
            Checked::Refused(refusal) => *report.refusals.entry(refusal.reason()).or_default() += 1,
        }
        (options.on_row)(report.n_before + report.n_written);
    }
    Ok(report)
}

/// Where the threads of a run meet.
struct Floor<'a, A> {
    model: &'a dyn ChatModel,
    options: &'a WorkOptions<'a>,
    state: Mutex<State<A>>,
    changed: Condvar,
}

struct State<A> {
    assignments: A,
    rows: Rows,
    report: WorkReport,
    n_under_way: usize,
    /// Rows in a row for which the endpoint failed.
    n_failures: usize,
    /// Rows in a row for which every answer was refused.
    n_given_up: usize,
}

/// How the work on a row ended.
enum End {
    Written,
    GivenUp,
    Failed(skillmux::Error),
    Broken(Error),
}

impl<A: Assignments> Floor<'_, A> {
    fn work(&self) {
        while let Some(assignment) = self.next() {
            let _under_way = UnderWay(self);
            let end = self.write(&assignment);
            let n_rows = self.settle(end);
            (self.options.on_row)(n_rows);
        }
        // Those who wait for what others have under way look again.
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what to ask for next. While enough is under way, waits whether all of it succeeds,
    /// so that the rows are those of the first assignments that succeed, however many threads there
    /// are.
    fn next(&self) -> Option<A::Item> {
        let mut state = self.lock();
        loop {
            let State { assignments, rows, report, n_under_way, .. } = &mut *state;
            let n_rows = report.n_before + report.n_written;
            if report.stopped.is_some() || report.is_exhausted || n_rows >= self.options.n_rows {
                return None;
            }
            if n_rows + *n_under_way >= self.options.n_rows {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            match assignments.next() {
                Ok(Some(assignment)) if rows.keys.insert(assignment.key().to_owned()) => {
                    *n_under_way += 1;
                    return Some(assignment);
                }
                Ok(Some(_)) => {}
                Ok(None) => report.is_exhausted = true,
                Err(error) => report.stopped = Some(error),
            }
        }
    }

    fn write(&self, assignment: &A::Item) -> End {
        let mut messages = assignment.messages();
        for attempt in 0..self.options.max_attempts.max(1) {
            let seed = chance(self.options.seed, &[assignment.key(), &attempt.to_string()]);
            let request = ChatRequest {
                messages: messages.clone(),
                temperature: TEMPERATURE,
                max_tokens: assignment.max_tokens(),
                // Endpoints take 31 bits at least.
                seed: Some(seed >> 33),
            };
            let answer = match self.model.complete(&request) {
                Ok(answer) => answer,
                Err(error) => {
                    self.count(&messages, "");
                    return End::Failed(error);
                }
            };
            self.count(&messages, &answer);
            let taken = match assignment.check(&answer) {
                Ok(Checked::Accepted(draft)) => self.lock().rows.take(draft),
                Ok(Checked::Refused(refusal)) => Ok(Checked::Refused(refusal)),
                Err(error) => Err(error),
            };
            match taken {
                Ok(Checked::Accepted(())) => return End::Written,
                Ok(Checked::Refused(refusal)) => {
                    *self.lock().report.refusals.entry(refusal.reason()).or_default() += 1;
                    let n_bytes = answer.floor_char_boundary(MAX_REPEATED_BYTES);
                    messages.push(ChatMessage::assistant(&answer[..n_bytes]));
                    messages.push(ChatMessage::user(format!(
                        "That cannot be used: {refusal}. Write it anew, in the same form."
                    )));
                }
                Err(error) => return End::Broken(error),
            }
        }
        End::GivenUp
    }

    fn count(&self, messages: &[ChatMessage], answer: &str) {
        let n_sent = messages.iter().map(|message| u64::from(estimate_tokens(&message.text)));
        let n_sent: u64 = n_sent.sum();
        let report = &mut self.lock().report;
        report.n_requests += 1;
        report.n_tokens_sent += n_sent;
        report.n_tokens_received += u64::from(estimate_tokens(answer));
    }

    /// Counts how the work on a row ended, and returns the number of rows in the file.
    fn settle(&self, end: End) -> usize {
        let mut state = self.lock();
        let State { report, n_failures, n_given_up, .. } = &mut *state;
        match end {
            End::Failed(error) => {
                report.n_failed += 1;
                *n_failures += 1;
                if ((self.options.is_final)(&error) || *n_failures >= MAX_FAILURES)
                    && report.stopped.is_none()
                {
                    report.stopped = Some(error.into());
                }
            }
            End::Broken(error) => {
                report.stopped.get_or_insert(error);
            }
            End::Written => {
                report.n_written += 1;
                (*n_failures, *n_given_up) = (0, 0);
            }
            End::GivenUp => {
                report.n_given_up += 1;
                *n_failures = 0;
                *n_given_up += 1;
                if *n_given_up >= MAX_GIVEN_UP && report.stopped.is_none() {
                    let most = report.refusals.iter().max_by_key(|(_, n)| **n);
                    let reason = most.map_or("", |(reason, _)| reason);
                    report.stopped = Some(Error::AnswersRefused { n_rows: *n_given_up, reason });
                }
            }
        }
        report.n_before + report.n_written
    }
}

/// A row that a thread works on.
struct UnderWay<'f, 'a, A: Assignments>(&'f Floor<'a, A>);

impl<A: Assignments> Drop for UnderWay<'_, '_, A> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.n_under_way -= 1;
        // A panic ends the run once the other threads have ended.
        state.report.is_exhausted |= thread::panicking();
        drop(state);
        self.0.changed.notify_all();
    }
}
