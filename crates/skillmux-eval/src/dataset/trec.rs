//! TREC: queries in JSON Lines, judgements in qrels.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{contents::Dataset, record, task_list::TaskList};
use crate::{error::Error, file, qrels::Qrels, task::Task};

/// What a query means that the qrels do not mention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unjudged {
    /// It is not scored, as in `trec_eval`.
    #[default]
    Unscored,
    /// No skill is right for it, and a router should abstain.
    NoSkill,
}

/// Reads the dataset in a folder, or one file of queries with its qrels.
pub(super) fn read(
    path: &Path,
    qrels_path: Option<&Path>,
    unjudged: Unjudged,
) -> Result<Dataset, Error> {
    let (folder, queries_path): (&Path, PathBuf) = if path.is_dir() {
        (path, file::require(path, "queries.jsonl")?)
    } else {
        (path.parent().unwrap_or(Path::new(".")), path.to_owned())
    };
    let qrels_path = match qrels_path {
        Some(path) => path.to_owned(),
        None => file::require(folder, "qrels.trec")?,
    };
    let qrels = Qrels::read(&qrels_path)?;
    let mut tasks = TaskList::default();
    let mut n_unscored = 0;
    let mut unasked: BTreeSet<&str> = qrels.query_ids().collect();
    record::for_each_record(&queries_path, &mut |record| {
        let id = record.id("query_id")?;
        unasked.remove(id.as_str());
        let query = record.text("query")?.to_owned();
        let gold = qrels.gold(&id).cloned().unwrap_or_default();
        let rejected = qrels.rejected(&id).cloned().unwrap_or_default();
        let is_unscored = match unjudged {
            Unjudged::Unscored => gold.is_empty() && rejected.is_empty(),
            Unjudged::NoSkill => false,
        };
        if is_unscored {
            n_unscored += 1;
            return Ok(());
        }
        tasks.push(&record.place, Task { id, query, gold, rejected, ..Task::default() })
    })?;
    Ok(Dataset {
        name: "trec".to_owned(),
        tasks: tasks.finish(path)?,
        n_unscored,
        n_unasked: unasked.len(),
        categories: BTreeMap::new(),
        library: None,
    })
}
