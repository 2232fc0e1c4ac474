//! [`SkillText`]: which text of a skill is looked at.

use skillmux::{
    index::{Field, Index},
    skill::Skill,
};

/// Which text of a skill is looked at (`SkillRouter` §3: name and description, or the body too).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkillText {
    /// Name and description.
    NameDescription,
    /// Name, description and body.
    Full,
}

impl SkillText {
    /// Returns what stands after the name of a system.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::NameDescription => ":nd",
            Self::Full => "",
        }
    }

    /// Returns the name for configurations.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::NameDescription => "name and description",
            Self::Full => "name, description and body",
        }
    }
}

/// Returns the searched text of a skill: its fields under each other, each as far as it is indexed.
pub(super) fn text_of(skill: &Skill, text: SkillText, index: &Index) -> String {
    let caps = index.manifest().field_caps;
    let name = caps.capped(Field::Name, &skill.name);
    let description = caps.capped(Field::Description, &skill.description);
    match text {
        SkillText::NameDescription => format!("{name}\n{description}"),
        SkillText::Full => {
            format!("{name}\n{description}\n{}", caps.capped(Field::Body, &skill.body))
        }
    }
}
