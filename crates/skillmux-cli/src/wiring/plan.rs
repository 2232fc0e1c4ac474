//! [`Wiring`]: what `skillmux init` adds for an agent, before anything is written.

use std::path::{Path, PathBuf};

use serde::Serialize;
use skillmux::library::agents::{
    AgentProfile, McpSettings, PromptHook, SettingsField, SettingsFormat, SettingsValue,
};

use super::{
    document::Document,
    entry::{BadShape, HookCommand},
    error::SettingsFileError,
    file,
    record::{Addition, FileRecord, Original, Records, hash},
};
use crate::error::shell_word;

/// What `skillmux init` does for one agent.
#[derive(Debug, Default)]
pub(crate) struct AgentPlan {
    /// The files to change.
    pub(crate) changes: Vec<Change>,
    /// What is there already, but not as skillmux would write it.
    pub(crate) kept: Vec<String>,
    /// What the user must do besides.
    pub(crate) notes: Vec<String>,
}

/// One file as it is and as it will be; `None` is a file that is not there.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    agent: String,
    format: SettingsFormat,
    additions: Vec<Addition>,
}

/// Whether skillmux is in the settings of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Wired {
    /// As an MCP server.
    pub(crate) mcp: bool,
    /// As a hook on prompts; `None` where the agent has no such hook.
    pub(crate) hook: Option<bool>,
}

/// Returns whether skillmux is in the settings of an agent.
pub(crate) fn wired(agent: &AgentProfile, home: &Path) -> Result<Wired, SettingsFileError> {
    let path = present_file(home, &agent.mcp.files);
    let document = Document::parse(&path, file::read(&path)?.as_deref(), agent.mcp.format)?;
    let keys = server_keys(&document, &agent.mcp).map_err(|shape| at(&path, shape))?;
    let mcp = document.has_server(keys).map_err(|shape| at(&path, shape))?
        || document.renamed_server(keys).map_err(|shape| at(&path, shape))?.is_some();
    let hook = match &agent.hook {
        None => None,
        Some(hook) => {
            let path = present_file(home, &hook.files);
            let document =
                Document::parse(&path, file::read(&path)?.as_deref(), SettingsFormat::Json)?;
            let command =
                own_command(&document, &hook.event, &agent.id).map_err(|shape| at(&path, shape))?;
            Some(command.is_some())
        }
    };
    Ok(Wired { mcp, hook })
}

impl AgentPlan {
    /// Returns the plan if all its files may be written to: else one of them would be changed, and
    /// the next one refused.
    pub(crate) fn writable(self) -> Result<Self, SettingsFileError> {
        self.changes.iter().try_for_each(|change| file::check_writable(&change.path))?;
        Ok(self)
    }
}

/// What agents are to call, and what was done before.
#[derive(Clone, Copy)]
pub(crate) struct Wiring<'a> {
    pub(crate) home: &'a Path,
    /// How this program is called.
    pub(crate) program: &'a str,
    pub(crate) records: &'a Records,
}

