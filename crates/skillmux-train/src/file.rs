//! Reads files of training data: queries with the skills that answer them, and translations; and
//! writes files of a run.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use serde::{Deserialize, de::DeserializeOwned};
use skillmux::skill::SkillId;

use crate::{
    error::{Error, Result},
    split::is_scored_pair,
};

/// Skills in two languages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Translations {
    /// Chinese and English.
    pub(crate) pairs: Vec<(SkillId, SkillId)>,
    /// Skills of the pairs that are kept for the final scores.
    pub(crate) scored: Vec<SkillId>,
}

#[derive(Deserialize)]
struct TranslationLine {
    zh: SkillId,
    en: SkillId,
}

impl Translations {
    /// Adds the pairs of a file, plain or `.zst`: `{"zh", "en"}` a line.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::TrainingData`].
    pub(crate) fn add(&mut self, path: &Path) -> Result<()> {
        let lines: Vec<TranslationLine> = lines(path, "a pair of `zh` and `en`")?;
        for TranslationLine { zh, en } in lines {
            if is_scored_pair(&en) {
                self.scored.extend([zh, en]);
            } else {
                self.pairs.push((zh, en));
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct QueryLine {
    query: String,
    #[serde(default)]
    skill_id: Option<SkillId>,
    #[serde(default)]
    skill_ids: Vec<SkillId>,
    #[serde(default = "yes")]
    relevant: bool,
}

fn yes() -> bool {
    true
}

/// Returns the queries of a file, each with a skill that answers it.
///
/// # Errors
/// [`Error::Read`] and [`Error::TrainingData`].
pub(crate) fn read_queries(path: &Path) -> Result<Vec<(String, SkillId)>> {
    let lines: Vec<QueryLine> = lines(path, "a query with `skill_id` or `skill_ids`")?;
    let relevant = lines.into_iter().filter(|line| line.relevant);
    let pairs = relevant.flat_map(|QueryLine { query, skill_id, skill_ids, .. }| {
        skill_id.into_iter().chain(skill_ids).map(move |id| (query.clone(), id))
    });
    Ok(pairs.collect())
}

/// A task with the skills that are right for it. `R` is what is said of a skill that looks right
/// and is not.
#[derive(Debug, Deserialize)]
pub(crate) struct TaskLine<R> {
    /// Empty if the line has none.
    #[serde(default)]
    pub(crate) query_id: String,
    pub(crate) query: String,
    #[serde(default)]
    skill_id: Option<SkillId>,
    /// In the order of use.
    #[serde(default)]
    pub(crate) skill_ids: Vec<SkillId>,
    /// What would do as well as one of these.
    #[serde(default)]
    pub(crate) also: Vec<SkillId>,
    #[serde(default = "Vec::new")]
    pub(crate) rejected: Vec<R>,
}

/// Returns the tasks of a file, plain or `.zst`: `{"query", "skill_ids" or "skill_id", "also",
/// "rejected"}` a line.
///
/// # Errors
/// [`Error::Read`] and [`Error::TrainingData`].
pub(crate) fn read_task_lines<R: DeserializeOwned>(path: &Path) -> Result<Vec<TaskLine<R>>> {
    let mut lines: Vec<TaskLine<R>> = lines(path, "a task with `skill_id` or `skill_ids`")?;
    for line in &mut lines {
        line.skill_ids.splice(..0, line.skill_id.take());
    }
    Ok(lines)
}

#[derive(Deserialize)]
struct SkillsLine {
    #[serde(default)]
    skill_ids: Vec<SkillId>,
    #[serde(default)]
    skills: Vec<SkillId>,
}

/// Returns the skills of each task of a file, plain or `.zst`, in the order of use: `{"skill_ids"}`
/// or `{"skills"}` a line.
///
/// # Errors
/// [`Error::Read`] and [`Error::TrainingData`].
pub(crate) fn skills_of_tasks(path: &Path) -> Result<Vec<Vec<SkillId>>> {
    let lines: Vec<SkillsLine> = lines(path, "a task with `skill_ids` or `skills`")?;
    let skills = |line: SkillsLine| match line.skill_ids {
        ids if ids.is_empty() => line.skills,
        ids => ids,
    };
    Ok(lines.into_iter().map(skills).collect())
}

/// Returns the lines of a file of JSON Lines, plain or `.zst`.
///
/// # Errors
/// [`Error::Read`] and [`Error::TrainingData`].
pub(crate) fn lines<T: DeserializeOwned>(path: &Path, expected: &'static str) -> Result<Vec<T>> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(read_error)?;
    let is_compressed = path.extension().is_some_and(|extension| extension == "zst");
    let reader: Box<dyn Read> = if is_compressed {
        Box::new(zstd::stream::read::Decoder::new(file).map_err(read_error)?)
    } else {
        Box::new(file)
    };
    let parse = |(line, text): (usize, std::io::Result<String>)| {
        let text = text.map_err(read_error)?;
        serde_json::from_str(&text).map_err(|source| Error::TrainingData {
            path: path.to_owned(),
            line,
            expected,
            source: source.into(),
        })
    };
    (1..).zip(BufReader::new(reader).lines()).map(parse).collect()
}

/// Writes a file so that a killed run leaves the old one or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let draft: PathBuf = path.with_extension("tmp");
    let write = || fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, path));
    write().map_err(|source| Error::Write { path: path.to_owned(), source })
}
