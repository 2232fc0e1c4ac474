//! Query-skill pairs: a skill that is right for a query, or must not be triggered by it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use rustc_hash::FxHashMap;

use super::{
    contents::Dataset,
    record,
    task_list::{TaskList, slice},
};
use crate::{error::Error, task::Task};

/// What the lines of one query say.
#[derive(Default)]
struct Judged {
    query: String,
    right: BTreeSet<String>,
    wrong: BTreeSet<String>,
    kinds: BTreeSet<String>,
    languages: BTreeSet<String>,
}

/// Reads a file of pairs; lines of one query become one task, at the place of the first.
pub(super) fn read(path: &Path) -> Result<Dataset, Error> {
    let mut queries: Vec<Judged> = Vec::new();
    let mut positions: FxHashMap<String, usize> = FxHashMap::default();
    record::for_each_record(path, &mut |record| {
        let query = record.text("query")?;
        let id = record.id("skill_id")?;
        let is_right = record.flag("relevant")?;
        let kind = record.optional_text("kind")?;
        let language = record.optional_text("lang")?;
        let position = *positions.entry(query.to_owned()).or_insert_with(|| {
            queries.push(Judged { query: query.to_owned(), ..Judged::default() });
            queries.len() - 1
        });
        let judged = &mut queries[position];
        if is_right { &mut judged.right } else { &mut judged.wrong }.insert(id);
        judged.kinds.extend(kind.map(str::to_owned));
        judged.languages.extend(language.map(str::to_owned));
        Ok(())
    })?;
    let mut tasks = TaskList::default();
    for judged in queries {
        tasks.push_by_query(judged.into_task());
    }
    Ok(Dataset {
        name: "pairs".to_owned(),
        tasks: tasks.finish(path)?,
        n_unscored: 0,
        n_unasked: 0,
        categories: BTreeMap::new(),
        library: None,
    })
}

impl Judged {
    fn into_task(self) -> Task {
        let Self { query, right, mut wrong, kinds, languages } = self;
        // One author wants a skill to be used for what another author of the same skill does not:
        // loading it is no mistake.
        wrong.retain(|id| !right.contains(id));
        let joined = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join("+");
        let judged = if right.is_empty() { "wrong_only" } else { "right" };
        let mut slices = BTreeMap::from([slice("judged", judged)]);
        let named = [("kind", joined(kinds)), ("lang", joined(languages))];
        slices.extend(
            named.into_iter().filter(|(_, value)| !value.is_empty()).map(|(k, v)| slice(k, v)),
        );
        Task {
            query,
            gold: right.into_iter().collect(),
            rejected: wrong,
            slices,
            ..Task::default()
        }
    }
}
