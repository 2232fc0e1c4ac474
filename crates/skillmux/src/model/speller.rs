//! [`Speller`]: the port of what knows how words are written.

/// Knows how words are written.
pub trait Speller: Send + Sync {
    /// Returns whether a word in lower case is written as it should be, as far as this knows.
    fn is_spelled_right(&self, word: &str) -> bool;

    /// Returns whether it has a word as it is, and not only its term or its stem.
    fn has_whole_word(&self, word: &str) -> bool;

    /// Returns the words that a word may be meant for, of those that it knows and of `more`: the
    /// nearest, best first; none if it knows the word, or none that is near. All words are in lower
    /// case.
    fn nearest(&self, word: &str, more: &[String]) -> Vec<String>;
}
