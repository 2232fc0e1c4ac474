//! What systems ask of the engine, and how its rankings become answers.

use std::cmp::Ordering;

use skillmux::{
    ErrorKind,
    index::{Index, SkillIdx},
    query::Query,
    retrieve::Ranking,
};

use crate::{error::Error, task::Task};

/// Returns what a task asks.
pub(super) fn query_of(task: &Task) -> Result<Query, Error> {
    Query::new(task.query.as_str())
        .and_then(|query| query.with_needs(&task.needs))
        .map_err(|error| refused(task, error))
}

/// Returns the error of a task that the engine does not answer, or that of an engine that fails.
pub(super) fn refused(task: &Task, source: skillmux::Error) -> Error {
    match source.kind() {
        ErrorKind::Input => Error::TaskRefused { task_id: task.id.clone(), source },
        _ => Error::Engine(source),
    }
}

/// Returns the ids of a ranking's skills with their scores, of each skill the one that the index
/// keeps: exact copies of it share its place.
pub(super) fn scored_ids(ranking: &Ranking) -> Vec<(String, f32)> {
    let candidates = ranking.candidates.iter();
    candidates.map(|found| (found.skill.as_str().to_owned(), found.score)).collect()
}

/// Returns the best `depth` skills with their ids, ties by rising position, which is the order of
/// ids.
pub(super) fn best_ids(
    index: &Index,
    scored: impl Iterator<Item = (SkillIdx, f32)>,
    depth: usize,
) -> Result<Vec<(String, f32)>, Error> {
    let best_first = |a: &(SkillIdx, f32), b: &(SkillIdx, f32)| -> Ordering {
        b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0))
    };
    let mut best: Vec<(SkillIdx, f32)> = scored.filter(|(_, score)| !score.is_nan()).collect();
    if 0 < depth && depth < best.len() {
        best.select_nth_unstable_by(depth - 1, best_first);
    }
    best.truncate(depth);
    best.sort_unstable_by(best_first);
    let named = |(skill, score)| Ok((index.id(skill)?.as_str().to_owned(), score));
    best.into_iter().map(named).collect()
}

/// Sorts by falling score, and ties by rising id, and keeps the best.
pub(super) fn best_first(mut scored: Vec<(String, f32)>, depth: usize) -> Vec<(String, f32)> {
    scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    scored.truncate(depth);
    scored
}
