//! [`InstalledFolders`]: the skills of installed agents, and what each agent does not show of them.

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use rayon::prelude::*;
use serde::Serialize;

use super::{
    listing::{Line, Shown},
    plugins::AgentPlugins,
    problem::Problem,
    profile::{AgentProfile, SameNames, SkillFolder},
};
use crate::{
    library::{Finding, Issue, Origin, directory::Directory, entry::Entry},
    skill::{ContentHash, Skill},
};

/// The skill folders of some agents, each read once, however many of them look into it.
///
/// ```
/// use skillmux::library::agents::{InstalledFolders, profiles};
///
/// # let dir = tempfile::tempdir()?;
/// # let home = dir.path();
/// for folder in [".claude/skills/tea", ".cursor/skills/tea"] {
///     let text = format!("---\nname: tea\ndescription: How to brew tea\n---\nAs {folder} says.\n");
///     std::fs::create_dir_all(home.join(folder))?;
///     std::fs::write(home.join(folder).join("SKILL.md"), text)?;
/// }
///
/// let folders = InstalledFolders::read(profiles(), home, None);
/// let problems = |agent: &str| {
///     let profile = profiles().iter().find(|profile| profile.id == agent).unwrap();
///     folders.of(profile).problems.iter().map(|problem| problem.kind()).collect::<Vec<_>>()
/// };
/// assert!(problems("claude-code").is_empty());
/// // Cursor reads both folders, and prefers its own.
/// assert_eq!(problems("cursor"), ["shadowed"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct InstalledFolders<'a> {
    home: &'a Path,
    project: Option<&'a Path>,
    /// By canonical path.
    read: HashMap<PathBuf, Vec<Read>>,
    /// By agent, where it may have plugins.
    plugins: HashMap<String, AgentPlugins>,
}

/// A folder that an agent reads, whether it is there or not.
struct Root {
    path: PathBuf,
    /// Name of the plugin that it is of.
    plugin: Option<String>,
}

/// A `SKILL.md` as it was found.
#[derive(Debug)]
enum Read {
    Skill(InstalledSkill),
    /// Something that cannot be read.
    Failure {
        path: String,
        file: PathBuf,
        issue: Issue,
    },
}

/// A skill of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledSkill {
    /// Its name.
    pub name: String,
    /// Its `SKILL.md`.
    pub path: String,
    /// What it does and when to use it.
    pub description: String,
    /// Its text.
    pub body: String,
    /// Whether it is of a plugin.
    pub is_of_plugin: bool,
    /// The file that it is once links are resolved.
    file: PathBuf,
    description_chars: usize,
    /// Hash of its description and body.
    text: ContentHash,
    is_for_user_only: bool,
    /// What keeps an agent from listing it.
    issues: Vec<Issue>,
}

/// What one agent finds, and what it does not show its model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AgentSkills {
    /// Its folders that are there, strongest first.
    pub folders: Vec<FolderSkills>,
    /// Files with a skill, each counted once.
    pub n_skills: usize,
    /// Skills that the agent lists, with their descriptions or by name only.
    pub n_listed: usize,
    /// How many of these have their descriptions, whole or cut.
    pub n_described: usize,
    /// How many of the skills are of plugins.
    pub n_of_plugins: usize,
    /// Its plugins; only skills of those that are on are read.
    pub plugins: AgentPlugins,
    /// What the agent does not show, in the order in which it finds the skills.
    pub problems: Vec<Problem>,
}

/// A folder of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FolderSkills {
    /// The folder.
    pub path: String,
    /// Files with a skill in it.
    pub n_skills: usize,
}

