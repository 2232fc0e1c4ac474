//! What systems ask of the engine, and how its rankings become answers.

use skillmux::{
    ErrorKind,
    index::{Index, SkillIdx},
    retrieve::{Query, Ranking},
};

use crate::{error::Error, task::Task};

/// Returns the positions of all skills, in order.
pub(super) fn all_skills(index: &Index) -> impl Iterator<Item = SkillIdx> + use<> {
    (0..u32::try_from(index.n_skills()).unwrap_or(u32::MAX)).map(SkillIdx)
}

/// Returns what a task asks.
pub(super) fn query_of(task: &Task) -> Result<Query, Error> {
    Query::new(task.query.as_str()).map_err(|error| refused(task, error))
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
pub(super) fn scored_ids(index: &Index, ranking: &Ranking) -> Result<Vec<(String, f32)>, Error> {
    let candidates = ranking.candidates().iter();
    let scored =
        candidates.map(|found| Ok((index.id(found.skill)?.as_str().to_owned(), found.score)));
    scored.collect()
}

/// Sorts by falling score, and ties by rising id, and keeps the best.
pub(super) fn best_first(mut scored: Vec<(String, f32)>, depth: usize) -> Vec<(String, f32)> {
    scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    scored.truncate(depth);
    scored
}
