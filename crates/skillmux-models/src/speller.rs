//! [`VocabularySpeller`]: how the vocabularies of the encoders are written.

use rustc_hash::FxHashSet;
use skillmux::{model::Speller, text::Analyzer};
use strsim::osa_distance;

/// Fewest letters of a word in which two errors are mended.
const LONG: usize = 8;

/// Fewest letters of a word that another may be meant for.
const MIN_LETTERS: usize = 4;

/// Fewest letters of a word that others are made of, as `bots` of `bot`.
const MIN_STEM: usize = 3;

/// Fewest letters of a term that the term of a word may be meant for: short ones are what is left
/// of many words.
const MIN_TERM: usize = 6;

/// Endings that a word of three letters has as well, as `bots`.
const INFLECTIONS: [&str; 4] = ["s", "es", "ed", "ing"];

/// What makes a word of another, as `copier` of `copy`.
const ENDINGS: [&str; 18] = [
    "s", "es", "ed", "ing", "y", "er", "ers", "able", "ly", "ness", "less", "ful", "ment", "ings",
    "en", "ens", "ened", "ening",
];

/// Knows the words of the transformer and of its base, and the terms of the static encoder, which
/// are those of most public skills.
///
/// A word is meant for another that is one error away, or two from eight letters on: a letter too
/// many, too few, wrong, or swapped with its neighbour (optimal string alignment). The first letter
/// is right. Of terms, their own letters count.
pub struct VocabularySpeller<'v> {
    /// Plain words, lower-cased.
    words: FxHashSet<&'v str>,
    /// Terms as an index has them, mostly without endings.
    terms: FxHashSet<&'v str>,
}

/// Returns the words that are runs of at least so many small letters.
fn plain<'v>(words: impl IntoIterator<Item = &'v str>, min_letters: usize) -> FxHashSet<&'v str> {
    let is_plain =
        |word: &&str| word.len() >= min_letters && word.bytes().all(|c| c.is_ascii_lowercase());
    // How many there are is known before they are put into the set.
    let words: Vec<&str> = words.into_iter().filter(is_plain).collect();
    words.into_iter().collect()
}

impl<'v> VocabularySpeller<'v> {
    /// Returns the speller of these words and terms; what is no run of small letters is left out,
    /// and words below three and terms below four letters.
    pub fn new(
        words: impl IntoIterator<Item = &'v str>,
        terms: impl IntoIterator<Item = &'v str>,
    ) -> Self {
        // A term of three letters may be that of any error: `taks` has the one of `tak`.
        Self { words: plain(words, MIN_STEM), terms: plain(terms, MIN_LETTERS) }
    }

    fn knows_as(&self, word: &str, term: &str) -> bool {
        let is_stop_word = term.is_empty();
        is_stop_word
            || self.words.contains(word)
            || self.terms.contains(word)
            || self.terms.contains(term)
            || self.knows_stem(word)
            || self.knows_compound(word)
    }

    /// Returns whether the word is two known ones in a row, as `helpline`.
    fn knows_compound(&self, word: &str) -> bool {
        let ends = MIN_LETTERS..=word.len().saturating_sub(MIN_LETTERS);
        ends.filter_map(|end| word.split_at_checked(end)).any(|(first, second)| {
            self.words.contains(first) && self.words.contains(second.trim_end_matches('s'))
        })
    }

    /// Returns whether the word is a known one with an ending, by the rules of English spelling.
    fn knows_stem(&self, word: &str) -> bool {
        let stems = ENDINGS.iter().filter_map(|ending| Some((ending, word.strip_suffix(ending)?)));
        let long = stems
            .filter(|(ending, stem)| stem.len() >= MIN_LETTERS || INFLECTIONS.contains(ending));
        long.map(|(_, stem)| stem).any(|stem| {
            let with_e = format!("{stem}e");
            let with_y = stem.strip_suffix('i').map(|start| format!("{start}y"));
            let is_doubled = stem.bytes().rev().take(2).all(|c| stem.ends_with(char::from(c)));
            let single = (is_doubled && stem.len() > MIN_STEM).then(|| &stem[..stem.len() - 1]);
            let stems = [Some(stem), Some(&with_e), with_y.as_deref(), single];
            stems.into_iter().flatten().any(|stem| self.words.contains(stem))
        })
    }
}

