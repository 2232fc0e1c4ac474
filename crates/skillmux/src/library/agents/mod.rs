//! Coding agents, their skills, and what they show of them. What differs from agent to agent is
//! data: a file each in `profiles/`.

mod compile;
mod installed;
mod listing;
mod plugins;
mod problem;
mod profile;
mod project;

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use super::{origin::Origin, source::Source};

pub use compile::{CompileError, CompiledList, Freedom, Kept, ListSkill, compile, listed_today};
pub use installed::{AgentSkills, FolderSkills, InstalledFolders, InstalledSkill};
pub use plugins::{AgentPlugins, Plugin};
pub use problem::Problem;
pub use profile::{
    AgentProfile, Base, HookAnswer, Listing, McpSettings, PluginSettings, PromptHook, Remedy,
    SameNames, SettingsField, SettingsFormat, SettingsPlace, SettingsValue, SkillFolder, Trim,
    profiles,
};
pub use project::project_of;

/// Returns the skill folders that exist: personal ones, then those of plugins, then those of the
/// project; of each kind, those of all [`profiles`] in order, each agent's strongest first.
///
/// A scan merges exact duplicates into the first one. So whatever came with a project never takes
/// the place of a skill that the user has, nor does a plugin that of a personal one.
///
/// A folder that several agents read, or that is a link to another one, is returned once. Its ids
/// start with its label: `claude-code/pdf`, `project-agents/deploy`. Of plugins, those are read
/// that are installed and switched on: `claude-code-plugins/PLUGIN/pdf`. A folder of the project or
/// of a plugin that is a link out of it is not read. Where the project is the home folder, a folder
/// of both is personal.
pub fn installed_sources(home: &Path, project: Option<&Path>) -> Vec<Source> {
    let sources = profiles().iter().flat_map(|agent| sources_of(agent, home, project));
    let found = sources.filter_map(|source| Some((fs::canonicalize(source.path()).ok()?, source)));
    let mut found: Vec<(PathBuf, Source)> = found.collect();
    found.sort_by_key(|(_, source)| place_in_order(source));
    let mut seen = HashSet::new();
    found.retain(|(folder, _)| {
        let is_readable = folder.is_dir() && fs::read_dir(folder).is_ok();
        is_readable && seen.insert(folder.clone())
    });
    found.into_iter().map(|(_, source)| source).collect()
}

/// Returns where a source stands among those of other origins. No agent prefers a skill of a plugin
/// to a personal one.
fn place_in_order(source: &Source) -> u8 {
    match source {
        Source::Folder { origin: Origin::Project, .. } => 2,
        Source::Folder { origin: Origin::Plugin, .. } => 1,
        _ => 0,
    }
}

/// Returns what says which skills are installed, whether it exists or not: folders of skills, and
/// files that switch plugins on. When none of it changes, [`installed_sources`] and its skills stay
/// as they are.
pub fn deciding_paths(home: &Path, project: Option<&Path>) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for agent in profiles() {
        let sources = sources_of(agent, home, project);
        paths.extend(sources.iter().map(|source| source.path().to_owned()));
        if let Some(plugins) = &agent.plugins {
            paths.push(home.join(&plugins.installed));
            let settings = plugins.settings.iter();
            paths.extend(settings.filter_map(|it| it.base.join(&it.path, home, project)));
        }
    }
    paths
}

/// Returns the skill folders of one agent, strongest first, whether they exist or not, and those of
/// its plugins that are switched on.
fn sources_of(agent: &AgentProfile, home: &Path, project: Option<&Path>) -> Vec<Source> {
    let of_folder = |folder: &SkillFolder| {
        Some(Source::Folder {
            root: folder.root(home, project)?,
            label: folder.label.clone(),
            id_prefix: Some(folder.label.clone()),
            origin: folder.base.origin(),
        })
    };
    let inside = agent.folders.iter().filter(|folder| !folder.leads_out(home, project));
    let mut sources: Vec<Source> = inside.filter_map(of_folder).collect();
    if let Some(settings) = &agent.plugins {
        let plugins = AgentPlugins::read(settings, home, project);
        sources.extend(plugins.sources(&settings.label));
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
        let scan = Library::new(sources).scan(&mut |scanned| {
            ids.push(scanned.skill.id.to_string());
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
        let plugin = home.join(".claude/plugins/cache/m/p/1.0");
        add_skill(&plugin.join("skills"), "review");
        let installed = serde_json::json!({"plugins": {"p@m": {"installPath": plugin}}});
        fs::write(home.join(".claude/plugins/installed_plugins.json"), installed.to_string())
            .unwrap();
        fs::write(home.join(".claude/settings.json"), r#"{"enabledPlugins": {"p@m": true}}"#)
            .unwrap();
        add_skill(&home.join(".agents/skills"), "mail");
        add_skill(&project.join(".agents/skills"), "deploy");
        assert_eq!(
            ids(installed_sources(&home, Some(&project))),
            [
                "claude-code/pdf",
                "agents/mail",
                "claude-code-plugins/p/review",
                "project-agents/deploy",
            ]
        );
        assert_eq!(ids(installed_sources(&home, None)).len(), 3);
        // In the home folder itself, its skills stay personal.
        add_skill(&home.join(".codex/skills"), "weld");
        let at_home = ids(installed_sources(&home, Some(&home)));
        assert!(at_home.iter().all(|id| !id.starts_with("project-")), "{at_home:?}");
        assert_eq!(at_home.len(), 4);
        assert_eq!(installed_sources(&dir.path().join("nobody"), None), []);
    }

    #[test]
    fn a_copy_in_a_project_does_not_take_the_place_of_a_skill_that_the_user_has() {
        let dir = tempfile::tempdir().unwrap();
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        add_skill(&project.join(".agents/skills"), "pdf");
        add_skill(&project.join(".claude/skills"), "pdf");
        fs::create_dir(&home).unwrap();
        let kept = || ids(installed_sources(&home, Some(&project)));
        assert_eq!(kept(), ["project-claude-code/pdf"], "Claude Code comes first");

        let plugin = home.join(".claude/plugins/cache/m/p/1.0");
        add_skill(&plugin.join("skills"), "pdf");
        let installed = serde_json::json!({"plugins": {"p@m": {"installPath": plugin}}});
        fs::write(home.join(".claude/plugins/installed_plugins.json"), installed.to_string())
            .unwrap();
        fs::write(home.join(".claude/settings.json"), r#"{"enabledPlugins": {"p@m": true}}"#)
            .unwrap();
        assert_eq!(kept(), ["claude-code-plugins/p/pdf"]);

        add_skill(&home.join(".codex/skills"), "pdf");
        assert_eq!(kept(), ["codex/pdf"]);
        add_skill(&home.join(".agents/skills"), "pdf");
        assert_eq!(kept(), ["agents/pdf"], "Codex prefers this folder to its own");
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
