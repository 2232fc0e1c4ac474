//! [`KnownTask`]: a task with the skills that are right for it.

use std::{
    collections::{BTreeMap, HashSet},
    path::PathBuf,
};

use skillmux::{
    index::{Index, SkillIdx},
    query::Query,
    skill::SkillId,
};

use super::row::Rejected;
use crate::{
    error::{Error, Result},
    file::{TaskLine, read_task_lines},
    gold::idx_of_ids,
    synth::sample::{chance, key},
};

/// A task all of whose right skills an index holds.
#[derive(Debug, Clone)]
pub(super) struct KnownTask {
    /// The same in every run: the id of the task where it has one of its own, else from its text.
    pub(super) key: String,
    pub(super) query: String,
    /// In the order of use.
    pub(super) right: Vec<SkillIdx>,
    /// What is known already.
    pub(super) also: Vec<SkillId>,
    pub(super) rejected: Vec<Rejected>,
}

/// Returns the tasks of files all of whose skills an index holds, in an order that the seed and
/// their texts decide. A task may stand there several times, with a skill each.
///
/// # Errors
/// [`Error::NoTasks`] if there is none, and those of the files.
pub(super) fn read_tasks(paths: &[PathBuf], index: &Index, seed: u64) -> Result<Vec<KnownTask>> {
    let mut of_query: BTreeMap<String, TaskLine<Rejected>> = BTreeMap::new();
    for path in paths {
        for (number, line) in (1..).zip(read_task_lines::<Rejected>(path)?) {
            Query::new(line.query.as_str()).map_err(|source| Error::TaskRefused {
                path: path.clone(),
                line: number,
                source,
            })?;
            match of_query.get_mut(&line.query) {
                Some(known) => {
                    known.skill_ids.extend(line.skill_ids);
                    known.also.extend(line.also);
                    known.rejected.extend(line.rejected);
                }
                None => _ = of_query.insert(line.query.clone(), line),
            }
        }
    }
    let idx_of = idx_of_ids(index)?;
    let mut keys = HashSet::new();
    let mut tasks = Vec::new();
    let n_read = of_query.len();
    for (query, line) in of_query {
        let found: Option<Vec<SkillIdx>> =
            line.skill_ids.iter().map(|id| idx_of.get(id).copied()).collect();
        let Some(mut right) = found.filter(|right| !right.is_empty()) else { continue };
        let mut seen = HashSet::new();
        right.retain(|idx| seen.insert(*idx));
        let mut task_key = line.query_id.clone();
        if task_key.is_empty() || !keys.insert(task_key.clone()) {
            task_key = format!("reject-{}", key(&[&query]));
            keys.insert(task_key.clone());
        }
        let TaskLine { also, rejected, .. } = line;
        tasks.push(KnownTask { key: task_key, query, right, also, rejected });
    }
    if tasks.is_empty() {
        return Err(Error::NoTasks { n_read });
    }
    tasks.sort_by_cached_key(|task| chance(seed, &["reject order", &task.query]));
    Ok(tasks)
}
