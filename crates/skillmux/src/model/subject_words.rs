//! [`SubjectWords`]: the port of what knows which words name a subject.

/// Knows which words name a subject, as `kubernetes` does, and which are for every day, as `make`.
///
/// A skill that lacks the subjects of a task seldom helps, whatever else it shares with the task.
/// In a library of a hundred skills nearly every word is in one skill or in none, so that the
/// library cannot tell the two kinds apart.
pub trait SubjectWords: Send + Sync {
    /// Returns how much a word in lower case names a subject, in `[0, 1]`; 0 for one for every day.
    fn weight(&self, word: &str) -> f32;
}
