//! [`Passage`]: what a cross-encoder reads of a skill.

use super::RerankRequest;
use crate::{error::Result, index::IndexedSkill, skill::Skill};

/// Chooses the text of a skill that a [`PairScorer`](crate::model::PairScorer) reads with a query.
///
/// The contract: one text for each skill, in their order; the same query and skill give the same
/// text, whatever the other skills are.
pub trait Passage: Send + Sync {
    /// Returns the name of the choice, with its constants.
    fn identity(&self) -> String;

    /// Returns the texts.
    ///
    /// # Errors
    /// Those of reading the index.
    fn texts(&self, request: &RerankRequest<'_>, skills: &[IndexedSkill]) -> Result<Vec<String>>;
}

/// Reads `name | description | body`, each from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillStart {
    /// Most characters of the description.
    pub description_chars: usize,
    /// Most characters of the body.
    pub body_chars: usize,
}

impl Default for SkillStart {
    /// The form that `SkillRouter`'s reranker was trained with (its published `flat-full`).
    fn default() -> Self {
        Self { description_chars: 500, body_chars: 2000 }
    }
}

impl SkillStart {
    /// Returns the text of a skill, which is the same for every query.
    pub fn text(&self, skill: &Skill) -> String {
        let description = beginning(&skill.description, self.description_chars);
        let body = beginning(&skill.body, self.body_chars);
        format!("{} | {description} | {body}", skill.name)
    }
}

impl Passage for SkillStart {
    fn identity(&self) -> String {
        format!("start {}+{}", self.description_chars, self.body_chars)
    }

    fn texts(&self, _request: &RerankRequest<'_>, skills: &[IndexedSkill]) -> Result<Vec<String>> {
        Ok(skills.iter().map(|indexed| self.text(&indexed.skill)).collect())
    }
}

/// Returns the first characters of a text.
pub(super) fn beginning(text: &str, n_chars: usize) -> &str {
    text.char_indices().nth(n_chars).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_counted_in_characters() {
        assert_eq!(beginning("表格 tables", 2), "表格");
        assert_eq!(beginning("tables", 6), "tables");
        assert_eq!(beginning("tables", 0), "");
    }
}
