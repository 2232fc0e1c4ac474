//! [`Profiles`]: which skills work together, for composers that ask.

use std::{cell::RefCell, collections::HashMap};

use crate::{compose::SkillProfile, error::Result, index::Index, skill::SkillId};

/// What the skills say of themselves that a composer has asked about.
pub(super) struct Profiles<'a> {
    index: &'a Index,
    read: RefCell<HashMap<SkillId, SkillProfile>>,
}

impl<'a> Profiles<'a> {
    pub(super) fn new(index: &'a Index) -> Self {
        Self { index, read: RefCell::default() }
    }

    /// Returns how well the second of two skills works after the first, in `[0, 1]`.
    pub(super) fn compatibility(&self, before: &SkillId, after: &SkillId) -> Result<f32> {
        let mut read = self.read.borrow_mut();
        for id in [before, after] {
            if !read.contains_key(id) {
                let indexed = self.index.skill(self.index.find(id)?)?;
                read.insert(id.clone(), SkillProfile::of(&indexed.skill));
            }
        }
        Ok(read[before].followed_by(&read[after]))
    }
}
