//! [`TextSystem`]: the systems that one word names, and that rank by a text of the skills.

use std::fmt;

use super::{
    context::SystemContext, contract::System, dense::Dense, skill_text::SkillText, tfidf::Tfidf,
};
use crate::error::Error;

/// A system that ranks by a text of the skills.
pub(super) struct TextSystem {
    /// What names it in a spec.
    pub(super) name: &'static str,
    open: Open,
}

/// Makes a system; what it has to build is built now.
type Open = for<'a> fn(SkillText, &SystemContext<'a>) -> Result<Box<dyn System + 'a>, Error>;

/// Every such system.
static TEXT_SYSTEMS: [TextSystem; 2] = [
    TextSystem {
        name: "tfidf",
        open: |text, context| Ok(Box::new(Tfidf::open(text, context.index())?)),
    },
    TextSystem {
        name: "dense",
        open: |text, context| {
            let encoder = context.encoder_for(&format!("dense{}", text.suffix()))?;
            Ok(Box::new(Dense::open(text, context.index(), encoder)?))
        },
    },
];

impl TextSystem {
    /// Returns the system of a name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        TEXT_SYSTEMS.iter().find(|system| system.name == name)
    }

    /// Opens the system over a text of the skills.
    pub(super) fn open<'a>(
        &self,
        text: SkillText,
        context: &SystemContext<'a>,
    ) -> Result<Box<dyn System + 'a>, Error> {
        (self.open)(text, context)
    }
}

impl PartialEq for TextSystem {
    /// No two systems have one name.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for TextSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
