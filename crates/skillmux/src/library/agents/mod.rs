//! Coding agents, their skills, and what they show of them. What differs from agent to agent is data:
//! a file each in `profiles/`.

mod installed;
mod listing;
mod profile;

use std::{collections::HashSet, fs, path::Path};

use super::source::Source;

pub use installed::{AgentSkills, FolderSkills, InstalledFolders, InstalledSkill, Problem};
pub use profile::{
    AgentProfile, Base, Listing, McpSettings, PromptHook, SettingsField, SettingsFormat,
    SettingsValue, SkillFolder, Trim, profiles,
};

/// Returns the skill folders that exist, of all [`profiles`] in order, each agent's strongest first.
///
/// A folder that several agents read, or that is a link to another one, is returned once. Its ids
/// start with its label: `claude-code/pdf`, `project-agents/deploy`.
pub fn installed_sources(home: &Path, project: Option<&Path>) -> Vec<Source> {
    let mut seen = HashSet::new();
    let mut sources = Vec::new();
    for folder in profiles().iter().flat_map(|agent| &agent.folders) {
        let Some(root) = folder.root(home, project) else { continue };
        let Ok(canonical) = fs::canonicalize(&root) else { continue };
        if canonical.is_dir() && fs::read_dir(&canonical).is_ok() && seen.insert(canonical) {
            sources.push(Source::Folder {
                root,
                label: folder.label.clone(),
                id_prefix: Some(folder.label.clone()),
            });
        }
    }
    sources
}

#[cfg(test)]
mod tests {
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