impl<'a> InstalledFolders<'a> {
    /// Reads the folders of these agents, in parallel.
    ///
    /// Links are followed as long as they lead into one of the folders of any agent.
    pub fn read<'p>(
        agents: impl IntoIterator<Item = &'p AgentProfile>,
        home: &'a Path,
        project: Option<&'a Path>,
    ) -> Self {
        let mut roots: HashMap<PathBuf, Root> = HashMap::new();
        let mut plugins = HashMap::new();
        for agent in agents {
            let found = agent.plugins.as_ref();
            let found = found.map(|it| AgentPlugins::read(it, home, project)).unwrap_or_default();
            for root in roots_of(agent, &found, home, project) {
                if let Some(canonical) = readable(&root.path) {
                    roots.entry(canonical).or_insert(root);
                }
            }
            plugins.insert(agent.id.clone(), found);
        }
        let sources = super::installed_sources(home, project);
        let allowed: Vec<PathBuf> =
            sources.iter().filter_map(|source| fs::canonicalize(source.path()).ok()).collect();
        let read = roots
            .into_par_iter()
            .map(|(canonical, root)| {
                let found = skills_of(&root, &allowed);
                (canonical, found)
            })
            .collect();
        Self { home, project, read, plugins }
    }

    /// Returns what an agent finds in its folders, by its own precedence, and what it does not
    /// show.
    pub fn of(&self, agent: &AgentProfile) -> AgentSkills {
        self.view(agent).0
    }

    /// Returns the skills that an agent lists if there is room, strongest first.
    pub fn listed(&self, agent: &AgentProfile) -> Vec<&InstalledSkill> {
        self.view(agent).1
    }

    fn view(&self, agent: &AgentProfile) -> (AgentSkills, Vec<&InstalledSkill>) {
        let mut account = AgentSkills::default();
        let mut view = View::default();
        let mut seen = HashSet::new();
        account.plugins = self.plugins.get(&agent.id).cloned().unwrap_or_default();
        for Root { path, plugin } in roots_of(agent, &account.plugins, self.home, self.project) {
            let Some(canonical) = readable(&path).filter(|it| seen.insert(it.clone())) else {
                continue;
            };
            let found = self.read.get(&canonical).map_or(&[][..], Vec::as_slice);
            let n_skills = found.iter().filter(|read| matches!(read, Read::Skill(_))).count();
            account.folders.push(FolderSkills { path: path.display().to_string(), n_skills });
            let n_before = view.files.len();
            for read in found {
                account.problems.extend(view.enter(read, agent.same_names));
            }
            if plugin.is_some() {
                account.n_of_plugins += view.files.len() - n_before;
            }
        }
        let unread = agent.folders.iter().filter_map(|it| unread(it, self.home, self.project));
        account.problems.extend(unread);
        account.n_skills = view.files.len();
        let listed: Vec<Line> = view.listed.iter().map(|skill| skill.line()).collect();
        let shown = match &agent.listing {
            Some(listing) => listing.shown(&listed),
            None => vec![Shown::Whole; listed.len()],
        };
        let is_described = |shown: &&Shown| matches!(shown, Shown::Whole | Shown::Start(_));
        account.n_listed = shown.iter().filter(|shown| **shown != Shown::Nothing).count();
        account.n_described = shown.iter().filter(is_described).count();
        let trimmed = view.listed.iter().zip(shown);
        account.problems.extend(trimmed.filter_map(|(skill, shown)| skill.trimmed(shown)));
        (account, view.listed)
    }
}

/// What an agent has found so far.
#[derive(Default)]
struct View<'a> {
    files: HashSet<&'a Path>,
    failures: HashSet<&'a Path>,
    by_name: HashMap<&'a str, &'a InstalledSkill>,
    by_text: HashMap<ContentHash, &'a InstalledSkill>,
    listed: Vec<&'a InstalledSkill>,
}

impl<'a> View<'a> {
    /// Enters what lies in the next folder, and returns why the agent does not list it, or not
    /// well.
    fn enter(&mut self, read: &'a Read, same_names: SameNames) -> Option<Problem> {
        let skill = match read {
            Read::Skill(skill) => skill,
            Read::Failure { path, file, issue } => {
                if !self.failures.insert(file) {
                    return None;
                }
                let (path, detail) = (path.clone(), issue.to_string());
                let is_ours = matches!(
                    issue,
                    Issue::TooLarge { .. }
                        | Issue::IdTooLong { .. }
                        | Issue::OutsideRoot
                        | Issue::FolderName
                        | Issue::SymlinkLoop
                        | Issue::TooManyLinks { .. }
                        | Issue::TooDeep { .. }
                );
                return Some(if is_ours {
                    Problem::NotRead { path, detail }
                } else {
                    Problem::Broken { path, detail }
                });
            }
        };
        // A link to a file that was found is no second skill.
        if !self.files.insert(&skill.file) {
            return None;
        }
        let (name, path) = (skill.name.clone(), skill.path.clone());
        if !skill.issues.is_empty() {
            let details: Vec<String> = skill.issues.iter().map(Issue::to_string).collect();
            return Some(Problem::Broken { path, detail: details.join("; ") });
        }
        let same_text = self.by_text.get(&skill.text).copied();
        let rival = self.by_name.get(skill.name.as_str());
        if let Some(stronger) = rival.filter(|_| same_names == SameNames::Strongest) {
            let stronger_path = stronger.path.clone();
            return Some(if stronger.text == skill.text {
                Problem::Duplicate { name, path, of: stronger_path }
            } else {
                Problem::Shadowed { name, path, by: stronger_path }
            });
        }
        self.by_name.insert(&skill.name, skill);
        self.by_text.entry(skill.text).or_insert(skill);
        if skill.is_for_user_only {
            return Some(Problem::ForUserOnly { name, path });
        }
        self.listed.push(skill);
        same_text.map(|first| Problem::Duplicate { name, path, of: first.path.clone() })
    }
}

