//! [`write()`]: the files that bring a list about.

use std::{
    fs, iter,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::Serialize;
use serde_json::{Map, Value, json};
use skillmux::library::{
    COPIES_MARK,
    agents::{InstalledSkill, Kept, Remedy},
};

use super::place::Copies;
use crate::{
    error::CliError,
    folder::{DRAFT_PREFIX, NewFile, make_folder, replace_file},
};

/// What was written.
#[derive(Serialize)]
pub(crate) struct Out {
    /// The folder.
    pub(crate) folder: PathBuf,
    /// The settings to copy.
    pub(crate) settings: PathBuf,
    /// Number of copies.
    pub(crate) n_copies: usize,
}

/// Begins the line of the mark that says for which agent a folder was written.
const AGENT: &str = "agent: ";

/// What a run did to a folder.
pub(super) struct Written {
    /// What was written; `None` where the list needs nothing.
    pub(super) out: Option<Out>,
    /// Whether the folder is of an earlier run, of which the agent's settings may still have lines.
    pub(super) is_again: bool,
}

/// Writes settings, and copies where the agent needs them; nothing where the list needs neither.
/// What an earlier run for this agent wrote into the folder then stays, because lines in the
/// settings may have switched the originals off. Otherwise it goes; what else is in the folder
/// stays.
///
/// # Errors
/// If the folder holds something and is of no earlier run, or of one for another agent.
pub(super) fn write(
    agent: &str,
    copies: &Copies,
    skills: &[&InstalledSkill],
    kept: &[Kept],
) -> anyhow::Result<Written> {
    let folder = &copies.folder;
    let earlier = earlier_mark(agent, folder)?;
    let is_again = earlier.is_some();
    if kept.iter().all(|kept| *kept == Kept::Whole) {
        return Ok(Written { out: None, is_again });
    }
    if let Some(mark) = earlier {
        clear(&mark, folder)?;
    }
    let (name, text) = settings(copies.remedy, skills, kept)?;
    let mut files: Vec<(&Path, String)> = Vec::new();
    for (at, skill) in skills.iter().enumerate() {
        let description = match &kept[at] {
            Kept::Shortened(text) => text,
            // Agents refuse a skill without a description.
            Kept::Name => "-",
            _ => continue,
        };
        files.extend(copies.path_of(at).map(|path| (path, copy(skill, description))));
    }
    let n_copies = files.len();
    make_folder(folder)?;
    // The mark comes first: without it, what a run leaves that was stopped would be taken for the
    // user's, and the copies for skills.
    let paths = files.iter().filter_map(|(path, _)| path.strip_prefix(folder).ok());
    let paths = paths.chain([Path::new(name)]).map(|path| path.display().to_string());
    let mark: Vec<String> = iter::once(format!("{AGENT}{agent}")).chain(paths).collect();
    write_here(&folder.join(COPIES_MARK), &mark.join("\n"))?;
    for (path, text) in &files {
        make_own_folder(path.parent().unwrap_or(folder))?;
        write_here(path, text)?;
    }
    write_here(&folder.join(name), &text)?;
    let out = Out { folder: folder.clone(), settings: folder.join(name), n_copies };
    Ok(Written { out: Some(out), is_again })
}

/// Writes a file into a folder of copies. A link there is replaced: the folder may be of a project
/// that somebody else made, and what the link leads to is not ours.
fn write_here(path: &Path, text: &str) -> anyhow::Result<()> {
    replace_file(path, text.as_bytes(), NewFile::Shared, DRAFT_PREFIX)
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Makes the folder of a copy; a link to a folder is none.
fn make_own_folder(path: &Path) -> anyhow::Result<()> {
    if is_own_folder(path) {
        return Ok(());
    }
    if fs::symlink_metadata(path).is_ok() {
        return Err(CliError::OutExists { path: path.to_owned() }.into());
    }
    fs::create_dir(path).with_context(|| format!("cannot make the folder `{}`", path.display()))
}

fn is_own_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Returns the mark of an earlier run for the agent; `None` if the folder is not there or empty.
///
/// # Errors
/// If the folder holds something and is of no earlier run, or of one for another agent.
fn earlier_mark(agent: &str, folder: &Path) -> anyhow::Result<Option<String>> {
    let Ok(mut entries) = fs::read_dir(folder) else { return Ok(None) };
    let mark = folder.join(COPIES_MARK);
    let is_file = fs::symlink_metadata(&mark).is_ok_and(|found| found.is_file());
    let written = if is_file { fs::read_to_string(&mark).ok() } else { None };
    let Some(written) = written else {
        return match entries.next() {
            Some(_) => Err(CliError::OutExists { path: folder.to_owned() }.into()),
            None => Ok(None),
        };
    };
    let other = written.lines().find_map(|line| line.strip_prefix(AGENT)).filter(|of| *of != agent);
    if let Some(other) = other {
        let (path, agent) = (folder.to_owned(), other.to_owned());
        return Err(CliError::OutOfAgent { path, agent }.into());
    }
    Ok(Some(written))
}

/// Removes the files from a folder that a mark names.
fn clear(mark: &str, folder: &Path) -> anyhow::Result<()> {
    let paths = mark.lines().filter(|line| !line.starts_with(AGENT)).chain([COPIES_MARK]);
    for line in paths {
        let relative = Path::new(line);
        // The file is the user's: it may say anything.
        let is_ours =
            relative.components().all(|part| matches!(part, std::path::Component::Normal(_)))
                && relative.components().count() <= 2;
        if !is_ours || line.is_empty() {
            continue;
        }
        let path = folder.join(relative);
        // Below a link is what others own.
        if path.parent().is_some_and(|parent| !is_own_folder(parent)) {
            continue;
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove `{}`", path.display()));
            }
            _ => {}
        }
        if let Some(parent) = path.parent().filter(|parent| *parent != folder) {
            // It stays if something else is in it.
            let _ = fs::remove_dir(parent);
        }
    }
    Ok(())
}

/// Returns the `SKILL.md` that stands for a skill.
fn copy(skill: &InstalledSkill, description: &str) -> String {
    // JSON is YAML.
    let (name, description) = (json!(skill.name), json!(description));
    let folder = Path::new(&skill.path).parent().unwrap_or(Path::new("")).display().to_string();
    format!(
        "---\nname: {name}\ndescription: {description}\n---\nThe text of this skill is in the file `{}`. Read that \
         file now, and do what it says. Paths in it start at its folder, `{folder}`.\n",
        skill.path
    )
}

/// Returns the name and the text of the settings.
fn settings(
    remedy: Remedy,
    skills: &[&InstalledSkill],
    kept: &[Kept],
) -> anyhow::Result<(&'static str, String)> {
    let pairs = || skills.iter().zip(kept);
    Ok(match remedy {
        Remedy::NameOverrides => {
            let value = |kept: &Kept| match kept {
                Kept::Name => Some("name-only"),
                Kept::Hidden => Some("user-invocable-only"),
                _ => None,
            };
            let overrides: Map<String, Value> = pairs()
                .filter_map(|(skill, kept)| Some((skill.name.clone(), value(kept)?.into())))
                .collect();
            ("settings.json", pretty(&json!({ "skillOverrides": overrides }))?)
        }
        Remedy::DisabledPaths => {
            let rule = |(skill, _): (&&InstalledSkill, &Kept)| {
                let path = toml_edit::Value::from(skill.path.as_str());
                format!(
                    "[[skills.config]]\npath = {}\nenabled = false\n\n",
                    path.to_string().trim()
                )
            };
            let rules =
                pairs().filter(|(_, kept)| **kept != Kept::Whole).map(rule).collect::<String>();
            ("config.toml", rules)
        }
        _ => {
            let entries: Map<String, Value> = pairs()
                .filter(|(_, kept)| **kept == Kept::Hidden)
                .map(|(skill, _)| (skill.name.clone(), json!({ "enabled": false })))
                .collect();
            ("openclaw.json", pretty(&json!({ "skills": { "entries": entries } }))?)
        }
    })
}

fn pretty(value: &Value) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}
