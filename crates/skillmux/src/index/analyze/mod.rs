//! Turns text into index terms: the same way for skills and for queries.
//!
//! - Words are lower-cased; English words are stemmed (Snowball) and stop words dropped.
//! - Identifiers such as `pdf-table_extractV2` give their parts of two and more letters or digits
//!   (`pdf`, `tabl`, `extract`) and themselves without the joints (`pdftableextractv2`), so that
//!   all spellings of a name meet.
//! - Chinese, kana and Hangul give overlapping character pairs. Measured on the 500 Chinese
//!   queries of `queries-train`, pairs find more than the words of a dictionary segmenter
//!   (Hit@1 0.38 against 0.35), need no dictionary, and start at once.
//!
//! ```
//! use skillmux::index::Analyzer;
//!
//! let mut terms = Vec::new();
//! Analyzer::new().for_each_term("Extract the tables with pdf-table_extractV2", &mut |term| {
//!     terms.push(term.to_owned());
//! });
//! assert_eq!(terms, ["extract", "tabl", "pdf", "tabl", "extract", "pdftableextractv2"]);
//! ```

mod stop_words;
mod terms;

pub(crate) use stop_words::is_stop_word;
pub(crate) use terms::{Term, TermReader, Terms, is_character_pair, is_spaceless};

/// Turns text into index terms.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Analyzer {}

impl Analyzer {
    /// Returns the analyzer.
    pub fn new() -> Self {
        Self {}
    }

    /// Calls `f` with every term of the text, in text order; a term occurs as often as the text says it.
    pub fn for_each_term(self, text: &str, f: &mut dyn FnMut(&str)) {
        self.for_each_term_of(&[text], &mut |_, term| f(term));
    }

    /// Does the same for several texts, whose positions `f` is told; faster than one by one, because
    /// the normal form of a word is worked out once.
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
