//! [`SkillId`]: the stable name of a skill.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Stable name of a skill within a library, such as `documents/pdf-form-filling`.
///
/// For a folder source it is the path of the skill's folder relative to the root, with `/`
/// between the parts; a shard carries it as `skill_id`. It never holds a control character.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
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

impl<'de> Deserialize<'de> for SkillId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_read_has_no_control_characters_either() {
        let id: SkillId = serde_json::from_str(r#""a\n\u001bb/c""#).unwrap();
        assert_eq!(id, SkillId::new("a\n\u{1b}b/c"));
        assert_eq!(id.as_str(), "a??b/c");
        assert_eq!(serde_json::to_string(&id).unwrap(), r#""a??b/c""#);
    }
}
