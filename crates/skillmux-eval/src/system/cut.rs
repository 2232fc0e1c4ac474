//! [`Cut`]: how many skills from the top of a ranking are loaded.

use std::fmt;

/// How many skills from the top of a ranking are loaded (`SkillComposer` §5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
    /// As many for each task.
    Fixed(usize),
    /// As many as are best for Set F1 on other tasks.
    BestK,
    /// As many as are right for the task, which no router knows.
    OracleK,
}

impl Cut {
    /// Reads what stands after the `@` of a spec.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "best-k" => Some(Self::BestK),
            "oracle-k" => Some(Self::OracleK),
            _ => text.parse().ok().filter(|k| *k > 0).map(Self::Fixed),
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(k) => write!(f, "@{k}"),
            Self::BestK => f.write_str("@best-k"),
            Self::OracleK => f.write_str("@oracle-k"),
        }
    }
}
