//! [`Aliases`]: the ids under which an index knows its skills.

use rustc_hash::FxHashMap;
use skillmux::{
    index::{Index, SkillIdx},
    skill::Skill,
};

use crate::error::Error;

/// Every id that a skill of an index has: its own, and those of the exact duplicates that were
/// merged into it.
#[derive(Debug, Clone, Default)]
pub struct Aliases {
    /// Id and position of the kept skill by any of its ids.
    kept: FxHashMap<String, (String, SkillIdx)>,
}

impl Aliases {
    /// Returns the ids of an index.
    ///
    /// # Errors
    /// That of the index if it is corrupt.
    pub fn of(index: &Index) -> Result<Self, Error> {
        let mut kept: FxHashMap<String, (String, SkillIdx)> = FxHashMap::default();
        for idx in index.skills() {
            let mut ids = index.all_ids(idx)?.into_iter().map(|id| id.as_str().to_owned());
            let Some(own) = ids.next() else { continue };
            for id in ids {
                kept.entry(id).or_insert_with(|| (own.clone(), idx));
            }
            // A skill's own id goes before that of a copy, which may be the same.
            kept.insert(own.clone(), (own, idx));
        }
        Ok(Self { kept })
    }

    /// Returns the id by which the index knows a skill, or nothing if it does not have it.
    pub(crate) fn resolve(&self, id: &str) -> Option<&str> {
        self.kept.get(id).map(|(own, _)| own.as_str())
    }

    /// Returns the position of the skill that has this id, or of which an exact copy has it.
    pub(crate) fn position(&self, id: &str) -> Option<SkillIdx> {
        self.kept.get(id).map(|(_, idx)| *idx)
    }

    /// Returns the text of a skill from the index that these are the ids of, for [`Lookup`].
    ///
    /// # Errors
    /// That of the index if it is corrupt.
    pub fn skill(&self, index: &Index, id: &str) -> Result<Option<Skill>, Error> {
        match self.kept.get(id) {
            Some((_, idx)) => Ok(Some(index.skill(*idx)?.skill)),
            None => Ok(None),
        }
    }
}

/// Returns the text of a skill, or nothing if the library does not have it.
pub type Lookup<'a> = dyn Fn(&str) -> Result<Option<Skill>, Error> + 'a;
