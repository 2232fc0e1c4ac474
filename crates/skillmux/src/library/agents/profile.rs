//! [`AgentProfile`]: what is known of an agent, as a data file says it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde::{Deserialize, Serialize};

use crate::library::Origin;

/// The data files, in the order in which skills of several agents are read.
const FILES: [&str; 7] = [
    include_str!("../../../profiles/claude-code.toml"),
    include_str!("../../../profiles/codex.toml"),
    include_str!("../../../profiles/gemini-cli.toml"),
    include_str!("../../../profiles/openclaw.toml"),
    include_str!("../../../profiles/copilot.toml"),
    include_str!("../../../profiles/cursor.toml"),
    include_str!("../../../profiles/opencode.toml"),
];

static PROFILES: LazyLock<Vec<AgentProfile>> = LazyLock::new(|| {
    let read = |text: &&str| toml::from_str(text).expect("a test reads each profile");
    FILES.iter().map(read).collect()
});

/// Returns the agents that skillmux knows.
///
/// Folders of the system and of an enterprise are left out: they need no router to be found.
pub fn profiles() -> &'static [AgentProfile] {
    &PROFILES
}

/// A coding agent: where its skills and its settings are. All paths are written with `/`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentProfile {
    /// Short name, as in labels: `claude-code`.
    pub id: String,
    /// Name as its makers write it.
    pub name: String,
    /// Files and folders of the home folder; one of them is there where the agent is installed.
    pub installed: Vec<String>,
    /// The folders, strongest first: what the agent itself prefers when names collide.
    pub folders: Vec<SkillFolder>,
    /// What it does with skills of one name in several places.
    #[serde(default)]
    pub same_names: SameNames,
    /// Its plugins, where they may have skills. They come after the folders.
    #[serde(default)]
    pub plugins: Option<PluginSettings>,
    /// How much of its skills the agent shows its model, where that is known.
    #[serde(default)]
    pub listing: Option<Listing>,
    /// Where it keeps its MCP servers.
    pub mcp: McpSettings,
    /// A command that it runs on each prompt, where there is such.
    #[serde(default)]
    pub hook: Option<PromptHook>,
}

impl AgentProfile {
    /// Returns whether the agent is installed for the user of this home folder.
    pub fn is_installed(&self, home: &Path) -> bool {
        self.installed.iter().any(|path| home.join(path).exists())
    }
}

/// Where a folder of [`SkillFolder`] lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Base {
    /// In the user's home folder.
    Home,
    /// In the folder of the project.
    Project,
}

impl Base {
    /// Returns what kind of place a skill folder here is.
    pub(super) fn origin(self) -> Origin {
        match self {
            Self::Home => Origin::Personal,
            Self::Project => Origin::Project,
        }
    }

    /// Returns a path from here; `None` for one of a project where there is none.
    pub(super) fn join(self, path: &str, home: &Path, project: Option<&Path>) -> Option<PathBuf> {
        let base = match self {
            Self::Home => home,
            Self::Project => project?,
        };
        Some(base.join(path))
    }
}

/// A folder that an agent loads skills from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillFolder {
    /// What the path is relative to.
    pub base: Base,
    /// The path.
    pub path: String,
    /// Label of the source, and first part of its ids.
    pub label: String,
}

impl SkillFolder {
    /// Returns where the folder is; `None` for one of a project where there is none.
    pub fn root(&self, home: &Path, project: Option<&Path>) -> Option<PathBuf> {
        self.base.join(&self.path, home, project)
    }

    /// Returns whether it is of the project and a link that leads out of it. Whoever wrote the
    /// project must not choose what else of the disk is read.
    pub(super) fn leads_out(&self, home: &Path, project: Option<&Path>) -> bool {
        let (Base::Project, Some(project)) = (self.base, project) else { return false };
        self.root(home, Some(project)).is_some_and(|root| !is_inside(&root, project))
    }
}

/// Returns whether a path lies in a folder once links are resolved, or is not there.
pub(super) fn is_inside(path: &Path, folder: &Path) -> bool {
    let Ok(path) = fs::canonicalize(path) else { return true };
    fs::canonicalize(folder).is_ok_and(|folder| path.starts_with(folder))
}

/// What an agent does with skills of one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SameNames {
    /// It lists the one of the strongest folder.
    #[default]
    Strongest,
    /// It lists all of them, each with its path.
    All,
}

/// Where an agent keeps its plugins, and how it is told which of them count. Skills of a plugin
/// have its name before theirs, `plugin:skill`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginSettings {
    /// Folder of the home folder with all plugins: installed ones, old versions, and what could be
    /// installed.
    pub folder: String,
    /// Label of the sources, and first part of their ids; the name of the plugin is the second.
    pub label: String,
    /// File of the home folder that names the folder of each installed plugin.
    pub installed: String,
    /// Files that switch plugins on and off, weakest first.
    pub settings: Vec<SettingsPlace>,
}

