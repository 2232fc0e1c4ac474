//! [`Report`]: what `skillmux doctor` found, for people and for machines.

use std::{fmt::Write as _, path::PathBuf};

use serde::Serialize;
use skillmux::{
    library::agents::{AgentPlugins, AgentSkills, Problem},
    text::{clipped, one_line},
};

use super::paint::{BAD, FAINT, GOOD, NOTE, STRONG, counted, grouped, styled};
use crate::{named_file::UnreadFile, wiring::Wired};

/// Problems of each kind that are shown unless all are asked for.
const N_SHOWN: usize = 3;

/// Characters of a line; names and paths may be longer.
const MAX_LINE_CHARS: usize = 300;

/// Kinds of problems, in the order in which they are shown, and what they mean.
const KINDS: [(&str, &str); 8] = [
    ("dropped", "not in the list that the model sees (about: the list is full)"),
    ("name only", "the list has the name, and not the description (about: the list is full)"),
    ("shortened", "only the start of the description is in the list (about)"),
    ("shadowed", "another skill of this name is stronger"),
    ("duplicate", "another file has the same text"),
    ("broken", "the file breaks the Agent Skills specification"),
    ("not for the model", "`disable-model-invocation`: the model never loads it by itself"),
    ("not read", "skillmux does not read it"),
];

/// What `skillmux doctor` found.
#[derive(Serialize)]
pub(crate) struct Report {
    /// One for each agent.
    pub(crate) agents: Vec<AgentReport>,
    pub(crate) own_index: Option<OwnIndex>,
    /// Why an index of the user's own cannot be opened, so that nothing is answered from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) own_index_error: Option<String>,
    /// What the settings file of skillmux names and cannot be read.
    pub(crate) unread_files: Vec<UnreadFile>,
    /// Why it cannot be told whom the user trusts, so that nothing is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trust_error: Option<String>,
    /// Why the prompt hook names no skill, if it never names one.
    pub(crate) silent_hook: Option<String>,
}

impl Report {
    /// Returns whether there is no problem.
    pub(crate) fn is_healthy(&self) -> bool {
        let is_healthy = |report: &AgentReport| {
            report.skills.problems.is_empty() && report.settings_error.is_none()
        };
        self.agents.iter().all(is_healthy)
            && self.unread_files.is_empty()
            && self.own_index_error.is_none()
            && self.trust_error.is_none()
    }
}

/// What is told of one agent.
#[derive(Serialize)]
pub(crate) struct AgentReport {
    /// Short name.
    pub(crate) agent: &'static str,
    /// Name as its makers write it.
    pub(crate) name: &'static str,
    /// Whether skillmux is in its settings; `None` where they cannot be read.
    pub(crate) skillmux: Option<Wired>,
    /// What its settings call in place of this program, if that may be another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) other_program: Option<String>,
    /// Why its settings cannot be read, where they cannot.
    pub(crate) settings_error: Option<String>,
    /// Characters of its list of skills, where a limit is known.
    pub(crate) listing_chars: Option<usize>,
    #[serde(flatten)]
    pub(crate) skills: AgentSkills,
}

/// An index of the user's own, which stands in the place of the skills of the agents.
#[derive(Serialize)]
pub(crate) struct OwnIndex {
    /// Its folder.
    pub(crate) path: PathBuf,
    /// Number of its skills.
    pub(crate) n_skills: usize,
}

/// Shows a block for each agent: counts first, then examples.
pub(crate) fn text(report: &Report, shows_all: bool) -> String {
    let Report {
        agents: reports,
        own_index,
        own_index_error,
        unread_files,
        trust_error,
        silent_hook,
    } = report;
    let mut text = String::new();
    for report in reports {
        if !text.is_empty() {
            text.push('\n');
        }
        agent_text(&mut text, report, shows_all);
    }
    if !unread_files.is_empty() {
        let headline = format!("{} cannot be read:", grouped(unread_files.len()));
        let _ = writeln!(
            text,
            "\n{} files or folders that the settings file of skillmux names",
            styled(BAD, &headline)
        );
    }
    for UnreadFile { setting, path, detail } in unread_files {
        let _ = writeln!(text, "    {}", line(&format!("{setting}: {}: {detail}", path.display())));
    }
    if let Some(error) = own_index_error {
        let headline = styled(BAD, "the default index cannot be used:");
        let _ = writeln!(text, "\n{headline} {}", one_line(error));
    }
    if let Some(error) = trust_error {
        let headline = styled(BAD, "skillmux cannot tell whom you trust, and answers nothing:");
        let _ = writeln!(text, "\n{headline} {}", one_line(error));
    }
    if let Some(OwnIndex { path, n_skills }) = own_index {
        let _ = writeln!(
            text,
            "\n{} skillmux answers from the default index with {} {}, and not from the skills of these \
             agents. To go back, remove `{}`",
            styled(NOTE, "note:"),
            grouped(*n_skills),
            if *n_skills == 1 { "skill" } else { "skills" },
            path.display(),
        );
    }
    if let Some(why) = silent_hook {
        let _ = writeln!(
            text,
            "\n{} the prompt hook names no skill: {}",
            styled(NOTE, "note:"),
            one_line(why)
        );
    }
    let is_full = |report: &&AgentReport| {
        let mut problems = report.skills.problems.iter();
        let is_of_list = |it: &Problem| {
            matches!(
                it,
                Problem::Dropped { .. } | Problem::NameOnly { .. } | Problem::Shortened { .. }
            )
        };
        report.listing_chars.is_some() && problems.any(is_of_list)
    };
    for report in reports.iter().filter(is_full) {
        let line = format!(
            "hint: `skillmux compile --agent {}` fits its list into the limit",
            report.agent
        );
        let _ = writeln!(text, "\n{}", styled(NOTE, &line));
    }
    let is_wired = |report: &AgentReport| match report.skillmux {
        Some(Wired { mcp, hook }) => mcp && hook != Some(false),
        None => true,
    };
    if !reports.iter().all(is_wired) {
        let line = "hint: `skillmux init` adds skillmux to the settings of these agents";
        let _ = writeln!(text, "\n{}", styled(NOTE, line));
    }
    text
}

