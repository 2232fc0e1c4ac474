//! [`Questions`]: what the indexes are asked.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use skillmux::{index::Index, query::Query, skill::SkillId};

use crate::{
    error::{Error, Result},
    file::lines,
    split::is_new_to_calibration,
};

/// One answerable query in so many is asked in the middle of chatter as well.
const IN_TALK_ONE_IN: usize = 4;

/// Longest query in bytes that is asked in the middle of chatter.
const MAX_BYTES_IN_TALK: usize = 300;

/// Unanswerable queries around a query in chatter.
const N_AROUND: usize = 4;

/// One unanswerable query in so many begins a text of nothing but chatter.
const TALK_ONE_IN: usize = 2;

/// One query in so many is asked of an index that lacks its skill: these are measured only.
const ABSENT_ONE_IN: usize = 10;

/// What kind of question a query is to one index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum QuestionKind {
    /// Some skill of the index answers it.
    Answerable,
    /// The same, with chatter around it that no skill answers.
    InChatter,
    /// No skill is wanted.
    Unanswerable,
    /// No skill of one library serves it, though it is near the fields of some.
    Near,
    /// A statement or a question about the subject of a skill, which asks for nothing.
    Talk,
    /// Several requests that want no skill, one after the other.
    Chatter,
    /// A task whose skill the index lacks. Another may help, in a small index mostly none does.
    Absent,
    /// A query that must not load one skill. Another may help.
    Trigger,
}

impl QuestionKind {
    /// Every kind, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::Answerable,
        Self::InChatter,
        Self::Unanswerable,
        Self::Near,
        Self::Talk,
        Self::Chatter,
        Self::Absent,
        Self::Trigger,
    ];

    /// Returns the name, such as `in chatter`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answerable => "answerable",
            Self::InChatter => "in chatter",
            Self::Unanswerable => "no skill",
            Self::Near => "near",
            Self::Talk => "talk",
            Self::Chatter => "chatter",
            Self::Absent => "absent",
            Self::Trigger => "trigger",
        }
    }

    /// Returns whether a skill of the index helps.
    pub fn is_answerable(self) -> bool {
        matches!(self, Self::Answerable | Self::InChatter)
    }

    /// Returns how much an example counts in the fit; `None` for one that is measured only.
    ///
    /// Made-up texts count little; what is near one library counts much, as there is little of it
    /// for each. Tasks that another skill may help with, and triggers, do not count: to tell them
    /// apart, a fit gives up what tells requests that need no skill.
    pub fn importance(self) -> Option<f64> {
        match self {
            Self::Answerable | Self::Unanswerable => Some(1.0),
            Self::Near | Self::Talk => Some(5.0),
            Self::Chatter => Some(0.1),
            Self::InChatter => Some(0.05),
            Self::Absent | Self::Trigger => None,
        }
    }
}

/// What indexes are asked: queries that some skill answers, queries that none does, and chatter
/// that is made of both.
pub struct Questions {
    answerable: Vec<Question>,
    in_chatter: Vec<Question>,
    unanswerable: Vec<Question>,
    talk: Vec<Question>,
    chatter: Vec<Question>,
    triggers: Vec<Question>,
}

/// A query that may be kept for the scores.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) query_id: String,
    pub(super) query: Query,
    /// Skills that answer it, or must not be triggered by it.
    pub(super) skill_ids: Vec<SkillId>,
    pub(super) is_held_out: bool,
}

/// Whether queries that do not say which skills answer them are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// They are.
    First,
    /// They are not: which index has a skill for them is not known.
    Further,
}

/// A line of a file of questions; other fields are ignored.
#[derive(Deserialize)]
struct QuestionLine {
    query_id: String,
    query: String,
    #[serde(default)]
    skill_ids: Vec<SkillId>,
}

impl Questions {
    /// Reads the questions of files, plain or `.zst`: `{"query_id", "query", "skill_ids"}` a line.
    /// An unanswerable one with `skill_ids` is near the library of these skills, and asked of the
    /// index that holds them and no others; so is talk, which must have them.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::TrainingData`] and [`Error::TaskRefused`].
    pub fn read(
        answerable: &[PathBuf],
        unanswerable: &[PathBuf],
        talk: &[PathBuf],
        triggers: &[PathBuf],
    ) -> Result<Self> {
        let (answerable, unanswerable) = (read(answerable)?, read(unanswerable)?);
        Ok(Self {
            in_chatter: in_chatter(&answerable, &chatter_of(&unanswerable))?,
            chatter: chatter(&chatter_of(&unanswerable))?,
            talk: read(talk)?,
            triggers: read(triggers)?,
            answerable,
            unanswerable,
        })
    }

