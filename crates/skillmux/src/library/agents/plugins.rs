//! [`AgentPlugins`]: which plugins of an agent are installed and switched on, and where their skills lie.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, File},
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

use jsonc_parser::{ParseOptions, cst::CstRootNode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::profile::{Base, PluginSettings, is_inside};
use crate::{
    library::{Origin, SkillPlace, Source},
    text::without_half_pairs,
};

/// Where a plugin keeps its skills unless its manifest says more.
const SKILLS_FOLDER: &str = "skills";

/// What a plugin says of itself.
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// The plugins of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AgentPlugins {
    /// Installed and switched on, by name.
    pub on: Vec<Plugin>,
    /// Installed, but not switched on here: `NAME@MARKETPLACE`.
    pub off: Vec<String>,
    /// Why something of them is not known, a line each.
    pub notes: Vec<String>,
}

/// A plugin that is switched on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plugin {
    /// Name, which begins the names of its skills; with `@MARKETPLACE` where two plugins have one
    /// name.
    pub name: String,
    /// Folders with its skills that are there.
    pub folders: Vec<PathBuf>,
}

/// `installed_plugins.json`.
#[derive(Deserialize)]
struct InstalledFile {
    plugins: BTreeMap<String, Value>,
}

/// Where a plugin is installed.
#[derive(Deserialize)]
#[serde(untagged)]
enum Installations {
    /// Since version 2 of the file: one for each scope.
    Several(Vec<Installation>),
    /// In version 1.
    Single(Installation),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Installation {
    install_path: PathBuf,
    /// The project that it is for; without it, it is for all.
    project_path: Option<PathBuf>,
}

impl AgentPlugins {
    /// Reads what the agent says of its plugins.
    pub(super) fn read(settings: &PluginSettings, home: &Path, project: Option<&Path>) -> Self {
        let mut found = Self::default();
        let folder = home.join(&settings.folder);
        if !folder.is_dir() {
            return found;
        }
        let path = home.join(&settings.installed);
        let file = read_json(&path).and_then(|file| match file {
            Some(file) => serde_json::from_value(file).map_err(|error| format!(": {error}")),
            None => Err(" is not there".to_owned()),
        });
        let installed: InstalledFile = match file {
            Ok(file) => file,
            Err(detail) => {
                found.notes.push(format!("{}{detail}; no plugin is read", path.display()));
                return found;
            }
        };
        let switches = found.switches(settings, home, project);
        for (id, installations) in installed.plugins {
            let Ok(installations) = serde_json::from_value::<Installations>(installations) else {
                found.notes.push(format!("{} says no folder of {id}", path.display()));
                continue;
            };
            let Some(root) = installations.of(project).map(|root| folder.join(root)) else {
                continue;
            };
            if !switches.get(&id).is_some_and(|is_on| *is_on) {
                found.off.push(id);
            } else if !root.is_dir() || folder.starts_with(&root) {
                let root = root.display();
                found.notes.push(format!("{id} is on, but {root} is no folder of a plugin"));
            } else {
                found.on.push(Plugin { name: id, folders: skill_folders(&root) });
            }
        }
        found.shorten_names();
        found
    }

    /// Returns which plugins are switched on or off; the last settings win.
    fn switches(
        &mut self,
        settings: &PluginSettings,
        home: &Path,
        project: Option<&Path>,
    ) -> BTreeMap<String, bool> {
        let mut switches = BTreeMap::new();
        for file in &settings.settings {
            let Some(path) = file.base.join(&file.path, home, project) else { continue };
            // Whoever wrote the project must not choose what else of the disk is read.
            let is_of_project = file.base == Base::Project;
            if is_of_project && project.is_some_and(|project| !is_inside(&path, project)) {
                let path = path.display();
                self.notes.push(format!("{path} is a link out of the project, and not read"));
                continue;
            }
            match read_json(&path) {
                Ok(found) => {
                    let enabled = found.as_ref().and_then(|it| it.get("enabledPlugins"));
                    for (id, value) in enabled.and_then(Value::as_object).into_iter().flatten() {
                        if let Some(is_on) = value.as_bool() {
                            switches.insert(id.clone(), is_on);
                        }
                    }
                }
                Err(detail) => self.notes.push(format!("{}{detail}", path.display())),
            }
        }
        switches
    }

