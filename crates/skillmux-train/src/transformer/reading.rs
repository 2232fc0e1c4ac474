//! [`SkillText`]: what a network reads of a skill, as the router gives it.

use skillmux::{
    index::{Field, FieldCaps, Index, SkillIdx},
    rerank::SkillStart,
    skill::Skill,
};
use skillmux_models::checkpoint::CheckpointUse;

use crate::{error::Result, split::key_of_name};

/// Parts of a skill that an index keeps a vector of; one without words has none, and counts as 0.
pub(super) const N_PARTS: usize = 2;

/// What a network reads of a skill.
#[derive(Debug, Clone)]
pub(super) struct SkillText {
    pub(super) skill: SkillIdx,
    /// Hash of its name without case and joints.
    pub(super) name_key: u64,
    /// For an encoder: name and description, and the body, as the index has them encoded; those
    /// with words. For a cross-encoder one text, as the router passes it.
    pub(super) parts: Vec<String>,
}

impl SkillText {
    pub(super) fn read(index: &Index, idx: SkillIdx, purpose: CheckpointUse) -> Result<Self> {
        let indexed = index.skill(idx)?;
        let name_key = key_of_name(&indexed.skill.name);
        let parts = match purpose {
            CheckpointUse::PairScorer => vec![SkillStart::default().text(&indexed.skill)],
            _ => parts(&indexed.skill),
        };
        Ok(Self { skill: idx, name_key, parts })
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(String::as_str)
    }
}

fn parts(skill: &Skill) -> Vec<String> {
    let caps = FieldCaps::default();
    let name = caps.capped(Field::Name, &skill.name);
    let description = caps.capped(Field::Description, &skill.description);
    let body = caps.capped(Field::Body, &skill.body);
    let parts: [String; N_PARTS] = [format!("{name}\n{description}"), body.to_owned()];
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}