fn agent_text(text: &mut String, report: &AgentReport, shows_all: bool) {
    let skills = &report.skills;
    let n_skills = counted(skills.n_skills, "skill", "skills");
    let listed = match report.listing_chars {
        Some(max_chars) => {
            let described = match skills.n_described {
                n if n == skills.n_listed => String::new(),
                n => format!(", about {} of them with a description", grouped(n)),
            };
            format!(
                ", about {} in its list of {} characters{described}",
                grouped(skills.n_listed),
                grouped(max_chars)
            )
        }
        None => format!(", {} in its list", grouped(skills.n_listed)),
    };
    let of_plugins = match skills.n_of_plugins {
        0 => String::new(),
        n => format!(" ({} of plugins)", grouped(n)),
    };
    let _ = writeln!(text, "{} · {n_skills}{of_plugins}{listed}", styled(STRONG, report.name));
    for folder in &skills.folders {
        let _ = writeln!(text, "  {:>5}  {}", grouped(folder.n_skills), line(&folder.path));
    }
    plugins_text(text, &skills.plugins);
    match (&report.skillmux, &report.settings_error) {
        (Some(wired), _) => {
            let _ = writeln!(text, "  skillmux: {}", wired_text(*wired));
            if let Some(other) = &report.other_program {
                let _ = writeln!(text, "    {} {}", styled(NOTE, "note:"), line(other));
            }
        }
        (None, error) => {
            let error = line(error.as_deref().unwrap_or_default());
            let _ = writeln!(text, "  {} {error}", styled(BAD, "settings:"));
        }
    }
    if skills.problems.is_empty() {
        let _ = writeln!(text, "  {}", styled(GOOD, "no problem with its skills"));
    }
    for (kind, meaning) in KINDS {
        let of_kind: Vec<&Problem> =
            skills.problems.iter().filter(|problem| problem.kind() == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let headline = format!("{} {kind}:", grouped(of_kind.len()));
        let _ = writeln!(text, "  {} {meaning}", styled(BAD, &headline));
        let n_shown = if shows_all { of_kind.len() } else { N_SHOWN };
        for problem in of_kind.iter().take(n_shown) {
            let _ = writeln!(text, "    {}", line(&problem.to_string()));
        }
        if of_kind.len() > n_shown {
            let rest = format!("... and {} more (--all)", grouped(of_kind.len() - n_shown));
            let _ = writeln!(text, "    {}", styled(FAINT, &rest));
        }
    }
}

/// Says which plugins are on, and what is not known of them.
fn plugins_text(text: &mut String, plugins: &AgentPlugins) {
    let AgentPlugins { on, off, notes, .. } = plugins;
    if !on.is_empty() || !off.is_empty() {
        let names: Vec<&str> = off.iter().map(String::as_str).collect();
        let off = match names.as_slice() {
            [] => String::new(),
            names => format!(", {} off and not read: {}", names.len(), names.join(", ")),
        };
        let _ = writeln!(text, "  plugins: {}", line(&format!("{} on{off}", on.len())));
    }
    for note in notes {
        let _ = writeln!(text, "  {} {}", styled(NOTE, "plugins:"), line(note));
    }
}

fn wired_text(Wired { mcp, hook }: Wired) -> String {
    let yes_or_no = |is_there| if is_there { "yes" } else { "no" };
    let hook = match hook {
        Some(is_there) => format!("prompt hook {}", yes_or_no(is_there)),
        None => "this agent has no prompt hook".to_owned(),
    };
    format!("MCP server {}, {hook}", yes_or_no(mcp))
}

fn line(text: &str) -> String {
    clipped(&one_line(text), MAX_LINE_CHARS)
}