    /// Leaves out the marketplace where the name alone tells a plugin.
    fn shorten_names(&mut self) {
        let short = |id: &str| match id.split_once('@') {
            Some((name, _)) if is_plain(name) => Some(name.to_owned()),
            _ => None,
        };
        let names: Vec<Option<String>> = self.on.iter().map(|plugin| short(&plugin.name)).collect();
        for (plugin, name) in self.on.iter_mut().zip(&names) {
            if let Some(name) = name
                && names.iter().flatten().filter(|other| *other == name).count() == 1
            {
                plugin.name.clone_from(name);
            }
        }
    }

    /// Returns the skills of the plugins that are switched on; ids start with the label and the
    /// name.
    pub(super) fn sources(&self, label: &str) -> Vec<Source> {
        let of_plugin = |plugin: &Plugin| -> Vec<Source> {
            let id_prefix = format!("{label}/{}", plugin.name);
            let source = |root: &PathBuf| Source::Folder {
                root: root.clone(),
                label: label.to_owned(),
                id_prefix: Some(id_prefix.clone()),
                origin: Origin::Plugin,
            };
            plugin.folders.iter().map(source).collect()
        };
        self.on.iter().flat_map(of_plugin).collect()
    }
}

impl Installations {
    /// Returns the folder of the version that counts in a project: one that is for it alone wins.
    fn of(self, project: Option<&Path>) -> Option<PathBuf> {
        let all = match self {
            Self::Several(all) => all,
            Self::Single(one) => vec![one],
        };
        let is_of_project = |it: &Installation| {
            let (Some(path), Some(project)) = (&it.project_path, project) else { return false };
            path == project || same_folder(path, project)
        };
        let own = all.iter().position(is_of_project);
        let at = own.or_else(|| all.iter().position(|it| it.project_path.is_none()))?;
        all.into_iter().nth(at).map(|it| it.install_path)
    }
}

fn same_folder(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// Returns whether a name can be a part of an id.
fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\'])
}

/// Returns the folders of a plugin that hold skills: that of the usual name and those of its
/// manifest. If there is none, the plugin is one skill, or the folders right in it are.
fn skill_folders(root: &Path) -> Vec<PathBuf> {
    let manifest = read_json(&root.join(MANIFEST)).ok().flatten();
    let named = match manifest.as_ref().and_then(|manifest| manifest.get("skills")) {
        Some(Value::String(path)) => vec![path.as_str()],
        Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut seen = HashSet::new();
    for path in [SKILLS_FOLDER].into_iter().chain(named) {
        let is_inner = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(path).components().all(is_inner) {
            continue;
        }
        let folder: PathBuf = root.join(path).components().collect();
        let is_covered = folders.iter().any(|other| folder.starts_with(other));
        let is_new = !is_covered && seen.insert(folder.clone());
        if is_new && folder.is_dir() && is_inside(&folder, root) {
            folders.push(folder);
        }
    }
    if folders.is_empty() {
        folders = skills_in(root);
    }
    folders
}

/// Returns a folder if it is a skill, else the folders in it that are, by name.
fn skills_in(root: &Path) -> Vec<PathBuf> {
    let is_skill = |folder: &PathBuf| SkillPlace::of(folder).is_some();
    if is_skill(&root.to_owned()) {
        return vec![root.to_owned()];
    }
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    // A link out of the plugin would become a folder of its own, out of which nothing leads.
    let is_of_root = |folder: &PathBuf| is_skill(folder) && is_inside(folder, root);
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_of_root).collect();
    folders.sort();
    folders
}

/// Longest file that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Reads a JSON file, which may have comments and commas too many; `None` if there is none. An error
/// goes on from the path.
fn read_json(path: &Path) -> Result<Option<Value>, String> {
    let mut text = String::new();
    let mut read = || -> io::Result<usize> {
        // A pipe or a device may have no end.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is no plain file"));
        }
        File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_string(&mut text)
    };
    match read() {
        Ok(n_bytes) if n_bytes > MAX_BYTES => {
            return Err(format!(": it is longer than {MAX_BYTES} bytes"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!(": {error}")),
    }
    // JavaScript writes half of a surrogate pair where it cuts an emoji.
    let text = without_half_pairs(&text);
    // Its own serde reader does not limit how deep values may nest.
    let root = CstRootNode::parse(&text, &ParseOptions::default());
    let root = root.map_err(|error| format!(": {error}"))?;
    root.to_serde_value().map(Some).ok_or_else(|| ": it holds no value".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::library::{Library, agents::installed_sources};

    /// A home folder with plugins, and a project.
    struct Place {
        dir: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let place = Self { dir: tempfile::tempdir().unwrap() };
            fs::create_dir_all(place.home().join(".claude/plugins")).unwrap();
            fs::create_dir_all(place.project().join(".claude")).unwrap();
            place
        }

        fn home(&self) -> PathBuf {
            self.dir.path().join("home")
        }

        fn project(&self) -> PathBuf {
            self.dir.path().join("project")
        }

        /// Writes a skill into the cache and returns the folder of the plugin.
        fn add(&self, plugin: &str, skill: &str) -> PathBuf {
            let root = self.home().join(".claude/plugins/cache").join(plugin);
            let folder = root.join(skill);
            fs::create_dir_all(&folder).unwrap();
            let text = format!("---\nname: s\ndescription: {plugin} {skill}\n---\nText.\n");
            fs::write(folder.join("SKILL.md"), text).unwrap();
            root
        }

        fn install(&self, plugins: &Value) {
            let path = self.home().join(".claude/plugins/installed_plugins.json");
            fs::write(path, json!({"version": 2, "plugins": plugins}).to_string()).unwrap();
        }

        fn switch(folder: &Path, file: &str, switches: &Value) {
            let path = folder.join(".claude").join(file);
            fs::write(path, json!({"enabledPlugins": switches}).to_string()).unwrap();
        }

        fn ids(&self, project: Option<&Path>) -> Vec<String> {
            let mut ids = Vec::new();
            let library = Library::new(installed_sources(&self.home(), project));
            let scan = library.scan(&mut |scanned| {
                ids.push(scanned.skill.id.to_string());
                Ok(())
            });
            assert_eq!(scan.unwrap().skipped, []);
            ids
        }

        fn plugins(&self) -> AgentPlugins {
            let profile = &crate::library::agents::profiles()[0];
            AgentPlugins::read(profile.plugins.as_ref().unwrap(), &self.home(), None)
        }
    }

    #[test]
    fn only_the_installed_version_of_a_plugin_that_is_on_is_read() {
        let place = Place::new();
        let new = place.add("m/tools/2.0", "skills/build");
        place.add("m/tools/1.0", "skills/build");
        place.add("m/tools/1.0", "skills/gone");
        let off = place.add("m/off/1.0", "skills/off");
        let unsaid = place.add("m/unsaid/1.0", "skills/unsaid");
        place.add("m/foreign/1.0", "skills/foreign");
        let clone = place.home().join(".claude/plugins/marketplaces/m/tools/skills/build");
        fs::create_dir_all(&clone).unwrap();
        fs::write(clone.join("SKILL.md"), "---\nname: c\ndescription: d\n---\n").unwrap();
        Place::switch(
            &place.home(),
            "settings.json",
            &json!({"tools@m": true, "off@m": false, "foreign@m": true}),
        );
        assert_eq!(place.ids(None), Vec::<String>::new(), "without installed_plugins.json");
        assert!(place.plugins().notes[0].contains("is not there"));

        let single = |path: &Path| json!({"version": "1.0", "installPath": path});
        place.install(&json!({
            "tools@m": single(&new), "off@m": single(&off), "unsaid@m": single(&unsaid),
        }));
        assert_eq!(place.ids(None), ["claude-code-plugins/tools/build"]);
        assert_eq!(place.plugins().off, ["off@m", "unsaid@m"]);
    }

    #[test]
    fn the_settings_of_the_project_win_and_scopes_count() {
        let place = Place::new();
        let (user, own) = (place.add("m/a/1", "skills/a"), place.add("m/a/2", "skills/b"));
        let other = place.add("m/c/1", "skills/c");
        let project = place.project();
        let elsewhere = place.dir.path().join("elsewhere");
        place.install(&json!({
            "a@m": [
                {"scope": "user", "installPath": user},
                {"scope": "project", "installPath": own, "projectPath": project},
            ],
            "c@m": [{"scope": "local", "installPath": other, "projectPath": elsewhere}],
        }));
        Place::switch(&place.home(), "settings.json", &json!({"a@m": true, "c@m": true}));
        assert_eq!(place.ids(None), ["claude-code-plugins/a/a"]);
        assert_eq!(place.ids(Some(&project)), ["claude-code-plugins/a/b"]);
        assert_eq!(
            place.ids(Some(&elsewhere)),
            ["claude-code-plugins/a/a", "claude-code-plugins/c/c"]
        );
        Place::switch(&project, "settings.json", &json!({"a@m": false}));
        assert!(place.ids(Some(&project)).is_empty());
        Place::switch(&project, "settings.local.json", &json!({"a@m": true}));
        assert_eq!(place.ids(Some(&project)), ["claude-code-plugins/a/b"]);
    }

    #[test]
    fn settings_may_have_comments_but_no_endless_nesting() {
        let place = Place::new();
        let root = place.add("m/p/1", "skills/a");
        place.install(&json!({"p@m": [{"installPath": root}]}));
        let settings = place.home().join(".claude/settings.json");
        let text = "{ // mine\n\"enabledPlugins\": {\"p@m\": true,}, /* more */ }";
        fs::write(&settings, text).unwrap();
        assert_eq!(place.ids(None), ["claude-code-plugins/p/a"]);
        let deep = format!("{{\"enabledPlugins\": {}", "[".repeat(100_000));
        fs::write(&settings, deep).unwrap();
        assert!(place.ids(None).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn settings_of_a_project_are_no_link_elsewhere_and_have_an_end() {
        use std::os::unix::fs::symlink;

        let place = Place::new();
        let root = place.add("m/p/1", "skills/a");
        place.install(&json!({"p@m": [{"installPath": root}]}));
        Place::switch(&place.home(), "settings.json", &json!({"p@m": true}));
        let elsewhere = place.dir.path().join("elsewhere.json");
        fs::write(&elsewhere, json!({"enabledPlugins": {"p@m": false}}).to_string()).unwrap();
        let project = place.project();
        let settings = project.join(".claude/settings.json");
        let read = || {
            let profile = &crate::library::agents::profiles()[0];
            let plugins = profile.plugins.as_ref().unwrap();
            AgentPlugins::read(plugins, &place.home(), Some(&project))
        };
        for target in [elsewhere.as_path(), Path::new("/dev/zero")] {
            symlink(target, &settings).unwrap();
            let plugins = read();
            assert_eq!(plugins.on.len(), 1);
            assert!(plugins.notes[0].contains("is a link out of the project"));
            fs::remove_file(&settings).unwrap();
        }
        // A link within the project is fine; a device or a text without an end is not.
        Place::switch(&project, "other.json", &json!({"p@m": false}));
        symlink("other.json", &settings).unwrap();
        assert_eq!(read().on.len(), 0);
        fs::remove_file(&settings).unwrap();
        fs::write(&settings, " ".repeat(MAX_BYTES + 1)).unwrap();
        assert!(read().notes[0].contains("is longer than"));
        let own = place.home().join(".claude/settings.json");
        fs::remove_file(&own).unwrap();
        symlink("/dev/zero", &own).unwrap();
        assert!(read().notes[0].contains("it is no plain file"));
    }

    #[test]
    fn a_manifest_may_name_other_folders_but_none_outside() {
        let place = Place::new();
        let root = place.add("m/p/1", "skills/a");
        for skill in ["more/b", "tests/fixture", "single"] {
            place.add("m/p/1", skill);
        }
        place.add("m/secret/1", "skills/secret");
        let skills = json!(["./more/", "./single", "../../secret", "/", "./link"]);
        let manifest = json!({"name": "p", "skills": skills});
        #[cfg(unix)]
        std::os::unix::fs::symlink("../../secret", root.join("link")).unwrap();
        fs::create_dir(root.join(".claude-plugin")).unwrap();
        fs::write(root.join(MANIFEST), manifest.to_string()).unwrap();
        place.install(&json!({"p@m": [{"installPath": root}]}));
        Place::switch(&place.home(), "settings.json", &json!({"p@m": true}));
        let expected = ["a", "b", "single"].map(|id| format!("claude-code-plugins/p/{id}"));
        assert_eq!(place.ids(None), expected);
    }

    #[test]
    fn plugins_of_one_name_are_told_apart_and_skills_may_lie_right_in_them() {
        let place = Place::new();
        let (one, two) = (place.add("m/p/1", "a"), place.add("n/p/1", "a"));
        place.add("m/p/1", "tests/fixture");
        place.install(&json!({"p@m": {"installPath": one}, "p@n": {"installPath": two}}));
        Place::switch(&place.home(), "settings.json", &json!({"p@m": true, "p@n": true}));
        let expected = ["p@m/a", "p@n/a"].map(|id| format!("claude-code-plugins/{id}"));
        assert_eq!(place.ids(None), expected);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_right_in_a_plugin_leads_to_no_folder_outside() {
        let place = Place::new();
        let root = place.add("m/p/1", "a");
        place.add("m/secret/1", "skill");
        std::os::unix::fs::symlink("../../secret/1/skill", root.join("x")).unwrap();
        std::os::unix::fs::symlink("a", root.join("y")).unwrap();
        assert_eq!(skill_folders(&root), [root.join("a"), root.join("y")]);
        fs::remove_file(root.join("y")).unwrap();
        place.install(&json!({"p@m": {"installPath": root}}));
        Place::switch(&place.home(), "settings.json", &json!({"p@m": true}));
        assert_eq!(place.ids(None), ["claude-code-plugins/p/a"]);
    }

    #[test]
    fn half_of_a_surrogate_pair_switches_no_plugin_off() {
        let place = Place::new();
        let root = place.add("m/p/1", "skills/a");
        place.install(&json!({"p@m": [{"installPath": root}]}));
        let settings = r#"{"title": "cut \ud83d", "enabledPlugins": {"p@m": true}}"#;
        fs::write(place.home().join(".claude/settings.json"), settings).unwrap();
        assert_eq!(place.ids(None), ["claude-code-plugins/p/a"]);
        assert!(place.plugins().notes.is_empty());
    }

    #[test]
    fn files_that_do_not_parse_are_told() {
        let place = Place::new();
        let root = place.add("m/p/1", "skills/a");
        place.install(&json!({"p@m": [{"installPath": root}]}));
        fs::write(place.home().join(".claude/settings.json"), "{").unwrap();
        let plugins = place.plugins();
        assert_eq!((plugins.on.len(), plugins.notes.len()), (0, 1));
        place.install(&json!({"p@m": [{"installPath": root}], "q@m": [{"version": "1"}], "r@m": 3,
            "all@m": {"installPath": ""}, "disk@m": {"installPath": "/"}}));
        let switches = json!({"p@m": true, "all@m": true, "disk@m": true});
        Place::switch(&place.home(), "settings.json", &switches);
        assert_eq!((place.plugins().on.len(), place.plugins().notes.len()), (1, 4));
        assert_eq!(place.ids(None), ["claude-code-plugins/p/a"]);
        place.install(&json!([1]));
        assert!(place.plugins().notes[0].contains("no plugin is read"));
    }
}
