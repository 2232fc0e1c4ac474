//! [`WordLexicon`]: a word list of a language that is written with blanks.

use std::sync::OnceLock;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::{FxHashMap, FxHashSet};
use skillmux::text::is_stop_word;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Most words of a phrase that a list has.
const MAX_PHRASE: usize = 3;

/// Fewest letters of a part of a compound, and of a compound.
const MIN_PART: usize = 3;
const MIN_COMPOUND: usize = 8;

/// Longest word, in bytes, and longest chunk without blanks that is looked at as a whole.
const MAX_WORD: usize = 120;

/// Least share of the words of a text that a list must have: else the text is in another language.
const MIN_KNOWN: f32 = 0.6;

/// Says the words of one language in English, word by word, with the longest phrases first.
///
/// Words are compared by their stems (Snowball) and without accents, since many people type none.
/// A German word that the list lacks is read as two that it has: `Zahlungsfrist`. What is no word
/// stays: numbers, marks, addresses and names.
pub struct WordLexicon {
    lines: &'static str,
    stemmer: Stemmer,
    /// English by words as they are, also without accents; none for a word of grammar.
    forms: FxHashMap<String, &'static str>,
    /// English by stems with blanks between, but for words of grammar: `para` is no `parar`.
    /// Made when it is first needed, since stems take longest.
    stems: OnceLock<FxHashMap<String, &'static str>>,
    /// All English words of the list.
    english: FxHashSet<&'static str>,
    is_compounding: bool,
}

/// What a list makes of a text.
#[derive(Debug, PartialEq)]
pub struct Reading {
    /// The text in English, as far as the list has its words.
    pub english: String,
    /// The text without its words of grammar.
    pub content: String,
    /// Share of the words of the text that the list has, in `[0, 1]`; 0 without words.
    pub known_share: f32,
    /// Share of the words of the text that are among the English ones of the list.
    pub english_share: f32,
    /// Whether a word stands in the text that only this language has: one of grammar, or one with
    /// an accent.
    pub has_mark: bool,
}

impl Reading {
    /// Returns the reading if the text is in the language of the list: the list has most of its
    /// words and more of them than are English, and the text has a mark of the language, unless it
    /// is a few words that are all of the list.
    pub fn told(self) -> Option<Self> {
        let is_told = self.known_share >= MIN_KNOWN
            && self.known_share > self.english_share
            && (self.has_mark || self.known_share >= 1.0 && self.english_share <= 0.0);
        is_told.then_some(self)
    }
}

impl WordLexicon {
    /// Reads lines of a word or phrase, a tab and its English words; `None` if a line has another
    /// form. The first of two lines counts.
    pub fn read(lines: &'static str, language: Algorithm) -> Option<Self> {
        let mut lexicon = Self {
            lines,
            stemmer: Stemmer::create(language),
            forms: FxHashMap::default(),
            stems: OnceLock::new(),
            english: FxHashSet::default(),
            is_compounding: language == Algorithm::German,
        };
        for line in lines.lines() {
            let (phrase, english) = line.split_once('\t').filter(|(word, _)| !word.is_empty())?;
            lexicon.english.extend(english.split(' '));
            lexicon.forms.entry(phrase.to_lowercase()).or_insert(english);
        }
        // What is written with its accents comes first.
        for (phrase, english) in pairs(lines).filter(|(phrase, _)| !phrase.is_ascii()) {
            lexicon.forms.entry(folded(&phrase.to_lowercase())).or_insert(english);
        }
        Some(lexicon)
    }

