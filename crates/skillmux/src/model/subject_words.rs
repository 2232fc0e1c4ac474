//! [`SubjectWords`]: the port of what knows which words name a subject.

/// Knows which words name a subject, as `kubernetes` does, and which are for every day, as `make`.
///
/// A skill that lacks the subjects of a task seldom helps, whatever else it shares with the task.
/// In a library of a hundred skills nearly every word is in one skill or in none, so that the
/// library cannot tell the two kinds apart.
pub trait SubjectWords: Send + Sync {
    /// Returns how much a word in lower case names a subject, in `[0, 1]`; 0 for one for every day.
    fn weight(&self, word: &str) -> f32;

    /// Returns the kind of thing that a word in lower case names, and which of that kind: `mysql`
    /// and `postgres` are two databases, `postgres` and `postgresql` are one. `None` if it names
    /// nothing that has a rival.
    fn kind(&self, word: &str) -> Option<Kind> {
        let _ = word;
        None
    }
}

/// What a word names, as [`SubjectWords::kind`] tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Number of the kind: one for all databases.
    pub kind: u16,
    /// Number of the thing within the kind.
    pub thing: u16,
}

impl Kind {
    /// Returns whether both are of one kind, and not the same thing.
    pub fn is_rival_of(self, other: Self) -> bool {
        self.kind == other.kind && self.thing != other.thing
    }
}
