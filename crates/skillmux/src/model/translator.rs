//! [`Translator`]: the port of what says a text in another language.

/// Says texts in the language of most skills, English.
pub trait Translator: Send + Sync {
    /// Returns a text in English; `None` for a text without a word to translate. It is for
    /// searching, not for reading.
    fn translate(&self, text: &str) -> Option<Translated>;

    /// Returns whether a text is in a language.
    fn is_in(&self, _text: &str, _language: Language) -> bool {
        false
    }
}

/// A text in English.
#[derive(Debug, Clone, PartialEq)]
pub struct Translated {
    /// The words of the text, in their order; what is in English already stays.
    pub text: String,
    /// What the text is in.
    pub language: Language,
    /// The text in its own language without its words of grammar, which a skill in English may hold
    /// by chance: `die`.
    pub content: String,
    /// What the log-odds of a skill lose that the English words found, as a rank and as a
    /// confidence, at least 0: words of a list are no sentence, and all that was fitted takes them
    /// for one.
    pub discount: f32,
}

/// What a text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// Chinese.
    Chinese,
    /// French.
    French,
    /// German.
    German,
    /// Japanese.
    Japanese,
    /// Korean.
    Korean,
    /// Portuguese.
    Portuguese,
    /// Russian.
    Russian,
    /// Spanish.
    Spanish,
}

impl<T: Translator> Translator for &T {
    fn translate(&self, text: &str) -> Option<Translated> {
        (*self).translate(text)
    }

    fn is_in(&self, text: &str, language: Language) -> bool {
        (*self).is_in(text, language)
    }
}
