//! [`Questions`]: what the indexes are asked.

use std::{num::NonZeroUsize, path::PathBuf, thread};

use skillmux::{compose::Evidence, retrieve::Query, route::Router};

use crate::task::{self, BatchQuery};

/// One query in so many is held out.
const HELD_OUT_ONE_IN: u32 = 5;

/// One answerable query in so many is asked in the middle of talk as well.
const IN_TALK_ONE_IN: usize = 4;

/// Longest query in bytes that is asked in the middle of talk.
const MAX_BYTES_IN_TALK: usize = 300;

/// Unanswerable queries around a query in talk.
const N_AROUND: usize = 4;

/// One unanswerable query in so many begins a text of nothing but talk.
const TALK_ONE_IN: usize = 2;

/// What kind of question a query is to one index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Some skill of the index answers it.
    Answerable,
    /// The same, with talk around it that no skill answers.
    InTalk,
    /// No skill is wanted.
    Unanswerable,
    /// Several of these one after the other.
    Talk,
    /// A task whose skill the index lacks. Another may help, in a small index mostly none does.
    Absent,
    /// A query that must not load one skill. Another may help.
    Trigger,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Answerable => "answerable",
            Self::InTalk => "in talk",
            Self::Unanswerable => "no skill",
            Self::Talk => "talk",
            Self::Absent => "absent",
            Self::Trigger => "trigger",
        }
    }

    pub(super) fn is_answerable(self) -> bool {
        matches!(self, Self::Answerable | Self::InTalk)
    }

    /// Returns how much an example counts in the fit; `None` for one that is measured only.
    ///
    /// Made-up texts count little, and so do tasks that another skill may help with.
    pub(super) fn importance(self) -> Option<f64> {
        match self {
            Self::Answerable | Self::Unanswerable => Some(1.0),
            Self::Talk | Self::Absent => Some(0.1),
            Self::InTalk => Some(0.05),
            Self::Trigger => None,
        }
    }
}

/// One query, asked of one index.
pub(super) struct Example {
    pub(super) kind: Kind,
    pub(super) query_id: String,
    pub(super) n_skills: usize,
    pub(super) is_held_out: bool,
    /// `None` where nothing was found.
    pub(super) evidence: Option<Evidence>,
    /// Whether the best skill is one of those that the query comes with.
    pub(super) is_best_known: bool,
}

/// What a calibration is fitted to and measured on.
pub(super) struct Questions {
    answerable: Vec<Question>,
    in_talk: Vec<Question>,
    unanswerable: Vec<Question>,
    talk: Vec<Question>,
    triggers: Vec<Question>,
}

/// A query that may be kept for the scores.
struct Question {
    item: BatchQuery,
    is_held_out: bool,
}

/// Whether queries that do not say which skills answer them are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    First,
    Further,
}

impl Questions {
    pub(super) fn read(
        answerable: &[PathBuf],
        unanswerable: &[PathBuf],
        triggers: &[PathBuf],
    ) -> anyhow::Result<Self> {
        let (answerable, unanswerable) = (read(answerable)?, read(unanswerable)?);
        Ok(Self {
            in_talk: in_talk(&answerable, &unanswerable)?,
            talk: talk(&unanswerable)?,
            triggers: read(triggers)?,
            answerable,
            unanswerable,
        })
    }

