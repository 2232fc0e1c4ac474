//! Turns text into index terms: the same way for skills and for queries.
//!
//! - Words are lower-cased; English words are stemmed (Snowball) and stop words dropped. Irregular
//!   forms, British spellings and plurals of acronyms (`PDFs`) count as the word that they are
//!   forms of.
//! - Identifiers such as `pdf-table_extractV2` give their parts of two and more letters or digits,
//!   beside a hump of three and more (`pdf`, `tabl`, `extract`) and themselves without the joints
//!   (`pdftableextractv2`), so that all spellings of a name meet.
//! - Chinese, kana and Hangul give overlapping character pairs. Measured on the 500 Chinese queries
//!   of `queries-train`, pairs find more than the words of a dictionary segmenter (Hit@1 0.38
//!   against 0.35), need no dictionary, and start at once. Traditional characters count as their
//!   simplified forms.
//!
//! ```
//! use skillmux::text::Analyzer;
//!
//! let mut terms = Vec::new();
//! Analyzer::new().for_each_term("Extract the tables with pdf-table_extractV2", &mut |term| {
//!     terms.push(term.to_owned());
//! });
//! assert_eq!(terms, ["extract", "tabl", "pdf", "tabl", "extract", "pdftableextractv2"]);
//! ```

mod analyzer;
mod english;
mod feature_place;
mod first_words;
mod forms;
mod half_pairs;
mod sanitise;
mod script;
mod shingles;
mod simplified;
mod stop_words;
mod terms;
mod tokens;

pub use analyzer::Analyzer;
pub(crate) use english::is_english;
pub(crate) use feature_place::feature_place;
pub(crate) use first_words::first_words;
pub use half_pairs::without_half_pairs;
pub(crate) use sanitise::is_mongolian_selector;
pub use sanitise::{clipped, escaped_json, is_hidden, is_joiner, one_line, printable, shown_path};
pub(crate) use script::is_mongolian;
pub(crate) use script::spaceless_share_of_words;
pub use script::{
    is_common_han, is_han, is_hiragana, is_kana, is_latin, is_spaceless, spaceless_share,
};
pub use shingles::for_each_shingle;
pub use simplified::simplified;
pub use stop_words::is_stop_word;
pub use tokens::estimate_tokens;

pub(crate) use shingles::mix;
pub(crate) use terms::{Term, TermReader, Terms, is_character_pair, parts_of};