/// Returns the last term of a word, which is the whole; none of a stop word.
fn term_of(word: &str) -> String {
    let mut term = String::new();
    Analyzer::new().for_each_term(word, &mut |whole| whole.clone_into(&mut term));
    term
}

impl Speller for VocabularySpeller<'_> {
    fn is_spelled_right(&self, word: &str) -> bool {
        self.knows_as(word, &term_of(word))
    }

    fn has_whole_word(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    fn nearest(&self, word: &str, more: &[String]) -> Vec<String> {
        let term = term_of(word);
        if self.knows_as(word, &term) {
            return Vec::new();
        }
        let near = |known: &str, meant: &str| {
            let n_errors = if meant.len() >= LONG { 2 } else { 1 };
            let is_close = known.len() >= MIN_LETTERS
                && known.as_bytes().first() == meant.as_bytes().first()
                && known.len().abs_diff(meant.len()) <= n_errors;
            is_close.then(|| osa_distance(known, meant)).filter(|distance| *distance <= n_errors)
        };
        // Of equals a whole word comes before a term, whose ending is cut.
        let words = self.words.iter().copied().chain(more.iter().map(String::as_str));
        let words = words.filter_map(|known| Some((near(known, word)?, false, known)));
        let terms = self.terms.iter().copied().filter(|known| known.len() >= MIN_TERM);
        let terms = terms.filter_map(|known| Some((near(known, &term)?, true, known)));
        let mut found: Vec<(usize, bool, &str)> = words.chain(terms).collect();
        found.sort_unstable();
        found.dedup();
        let least = found.first().map_or(0, |(distance, ..)| *distance);
        let nearest = found.into_iter().take_while(|(distance, ..)| *distance == least);
        nearest.map(|(.., word)| word.to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_an_error_is_meant_for_the_nearest_known_ones() {
        let speller = VocabularySpeller::new(
            ["optimize", "query", "form", "copy", "##ing"],
            ["kubernet", "postgr"],
        );
        for (word, is_known) in
            [("query", true), ("postgres", true), ("with", true), ("querry", false)]
        {
            assert_eq!(speller.is_spelled_right(word), is_known, "{word}");
        }
        assert!(
            speller.has_whole_word("query")
                && !speller.has_whole_word("postgres")
                && !speller.has_whole_word("kubernet")
        );
        assert_eq!(speller.nearest("forn", &["for".to_owned()]), ["form"], "no short words");
        assert_eq!(speller.nearest("optmize", &[]), ["optimize"]);
        assert_eq!(speller.nearest("querry", &[]), ["query"]);
        assert_eq!(speller.nearest("qurey", &[]), ["query"]);
        assert_eq!(speller.nearest("kuberntes", &[]), ["kubernet"]);
        assert_eq!(speller.nearest("frontent", &["frontend".to_owned()]), ["frontend"]);
        assert_eq!(speller.nearest("copiex", &["copied".to_owned()]), ["copied"]);
        assert!(speller.nearest("copier", &["copied".to_owned()]).is_empty(), "a word of its own");
        assert!(speller.nearest("formcopy", &["formcopt".to_owned()]).is_empty(), "two words");
        assert_eq!(speller.nearest("copyd", &[]), ["copy"], "no ending of its own");
        let of_short = VocabularySpeller::new(["doc", "bot", "document", "bits"], []);
        assert_eq!(of_short.nearest("docment", &[]), ["document"]);
        assert!(of_short.nearest("bots", &[]).is_empty());
        assert!(speller.nearest("optimizer", &["optimized".to_owned()]).is_empty());
        for known_or_far in ["query", "postgres", "kubernetes", "fork", "norm", "zephyr", "ing"] {
            let expected: &[&str] = if known_or_far == "fork" { &["form"] } else { &[] };
            assert_eq!(speller.nearest(known_or_far, &[]), expected, "{known_or_far}");
        }
    }
}