    /// Asks on all cores; the examples come in the order of the questions.
    pub(super) fn ask(&self, router: &Router, scope: Scope) -> anyhow::Result<Vec<Example>> {
        let questions = self.of(router, scope);
        let n_threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let n_each = questions.len().div_ceil(n_threads).max(1);
        let ask = |part: &[(Kind, &Question)]| -> anyhow::Result<Vec<Example>> {
            part.iter().map(|(kind, item)| example(*kind, item, router)).collect()
        };
        let answers = thread::scope(|scope| {
            let parts = questions.chunks(n_each);
            let threads: Vec<_> = parts.map(|part| scope.spawn(move || ask(part))).collect();
            threads.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        let mut examples = Vec::with_capacity(questions.len());
        for answer in answers {
            examples.extend(answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(examples)
    }

    /// Returns the queries that one index is asked.
    fn of(&self, router: &Router, scope: Scope) -> Vec<(Kind, &Question)> {
        let holds_one = |question: &&Question| {
            question.item.skill_ids.iter().any(|id| router.index().find(id).is_ok())
        };
        let mut questions = Vec::new();
        for question in &self.answerable {
            if question.item.skill_ids.is_empty() {
                let is_asked = scope == Scope::First;
                questions.extend(is_asked.then_some((Kind::Answerable, question)));
            } else {
                let kind = if holds_one(&question) { Kind::Answerable } else { Kind::Absent };
                questions.push((kind, question));
            }
        }
        let in_talk = self.in_talk.iter().filter(holds_one);
        questions.extend(in_talk.map(|question| (Kind::InTalk, question)));
        questions.extend(self.unanswerable.iter().map(|question| (Kind::Unanswerable, question)));
        questions.extend(self.talk.iter().map(|question| (Kind::Talk, question)));
        let triggers = self.triggers.iter().filter(holds_one);
        questions.extend(triggers.map(|question| (Kind::Trigger, question)));
        questions
    }
}

fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<Question>> {
    let mut questions = Vec::new();
    for path in paths {
        questions.extend(task::batch(path)?.into_iter().map(|item| {
            let is_held_out = is_held_out(item.query.text());
            Question { item, is_held_out }
        }));
    }
    Ok(questions)
}

/// Returns whether a query is kept for the scores; the same for every index and every run.
fn is_held_out(query: &str) -> bool {
    let hash = blake3::hash(query.as_bytes());
    let [a, b, c, d, ..] = *hash.as_bytes();
    u32::from_le_bytes([a, b, c, d]).is_multiple_of(HELD_OUT_ONE_IN)
}

/// Returns whether a text is mostly Chinese or the like.
fn is_wide(text: &str) -> bool {
    let (n_wide, n_letters) = text
        .chars()
        .filter(|c| c.is_alphabetic())
        .fold((0, 0), |(n_wide, n), c| (n_wide + usize::from(c >= '\u{2e80}'), n + 1));
    2 * n_wide > n_letters
}

/// Returns the queries that are held out or not like this one, and in its writing.
fn like<'q>(question: &Question, all: &'q [Question]) -> Vec<&'q str> {
    let key = |question: &Question| (question.is_held_out, is_wide(question.item.query.text()));
    let of_key = all.iter().filter(|other| key(other) == key(question));
    of_key.map(|other| other.item.query.text()).collect()
}

/// Returns short answerable queries with unanswerable ones before and after them, a line each.
fn in_talk(answerable: &[Question], unanswerable: &[Question]) -> anyhow::Result<Vec<Question>> {
    let mut questions = Vec::new();
    for (at, question) in answerable.iter().enumerate().step_by(IN_TALK_ONE_IN) {
        let text = question.item.query.text();
        let around = like(question, unanswerable);
        if text.len() > MAX_BYTES_IN_TALK || around.is_empty() {
            continue;
        }
        let mut lines: Vec<&str> = (0..N_AROUND).map(|n| around[(at + n) % around.len()]).collect();
        lines.insert(N_AROUND / 2, text);
        questions.push(question.with_text(&lines.join("\n"))?);
    }
    Ok(questions)
}

/// Returns texts of several unanswerable queries, a line each.
fn talk(unanswerable: &[Question]) -> anyhow::Result<Vec<Question>> {
    let mut questions = Vec::new();
    for (at, question) in unanswerable.iter().enumerate().step_by(TALK_ONE_IN) {
        let around = like(question, unanswerable);
        let mut lines = vec![question.item.query.text()];
        lines.extend((1..=N_AROUND).map(|n| around[(at + n) % around.len()]));
        questions.push(question.with_text(&lines.join("\n"))?);
    }
    Ok(questions)
}

impl Question {
    fn with_text(&self, text: &str) -> anyhow::Result<Self> {
        let Self { item, is_held_out } = self;
        let BatchQuery { query_id, skill_ids, .. } = item;
        let (query_id, skill_ids) = (query_id.clone(), skill_ids.clone());
        let item = BatchQuery { query_id, query: Query::new(text)?, skill_ids };
        Ok(Self { item, is_held_out: *is_held_out })
    }
}

fn example(kind: Kind, question: &Question, router: &Router) -> anyhow::Result<Example> {
    let Question { item, is_held_out } = question;
    let found = router.search_explained(&item.query, 1)?;
    let best = found.first().map(|skill| &skill.id);
    Ok(Example {
        kind,
        query_id: item.query_id.clone(),
        n_skills: router.n_skills(),
        is_held_out: *is_held_out,
        evidence: Evidence::of(item.query.text(), router.n_skills(), &found),
        is_best_known: best.is_some_and(|best| item.skill_ids.contains(best)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(number: usize, text: &str, is_held_out: bool) -> Question {
        let item = BatchQuery {
            query_id: number.to_string(),
            query: Query::new(text).unwrap(),
            skill_ids: Vec::new(),
        };
        Question { item, is_held_out }
    }

    #[test]
    fn talk_is_of_the_same_part_and_writing() {
        let unanswerable = [
            question(0, "good morning", false),
            question(1, "早上好", false),
            question(2, "how are you", true),
            question(3, "nice weather", false),
        ];
        let task = [question(0, "merge two pdf files", false)];
        let texts: Vec<String> = in_talk(&task, &unanswerable)
            .unwrap()
            .iter()
            .map(|question| question.item.query.text().to_owned())
            .collect();
        let talk = "good morning\nnice weather";
        assert_eq!(texts, [format!("{talk}\nmerge two pdf files\n{talk}")]);
        let held_out = [question(0, "merge two pdf files", true)];
        let texts = in_talk(&held_out, &unanswerable[..2]).unwrap();
        assert!(texts.is_empty());
    }

    #[test]
    fn a_fifth_is_held_out() {
        let n = (0..1000).filter(|n| is_held_out(&n.to_string())).count();
        assert!((160..240).contains(&n), "{n}");
    }
}
