//! [`VocabularySpeller`]: how the vocabularies of the encoders are written.

use std::cmp::Ordering;

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

/// The letters of a keyboard, by row.
const KEYS: [&[u8]; 3] = [b"qwertyuiop", b"asdfghjkl", b"zxcvbnm"];

const VOWELS: &[u8] = b"aeiou";

/// What a word ends with that takes `es`, as `boxes`.
const SIBILANTS: [&str; 5] = ["s", "x", "z", "ch", "sh"];

/// What makes a word of another, as `copier` of `copy`.
const ENDINGS: [&str; 18] = [
    "s", "es", "ed", "ing", "y", "er", "ers", "able", "ly", "ness", "less", "ful", "ment", "ings",
    "en", "ens", "ened", "ening",
];

/// Knows the words of the transformer and of its base, and the terms of the static encoder, which
/// are those of most public skills.
///
/// A word is meant for another that is one error away: a letter too many, too few, wrong, or
/// swapped with its neighbour (optimal string alignment). From eight letters on, it may be two
/// errors away from a word of the library and from a term. The first letter is right. Of terms,
/// their own letters count. Of words that are as far away, those come first which a hand makes of
/// the right one: by a letter that is missing or doubled, or two that are swapped; then by the key
/// beside, or another vowel.
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

    /// Returns whether the word is a stop word, a known one, or a form of one.
    fn knows(&self, word: &str, term: &str) -> bool {
        let is_stop_word = term.is_empty();
        // The term of `create` is `creat`.
        let is_term = self.terms.contains(word) || self.terms.contains(term);
        is_stop_word
            || self.words.contains(word)
            || is_term && !self.words.contains(&*format!("{word}e"))
            || self.knows_stem(word, &INFLECTIONS)
    }

    /// Returns whether the word is known, or made of known ones, as `copier` and `helpline`. One that
    /// is a known one with a slip is not made of others: `statment`.
    fn is_right(&self, word: &str, term: &str) -> bool {
        let is_made = || self.knows_stem(word, &ENDINGS) || self.knows_compound(word);
        self.knows(word, term) || is_made() && !self.is_slip(word)
    }

    /// Returns whether a hand makes the word of a known one.
    fn is_slip(&self, word: &str) -> bool {
        self.words.iter().any(|known| {
            known.len() >= MIN_LETTERS
                && near(known, word, 1).is_some_and(|(_, slip)| slip == Slip::OfHand)
        })
    }

    /// Returns whether the word is two known ones in a row, as `helpline`.
    fn knows_compound(&self, word: &str) -> bool {
        let ends = MIN_LETTERS..=word.len().saturating_sub(MIN_LETTERS);
        ends.filter_map(|end| word.split_at_checked(end)).any(|(first, second)| {
            self.words.contains(first) && self.words.contains(second.trim_end_matches('s'))
        })
    }

    /// Returns whether the word is a known one with one of these endings, by the rules of English
    /// spelling.
    fn knows_stem(&self, word: &str, endings: &[&str]) -> bool {
        let stems = endings.iter().filter_map(|ending| Some((*ending, word.strip_suffix(ending)?)));
        let mut long = stems
            .filter(|(ending, stem)| stem.len() >= MIN_LETTERS || INFLECTIONS.contains(ending));
        long.any(|(ending, stem)| {
            let begins_with_vowel = ending.starts_with(['a', 'e', 'i', 'y']);
            let has = |stem: &str| self.words.contains(stem);
            let is_joined = match ending {
                "s" => !SIBILANTS.iter().any(|end| stem.ends_with(end)),
                "es" => stem.ends_with('o') || SIBILANTS.iter().any(|end| stem.ends_with(end)),
                _ => !(ending.starts_with('e') && stem.ends_with('e')),
            };
            let ends_twice = stem.len() > MIN_STEM && is_doubled(stem.as_bytes(), stem.len() - 1);
            // `bot` has `botted`, but neither `botts` nor `bottted`.
            let has_single = || {
                let is_triple = is_doubled(stem.as_bytes(), stem.len() - 2);
                begins_with_vowel && !is_triple && stem.get(..stem.len() - 1).is_some_and(has)
            };
            is_joined && has(stem)
                || begins_with_vowel && has(&format!("{stem}e"))
                || ends_twice && has_single()
                || stem.strip_suffix('i').is_some_and(|start| has(&format!("{start}y")))
        })
    }
}

/// How one word was made another, which is one error away: the likely ways come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Slip {
    /// A letter is missing or stands twice, or two have changed places.
    OfHand,
    /// The key beside was hit, or a vowel is another one.
    Beside,
    Other,
}