    /// Returns the questions for one index, with what they are to it.
    pub(super) fn of(&self, index: &Index, scope: Scope) -> Vec<(QuestionKind, &Question)> {
        let holds_one =
            |question: &&Question| question.skill_ids.iter().any(|id| index.find(id).is_ok());
        // A larger library may have a skill for what the smaller one lacks.
        let is_whole = |ids: &[SkillId]| {
            ids.len() == index.n_skills() && ids.iter().all(|id| index.find(id).is_ok())
        };
        let mut questions = Vec::new();
        for (at, question) in self.answerable.iter().enumerate() {
            if question.skill_ids.is_empty() {
                let is_asked = scope == Scope::First;
                questions.extend(is_asked.then_some((QuestionKind::Answerable, question)));
            } else if holds_one(&question) {
                questions.push((QuestionKind::Answerable, question));
            } else if at.is_multiple_of(ABSENT_ONE_IN) {
                questions.push((QuestionKind::Absent, question));
            }
        }
        let in_chatter = self.in_chatter.iter().filter(holds_one);
        questions.extend(in_chatter.map(|question| (QuestionKind::InChatter, question)));
        for question in &self.unanswerable {
            if question.skill_ids.is_empty() {
                questions.push((QuestionKind::Unanswerable, question));
            } else if is_whole(&question.skill_ids) {
                questions.push((QuestionKind::Near, question));
            }
        }
        let talk = self.talk.iter().filter(|question| is_whole(&question.skill_ids));
        questions.extend(talk.map(|question| (QuestionKind::Talk, question)));
        questions.extend(self.chatter.iter().map(|question| (QuestionKind::Chatter, question)));
        let triggers = self.triggers.iter().filter(holds_one);
        questions.extend(triggers.map(|question| (QuestionKind::Trigger, question)));
        questions
    }
}

/// Returns the questions that are near no skill: what chatter is made of.
fn chatter_of(unanswerable: &[Question]) -> Vec<Question> {
    unanswerable.iter().filter(|question| question.skill_ids.is_empty()).cloned().collect()
}

fn read(paths: &[PathBuf]) -> Result<Vec<Question>> {
    let mut questions = Vec::new();
    for path in paths {
        for (at, line) in lines(path, "a query with `query_id`")?.into_iter().enumerate() {
            questions.push(question(path, at + 1, line)?);
        }
    }
    Ok(questions)
}

fn question(path: &Path, line: usize, content: QuestionLine) -> Result<Question> {
    let QuestionLine { query_id, query, skill_ids } = content;
    let refused = |source| Error::TaskRefused { path: path.to_owned(), line, source };
    let query = Query::new(query).map_err(refused)?;
    let is_held_out = is_new_to_calibration(query.text());
    Ok(Question { query_id, query, skill_ids, is_held_out })
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
    let key = |question: &Question| (question.is_held_out, is_wide(question.query.text()));
    let of_key = all.iter().filter(|other| key(other) == key(question));
    of_key.map(|other| other.query.text()).collect()
}

/// Returns short answerable queries with unanswerable ones before and after them, a line each.
fn in_chatter(answerable: &[Question], unanswerable: &[Question]) -> Result<Vec<Question>> {
    let mut questions = Vec::new();
    for (at, question) in answerable.iter().enumerate().step_by(IN_TALK_ONE_IN) {
        let text = question.query.text();
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
fn chatter(unanswerable: &[Question]) -> Result<Vec<Question>> {
    let mut questions = Vec::new();
    for (at, question) in unanswerable.iter().enumerate().step_by(TALK_ONE_IN) {
        let around = like(question, unanswerable);
        let mut lines = vec![question.query.text()];
        lines.extend((1..=N_AROUND).map(|n| around[(at + n) % around.len()]));
        questions.push(question.with_text(&lines.join("\n"))?);
    }
    Ok(questions)
}

impl Question {
    fn with_text(&self, text: &str) -> Result<Self> {
        Ok(Self { query: Query::new(text)?, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(number: usize, text: &str, is_held_out: bool) -> Question {
        let (query_id, query) = (number.to_string(), Query::new(text).unwrap());
        Question { query_id, query, skill_ids: Vec::new(), is_held_out }
    }

    #[test]
    fn chatter_is_of_the_same_part_and_writing() {
        let unanswerable = [
            question(0, "good morning", false),
            question(1, "早上好", false),
            question(2, "how are you", true),
            question(3, "nice weather", false),
        ];
        let task = [question(0, "merge two pdf files", false)];
        let texts: Vec<String> = in_chatter(&task, &unanswerable)
            .unwrap()
            .iter()
            .map(|question| question.query.text().to_owned())
            .collect();
        let chatter = "good morning\nnice weather";
        assert_eq!(texts, [format!("{chatter}\nmerge two pdf files\n{chatter}")]);
        let held_out = [question(0, "merge two pdf files", true)];
        let texts = in_chatter(&held_out, &unanswerable[..2]).unwrap();
        assert!(texts.is_empty());
    }

    #[test]
    fn a_request_near_some_skills_is_no_chatter() {
        let near =
            Question { skill_ids: vec![SkillId::new("a")], ..question(0, "thin the log", false) };
        let far = question(1, "good morning", false);
        let chatter: Vec<Question> = chatter_of(&[near, far]);
        assert_eq!(chatter.iter().map(|question| &*question.query_id).collect::<Vec<_>>(), ["1"]);
    }

    #[test]
    fn a_question_that_cannot_be_asked_is_named_by_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q.jsonl");
        let lines =
            "{\"query_id\":\"a\",\"query\":\"merge\"}\n{\"query_id\":\"b\",\"query\":\" \"}\n";
        std::fs::write(&path, lines).unwrap();
        let error = Questions::read(&[path], &[], &[], &[]).err().unwrap();
        assert!(matches!(error, Error::TaskRefused { line: 2, .. }), "{error}");
    }
}
