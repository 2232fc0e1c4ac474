//! [`History`]: how often the user used which skill, from files that are on disk already.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lines::rows_of;

/// Deepest folder of transcripts that is entered.
const MAX_DEPTH: usize = 4;

/// How often skills were used, by name.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct History {
    /// What was counted: files, and folders of transcripts.
    pub(crate) sources: Vec<PathBuf>,
    #[serde(skip)]
    uses: BTreeMap<String, u64>,
}

/// A line of a file of the user.
#[derive(Deserialize)]
struct Uses {
    skill: String,
    uses: u64,
}

impl History {
    /// Reads the file that the user names, nothing if it is `none`, or what Claude Code keeps.
    pub(super) fn read(named: Option<&Path>, home: &Path) -> anyhow::Result<Self> {
        match named {
            Some(path) if path == Path::new("none") => Ok(Self::default()),
            Some(path) => Self::of_file(path),
            None => Ok(Self::of_claude_code(home)),
        }
    }

    /// Returns the number of uses of a skill.
    pub(super) fn n_uses(&self, skill: &str) -> u64 {
        self.uses.get(skill).copied().unwrap_or_default()
    }

    fn of_file(path: &Path) -> anyhow::Result<Self> {
        let mut uses: BTreeMap<String, u64> = BTreeMap::new();
        for row in rows_of(path, r#"{"skill": "pdf", "uses": 3}"#)? {
            let Uses { skill, uses: n_more } = row.value;
            let n = uses.entry(skill).or_default();
            *n = n.saturating_add(n_more);
        }
        Ok(Self { sources: vec![path.to_owned()], uses })
    }

    /// Counts what Claude Code keeps: its own counts (`skillUsage` of `~/.claude.json`,
    /// anthropics/claude-code#51115) and the calls of its tool `Skill` in transcripts. The greater
    /// number counts, for it keeps both of one call, and its counts stop at times (#88699). What
    /// cannot be read counts nothing.
    fn of_claude_code(home: &Path) -> Self {
        let mut history = Self::default();
        let file = home.join(".claude.json");
        let counts =
            fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        if let Some(Value::Object(counts)) = counts.as_ref().map(|it| &it["skillUsage"]) {
            for (skill, count) in counts {
                let n = count["usageCount"].as_u64().unwrap_or_default();
                history.uses.insert(skill.clone(), n);
            }
            history.sources.push(file);
        }
        let folder = home.join(".claude/projects");
        let mut called = BTreeMap::new();
        if count_transcripts(&folder, 0, &mut called) {
            history.sources.push(folder);
        }
        for (skill, n) in called {
            let most = history.uses.entry(skill).or_default();
            *most = n.max(*most);
        }
        history
    }
}

/// Counts the calls in all transcripts below a folder, and returns whether there are any
/// transcripts.
fn count_transcripts(folder: &Path, depth: usize, called: &mut BTreeMap<String, u64>) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut is_there = false;
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => {
                is_there |= count_transcripts(&path, depth + 1, called);
            }
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|it| it == "jsonl") => {
                is_there = true;
                if let Ok(file) = File::open(&path) {
                    count_calls(BufReader::new(file), called);
                }
            }
            _ => {}
        }
    }
    is_there
}

/// Counts the calls of the tool `Skill` in a transcript: `message.content[]` with `type`
/// `tool_use`, and the skill in `input.skill`.
fn count_calls(mut transcript: impl BufRead, called: &mut BTreeMap<String, u64>) {
    let mut line = Vec::new();
    while transcript.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let may_call = line.windows(7).any(|window| window == b"\"Skill\"");
        if may_call && let Ok(row) = serde_json::from_slice::<Value>(&line) {
            let content = row["message"]["content"].as_array();
            let calls = content.into_iter().flatten();
            let calls = calls.filter(|part| part["type"] == "tool_use" && part["name"] == "Skill");
            for skill in calls.filter_map(|call| call["input"]["skill"].as_str()) {
                *called.entry(skill.to_owned()).or_default() += 1;
            }
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greater_of_both_counts_of_claude_code_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        assert_eq!(History::read(None, home).unwrap(), History::default());
        fs::write(
            home.join(".claude.json"),
            r#"{"skillUsage": {"pdf": {"usageCount": 5}, "tea": {"usageCount": 1}}}"#,
        )
        .unwrap();
        let folder = home.join(".claude/projects/-srv-shop/subagents");
        fs::create_dir_all(&folder).unwrap();
        let call = |skill: &str| {
            let part = format!(
                r#"{{"type": "tool_use", "name": "Skill", "input": {{"skill": "{skill}"}}}}"#
            );
            format!(r#"{{"message": {{"role": "assistant", "content": [{part}]}}}}"#)
        };
        let quoted = r#"{"message": {"role": "user", "content": "what is \"Skill\"?"}}"#;
        let lines = [
            call("tea"),
            "broken \"Skill\"".to_owned(),
            quoted.to_owned(),
            call("tea"),
            call("pdf"),
        ];
        fs::write(folder.join("a.jsonl"), lines.join("\n")).unwrap();
        let history = History::read(None, home).unwrap();
        let n = ["pdf", "tea", "mug"].map(|skill| history.n_uses(skill));
        assert_eq!((n, history.sources.len()), ([5, 2, 0], 2));
        assert_eq!(History::read(Some(Path::new("none")), home).unwrap(), History::default());
    }
}