impl Slip {
    /// Returns the slip between two words of small letters that are one error apart.
    fn of(known: &str, meant: &str) -> Self {
        let (known, meant) = (known.as_bytes(), meant.as_bytes());
        let n_same = known.iter().zip(meant).take_while(|(a, b)| a == b).count();
        let at = |word: &[u8], place: usize| word.get(place).copied();
        let (a, b) = (at(known, n_same), at(meant, n_same));
        match known.len().cmp(&meant.len()) {
            Ordering::Greater => Self::OfHand,
            Ordering::Less if is_doubled(meant, n_same) => Self::OfHand,
            Ordering::Equal if (at(known, n_same + 1), at(meant, n_same + 1)) == (b, a) => {
                Self::OfHand
            }
            Ordering::Equal if a.zip(b).is_some_and(are_beside) => Self::Beside,
            _ => Self::Other,
        }
    }
}

/// Returns whether the letter at a place is the one before it.
fn is_doubled(word: &[u8], place: usize) -> bool {
    place > 0 && word.get(place) == word.get(place - 1)
}

/// Returns whether two letters are beside each other on a keyboard, or both are vowels.
fn are_beside((a, b): (u8, u8)) -> bool {
    let mut neighbors = KEYS.iter().flat_map(|row| row.windows(2));
    neighbors.any(|keys| keys == [a, b] || keys == [b, a])
        || VOWELS.contains(&a) && VOWELS.contains(&b)
}

/// Returns how many errors away a known word is from one that is meant for it, and of what kind they
/// are; `None` if it is too far.
fn near(known: &str, meant: &str, max_errors: usize) -> Option<(usize, Slip)> {
    let n_errors = if meant.len() >= LONG { max_errors } else { 1 };
    let is_close = known.as_bytes().first() == meant.as_bytes().first()
        && known.len().abs_diff(meant.len()) <= n_errors;
    let distance = is_close.then(|| osa_distance(known, meant))?;
    let slip = if distance == 1 { Slip::of(known, meant) } else { Slip::Other };
    // Of three letters, an error leaves too little.
    let is_long = known.len() >= MIN_LETTERS || slip == Slip::OfHand && known.len() < meant.len();
    (distance <= n_errors && is_long).then_some((distance, slip))
}

/// Returns the last term of a word, which is the whole; none of a stop word.
fn term_of(word: &str) -> String {
    let mut term = String::new();
    Analyzer::new().for_each_term(word, &mut |whole| whole.clone_into(&mut term));
    term
}

impl Speller for VocabularySpeller<'_> {
    fn is_spelled_right(&self, word: &str) -> bool {
        self.is_right(word, &term_of(word))
    }

    fn has_whole_word(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    fn nearest(&self, word: &str, more: &[String]) -> Vec<String> {
        let term = term_of(word);
        if self.is_right(word, &term) {
            return Vec::new();
        }
        let more = more.iter().filter_map(|known| Some((near(known, word, 2)?, false, &**known)));
        let words = self.words.iter();
        let words = words.filter_map(|known| Some((near(known, word, 1)?, false, *known)));
        // Of equals a whole word comes before a term, whose ending is cut.
        let terms = self.terms.iter().filter(|known| known.len() >= MIN_TERM);
        let terms = terms.filter_map(|known| Some((near(known, &term, 2)?, true, *known)));
        let mut found: Vec<((usize, Slip), bool, &str)> = more.chain(words).chain(terms).collect();
        found.sort_unstable();
        let least = found.first().map(|(errors, ..)| *errors);
        let nearest = found.into_iter().take_while(|(errors, ..)| Some(*errors) == least);
        // A word may be a term, too.
        let mut seen = FxHashSet::default();
        nearest.filter(|(.., word)| seen.insert(*word)).map(|(.., word)| word.to_owned()).collect()
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

    #[test]
    fn what_a_hand_does_comes_first() {
        let speller = VocabularySpeller::new(
            ["with", "width", "when", "warn", "need", "node", "pdf", "puff"],
            [],
        );
        for (word, meant) in [
            ("wiith", "with"),
            ("whrn", "when"),
            ("nede", "need"),
            ("pdff", "pdf"),
            ("wodth", "width"),
        ] {
            assert_eq!(speller.nearest(word, &[]), [meant], "{word}");
        }
        let of_both = VocabularySpeller::new(["decent"], ["decent"]);
        assert_eq!(of_both.nearest("dexent", &[]), ["decent"], "once, as a word and as a term");
    }

    #[test]
    fn two_errors_are_mended_for_words_of_the_library_alone() {
        let speller = VocabularySpeller::new(["picture"], []);
        assert!(speller.nearest("puncture", &[]).is_empty());
        assert_eq!(speller.nearest("puncture", &["picture".to_owned()]), ["picture"]);
    }

    #[test]
    fn endings_follow_the_rules_of_english() {
        let speller =
            VocabularySpeller::new(["box", "store", "job", "bot", "bill", "agree", "reply"], []);
        for right in [
            "boxes", "stores", "stored", "storing", "jobs", "botted", "billing", "agreed",
            "agreeing", "replies",
        ] {
            assert!(speller.is_spelled_right(right), "{right}");
        }
        for wrong in ["boxs", "storeed", "jobbs", "jobes", "billling", "bottts", "replyes"] {
            assert!(!speller.is_spelled_right(wrong), "{wrong}");
        }
    }
}
