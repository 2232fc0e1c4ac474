//! [`QueryOptions`]: which queries are written.

use crate::synth::text::Language;

/// How long a written query is, and whether it needs several skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskKind {
    /// One to three sentences, one skill.
    Short,
    /// A task as long as those of `SkillRouter` (160 words on average), one skill.
    Long,
    /// A task that needs two to four skills in an order.
    Multi,
}

impl TaskKind {
    /// Returns the name, such as `short`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
            Self::Multi => "multi",
        }
    }

    /// Returns how many words or characters are asked for.
    pub(super) fn wanted(self, language: Language) -> (usize, usize) {
        match (self, language) {
            (Self::Short, Language::En) => (12, 40),
            (Self::Short, Language::Zh) => (20, 70),
            (Self::Long | Self::Multi, Language::En) => (100, 250),
            (Self::Long | Self::Multi, Language::Zh) => (150, 400),
        }
    }

    /// Returns how many are taken: from half to the double of what is asked for.
    pub(super) fn bounds(self, language: Language) -> (usize, usize) {
        let (min, max) = self.wanted(language);
        (min / 2, max * 2)
    }

    pub(super) fn form(self) -> &'static str {
        match self {
            Self::Short => "one to three sentences",
            Self::Long | Self::Multi => {
                "a request with all details, as prose or as a brief with parts"
            }
        }
    }
}

/// Which queries are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryOptions {
    /// How long they are, and whether they need several skills.
    pub kind: TaskKind,
    /// Share of the queries that are asked for in Chinese, in `[0, 1]`; the others are English.
    pub share_zh: f64,
}
