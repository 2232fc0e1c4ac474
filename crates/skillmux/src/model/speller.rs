//! [`Speller`]: the port of what knows how words are written.

/// Knows how words are written.
pub trait Speller: Send + Sync {
    /// Returns known words that a word may be meant for, best first and nearest alone; none if the word is known, or near none. The
    /// word is in lower case.
    fn meant(&self, word: &str) -> Vec<String>;
}
