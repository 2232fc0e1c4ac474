//! [`measure`]: how well skills are found by what a list says of them.

use std::{fs, path::Path};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use skillmux::{
    index::{Index, UpdateOptions},
    library::{Library, agents::InstalledSkill},
    query::Query,
    retrieve::{Bm25Config, Bm25Retriever, RetrieveRequest, Retriever},
};
use skillmux_eval::stats::{BootstrapConfig, Interval, bootstrap_mean, wilson};

use super::lines::rows_of;
use crate::error::CliError;

/// How many skills are looked at.
const N_FIRST: usize = 5;
/// Most skills whose sentences are asked for.
const MAX_ASKED: usize = 500;
/// Sentences of a skill that are asked for.
const N_SENTENCES: usize = 2;
/// Characters of a line that says enough to be asked for, and not too much.
const ASKED_CHARS: std::ops::RangeInclusive<usize> = 40..=300;

/// How tasks find skills by three lists.
#[derive(Serialize)]
pub(crate) struct Routing {
    /// Whether the tasks are sentences of the skills themselves.
    pub(crate) is_proxy: bool,
    pub(crate) n_tasks: usize,
    /// By the list that the agent makes by itself.
    pub(crate) today: Scores,
    /// By the compiled list.
    pub(crate) compiled: Scores,
    /// By all descriptions.
    pub(crate) whole: Scores,
}

/// How well a list does, with 95 % intervals.
#[derive(Serialize)]
pub(crate) struct Scores {
    /// Share of tasks with a right skill first.
    pub(crate) hit_at_1: Interval,
    /// Mean share of the right skills among the first five.
    pub(crate) recall_at_5: Interval,
}

/// A line of a file of tasks.
#[derive(Deserialize)]
struct TaskLine {
    query: String,
    skill_ids: Vec<String>,
}

struct Task {
    query: Query,
    /// Positions of the right skills.
    gold: Vec<usize>,
}

/// Ranks the skills by BM25 over what each list says, for the tasks of a file or, without one, for
/// sentences of the skills. `None` in a list is a skill that it has not.
pub(super) fn measure(
    skills: &[&InstalledSkill],
    lists: [&[Option<String>]; 3],
    file: Option<&Path>,
) -> anyhow::Result<Option<Routing>> {
    let tasks = match file {
        Some(path) => tasks_of(path, skills)?,
        None => sentences(skills),
    };
    if tasks.is_empty() {
        return match file {
            Some(path) => Err(CliError::NoTaskOfSkills { path: path.to_owned() }.into()),
            None => Ok(None),
        };
    }
    let [today, compiled, whole] = lists;
    Ok(Some(Routing {
        is_proxy: file.is_none(),
        n_tasks: tasks.len(),
        today: scores(skills, today, &tasks)?,
        compiled: scores(skills, compiled, &tasks)?,
        whole: scores(skills, whole, &tasks)?,
    }))
}

fn scores(
    skills: &[&InstalledSkill],
    list: &[Option<String>],
    tasks: &[Task],
) -> anyhow::Result<Scores> {
    if list.iter().all(Option::is_none) {
        let none = bootstrap_mean(&vec![0.0; tasks.len()], &BootstrapConfig::default());
        return Ok(Scores { hit_at_1: wilson(0, tasks.len()), recall_at_5: none });
    }
    let dir = tempfile::tempdir().context("cannot make a temporary folder")?;
    let shard = dir.path().join("list.jsonl");
    let line = |(at, text): (usize, &Option<String>)| {
        // A mark without a word, for a skill that says nothing is no skill.
        let text = text.as_deref()?.trim();
        let text = if text.is_empty() { "-" } else { text };
        let line = serde_json::json!({"skill_id": at.to_string(), "name": skills[at].name, "description": text});
        Some(format!("{line}\n"))
    };
    let lines: String = list.iter().enumerate().filter_map(line).collect();
    fs::write(&shard, lines).context("cannot write a temporary file")?;
    let folder = dir.path().join("index");
    Index::update(&folder, &Library::open([&shard])?, &UpdateOptions::default(), &mut |_| {})?;
    let index = Index::open(&folder)?;
    let retriever = Bm25Retriever::new(Bm25Config::joined_text());
    let mut n_hits = 0;
    let mut recalls = Vec::with_capacity(tasks.len());
    for task in tasks {
        let request = RetrieveRequest { index: &index, query: &task.query, named: &[], k: N_FIRST };
        let found = retriever.retrieve(&request)?;
        let is_right = |id: &str| task.gold.iter().any(|gold| gold.to_string() == id);
        n_hits += usize::from(found.first().is_some_and(|first| is_right(first.skill.as_str())));
        let n_found = found.iter().take(N_FIRST).filter(|it| is_right(it.skill.as_str())).count();
        recalls.push(n_found as f64 / task.gold.len() as f64);
    }
    let recall_at_5 = bootstrap_mean(&recalls, &BootstrapConfig::default());
    Ok(Scores { hit_at_1: wilson(n_hits, tasks.len()), recall_at_5 })
}

/// Reads the tasks of a file that are about one of the skills.
fn tasks_of(path: &Path, skills: &[&InstalledSkill]) -> anyhow::Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for row in rows_of::<TaskLine>(path, r#"{"query": "fill in the form", "skill_ids": ["pdf"]}"#)?
    {
        let query =
            Query::new(&*row.value.query).map_err(|error| row.refused(error.to_string()))?;
        let is_meant = |skill: &InstalledSkill| {
            row.value.skill_ids.iter().any(|id| *id == skill.name || is_in_folder(skill, id))
        };
        let gold: Vec<usize> = (0..skills.len()).filter(|&at| is_meant(skills[at])).collect();
        if !gold.is_empty() {
            tasks.push(Task { query, gold });
        }
    }
    Ok(tasks)
}

fn is_in_folder(skill: &InstalledSkill, id: &str) -> bool {
    let folder = Path::new(&skill.path).parent();
    !id.is_empty() && folder.is_some_and(|folder| folder.ends_with(id))
}

/// Returns sentences of the skills as tasks: they say what a skill does in other words than its
/// description.
fn sentences(skills: &[&InstalledSkill]) -> Vec<Task> {
    let step = skills.len().div_ceil(MAX_ASKED).max(1);
    let mut tasks = Vec::new();
    for at in (0..skills.len()).step_by(step) {
        let lines = prose(&skills[at].body);
        for n in 1..=N_SENTENCES.min(lines.len()) {
            let line = lines[n * lines.len() / (N_SENTENCES + 1)];
            if let Ok(query) = Query::new(line) {
                tasks.push(Task { query, gold: vec![at] });
            }
        }
    }
    tasks
}

/// Returns the lines of a text that are neither headings, tables, links nor code.
fn prose(body: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in body.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        let line = line.trim().trim_start_matches(['-', '*', '>', '+']).trim_start();
        let is_prose = !is_code && !line.starts_with(['#', '|', '<', '[', '!', '`']);
        if is_prose && ASKED_CHARS.contains(&line.chars().count()) {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_no_headings_tables_or_code() {
        let long = "Boil the water, and wait until it is quiet again.";
        let body = format!(
            "# A heading that is long enough to be asked for\n\n- {long}\n```\n{long}\n```\n| {long} |\nshort\n"
        );
        assert_eq!(prose(&body), [long]);
    }
}