impl InstalledSkill {
    fn line(&self) -> Line {
        Line {
            name_chars: self.name.chars().count(),
            description_chars: self.description_chars,
            path_chars: self.path.chars().count(),
            n_uses: 0,
        }
    }

    fn trimmed(&self, shown: Shown) -> Option<Problem> {
        let (name, path) = (self.name.clone(), self.path.clone());
        let description_chars = self.description_chars;
        match shown {
            Shown::Whole => None,
            Shown::Start(shown_chars) => {
                Some(Problem::Shortened { name, path, shown_chars, description_chars })
            }
            Shown::Name => Some(Problem::NameOnly { name, path }),
            Shown::Nothing => Some(Problem::Dropped { name, path }),
        }
    }
}

/// Returns the canonical path of a folder that can be read.
fn readable(root: &Path) -> Option<PathBuf> {
    let canonical = fs::canonicalize(root).ok()?;
    (canonical.is_dir() && fs::read_dir(&canonical).is_ok()).then_some(canonical)
}

/// Returns why a folder that is there is not read, if it is not.
fn unread(folder: &SkillFolder, home: &Path, project: Option<&Path>) -> Option<Problem> {
    let root = folder.root(home, project)?;
    let path = root.display().to_string();
    if folder.leads_out(home, project) {
        return Some(Problem::NotRead { path, detail: "leads out of the project".to_owned() });
    }
    let error = fs::read_dir(&root).err()?;
    let is_there = error.kind() != io::ErrorKind::NotFound;
    is_there.then(|| Problem::NotRead { path, detail: format!("cannot be read: {error}") })
}

/// Returns the folders that an agent reads, strongest first.
fn roots_of(
    agent: &AgentProfile,
    plugins: &AgentPlugins,
    home: &Path,
    project: Option<&Path>,
) -> Vec<Root> {
    let inside = agent.folders.iter().filter(|folder| !folder.leads_out(home, project));
    let of_agent = inside.filter_map(|folder| folder.root(home, project));
    let of_agent = of_agent.map(|path| Root { path, plugin: None });
    let of_plugins = plugins.on.iter().flat_map(|plugin| {
        let root = |path: &PathBuf| Root { path: path.clone(), plugin: Some(plugin.name.clone()) };
        plugin.folders.iter().map(root)
    });
    of_agent.chain(of_plugins).collect()
}

fn skills_of(root: &Root, allowed: &[PathBuf]) -> Vec<Read> {
    let mut found = Vec::new();
    let origin = Origin::default();
    let directory = Directory { root: &root.path, label: "", id_prefix: None, origin, allowed };
    let end = directory.read(&mut |entry| {
        found.push(match entry {
            Entry::Found(entry) => {
                let Skill { name, description, body, .. } = entry.skill;
                let description_chars = description.chars().count();
                let nameless = Skill {
                    id: entry.skill.id,
                    name: String::new(),
                    description,
                    body,
                    source: String::new(),
                };
                let name = match &root.plugin {
                    Some(plugin) => format!("{plugin}:{name}"),
                    None => name,
                };
                let text = nameless.content_hash();
                Read::Skill(InstalledSkill {
                    name,
                    description: nameless.description,
                    body: nameless.body,
                    is_of_plugin: root.plugin.is_some(),
                    file: resolved(&entry.location),
                    path: entry.location,
                    description_chars,
                    text,
                    is_for_user_only: entry.is_for_user_only,
                    issues: entry.issues.into_iter().filter(breaks).collect(),
                })
            }
            Entry::Skipped(Finding { location: path, issue }) => {
                Read::Failure { file: resolved(&path), path, issue }
            }
        });
        ControlFlow::Continue(())
    });
    debug_assert!(end.is_continue(), "the sink never breaks off");
    found
}

/// Returns the path without links, as far as it can be told.
fn resolved(path: &str) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path))
}