    /// Returns the English by stems; what is written with its accents comes first.
    fn stems(&self) -> &FxHashMap<String, &'static str> {
        self.stems.get_or_init(|| {
            let mut stems = FxHashMap::default();
            let of_content = || pairs(self.lines).filter(|(_, english)| !english.is_empty());
            for (phrase, english) in of_content() {
                stems.entry(self.key(phrase)).or_insert(english);
            }
            for (phrase, english) in of_content().filter(|(phrase, _)| !phrase.is_ascii()) {
                stems.entry(self.key(&folded(&phrase.to_lowercase()))).or_insert(english);
            }
            stems
        })
    }

    /// Returns what a text is in English.
    pub fn read_text(&self, text: &str) -> Reading {
        let pieces: Vec<Piece> = pieces(text).collect();
        let stem = |piece: &Piece| piece.is_word.then(|| self.stem(piece.text));
        let stems: Vec<Option<String>> = pieces.iter().map(stem).collect();
        let (mut out, mut content) = (String::with_capacity(text.len()), String::new());
        let (mut n_words, mut n_known) = (0_usize, 0_usize);
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            let is_name = !self.is_compounding
                && piece.text.starts_with(char::is_uppercase)
                && !begins_sentence(&pieces[..at]);
            if is_name {
                n_words += 1;
                n_known += 1;
            }
            if !piece.is_word || is_name {
                out.push_str(if is_apostrophe(piece.text) { " " } else { piece.text });
                content.push_str(piece.text);
                at += 1;
                continue;
            }
            let (english, n_pieces) = match self.longest(&stems, &pieces, at) {
                Some((english, n_pieces)) => (Some(english.to_owned()), n_pieces),
                None => (self.of_word(piece.text), 1),
            };
            let n = n_pieces.div_ceil(2);
            n_words += n;
            n_known += if english.is_some() { n } else { 0 };
            out.push_str(english.as_deref().unwrap_or(piece.text));
            if n_pieces > 1 || !self.is_grammar(piece.text) {
                content.extend(pieces[at..at + n_pieces].iter().map(|piece| piece.text));
            }
            at += n_pieces;
        }
        let is_english = |piece: &&Piece| piece.is_word && self.is_english(piece.text);
        let n_english = pieces.iter().filter(is_english).count();
        let has_mark = pieces.iter().any(|piece| piece.is_word && self.is_mark(piece.text));
        let n_words = usize::max(n_words, 1) as f32;
        let english = out.split_whitespace().collect::<Vec<_>>().join(" ");
        Reading {
            english,
            content: content.split_whitespace().collect::<Vec<_>>().join(" "),
            known_share: n_known as f32 / n_words,
            english_share: n_english as f32 / n_words,
            has_mark,
        }
    }

    /// Returns whether a word is one of grammar that English lacks, or has an accent.
    fn is_mark(&self, word: &str) -> bool {
        !word.is_ascii()
            || word.len() > 1 && !is_stop_word(&word.to_lowercase()) && self.is_grammar(word)
    }

    /// Returns whether a word is one of grammar.
    fn is_grammar(&self, word: &str) -> bool {
        let english = self.forms.get(&word.to_lowercase());
        english.is_some_and(|english| english.is_empty() || is_stop_word(english))
    }

    /// Returns whether a word is among the English ones.
    fn is_english(&self, word: &str) -> bool {
        self.english.contains(&*word.to_ascii_lowercase())
    }

    /// Returns whether the list has a word as it is.
    pub fn has(&self, word: &str) -> bool {
        self.forms.contains_key(&word.to_lowercase())
    }

    /// Returns the English of the longest phrase that begins at a piece, and its pieces: its words
    /// and the blanks between them.
    fn longest(
        &self,
        stems: &[Option<String>],
        pieces: &[Piece<'_>],
        at: usize,
    ) -> Option<(&'static str, usize)> {
        let mut key = stems[at].clone()?;
        let mut best = None;
        for n_words in 2..=MAX_PHRASE {
            let end = at + 2 * (n_words - 1);
            let Some(Some(stem)) = stems.get(end) else { break };
            let joint = pieces[end - 1].text;
            if joint != " " && joint != "-" && !is_apostrophe(joint) {
                break;
            }
            key.push(' ');
            key.push_str(stem);
            if let Some(english) = self.stems().get(&key) {
                best = Some((*english, end - at + 1));
            }
        }
        best
    }

    /// Returns the English of a word: as it is, by its stem, without its accents, with one letter
    /// for two (`ue` for `ü`), or as a compound.
    fn of_word(&self, word: &str) -> Option<String> {
        let word = word.to_lowercase();
        let bare = folded(&word);
        if let Some(english) = self.forms.get(&word) {
            return Some((*english).to_owned());
        }
        let known = self.stems().get(&self.stem(&word));
        let known = known.or_else(|| self.forms.get(&bare));
        let known = known.or_else(|| self.stems().get(&self.stem(&bare)));
        let known = known.or_else(|| {
            let short = bare.replace("ae", "a").replace("oe", "o").replace("ue", "u");
            self.is_compounding.then(|| self.stems().get(&self.stem(&short))).flatten()
        });
        let known = known.or_else(|| self.is_compounding.then(|| self.of_form(&bare)).flatten());
        known.map(|english| (*english).to_owned()).or_else(|| self.compound(&word))
    }

    /// Returns the English of a form of a German verb that its stem does not tell: `lernt`,
    /// `gespeichert`.
    fn of_form(&self, word: &str) -> Option<&&'static str> {
        let ends = ["t", "te", "ten", "st"];
        let cut = ends.iter().filter_map(|end| word.strip_suffix(end));
        let stems = cut.flat_map(|stem| [Some(stem), stem.strip_prefix("ge")]).flatten();
        let mut long = stems.filter(|stem| stem.len() >= MIN_PART);
        long.find_map(|stem| self.stems().get(&self.stem(&format!("{stem}en"))))
    }

    /// Returns the English of a compound of two words that the list has, with the longest second
    /// word.
    fn compound(&self, word: &str) -> Option<String> {
        if !self.is_compounding || !(MIN_COMPOUND..=MAX_WORD).contains(&word.len()) {
            return None;
        }
        let content = |part: &str| self.stems().get(&self.stem(part));
        let cuts = word.char_indices().map(|(at, _)| at);
        cuts.filter(|at| *at >= MIN_PART && word.len() - at >= MIN_PART).find_map(|at| {
            let (first, second) = word.split_at(at);
            Some(format!("{} {}", content(first)?, content(second)?))
        })
    }

    /// Returns the stems of a phrase, with blanks between.
    fn key(&self, phrase: &str) -> String {
        words_of(phrase).map(|word| self.stem(word)).collect::<Vec<_>>().join(" ")
    }

    fn stem(&self, word: &str) -> String {
        folded(&self.stemmer.stem(&word.to_lowercase()))
    }
}

