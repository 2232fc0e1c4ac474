//! [`Router::trust`] and [`Router::audit`]: how far skills are trusted, and what speaks against
//! them.

use serde::Serialize;

use super::Router;
use crate::{
    error::Result,
    skill::{ContentHash, SkillId},
    trust::TrustNote,
};

/// A skill that something speaks against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suspect {
    /// Identifier.
    pub id: SkillId,
    /// Name.
    pub name: String,
    /// Where the skill comes from.
    pub source: String,
    /// Absolute path of its folder, if it is on disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// How far it is trusted, and what speaks against it.
    pub trust: TrustNote,
    /// Whether it is in no answer.
    pub is_blocked: bool,
}

/// A skill of an index, as pins remember it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentSkill {
    /// Identifier.
    pub id: SkillId,
    /// Where the skill comes from.
    pub source: String,
    /// Hash of name, description and body.
    pub hash: ContentHash,
}

impl Router {
    /// Returns how far a skill is trusted, and what speaks against it; of a skill that is blocked,
    /// too.
    ///
    /// # Errors
    /// [`Error::SkillUnknown`](crate::Error::SkillUnknown) and
    /// [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
    pub fn trust(&self, id: &SkillId) -> Result<TrustNote> {
        let index = self.index();
        let indexed = index.skill(index.find(id)?)?;
        match self.stages().ranker.standing(&index) {
            Some(standing) => standing.note(&indexed, None),
            None => Ok(TrustNote::default()),
        }
    }

    /// Returns whether the user wants a skill in no answer, for its risks.
    ///
    /// # Errors
    /// As for [`Router::trust`].
    pub fn is_blocked(&self, id: &SkillId) -> Result<bool> {
        let index = self.index();
        let Some(standing) = self.stages().ranker.standing(&index) else { return Ok(false) };
        standing.is_blocked(index.find(id)?)
    }

    /// Returns the skills that something speaks against: those that are trusted least come first,
    /// then by id.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
    pub fn audit(&self) -> Result<Vec<Suspect>> {
        let index = self.index();
        let Some(standing) = self.stages().ranker.standing(&index) else { return Ok(Vec::new()) };
        let mut suspects = Vec::new();
        for idx in index.skills() {
            if !standing.may_have_warnings(idx)? {
                continue;
            }
            let indexed = index.skill(idx)?;
            let trust = standing.note(&indexed, None)?;
            if trust.warnings().is_empty() {
                continue;
            }
            let skill = indexed.skill;
            suspects.push(Suspect {
                folder: self.folder_in(&index, &skill.id)?,
                is_blocked: standing.is_blocked(idx)?,
                id: skill.id,
                name: skill.name,
                source: skill.source,
                trust,
            });
        }
        suspects.sort_by_key(|suspect| suspect.trust.tier);
        Ok(suspects)
    }

    /// Returns all skills of the index, by id.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
    pub fn present(&self) -> Result<Vec<PresentSkill>> {
        let index = self.index();
        let present = index.skills().map(|idx| {
            let (id, source) = (index.id(idx)?, index.source(idx)?);
            Ok(PresentSkill { id, source, hash: index.content_hash(idx)? })
        });
        present.collect()
    }
}
