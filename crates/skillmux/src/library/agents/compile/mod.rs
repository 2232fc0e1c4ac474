//! The best list of skills that fits the limit of an agent.

mod fit;
mod fragment;
mod worth;

use super::{
    listing::{Line, Shown},
    profile::Listing,
};

pub use fit::compile;

/// A skill of a list.
#[derive(Debug, Clone, Copy)]
pub struct ListSkill<'a> {
    /// Its name, as the agent lists it.
    pub name: &'a str,
    /// Its description.
    pub description: &'a str,
    /// Its `SKILL.md`.
    pub path: &'a str,
    /// What can be said of it without a change to it.
    pub freedom: Freedom,
    /// How often it was used, as far as that is known.
    pub n_uses: u64,
}

/// What a user can say of a skill in a list without a change to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Freedom {
    /// Nothing: it is always listed, with its description.
    Always,
    /// Whether it is listed.
    Off,
    /// Whether it is listed, and whether with its description.
    Name,
    /// Everything: a copy with another description can stand for it.
    Copy {
        /// Characters of the path of the copy.
        path_chars: usize,
    },
}

/// What a list has of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Its name and its description, up to what the agent shows of one at most.
    Whole,
    /// Its name and parts of its description, in their order and word for word.
    Shortened(String),
    /// Its name.
    Name,
    /// Nothing.
    Hidden,
}

impl Kept {
    /// Returns what the list says beside the name, given the whole description and what the agent
    /// shows of one at most.
    pub fn text<'a>(&'a self, description: &'a str, listing: &Listing) -> &'a str {
        match self {
            Self::Whole => start(description, listing.capped(usize::MAX)),
            Self::Shortened(text) => text,
            Self::Name | Self::Hidden => "",
        }
    }
}

/// A list of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledList {
    /// What it has of each skill, in their order.
    pub kept: Vec<Kept>,
    /// Its characters.
    pub n_chars: usize,
}

/// Why there is no list that fits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// What is always listed does not fit.
    #[error(
        "{n_skills} skills of plugins are always listed and take {n_chars} characters, but the limit is {max_chars}"
    )]
    FixedTooLong {
        /// Skills that are always listed.
        n_skills: usize,
        /// Their characters.
        n_chars: usize,
        /// Characters of the list.
        max_chars: usize,
    },
}

impl CompileError {
    /// Returns what the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::FixedTooLong { .. } => {
                "switch plugins off, or raise the limit in the settings of the agent and name it with --chars"
            }
        }
    }
}

/// Returns the list that the agent makes of these skills by itself. The strongest come first.
///
/// Where its names alone are too long, and the agent keeps them all, the list is longer than the
/// limit.
pub fn listed_today(listing: &Listing, skills: &[ListSkill<'_>]) -> CompiledList {
    let lines: Vec<Line> = skills.iter().map(line).collect();
    let shown = listing.shown(&lines);
    let is_bare = |shown: &Shown| matches!(shown, Shown::Name | Shown::Nothing);
    // Where the tags around descriptions go, they go with all of them.
    let tag_chars = if shown.iter().all(is_bare) { listing.description_line_chars } else { 0 };
    let mut n_chars = listing.head_chars;
    let mut keep = |(skill, (line, shown)): (&ListSkill<'_>, (&Line, Shown))| {
        let bare = listing.bare_chars(line.name_chars, line.path_chars);
        let (kept, n_line) = match shown {
            Shown::Whole => (Kept::Whole, bare + line.description_chars),
            Shown::Start(n) => (Kept::Shortened(start(skill.description, n).to_owned()), bare + n),
            Shown::Name => (Kept::Name, bare - tag_chars),
            Shown::Nothing => (Kept::Hidden, 0),
        };
        n_chars += n_line;
        kept
    };
    let kept = skills.iter().zip(lines.iter().zip(shown)).map(&mut keep).collect();
    CompiledList { kept, n_chars }
}

fn line(skill: &ListSkill<'_>) -> Line {
    Line {
        name_chars: skill.name.chars().count(),
        description_chars: skill.description.chars().count(),
        path_chars: skill.path.chars().count(),
        n_uses: skill.n_uses,
    }
}

/// Returns the first characters of a text.
fn start(text: &str, n_chars: usize) -> &str {
    text.char_indices().nth(n_chars).map_or(text, |(at, _)| &text[..at])
}
