//! `CompSkillBench` as its builder wrote it, and the human-style set.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{
    contents::Dataset,
    entries::Entries,
    record::{self, Record},
    task_list::{TaskList, slice},
};
use crate::{
    error::Error,
    fault::{Fault, Place},
    file,
    task::{GoldStep, Task},
};

/// Reads the dataset in a folder, or one file of tasks with `categories.json` beside it.
pub(super) fn read(path: &Path) -> Result<Dataset, Error> {
    let (tasks_path, categories_path) = if path.is_dir() {
        (file::require(path, "tasks.jsonl")?, Some(file::require(path, "categories.json")?))
    } else {
        let folder = path.parent().unwrap_or(Path::new("."));
        (path.to_owned(), file::find(folder, "categories.json"))
    };
    let categories = categories_path.map(|path| categories(&path)).transpose()?;
    let categories = categories.unwrap_or_default();
    let known: BTreeSet<&str> = categories.values().map(String::as_str).collect();
    let mut tasks = TaskList::default();
    record::for_each_record(&tasks_path, &mut |record| {
        let steps = steps(&record, &known)?;
        let order: Vec<String> = steps.iter().filter_map(|step| step.skill_id.clone()).collect();
        let is_ordered = order.len() == steps.len();
        let mut slices = BTreeMap::from([slice("n_steps", steps.len().to_string())]);
        for name in ["difficulty", "lang"] {
            slices.extend(record.optional_text(name)?.map(|value| slice(name, value)));
        }
        let task = Task {
            id: record.text("task_id")?.to_owned(),
            query: record.text("query")?.to_owned(),
            gold: order.iter().map(String::as_str).collect(),
            order: if is_ordered { order } else { Vec::new() },
            steps,
            slices,
            ..Task::default()
        };
        tasks.push(&record.place, task)
    })?;
    Ok(Dataset {
        name: "comp-skill-bench".to_owned(),
        tasks: tasks.finish(&tasks_path)?,
        n_unscored: 0,
        n_unasked: 0,
        categories,
        library: None,
    })
}

/// Returns the category of every skill.
fn categories(path: &Path) -> Result<BTreeMap<String, String>, Error> {
    let Entries(entries) = file::read_json::<Entries<serde_json::Value>>(path)?;
    let mut categories = BTreeMap::new();
    for (key, value) in entries {
        let id = record::skill_id(&key);
        let wrong = |fault| {
            let place = Place::Entry { path: path.to_owned(), key: key.clone() };
            Err(Error::Malformed { place, fault })
        };
        let serde_json::Value::String(category) = value else {
            return wrong(Fault::FieldKind { field: "category", expected: "a text" });
        };
        if categories.insert(id.clone(), category).is_some() {
            return wrong(Fault::SkillRepeated { id });
        }
    }
    Ok(categories)
}

/// Returns the steps of a task, one at least.
fn steps(record: &Record, known: &BTreeSet<&str>) -> Result<Vec<GoldStep>, Error> {
    let list = record.list("steps")?;
    if list.is_empty() {
        return Err(record.fault(Fault::FieldEmpty { field: "steps" }));
    }
    let mut steps = Vec::with_capacity(list.len());
    for value in list {
        let step = Record::of_value(record.place.clone(), value.clone())?;
        let category = step.text("category")?.to_owned();
        if !known.is_empty() && !known.contains(category.as_str()) {
            return Err(step.fault(Fault::CategoryUnknown { category }));
        }
        let skill_id = if step.has("skill_id") { Some(step.id("skill_id")?) } else { None };
        steps.push(GoldStep { subtask: step.text("subtask")?.to_owned(), category, skill_id });
    }
    Ok(steps)
}
