//! Where each coding agent keeps its skills, as data.

use std::{collections::HashSet, fs, path::Path};

use super::source::Source;

/// Where a folder of [`SkillFolder`] lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Base {
    /// In the user's home folder.
    Home,
    /// In the folder of the project.
    Project,
}

/// A folder that an agent loads skills from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillFolder {
    /// What the path is relative to.
    pub base: Base,
    /// The path, with `/`.
    pub path: &'static str,
    /// Label of the source, and first part of its ids.
    pub label: &'static str,
}

/// A coding agent and its skill folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentProfile {
    /// Short name, as in labels: `claude-code`.
    pub id: &'static str,
    /// Name as its makers write it.
    pub name: &'static str,
    /// The folders, strongest first: what the agent itself prefers when names collide.
    pub folders: &'static [SkillFolder],
}

const fn home(path: &'static str, label: &'static str) -> SkillFolder {
    SkillFolder { base: Base::Home, path, label }
}

const fn project(path: &'static str, label: &'static str) -> SkillFolder {
    SkillFolder { base: Base::Project, path, label }
}

const HOME_AGENTS: SkillFolder = home(".agents/skills", "agents");
const PROJECT_AGENTS: SkillFolder = project(".agents/skills", "project-agents");
const HOME_CLAUDE: SkillFolder = home(".claude/skills", "claude-code");
const PROJECT_CLAUDE: SkillFolder = project(".claude/skills", "project-claude-code");

/// The agents that skillmux knows, with the folders that their documentation names.
///
/// Folders of the system and of an enterprise are left out: they need no router to be found.
pub const AGENTS: &[AgentProfile] = &[
    AgentProfile {
        id: "claude-code",
        name: "Claude Code",
        // Personal skills beat those of the project here, unlike in the client guide.
        folders: &[HOME_CLAUDE, PROJECT_CLAUDE, home(".claude/plugins", "claude-code-plugins")],
    },
    AgentProfile {
        id: "codex",
        name: "Codex",
        folders: &[PROJECT_AGENTS, HOME_AGENTS, home(".codex/skills", "codex")],
    },
    AgentProfile {
        id: "gemini-cli",
        name: "Gemini CLI",
        folders: &[
            PROJECT_AGENTS,
            project(".gemini/skills", "project-gemini-cli"),
            HOME_AGENTS,
            home(".gemini/skills", "gemini-cli"),
            home(".gemini/extensions", "gemini-cli-extensions"),
        ],
    },
    AgentProfile {
        id: "openclaw",
        name: "OpenClaw",
        folders: &[
            project("skills", "project-openclaw"),
            PROJECT_AGENTS,
            HOME_AGENTS,
            home(".openclaw/skills", "openclaw"),
        ],
    },
    AgentProfile {
        id: "copilot",
        name: "GitHub Copilot",
        folders: &[
            project(".github/skills", "project-copilot"),
            PROJECT_CLAUDE,
            PROJECT_AGENTS,
            home(".copilot/skills", "copilot"),
        ],
    },
    AgentProfile {
        id: "cursor",
        name: "Cursor",
        folders: &[
            project(".cursor/skills", "project-cursor"),
            PROJECT_AGENTS,
            PROJECT_CLAUDE,
            home(".cursor/skills", "cursor"),
            HOME_AGENTS,
            HOME_CLAUDE,
        ],
    },
    AgentProfile {
        id: "opencode",
        name: "OpenCode",
        folders: &[
            project(".opencode/skills", "project-opencode"),
            PROJECT_CLAUDE,
            PROJECT_AGENTS,
            home(".config/opencode/skills", "opencode"),
            HOME_CLAUDE,
            HOME_AGENTS,
        ],
    },
];

/// Returns the skill folders that exist, of all [`AGENTS`] in order, each agent's strongest first.
///
/// A folder that several agents read, or that is a link to another one, is returned once. Its ids
/// start with its label: `claude-code/pdf`, `project-agents/deploy`.
pub fn installed_sources(home: &Path, project: Option<&Path>) -> Vec<Source> {
    let mut seen = HashSet::new();
    let mut sources = Vec::new();
    for folder in AGENTS.iter().flat_map(|agent| agent.folders) {
        let base = match folder.base {
            Base::Home => home,
            Base::Project => match project {
                Some(project) => project,
                None => continue,
            },
        };
        let root = base.join(folder.path);
        let Ok(canonical) = fs::canonicalize(&root) else { continue };
        if canonical.is_dir() && fs::read_dir(&canonical).is_ok() && seen.insert(canonical) {
            sources.push(Source::Folder {
                root,
                label: folder.label.to_owned(),
                id_prefix: Some(folder.label.to_owned()),
            });
        }
    }
    sources
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::library::Library;

    fn add_skill(folder: &Path, name: &str) {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: {name}\ndescription: does {name}\n---\n");
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }

    fn ids(sources: Vec<Source>) -> Vec<String> {
        let mut ids = Vec::new();
        let scan = Library::new(sources).scan(&mut |skill| {
            ids.push(skill.id.to_string());
            Ok(())
        });
        assert_eq!(scan.unwrap().skipped, []);
        ids
    }

    #[test]
    fn each_label_names_one_folder() {
        let mut folders = HashMap::new();
        for folder in AGENTS.iter().flat_map(|agent| agent.folders) {
            assert_eq!(*folders.entry(folder.label).or_insert(folder), folder);
        }
    }

    #[test]
    fn existing_folders_are_found_once_and_ids_start_with_their_label() {
        let dir = tempfile::tempdir().unwrap();
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        add_skill(&home.join(".claude/skills"), "pdf");
        add_skill(&home.join(".claude/plugins/cache/m/p/skills"), "review");
        add_skill(&home.join(".agents/skills"), "mail");
        add_skill(&project.join(".agents/skills"), "deploy");
        assert_eq!(
            ids(installed_sources(&home, Some(&project))),
            [
                "claude-code/pdf",
                "claude-code-plugins/cache/m/p/skills/review",
                "project-agents/deploy",
                "agents/mail",
            ]
        );
        assert_eq!(ids(installed_sources(&home, None)).len(), 3);
        assert_eq!(installed_sources(&dir.path().join("nobody"), None), []);
    }

    #[cfg(unix)]
    #[test]
    fn links_between_the_folders_of_agents_are_followed() {
        use std::os::unix::fs::symlink;

        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        add_skill(&home.join(".agents/skills"), "mail");
        fs::create_dir_all(home.join(".claude/skills")).unwrap();
        symlink("../../.agents/skills/mail", home.join(".claude/skills/mail")).unwrap();
        fs::create_dir_all(home.join(".cursor")).unwrap();
        symlink("../.agents/skills", home.join(".cursor/skills")).unwrap();
        let sources = installed_sources(home, None);
        assert_eq!(sources.len(), 2);
        assert_eq!(ids(sources), ["claude-code/mail"]);
    }
}
