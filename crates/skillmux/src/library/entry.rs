//! What a source hands to the scan: one [`Entry`] per file or line it looked at.

use std::ops::ControlFlow;

use super::{
    origin::Background,
    report::{Finding, Issue},
};
use crate::skill::{ContentHash, Skill};

/// A skill as a source found it, before it is compared with the others.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) skill: Skill,
    pub(super) hash: ContentHash,
    pub(super) background: Background,
    /// The file, with a line number where a file holds many skills.
    pub(super) location: String,
    /// Whether the model is not to load the skill by itself.
    pub(super) is_for_user_only: bool,
    /// What had to be repaired.
    pub(super) issues: Vec<Issue>,
}

/// The outcome of one file or line.
#[derive(Debug)]
pub(super) enum Entry {
    Found(Box<Found>),
    Skipped(Finding),
}

/// Takes the entries of a source in order; `Break` asks the source to stop reading.
pub(super) type Sink<'a> = dyn FnMut(Entry) -> ControlFlow<()> + 'a;

impl Entry {
    /// Returns the entry of a skill that was read.
    pub(super) fn found(skill: Skill, location: String, issues: Vec<Issue>) -> Self {
        let (hash, background) = (skill.content_hash(), Background::default());
        let is_for_user_only = false;
        Self::Found(Box::new(Found { skill, hash, background, location, is_for_user_only, issues }))
    }

    /// Returns the entry with where the skill comes from.
    pub(super) fn with_background(mut self, background: Background) -> Self {
        if let Self::Found(found) = &mut self {
            found.background = background;
        }
        self
    }

    /// Returns the entry with what its author says about who may load the skill.
    pub(super) fn for_user_only(mut self, is_for_user_only: bool) -> Self {
        if let Self::Found(found) = &mut self {
            found.is_for_user_only = is_for_user_only;
        }
        self
    }

    /// Returns the entry of something that could not be read as a skill.
    pub(super) fn skipped(location: impl Into<String>, issue: Issue) -> Self {
        Self::Skipped(Finding { location: location.into(), issue })
    }

    /// Returns roughly how much memory the entry holds.
    pub(super) fn n_bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Found(found) => {
                    let skill = &found.skill;
                    size_of::<Found>()
                        + found.location.len()
                        + skill.name.len()
                        + skill.description.len()
                        + skill.body.len()
                }
                Self::Skipped(finding) => finding.location.len(),
            }
    }
}
