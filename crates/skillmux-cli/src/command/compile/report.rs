//! [`CompileReport`]: what `skillmux compile` tells.

use std::path::PathBuf;

use serde::Serialize;
use skillmux::library::agents::Remedy;

use super::{history::History, out::Out};

pub(crate) use super::measure::{Routing, Scores};

/// What is told of a list.
#[derive(Serialize)]
pub(crate) struct CompileReport {
    /// Short name of the agent.
    pub(crate) agent: &'static str,
    /// Its name as its makers write it.
    #[serde(skip)]
    pub(crate) name: &'static str,
    /// How the list can be brought about.
    pub(crate) remedy: Remedy,
    /// Characters that the list may have.
    pub(crate) max_chars: usize,
    /// Whether the names of all skills fit.
    pub(crate) has_all_names: bool,
    /// The list that the agent makes by itself.
    pub(crate) today: ListCounts,
    /// The list that was compiled.
    pub(crate) compiled: ListCounts,
    /// A list of all descriptions.
    pub(crate) whole: ListCounts,
    /// How tasks find skills by these lists; `None` where there is nothing to ask.
    pub(crate) routing: Option<Routing>,
    /// What is known of the use of skills.
    pub(crate) history: History,
    /// What was written.
    pub(crate) out: Option<Out>,
    /// The folder of an earlier run, of which the agent's settings may still have lines.
    pub(crate) earlier_folder: Option<PathBuf>,
    /// The skills, strongest first.
    pub(crate) skills: Vec<CompiledSkill>,
}

/// How much a list has.
#[expect(clippy::struct_field_names, reason = "names carry counts")]
#[derive(Serialize)]
pub(crate) struct ListCounts {
    pub(crate) n_chars: usize,
    pub(crate) n_whole: usize,
    pub(crate) n_shortened: usize,
    pub(crate) n_name_only: usize,
    pub(crate) n_hidden: usize,
}

/// What the list has of a skill.
#[derive(Serialize)]
pub(crate) struct CompiledSkill {
    pub(crate) name: String,
    pub(crate) path: String,
    /// Whole, shortened, by name only, or hidden.
    pub(crate) kept: &'static str,
    /// What it was in the list of the agent.
    pub(crate) kept_today: &'static str,
    pub(crate) n_uses: u64,
    /// Characters of the whole description.
    pub(crate) description_chars: usize,
    /// Characters of it that the agent shows by itself.
    pub(crate) today_chars: usize,
    /// Characters of it in the compiled list.
    pub(crate) compiled_chars: usize,
    /// What the compiled list says beside the name.
    pub(crate) text: String,
}
