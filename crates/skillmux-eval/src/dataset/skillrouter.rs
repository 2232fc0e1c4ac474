//! SkillRouter-Eval-Core: `tasks.jsonl`, `relevance.json` and the shards of the pool.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::{
    contents::{Dataset, DatasetLibrary},
    entries::{Entries, Written},
    record::{self, Record},
    task_list::{TaskList, slice},
};
use crate::{
    error::Error,
    fault::{Fault, Place},
    file,
    task::{Gold, Task},
};

/// Which shards belong to the library (SkillRouter §2.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tier {
    /// All but the distractors that were written to be mistaken for gold skills: shards whose path
    /// has the word `hard`, or one that begins with `distractor`.
    Easy,
    /// All.
    #[default]
    Hard,
}

/// Folders below that of the dataset that are looked into.
const MAX_DEPTH: usize = 8;

/// Value of `task_type` for tasks that any skill or none would do for: they are not scored.
const UNSCORED: &str = "generic_only";

/// Reads the dataset in a folder.
pub(super) fn read(folder: &Path, tier: Tier) -> Result<Dataset, Error> {
    let tasks_path = file::require(folder, "tasks.jsonl")?;
    let relevance_path = file::require(folder, "relevance.json")?;
    let mut relevance = relevance(&relevance_path)?;
    let mut tasks = TaskList::default();
    let mut n_unscored = 0;
    record::for_each_record(&tasks_path, &mut |record| {
        let id = record.text("task_id")?.to_owned();
        let query = record.text("instruction_text")?.to_owned();
        let benchmark = record.optional_text("benchmark")?.map(str::to_owned);
        let Some(judged) = relevance.remove(&id) else {
            if tasks.tasks.iter().any(|task| task.id == id) {
                return Err(record.fault(Fault::TaskRepeated { id }));
            }
            return Err(record.fault(Fault::TaskUnknown { id, file: "relevance.json" }));
        };
        let task_type = judged.optional_text("task_type")?;
        if task_type == Some(UNSCORED) {
            n_unscored += 1;
            return Ok(());
        }
        let mut task = judged_task(&judged)?;
        task.slices.extend(benchmark.map(|name| slice("benchmark", name)));
        task.slices.extend(task_type.map(|name| slice("task_type", name)));
        tasks.push(&record.place, Task { id, query, ..task })
    })?;
    if let Some((id, judged)) = relevance.pop_first() {
        return Err(judged.fault(Fault::TaskUnknown { id, file: "tasks.jsonl" }));
    }
    let shards = shards(folder, &tasks_path, tier)?;
    Ok(Dataset {
        name: "skillrouter".to_owned(),
        tasks: tasks.finish(folder)?,
        n_unscored,
        n_unasked: 0,
        categories: BTreeMap::new(),
        library: (!shards.is_empty()).then_some(DatasetLibrary::Paths(shards)),
    })
}

/// Returns the entries of `relevance.json`, by the id of the task.
fn relevance(path: &Path) -> Result<BTreeMap<String, Record>, Error> {
    let Entries(entries) = file::read_json::<Entries<Written>>(path)?;
    let mut by_id = BTreeMap::new();
    for (id, judged) in entries {
        let place = Place::Entry { path: path.to_owned(), key: id.clone() };
        let wrong = |fault| Error::Malformed { place: place.clone(), fault };
        let judged = judged.into_value().map_err(|key| wrong(Fault::KeyRepeated { key }))?;
        let record = Record::of_value(place.clone(), judged)?;
        if by_id.insert(id.clone(), record).is_some() {
            return Err(wrong(Fault::TaskRepeated { id }));
        }
    }
    Ok(by_id)
}

/// Returns a task with the skills of an entry of `relevance.json`.
fn judged_task(judged: &Record) -> Result<Task, Error> {
    let gold_ids = judged.ids("gt_skill_ids")?;
    let mut grades = BTreeMap::new();
    for (id, grade) in judged.object("relevance")? {
        let grade = grade.as_u64().and_then(|grade| u32::try_from(grade).ok());
        let Some(grade) = grade else {
            let expected = "a map from skill ids to whole numbers";
            return Err(judged.fault(Fault::FieldKind { field: "relevance", expected }));
        };
        let id = record::skill_id(id);
        if grades.insert(id.clone(), grade).is_some() {
            return Err(judged.fault(Fault::SkillRepeated { id }));
        }
    }
    let mut gold = Gold::default();
    for id in gold_ids {
        match grades.remove(&id) {
            Some(grade @ 1..) => gold.insert(id, grade),
            _ => return Err(judged.fault(Fault::GoldWithoutGrade { id })),
        }
    }
    let mut task = Task { gold, ..Task::default() };
    for (id, grade) in grades {
        if grade == 0 {
            task.rejected.insert(id);
        } else {
            task.partial.insert(id, grade);
        }
    }
    Ok(task)
}

/// Returns the shards in a folder and those below, in order of their paths.
fn shards(folder: &Path, tasks_path: &Path, tier: Tier) -> Result<Vec<PathBuf>, Error> {
    let mut shards = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((at, depth)) = open.pop() {
        let failed = |source| Error::Read { path: at.clone(), source };
        for entry in fs::read_dir(&at).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            // Links to files are followed: download caches keep their files elsewhere.
            if entry.file_type().map_err(failed)?.is_dir() {
                if depth < MAX_DEPTH {
                    open.push((path, depth + 1));
                }
            } else if path != tasks_path && file::is_json_lines(&path) && path.is_file() {
                shards.push(path);
            }
        }
    }
    shards.retain(|path| tier == Tier::Hard || !is_distractor(path, folder));
    shards.sort();
    Ok(shards)
}

/// Returns whether a path says that its skills are distractors.
fn is_distractor(path: &Path, folder: &Path) -> bool {
    let path = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().to_lowercase();
    path.split(|c: char| !c.is_alphanumeric())
        .any(|word| word == "hard" || word.starts_with("distractor"))
}
