//! Word lists of eight languages with their English words, and of the words that name a subject; a
//! crate of its own, since a registry takes ten megabytes a crate.
//!
//! The card of the languages is `assets/lexicon.md`. A line is a word or a phrase, a tab and its English words; none
//! for a word of grammar. Lines of [`CHINESE`] have the frequency of the word between both.

/// Chinese, in simplified characters.
pub static CHINESE: &str = include_str!("../assets/chinese.tsv");

/// French.
pub static FRENCH: &str = include_str!("../assets/french.tsv");

/// German.
pub static GERMAN: &str = include_str!("../assets/german.tsv");

/// Japanese.
pub static JAPANESE: &str = include_str!("../assets/japanese.tsv");

/// Korean.
pub static KOREAN: &str = include_str!("../assets/korean.tsv");

/// Portuguese.
pub static PORTUGUESE: &str = include_str!("../assets/portuguese.tsv");

/// Russian.
pub static RUSSIAN: &str = include_str!("../assets/russian.tsv");

/// Spanish.
pub static SPANISH: &str = include_str!("../assets/spanish.tsv");

/// Which words name a subject: a word of small ASCII letters and digits, a tab, and its weight in
/// hundredths, by the bytes of the word. Its card is `assets/subjects.md`.
pub static SUBJECTS: &str = include_str!("../assets/subjects.tsv");

/// Things of one kind of which a task mostly means one, as `mysql` and `postgres`: a kind a line,
/// with blanks between the things and `/` between the names of a thing. Written by hand.
pub static RIVALS: &str = include_str!("../assets/rivals.txt");