impl Wiring<'_> {
    /// Returns what has to be added to the settings of an agent.
    ///
    /// What the user put there stays as it is. What skillmux put there is replaced if it calls
    /// another program.
    pub(crate) fn plan(self, agent: &AgentProfile) -> Result<AgentPlan, SettingsFileError> {
        let mut plan = AgentPlan::default();
        self.add_server(&mut plan, agent)?;
        if let Some(hook) = &agent.hook {
            self.add_hook(&mut plan, agent, hook)?;
        }
        Ok(plan)
    }

    fn add_server(
        self,
        plan: &mut AgentPlan,
        agent: &AgentProfile,
    ) -> Result<(), SettingsFileError> {
        let path = present_file(self.home, &agent.mcp.files);
        let before = file::read(&path)?;
        let mut document = Document::parse(&path, before.as_deref(), agent.mcp.format)?;
        let wrong = |shape| at(&path, shape);
        let keys = server_keys(&document, &agent.mcp).map_err(wrong)?.to_vec();
        let fields = fields(&agent.mcp.entry, self.program);
        if document.has_server(&keys).map_err(wrong)? {
            if document.has_same_server(&keys, &fields) {
                return Ok(());
            }
            let recorded = self.records.of_file(&path).into_iter().flat_map(|file| &file.additions);
            let is_ours = recorded.into_iter().any(|addition| {
                matches!(addition, Addition::Server { keys: own, fields, .. }
                    if *own == keys && document.has_same_server(&keys, fields))
            });
            if !is_ours {
                plan.kept.push(format!("the MCP server `skillmux` in `{}`", path.display()));
                return Ok(());
            }
        } else if let Some(name) = document.renamed_server(&keys).map_err(wrong)? {
            plan.kept.push(format!("the MCP server `{name}` in `{}`", path.display()));
            return Ok(());
        }
        let n_made = document.set_server(&keys, &fields).map_err(wrong)?;
        plan.changes.push(Change {
            after: Some(with_last_line_end(document.text(), before.as_deref())),
            before,
            agent: agent.id.clone(),
            format: agent.mcp.format,
            additions: vec![Addition::Server { keys, fields, n_made }],
            path,
        });
        Ok(())
    }

    fn add_hook(
        self,
        plan: &mut AgentPlan,
        agent: &AgentProfile,
        hook: &PromptHook,
    ) -> Result<(), SettingsFileError> {
        let path = present_file(self.home, &hook.files);
        let earlier = plan.changes.iter().position(|change| change.path == path);
        let before = match earlier {
            Some(at) => plan.changes[at].after.clone(),
            None => file::read(&path)?,
        };
        let mut document = Document::parse(&path, before.as_deref(), SettingsFormat::Json)?;
        let wrong = |shape| at(&path, shape);
        let command = hook_command(self.program, &agent.id);
        let present = own_command(&document, &hook.event, &agent.id).map_err(wrong)?;
        if let Some(present) = &present {
            if *present == command {
                return Ok(());
            }
            let recorded = self.records.of_file(&path).into_iter().flat_map(|file| &file.additions);
            let is_ours = recorded.into_iter().any(
                |addition| matches!(addition, Addition::Hook { command, .. } if command == present),
            );
            if !is_ours {
                plan.kept.push(format!("the hook `{present}` in `{}`", path.display()));
                return Ok(());
            }
        }
        let added = HookCommand { event: &hook.event, command: &command, timeout: hook.timeout };
        let Document::Json(json) = &mut document else { return Ok(()) };
        let n_made = json.set_hook(added, present.as_deref()).map_err(wrong)?;
        let addition = Addition::Hook { event: hook.event.clone(), command, n_made };
        let after = Some(with_last_line_end(document.text(), before.as_deref()));
        plan.notes.extend(hook.note.clone());
        match earlier {
            Some(at) => {
                plan.changes[at].after = after;
                plan.changes[at].additions.push(addition);
            }
            None => plan.changes.push(Change {
                path,
                before,
                after,
                agent: agent.id.clone(),
                format: SettingsFormat::Json,
                additions: vec![addition],
            }),
        }
        Ok(())
    }
}

impl Change {
    /// Keeps a copy of the file, changes it and remembers what was added.
    pub(crate) fn make(self, records: &mut Records) -> Result<(), SettingsFileError> {
        let Self { path, before, after, agent, format, additions } = self;
        let earlier = records.of_file(&path).cloned();
        // What one run after the other adds to an untouched file has one original.
        let chained = earlier
            .as_ref()
            .filter(|earlier| before.as_deref().map(hash).as_ref() == Some(&earlier.after));
        let original = match (chained, &earlier, &before) {
            (Some(earlier), ..) => earlier.original.clone(),
            (None, _, None) => {
                let had_folder = path.parent().is_some_and(Path::exists);
                Original::Missing { had_folder }
            }
            (None, Some(_), Some(_)) => Original::Outdated,
            (None, None, Some(before)) => records.keep(&path, before)?,
        };
        let mut all = earlier.as_ref().map(|earlier| earlier.additions.clone()).unwrap_or_default();
        for addition in additions {
            addition.merge_into(&mut all);
        }
        let record = FileRecord {
            agent,
            path: path.clone(),
            format,
            after: after.as_deref().map(hash).unwrap_or_default(),
            original,
            additions: all,
        };
        // Written down first: what is done can be undone, even if the program is killed in between.
        records.put(record)?;
        let done = file::replace(&path, before.as_deref(), after.as_deref());
        match (&done, earlier) {
            (Ok(_), Some(earlier)) => records.remove_copy(&earlier.original),
            (Ok(_), None) => {}
            (Err(_), Some(earlier)) => records.put(earlier)?,
            (Err(_), None) => records.forget(&path)?,
        }
        done.map(drop)
    }
}

impl Addition {
    /// Puts the addition in the place of an earlier one of its kind; tables that the earlier one
    /// made are still ours.
    fn merge_into(self, all: &mut Vec<Self>) {
        let same = |other: &&mut Self| match (&self, &**other) {
            (Self::Server { keys, .. }, Self::Server { keys: other, .. }) => keys == other,
            (Self::Hook { event, .. }, Self::Hook { event: other, .. }) => event == other,
            _ => false,
        };
        match all.iter_mut().find(same) {
            Some(present) => {
                let n_made = present.n_made().max(self.n_made());
                *present = self;
                *present.n_made_mut() = n_made;
            }
            None => all.push(self),
        }
    }

