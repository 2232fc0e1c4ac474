//! SkillsBench-style sets for composition: a task and the skills for it, in order.

use std::{collections::BTreeMap, path::Path};

use super::{
    contents::Dataset,
    record,
    task_list::{TaskList, slice},
};
use crate::{error::Error, task::Task};

/// Reads a file of tasks.
pub(super) fn read(path: &Path) -> Result<Dataset, Error> {
    let mut tasks = TaskList::default();
    record::for_each_record(path, &mut |record| {
        let field = if record.has("instruction") { "instruction" } else { "query" };
        let order = record.ids("skills")?;
        let mut slices = BTreeMap::new();
        for name in ["kind", "lang"] {
            slices.extend(record.optional_text(name)?.map(|value| slice(name, value)));
        }
        let task = Task {
            id: record.text("task_id")?.to_owned(),
            query: record.text(field)?.to_owned(),
            gold: order.iter().map(String::as_str).collect(),
            order,
            slices,
            ..Task::default()
        };
        tasks.push(&record.place, task)
    })?;
    Ok(Dataset {
        name: "composition".to_owned(),
        tasks: tasks.finish(path)?,
        n_unscored: 0,
        n_unasked: 0,
        categories: BTreeMap::new(),
        library: None,
    })
}
