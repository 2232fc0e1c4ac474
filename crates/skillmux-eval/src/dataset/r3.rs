//! R3-Skill: `test.jsonl` and `skills_test.jsonl`, by direction of language.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use rustc_hash::FxHashMap;
use skillmux::skill::{Skill, SkillId};

use super::{
    contents::{Dataset, DatasetLibrary},
    language::language,
    record::{self, Record},
    task_list::{TaskList, slice},
};
use crate::{error::Error, fault::Fault, file, task::Task};

/// What divides name, description and body in `text`.
const DIVIDER: &str = " | ";

/// Reads the dataset in a folder.
pub(super) fn read(folder: &Path) -> Result<Dataset, Error> {
    let tasks_path = file::require(folder, "test.jsonl")?;
    let skills_path = file::require(folder, "skills_test.jsonl")?;
    let mut skills = Vec::new();
    let mut languages: FxHashMap<String, &'static str> = FxHashMap::default();
    record::for_each_record(&skills_path, &mut |record| {
        let skill = skill(&record)?;
        let text = format!("{} {} {}", skill.name, skill.description, skill.body);
        let id = skill.id.as_str().to_owned();
        if languages.insert(id.clone(), language(&text)).is_some() {
            return Err(record.fault(Fault::SkillRepeated { id }));
        }
        skills.push(skill);
        Ok(())
    })?;
    let mut tasks = TaskList::default();
    record::for_each_record(&tasks_path, &mut |record| {
        let query = record.text("query")?.to_owned();
        let ids = record.ids("skill_ids")?;
        let mut targets = BTreeSet::new();
        for id in &ids {
            let Some(language) = languages.get(id) else {
                return Err(record.fault(Fault::SkillUnknown { id: id.clone() }));
            };
            targets.insert(*language);
        }
        let target = match targets.first() {
            Some(language) if targets.len() == 1 => language,
            _ => "mixed",
        };
        let source = language(&query);
        let slices = [slice("direction", format!("{source}->{target}"))];
        tasks.push_by_query(Task {
            query,
            gold: ids.into_iter().collect(),
            slices: slices.into(),
            ..Task::default()
        });
        Ok(())
    })?;
    Ok(Dataset {
        name: "r3".to_owned(),
        tasks: tasks.finish(folder)?,
        n_unscored: 0,
        n_unasked: 0,
        categories: BTreeMap::new(),
        library: Some(DatasetLibrary::Skills(skills)),
    })
}

/// Returns the skill of a line: `text` is `name | description | body`.
fn skill(record: &Record) -> Result<Skill, Error> {
    let id = SkillId::new(record.id("id")?);
    let text = record.text("text")?;
    let wrong = || {
        record.fault(Fault::FieldKind { field: "text", expected: "`name | description | body`" })
    };
    let (name, rest) = text.split_once(DIVIDER).ok_or_else(wrong)?;
    // The text of a skill without a body may have lost the blank at its end.
    let (description, body) =
        rest.split_once(DIVIDER).unwrap_or_else(|| (rest.strip_suffix(" |").unwrap_or(rest), ""));
    Ok(Skill {
        id,
        name: name.trim().to_owned(),
        description: description.trim().to_owned(),
        body: body.to_owned(),
        source: "r3".to_owned(),
    })
}
