//! [`Origin`] and [`Background`]: where a skill comes from, and on what terms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decode;
use crate::{skill::Skill, text::clipped};

/// Longest license that is kept, in characters. What is longer is the text of a license, not its
/// name.
const MAX_LICENSE_CHARS: usize = 60;

/// What kind of place a skill was found in. It is told by where a source lies, never by what the
/// source says of itself.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A skill folder of an agent in the home folder.
    Personal,
    /// A skill folder of an agent in a project: it came with the project.
    Project,
    /// A plugin that is installed and switched on.
    Plugin,
    /// Any other folder of skills.
    #[default]
    Library,
    /// A file of many skills: shards, or a list.
    Registry,
}

impl Origin {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Personal, Self::Project, Self::Plugin, Self::Library, Self::Registry];

    /// Returns its name in settings and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Personal => "personal",
            Self::Project => "project",
            Self::Plugin => "plugin",
            Self::Library => "library",
            Self::Registry => "registry",
        }
    }
}

/// Where a skill comes from, and on what terms.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    /// What kind of place it was found in.
    #[serde(default)]
    pub origin: Origin,
    /// Name of its license, as its author wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
}

impl Background {
    /// Returns the background of a skill with this license, on one line and not too long.
    pub(super) fn new(origin: Origin, license: Option<&str>) -> Self {
        let license = license.map(decode::on_one_line).filter(|text| !text.is_empty());
        Self { origin, license: license.map(|text| clipped(&text, MAX_LICENSE_CHARS)) }
    }
}

/// A skill as a scan hands it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedSkill {
    /// The skill.
    pub skill: Skill,
    /// Where it comes from.
    pub background: Background,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for origin in Origin::ALL {
            assert_eq!(serde_json::to_value(origin).unwrap(), origin.as_str());
        }
    }

    #[test]
    fn a_license_is_one_short_line() {
        let license = |text: &str| Background::new(Origin::Library, Some(text)).license;
        assert_eq!(license(" MIT\n"), Some("MIT".to_owned()));
        assert_eq!(license("\n"), None);
        assert_eq!(license(&"a".repeat(99)).unwrap().chars().count(), MAX_LICENSE_CHARS + 1);
    }
}