/// A settings file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingsPlace {
    /// What the path is relative to.
    pub base: Base,
    /// The path.
    pub path: String,
}

/// The budget of the list of skills that an agent shows its model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// Characters of the whole list.
    pub max_chars: usize,
    /// Characters of it that are about no skill.
    #[serde(default)]
    pub head_chars: usize,
    /// Characters of the line of a skill beside its name, its description and its path.
    pub line_chars: usize,
    /// How many of these go with the description.
    #[serde(default)]
    pub description_line_chars: usize,
    /// Whether the line of a skill holds its path.
    #[serde(default)]
    pub has_paths: bool,
    /// Characters of one description.
    #[serde(default)]
    pub max_description_chars: Option<usize>,
    /// Number of skills.
    #[serde(default)]
    pub max_skills: Option<usize>,
    /// What goes when the budget is spent.
    pub trim: Trim,
    /// How a user can say what is listed.
    pub remedy: Remedy,
}

/// What an agent leaves out of its list when the budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trim {
    /// All descriptions are cut to the same length, then the last skills are left out.
    Evenly,
    /// The descriptions of the skills that the user calls least are left out; all names stay.
    LeastUsed,
    /// All descriptions are left out, then the last skills.
    AllDescriptions,
}

/// How a user can say what an agent lists of a skill, and take it back, without a change to the
/// skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Remedy {
    /// A setting lists a skill by its name alone, or not at all. Skills of plugins are always
    /// listed.
    NameOverrides,
    /// A setting switches off the skill of a path, so that a copy with another description can
    /// stand for it.
    DisabledPaths,
    /// A copy of the same name in the strongest folder stands for a skill; a setting switches off a
    /// name.
    StrongerCopies,
}

/// Where an agent keeps the MCP servers of its user.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpSettings {
    /// Files of the home folder: the first that is there counts, or the last.
    pub files: Vec<String>,
    /// How the file is written.
    pub format: SettingsFormat,
    /// Keys that lead to the table of servers: the last that is there counts, or the first.
    pub paths: Vec<Vec<String>>,
    /// What one server is told by, in order; `{program}` stands for the path of skillmux.
    pub entry: Vec<SettingsField>,
}

/// A command that an agent runs when its user sends a prompt, and whose output it adds to the
/// context.
///
/// It stands in a JSON file, as `hooks.EVENT[].hooks[]`, and gets JSON, all as in Claude Code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptHook {
    /// Files of the home folder: the first that is there counts, or the last.
    pub files: Vec<String>,
    /// Name of the event.
    pub event: String,
    /// How long the agent waits for the command, in the unit that it reads.
    pub timeout: u32,
    /// How it takes the context.
    #[serde(default)]
    pub answer: HookAnswer,
    /// What the user must do besides.
    #[serde(default)]
    pub note: Option<String>,
}

/// Where the answer of a prompt hook has `additionalContext`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookAnswer {
    /// In `hookSpecificOutput`, beside the name of the event, as in Claude Code.
    #[default]
    Nested,
    /// At the top.
    Flat,
}

/// How a settings file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SettingsFormat {
    /// JSON, maybe with comments and trailing commas.
    Json,
    /// JSON5.
    Json5,
    /// TOML.
    Toml,
}

/// One field of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingsField {
    /// Name of the field.
    pub key: String,
    /// Its value.
    pub value: SettingsValue,
}

/// The value of a [`SettingsField`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SettingsValue {
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn each_profile_is_read() {
        let ids: Vec<&str> = profiles().iter().map(|profile| profile.id.as_str()).collect();
        let expected =
            ["claude-code", "codex", "gemini-cli", "openclaw", "copilot", "cursor", "opencode"];
        assert_eq!(ids, expected);
        for profile in profiles() {
            assert!(!profile.installed.is_empty() && !profile.folders.is_empty(), "{}", profile.id);
            assert!(!profile.mcp.files.is_empty() && !profile.mcp.paths.is_empty());
        }
    }

    #[test]
    fn each_label_names_one_folder() {
        let mut folders = HashMap::new();
        for folder in profiles().iter().flat_map(|agent| &agent.folders) {
            assert_eq!(*folders.entry(&folder.label).or_insert(folder), folder);
        }
    }

    #[test]
    fn an_agent_is_told_by_what_lies_in_the_home_folder() {
        let dir = tempfile::tempdir().unwrap();
        let installed = || -> Vec<&str> {
            let of_home = |agent: &&AgentProfile| agent.is_installed(dir.path());
            profiles().iter().filter(of_home).map(|agent| agent.id.as_str()).collect()
        };
        assert!(installed().is_empty());
        std::fs::write(dir.path().join(".claude.json"), "{}").unwrap();
        std::fs::create_dir_all(dir.path().join(".config/opencode")).unwrap();
        assert_eq!(installed(), ["claude-code", "opencode"]);
    }
}
