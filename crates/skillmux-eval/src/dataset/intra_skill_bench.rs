//! IntraSkill-Bench: a question about one skill, and the parts of its body that answer it.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use super::{
    contents::Dataset,
    record::{self, Record},
    task_list::{TaskList, slice},
};
use crate::{
    error::Error,
    fault::Fault,
    task::{GoldEvidence, Task},
};

/// Reads a file of cases.
pub(super) fn read(path: &Path) -> Result<Dataset, Error> {
    let mut tasks = TaskList::default();
    record::for_each_record(path, &mut |record| {
        let skill_id = record.id("skill_id")?;
        let body_bytes = record.number("body_bytes")?;
        let spans = spans(&record, body_bytes)?;
        let language = record.optional_text("lang")?;
        let task = Task {
            id: record.text("case_id")?.to_owned(),
            query: record.text("query")?.to_owned(),
            gold: [skill_id.as_str()].into_iter().collect(),
            evidence: Some(GoldEvidence { skill_id, body_bytes, spans }),
            slices: language.map(|language| slice("lang", language)).into_iter().collect(),
            ..Task::default()
        };
        tasks.push(&record.place, task)
    })?;
    Ok(Dataset {
        name: "intra-skill-bench".to_owned(),
        tasks: tasks.finish(path)?,
        n_unscored: 0,
        n_unasked: 0,
        categories: BTreeMap::new(),
        library: None,
    })
}

/// Returns the spans of a case, one at least, ascending and apart.
fn spans(record: &Record, body_bytes: u32) -> Result<Vec<[u32; 2]>, Error> {
    let list = record.list("evidence")?;
    if list.is_empty() {
        return Err(record.fault(Fault::FieldEmpty { field: "evidence" }));
    }
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let mut spans: Vec<[u32; 2]> = Vec::with_capacity(list.len());
    for value in list {
        let pair = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let ends = match pair {
            [start, end] => number(start).zip(number(end)),
            _ => None,
        };
        let Some((start, end)) = ends else {
            let expected = "a list of pairs `[start, end]`";
            return Err(record.fault(Fault::FieldKind { field: "evidence", expected }));
        };
        let min_start = spans.last().map_or(0, |last| last[1]);
        if start < min_start || end <= start || end > body_bytes {
            return Err(record.fault(Fault::Span { start, end, body_bytes }));
        }
        spans.push([start, end]);
    }
    Ok(spans)
}
