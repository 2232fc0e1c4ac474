//! Word lists that say other languages in English: [`RunLexicon`] for writing without blanks,
//! [`WordLexicon`] for writing with them, and `Lexicons`, all of the binary.

#[cfg(feature = "embedded")]
mod embedded;
mod runs;
mod words;

#[cfg(feature = "embedded")]
pub(crate) use embedded::{Chinese, Lexicons, N_BYTES};
pub use runs::{RunLexicon, Writing};
pub use words::{Reading, WordLexicon};

/// What the log-odds of a skill lose that a word list found, but for the Chinese one. Few libraries
/// have skills in these languages.
const DISCOUNT: f32 = 0.25;