/// A stretch of a text.
struct Piece<'t> {
    text: &'t str,
    is_word: bool,
}

/// Cuts a text into words and what is between them. What has digits, or a mark inside as an address
/// or a file has, is no word.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if first.is_whitespace() {
            rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len())
        } else {
            let seen = &rest[..rest.floor_char_boundary(MAX_WORD)];
            let chunk = seen.find(char::is_whitespace).unwrap_or(seen.len());
            let bare = rest[..chunk].trim_end_matches(|c: char| !c.is_alphanumeric());
            if is_address(bare) {
                chunk
            } else if first.is_alphabetic() {
                rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            }
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        let is_word = first.is_alphabetic() && piece.chars().all(char::is_alphabetic);
        Some(Piece { text: piece, is_word })
    })
}

/// Returns whether a chunk without blanks is an address, a file, a name in code or a number.
fn is_address(chunk: &str) -> bool {
    chunk.contains(|c: char| c.is_ascii_digit() || "./\\_@:".contains(c))
}

/// Returns whether a sentence begins behind these pieces.
fn begins_sentence(before: &[Piece<'_>]) -> bool {
    let mut marks = before.iter().rev().map(|piece| piece.text.trim());
    let last = marks.find(|text| !matches!(*text, "" | "\"" | "(" | "«" | "“" | "¿" | "¡"));
    last.is_none_or(|mark| mark.ends_with(['.', '!', '?', ':', '\n', '-', '•', ')']))
}

fn is_apostrophe(piece: &str) -> bool {
    matches!(piece, "'" | "\u{2019}")
}

/// Returns the words or phrases of a list that is well-formed, with their English.
fn pairs(lines: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    lines.lines().filter_map(|line| line.split_once('\t'))
}

fn words_of(phrase: &str) -> impl Iterator<Item = &str> {
    phrase.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty())
}

/// Returns a text without its accents.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.replace('ß', "ss").nfd().filter(|c| !is_combining_mark(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    const GERMAN: &str = "rechnung\tinvoice\nschreiben\twrite\nübersetzen\ttranslate\nfrist\tdeadline\n\
                          zahlung\tpayment\nkommen\tcome\nspeichern\tsave\nnicht mehr\tno longer\n\
                          nicht\tnot\ndie\t\nich\ti\nmir\t\nund\tand";

    const SPANISH: &str = "parar\tstop\npara\tfor\nfactura\tinvoice\nqué\twhat\nque\t\ncuántos\thow many\n\
                           árbol\ttree\nla\t\nir\tgo";

    fn german(text: &str) -> Reading {
        WordLexicon::read(GERMAN, Algorithm::German).unwrap().read_text(text)
    }

    #[test]
    fn words_are_compared_by_their_stems_and_phrases_come_first() {
        let read = german("Schreib mir die Rechnungen und ich komme nicht mehr!");
        assert_eq!(read.english, "write invoice and i come no longer!");
        assert!((read.known_share - 1.0).abs() < 1e-6);
        assert_eq!(german("nicht die Rechnung").english, "not invoice");
    }

    #[test]
    fn compounds_and_forms_of_verbs_are_read() {
        assert_eq!(german("Zahlungsfrist").english, "payment deadline");
        assert_eq!(german("Es kommt, ist gespeichert").english, "Es come, ist save");
        assert_eq!(german("uebersetzen, ubersetzen").english, "translate, translate");
    }

    #[test]
    fn what_is_no_word_of_the_language_stays() {
        let read = german("Rechnung 2024-031 in lied.musicxml, https://a.de/rechnung, Docker");
        assert_eq!(
            read.english,
            "invoice 2024-031 in lied.musicxml, https://a.de/rechnung, Docker"
        );
        assert!((read.known_share - 1.0 / 3.0).abs() < 1e-6, "{read:?}");
        assert!(german("2 + 2").known_share.abs() < 1e-6);
    }

    #[test]
    fn accents_may_be_left_out_and_words_of_grammar_have_no_other_forms() {
        let spanish = |text: &str| {
            WordLexicon::read(SPANISH, Algorithm::Spanish).unwrap().read_text(text).english
        };
        assert_eq!(spanish("qué factura para la arbol"), "what invoice for tree");
        assert_eq!(spanish("cuantos árboles que parar"), "how many tree stop");
        assert_eq!(spanish("¿Ir a Go? Ir a Factura"), "¿go a Go? go a Factura");
    }

    #[test]
    fn a_long_text_takes_no_longer_than_its_length_asks_for() {
        for unit in ["(", "x", "Frist "] {
            assert_linear(unit, 200_000, |text| {
                // `Frist` is a deadline.
                assert!(german(text).english.len() >= text.len());
            });
        }
    }

    #[test]
    fn a_line_of_another_form_is_refused() {
        for lines in ["rechnung", "\tinvoice"] {
            assert!(WordLexicon::read(lines, Algorithm::German).is_none(), "{lines}");
        }
    }
}
