//! [`SkillId`]: the stable name of a skill.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stable name of a skill within a library, such as `documents/pdf-form-filling`.
///
/// For a folder source it is the path of the skill's folder relative to the root, with `/`
/// between the parts; a shard carries it as `skill_id`. It never holds a control character.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct SkillId(String);

impl SkillId {
    /// Returns the id with control characters replaced by `?`, so that it prints on one line.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        if id.contains(char::is_control) {
            Self(id.replace(char::is_control, "?"))
        } else {
            Self(id)
        }
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