    fn n_made(&self) -> usize {
        match self {
            Self::Server { n_made, .. } | Self::Hook { n_made, .. } => *n_made,
        }
    }

    fn n_made_mut(&mut self) -> &mut usize {
        match self {
            Self::Server { n_made, .. } | Self::Hook { n_made, .. } => n_made,
        }
    }
}

/// Returns the first of the files that is there, or the last.
fn present_file(home: &Path, files: &[String]) -> PathBuf {
    let paths: Vec<PathBuf> = files.iter().map(|file| home.join(file)).collect();
    let present = paths.iter().find(|path| std::fs::symlink_metadata(path).is_ok());
    present.or(paths.last()).cloned().unwrap_or_else(|| home.to_owned())
}

/// Returns the keys where skillmux is, by its name or by its command; or else the last that lead to a table; or else the first.
fn server_keys<'p>(
    document: &Document,
    settings: &'p McpSettings,
) -> Result<&'p [String], BadShape> {
    let mut best = settings.paths.first().map_or(&[][..], Vec::as_slice);
    for keys in &settings.paths {
        if document.has_server(keys)? {
            return Ok(keys);
        }
    }
    for keys in &settings.paths {
        if document.renamed_server(keys)?.is_some() {
            return Ok(keys);
        }
        if document.has_servers(keys)? {
            best = keys;
        }
    }
    Ok(best)
}

fn fields(entry: &[SettingsField], program: &str) -> Vec<SettingsField> {
    let filled = |text: &String| text.replace("{program}", program);
    let field = |field: &SettingsField| SettingsField {
        key: field.key.clone(),
        value: match &field.value {
            SettingsValue::Text(text) => SettingsValue::Text(filled(text)),
            SettingsValue::List(texts) => SettingsValue::List(texts.iter().map(filled).collect()),
        },
    };
    entry.iter().map(field).collect()
}

/// Returns the command of a hook. A program that is gone, or does not know the command, must not
/// block the agent: some agents take exit code 2 for a veto.
fn hook_command(program: &str, agent: &str) -> String {
    format!("{} hook {agent} || exit 0", shell_word(Path::new(program)))
}

/// Returns the first command of the event that calls skillmux for this agent.
pub(super) fn own_command(
    document: &Document,
    event: &str,
    agent: &str,
) -> Result<Option<String>, BadShape> {
    let Document::Json(json) = document else { return Ok(None) };
    Ok(json.hook_commands(event)?.into_iter().find(|command| calls_hook(command, agent)))
}

/// Returns whether a command calls skillmux for this agent, with any options.
fn calls_hook(command: &str, agent: &str) -> bool {
    // The program may have another name.
    if command.ends_with(&format!(" hook {agent} || exit 0")) {
        return true;
    }
    // Quotes need no parser: what is looked for has no blanks, and of a path the end is enough.
    let mut commands = command.split(['|', '&', ';', '\n']);
    commands.any(|command| {
        let mut words =
            command.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')']));
        words.any(|word| word.contains("skillmux"))
            && words.any(|word| word == "hook")
            && words.any(|word| word == agent)
    })
}

/// Returns a new file with a line end at its end; others end as they did.
fn with_last_line_end(text: String, before: Option<&str>) -> String {
    let is_new = before.is_none_or(|before| before.trim().is_empty());
    if is_new && !text.ends_with('\n') { text + "\n" } else { text }
}

fn at(path: &Path, shape: BadShape) -> SettingsFileError {
    SettingsFileError::Shape { path: path.to_owned(), key: shape.key, expected: shape.expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_known_by_its_words() {
        for command in [
            "skillmux hook codex || exit 0",
            "/x/skillmux hook codex --budget 900 || exit 0",
            "skillmux hook --budget 900 --deadline=500 codex",
            "cd /x && '/my tools/skillmux' hook \"codex\"; date",
            r"& 'C:\x y\skillmux.exe' hook --budget 900 codex || exit 0",
            "/x/router hook codex || exit 0",
        ] {
            assert!(calls_hook(command, "codex"), "{command}");
            assert!(!calls_hook(command, "cursor"), "{command}");
        }
        for command in [
            "skillmux hook codex-next",
            "skillmux hook cursor && notify codex",
            "skillmux index; other hook codex",
            "skillmux mcp",
            "codex hook skillmux",
            "/x/router hook --budget 900 codex",
        ] {
            assert!(!calls_hook(command, "codex"), "{command}");
        }
    }
}