/// Returns whether an agent that keeps to the Agent Skills specification refuses a skill for this.
fn breaks(issue: &Issue) -> bool {
    matches!(
        issue,
        Issue::FrontMatterMissing
            | Issue::FrontMatterRepaired { .. }
            | Issue::NameMissing
            | Issue::DescriptionMissing
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::agents::{installed_sources, profiles};

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn skill(name: &str, description: &str) -> String {
        format!("---\nname: {name}\ndescription: {description}\n---\nText.\n")
    }

    fn of(agent: &str, home: &Path, project: Option<&Path>) -> AgentSkills {
        let profile = profiles().iter().find(|profile| profile.id == agent).unwrap();
        InstalledFolders::read([profile], home, project).of(profile)
    }

    fn kinds(skills: &AgentSkills) -> Vec<&'static str> {
        skills.problems.iter().map(Problem::kind).collect()
    }

    #[test]
    fn a_copy_is_a_duplicate_under_any_name_and_another_text_is_shadowed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join(".openclaw/skills");
        for (folder, name, description) in [
            ("a", "tea", "Brew tea"),
            ("b", "tea", "Brew tea"),
            ("c", "brew", "Brew tea"),
            ("d", "tea", "Plant tea"),
        ] {
            write(&root.join(folder).join("SKILL.md"), &skill(name, description));
        }
        let skills = of("openclaw", dir.path(), None);
        assert_eq!(kinds(&skills), ["duplicate", "duplicate", "shadowed"]);
        // A copy under another name is in the list all the same.
        assert_eq!((skills.n_skills, skills.n_listed), (4, 2));
    }

    #[test]
    fn a_broken_skill_hides_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let (project, home) = (dir.path().join("project"), dir.path().join("home"));
        write(&project.join(".agents/skills/tea/SKILL.md"), "---\nname: tea\n---\nText.\n");
        write(&home.join(".agents/skills/tea/SKILL.md"), &skill("tea", "Brew tea"));
        let skills = of("codex", &home, Some(&project));
        assert_eq!((kinds(&skills), skills.n_listed), (vec!["broken"], 1));
    }

    #[test]
    fn skills_of_a_plugin_have_its_name_and_are_checked() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join(".claude/skills/tea/SKILL.md"), &skill("tea", "Brew tea"));
        let plugin = dir.path().join(".claude/plugins/cache/m/p/1");
        write(&plugin.join("skills/tea/SKILL.md"), &skill("tea", "Plant tea"));
        write(&plugin.join("skills/mug/SKILL.md"), "no front matter");
        let count = || {
            let skills = of("claude-code", dir.path(), None);
            (kinds(&skills), skills.n_skills, skills.n_of_plugins)
        };
        assert_eq!(count(), (vec![], 1, 0));
        let entry = serde_json::json!({"plugins": {"p@m": {"installPath": plugin}}});
        let plugins = dir.path().join(".claude/plugins/installed_plugins.json");
        write(&plugins, &entry.to_string());
        assert_eq!(count(), (vec![], 1, 0));
        let settings = dir.path().join(".claude/settings.json");
        write(&settings, r#"{"enabledPlugins": {"p@m": true}}"#);
        assert_eq!(count(), (vec!["broken"], 3, 2));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_of_a_project_that_leads_out_of_it_is_named_and_not_read() {
        use std::os::unix::fs::symlink;

        let dir = tempfile::tempdir().unwrap();
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        write(&dir.path().join("far/tea/SKILL.md"), &skill("tea", "Brew tea"));
        write(&project.join("kept/mug/SKILL.md"), &skill("mug", "Wash a mug"));
        fs::create_dir_all(project.join(".agents")).unwrap();
        fs::create_dir_all(&home).unwrap();
        let link = project.join(".agents/skills");
        symlink("../kept", &link).unwrap();
        let count = || {
            let skills = of("codex", &home, Some(&project));
            (kinds(&skills), skills.n_skills, installed_sources(&home, Some(&project)).len())
        };
        assert_eq!(count(), (vec![], 1, 1));
        for target in [dir.path().join("far"), dir.path().to_owned(), PathBuf::from("/")] {
            fs::remove_file(&link).unwrap();
            symlink(target, &link).unwrap();
            assert_eq!(count(), (vec!["not read"], 0, 0));
        }
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_named() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join(".agents/skills"), "no folder");
        let skills = of("codex", dir.path(), None);
        assert_eq!((kinds(&skills), skills.folders.len()), (vec!["not read"], 0));
    }

    #[test]
    fn a_folder_that_is_the_project_and_the_home_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join(".agents/skills/tea/SKILL.md"), &skill("tea", "Brew tea"));
        let skills = of("codex", dir.path(), Some(dir.path()));
        assert_eq!((skills.folders.len(), skills.n_skills, skills.problems.len()), (1, 1, 0));
    }
}
