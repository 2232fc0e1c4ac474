//! [`Translator`]: the port of what says a text in another language.

/// Says texts in the language of most skills, English.
pub trait Translator: Send + Sync {
    /// Returns a text in English; `None` for a text without a word to translate. It is for
    /// searching, not for reading.
    fn translate(&self, text: &str) -> Option<Translated>;
}

/// A text in English.
#[derive(Debug, Clone, PartialEq)]
pub struct Translated {
    /// The words of the text, in their order; what is in English already stays.
    pub text: String,
    /// What the log-odds of a skill lose that this text found, as a rank and as a confidence, at
    /// least 0: words of a list are no sentence, and all that was fitted takes them for one.
    pub discount: f32,
}
