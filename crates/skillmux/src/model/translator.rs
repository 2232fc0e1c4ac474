//! [`Translator`]: the port of what says a text in another language.

/// What the log-odds of a skill lose that a translation found, as a rank and as a confidence: words
/// of a lexicon are no sentence, and all that was fitted takes them for one. What was chosen on,
/// and what it costs Chinese skills with an English twin, is in `docs/ranking.md`.
pub(crate) const TRANSLATION_DISCOUNT: f32 = 3.0;

/// Says texts in the language of most skills, English.
pub trait Translator: Send + Sync {
    /// Returns the words of a text in English, in their order; what is in English already stays.
    /// `None` for a text without a word to translate. It is for searching, not for reading.
    fn translate(&self, text: &str) -> Option<String>;
}
