//! [`Analyzer`]: the terms of whole texts, for other crates.

use super::terms::TermReader;

/// Turns text into index terms.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Analyzer {}

impl Analyzer {
    /// Returns the analyzer.
    pub fn new() -> Self {
        Self {}
    }

    /// Calls `f` with every term of the text, in text order; a term occurs as often as the text
    /// says it.
    pub fn for_each_term(self, text: &str, f: &mut dyn FnMut(&str)) {
        self.for_each_term_of(&[text], &mut |_, term| f(term));
    }

    /// Does the same for several texts, whose positions `f` is told; faster than one by one,
    /// because the normal form of a word is worked out once.
    pub fn for_each_term_of(self, texts: &[&str], f: &mut dyn FnMut(usize, &str)) {
        let mut reader = TermReader::new();
        for (position, text) in texts.iter().enumerate() {
            let mut terms = reader.read(text);
            while let Some(term) = terms.advance() {
                f(position, term.text);
            }
        }
    }
}
