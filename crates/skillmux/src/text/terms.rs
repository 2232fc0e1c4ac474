//! The stream of terms of one text.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use super::{
    forms::regular,
    script::{Script, script_of},
    simplified::simplified,
    stop_words::is_stop_word,
};

/// Longest word, identifier or run of letters that becomes a term; longer ones are encoded data.
const MAX_TERM_BYTES: usize = 64;

/// Words whose normal form is remembered; a body repeats few thousand of them.
const MAX_REMEMBERED_WORDS: usize = 1 << 16;

/// One term and where it comes from.
pub(crate) struct Term<'a> {
    /// Normalised text.
    pub(crate) text: &'a str,
    /// Bytes of the source that it was made of.
    pub(crate) source: Range<usize>,
    /// Whether it is a part of an identifier, and not a word of its own.
    pub(crate) is_part: bool,
}

/// Reads texts as terms, and remembers the normal forms of the words it meets.
pub(crate) struct TermReader {
    rules: Rules,
}

impl Clone for TermReader {
    /// Returns a reader that has met no word yet: memories are not worth copying.
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl TermReader {
    pub(crate) fn new() -> Self {
        Self { rules: Rules::new() }
    }

    /// Returns the stream of the terms of a text.
    pub(crate) fn read<'r>(&'r mut self, text: &'r str) -> Terms<'r> {
        self.rules.ready.clear();
        Terms { rules: &mut self.rules, text, position: 0 }
    }
}

/// Yields the terms of a text one after the other, without an allocation for each.
pub(crate) struct Terms<'r> {
    rules: &'r mut Rules,
    text: &'r str,
    /// Where the next run of letters is looked for.
    position: usize,
}

impl Terms<'_> {
    /// Returns the next term, or `None` at the end of the text.
    pub(crate) fn advance(&mut self) -> Option<Term<'_>> {
        while self.rules.ready.is_empty() {
            let run = next_run(self.text, self.position)?;
            self.position = run.range.end;
            self.rules.read(self.text, run);
        }
        self.rules.ready.take()
    }
}

struct Run {
    script: Script,
    range: Range<usize>,
}

/// A [`Term`] whose text lies in a buffer.
#[derive(Clone)]
struct ReadyTerm {
    text: Range<usize>,
    source: Range<usize>,
    is_part: bool,
}

/// Terms that are ready to be taken, in one buffer.
#[derive(Default)]
struct Ready {
    buffer: String,
    terms: Vec<ReadyTerm>,
    n_taken: usize,
}

impl Ready {
    fn is_empty(&self) -> bool {
        self.n_taken == self.terms.len()
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.terms.clear();
        self.n_taken = 0;
    }

    fn push(&mut self, term: &str, source: Range<usize>, is_part: bool) {
        let start = self.buffer.len();
        self.buffer.push_str(term);
        self.terms.push(ReadyTerm { text: start..self.buffer.len(), source, is_part });
    }

    fn take(&mut self) -> Option<Term<'_>> {
        let ReadyTerm { text, source, is_part } = self.terms.get(self.n_taken)?.clone();
        self.n_taken += 1;
        Some(Term { text: &self.buffer[text], source, is_part })
    }
}

/// The rules from run to terms, with the memory that makes them fast.
struct Rules {
    stemmer: Stemmer,
    /// Lower-cased word to its term; an empty term is a stop word.
    known: FxHashMap<Box<str>, Box<str>>,
    ready: Ready,
    lower: String,
}

impl Rules {
    fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            known: FxHashMap::default(),
            ready: Ready::default(),
            lower: String::new(),
        }
    }

    fn read(&mut self, text: &str, run: Run) {
        self.ready.clear();
        let Run { script, range } = run;
        let source = &text[range.clone()];
        match script {
            Script::Word => self.read_word(source, range.start),
            Script::Han => self.read_pairs(&simplified(source), range.start),
            Script::Syllables => self.read_pairs(source, range.start),
        }
    }

    /// Splits an identifier, or takes a plain word as it is.
    fn read_word(&mut self, run: &str, offset: usize) {
        if is_plain_word(run) {
            self.push_word(run, offset, false);
            return;
        }
        let mut parts = Parts::new(run);
        let Some(first) = parts.next() else { return };
        let Some(second) = parts.next() else {
            self.push_word(&run[first.clone()], offset + first.start, false);
            return;
        };
        for part in [first, second].into_iter().chain(parts) {
            if part.len() >= least_letters(run, &part) {
                self.push_word(&run[part.clone()], offset + part.start, true);
            }
        }
        self.push_word(run, offset, false);
    }

    /// Takes a word that starts at `offset`, or an identifier without its joints.
    fn push_word(&mut self, word: &str, offset: usize, is_part: bool) {
        if word.len() > MAX_TERM_BYTES {
            return;
        }
        let source = offset..offset + word.len();
        self.lower.clear();
        if is_plain_word(word) {
            self.lower.push_str(word);
            self.lower.make_ascii_lowercase();
        } else {
            self.lower.extend(word.chars().filter(|c| !is_joint(*c)).flat_map(fold));
            if is_acronyms(word) {
                self.lower.pop();
            }
        }
        if let Some(term) = self.known.get(self.lower.as_str()) {
            if !term.is_empty() {
                self.ready.push(term, source, is_part);
            }
            return;
        }
        let term: Box<str> = if is_stop_word(&self.lower) {
            Box::default()
        } else if self.lower.bytes().all(|byte| byte.is_ascii_lowercase()) {
            self.stemmer.stem(&regular(&self.lower)).into()
        } else {
            self.lower.as_str().into()
        };
        if !term.is_empty() {
            self.ready.push(&term, source, is_part);
        }
        if self.known.len() < MAX_REMEMBERED_WORDS {
            self.known.insert(self.lower.as_str().into(), term);
        }
    }

    /// Takes every two neighbouring characters, or the one there is.
    fn read_pairs(&mut self, run: &str, offset: usize) {
        let mut push = |range: Range<usize>| {
            let pair = &run[range.clone()];
            if !is_stop_word(pair) {
                self.ready.push(pair, offset + range.start..offset + range.end, false);
            }
        };
        let mut ends = run.char_indices().map(|(at, c)| at + c.len_utf8());
        let Some(mut middle) = ends.next() else { return };
        let mut start = 0;
        let mut is_single = true;
        for end in ends {
            push(start..end);
            (start, middle) = (middle, end);
            is_single = false;
        }
        if is_single {
            push(0..middle);
        }
    }
}

/// Cuts an identifier at its joints, at the humps of camel case, and between letters and digits.
struct Parts<'r> {
    run: &'r str,
    position: usize,
}

impl<'r> Parts<'r> {
    fn new(run: &'r str) -> Self {
        Self { run, position: 0 }
    }
}

impl Iterator for Parts<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = &self.run[self.position..];
        let start = self.position + rest.find(|c| !is_joint(c))?;
        let mut end = self.run.len();
        let mut previous = None;
        for (at, c) in self.run[start..].char_indices() {
            let after = &self.run[start + at + c.len_utf8()..];
            if is_joint(c) || previous.is_some_and(|previous| is_border(previous, c, after)) {
                end = start + at;
                break;
            }
            previous = Some(c);
        }
        self.position = end;
        Some(start..end)
    }
}

/// Returns the parts of an identifier, as [`TermReader`] cuts it, whatever their length; none of a
/// word that is none.
pub(crate) fn parts_of(word: &str) -> impl Iterator<Item = &str> {
    Parts::new(word).map(move |part| &word[part]).filter(move |part| *part != word)
}

/// Returns whether a run is one English word, as most are: nothing to split, nothing to fold.
fn is_plain_word(run: &str) -> bool {
    let bytes = run.as_bytes();
    bytes[0].is_ascii_alphabetic() && bytes[1..].iter().all(u8::is_ascii_lowercase)
}

/// Returns whether a word is an acronym in the plural, such as `PDFs`.
fn is_acronyms(word: &str) -> bool {
    word.strip_suffix('s')
        .is_some_and(|acronym| acronym.len() > 1 && acronym.bytes().all(|c| c.is_ascii_uppercase()))
}

/// Returns how many letters a part of an identifier needs to say something without the others: two
/// between joints, as in `db-backup`; three beside a hump, because the `DB` of `MongoDB` is any
/// database.
fn least_letters(run: &str, part: &Range<usize>) -> usize {
    let (before, after) = (run[..part.start].chars().next_back(), run[part.end..].chars().next());
    let is_hump = [before, after].into_iter().flatten().any(char::is_alphabetic);
    if is_hump { 3 } else { 2 }
}

/// Returns whether a new word of an identifier starts at `c`, between `previous` and `after`.
fn is_border(previous: char, c: char, after: &str) -> bool {
    let mut after = after.chars();
    let (next, second) = (after.next(), after.next());
    let is_lower = |c: Option<char>| c.is_some_and(char::is_lowercase);
    // The plural of an acronym, as in `PDFs`, is no hump.
    let is_plural = next == Some('s') && !is_lower(second);
    let is_hump = c.is_uppercase()
        && (previous.is_lowercase() || previous.is_uppercase() && is_lower(next) && !is_plural);
    is_hump || previous.is_numeric() != c.is_numeric()
}

/// Finds the next run of characters that can hold terms, at or after `from`.
fn next_run(text: &str, from: usize) -> Option<Run> {
    let mut chars = text[from..].char_indices();
    let (start, script) =
        chars.find_map(|(at, c)| script_of(c).map(|script| (from + at, script)))?;
    let rest = &text[start..];
    let mut end = rest.len();
    // Most runs are ASCII letters and end at an ASCII sign.
    let n_plain = match script {
        Script::Word => rest.bytes().take_while(u8::is_ascii_alphanumeric).count(),
        Script::Han | Script::Syllables => 0,
    };
    let mut chars = rest[n_plain..].char_indices().map(|(at, c)| (n_plain + at, c)).peekable();
    while let Some((at, c)) = chars.next() {
        let joins = script == Script::Word
            && is_joint(c)
            && chars.peek().is_some_and(|(_, next)| script_of(*next) == Some(Script::Word));
        if !joins && script_of(c) != Some(script) {
            end = at;
            break;
        }
    }
    // `C++`, `C#` and `F#` are names; the sign belongs to the letter.
    if script == Script::Word && end == 1 {
        let suffix = ["++", "#"].into_iter().find(|suffix| rest[end..].starts_with(suffix));
        end += suffix.map_or(0, str::len);
    }
    Some(Run { script, range: start..start + end })
}

/// Returns whether a term is made of neighbouring characters, not of a word.
pub(crate) fn is_character_pair(term: &str) -> bool {
    term.chars().next().and_then(script_of).is_some_and(|script| script != Script::Word)
}

fn is_joint(c: char) -> bool {
    c == '-' || c == '_'
}

/// Lower-cases a character and maps full-width forms to ASCII.
fn fold(c: char) -> impl Iterator<Item = char> {
    let narrow = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    };
    narrow.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Analyzer;

    fn terms(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        Analyzer::new().for_each_term(text, &mut |term| out.push(term.to_owned()));
        out
    }

    #[test]
    fn words_are_stemmed_and_stop_words_dropped() {
        assert_eq!(terms("Please merge the merged PDFs!"), ["merg", "merg", "pdf"]);
    }

    #[test]
    fn plurals_of_acronyms_are_their_singulars() {
        assert_eq!(
            terms("PDFs pdfs PDFS CSVs PRs userIDs APIs"),
            ["pdf", "pdf", "pdf", "csv", "pr", "user", "id", "userid", "api"]
        );
    }

    #[test]
    fn irregular_forms_and_both_spellings_meet() {
        assert_eq!(
            terms("wrote written analysis analyse analyze"),
            ["write", "write", "analyz", "analyz", "analyz"]
        );
        assert_eq!(terms("organisation summary"), terms("organization summarise"));
    }

    #[test]
    fn identifiers_give_their_parts_and_themselves() {
        assert_eq!(terms("pdf-table_extractV2"), ["pdf", "tabl", "extract", "pdftableextractv2"]);
        assert_eq!(terms("getUserName"), ["get", "user", "name", "getusernam"]);
        assert_eq!(terms("XMLHttpRequest"), ["xml", "http", "request", "xmlhttprequest"]);
        assert_eq!(terms("e-mail utf8"), ["mail", "email", "utf", "utf8"]);
    }

    #[test]
    fn product_names_are_kept_beside_their_parts() {
        assert_eq!(
            terms("GitHub PostgreSQL"),
            ["git", "hub", "github", "postgr", "sql", "postgresql"]
        );
        assert_eq!(terms("C++ and C# and k8s"), ["c++", "c#", "k8s"]);
        assert_eq!(terms("MongoDB db-backup"), ["mongo", "mongodb", "db", "backup", "dbbackup"]);
    }

    #[test]
    fn trailing_joints_and_lone_signs_are_no_terms() {
        assert_eq!(terms("--force -- _ - b_ #+"), ["forc", "b"]);
    }

    #[test]
    fn chinese_gives_character_pairs() {
        assert_eq!(terms("数据库的慢查询"), ["数据", "据库", "库的", "的慢", "慢查", "查询"]);
        assert_eq!(terms("请帮我看看我们的表"), ["我看", "看看", "看我", "们的", "的表"]);
    }

    #[test]
    fn scripts_are_kept_apart() {
        assert_eq!(terms("用ＡＰＩ导出PDF表格"), ["api", "导出", "pdf", "表格"]);
        assert_eq!(terms("スキル"), ["スキ", "キル"]);
        assert_eq!(terms("한"), ["한"]);
    }

    #[test]
    fn encoded_data_is_no_term() {
        assert_eq!(terms(&"x".repeat(65)), Vec::<String>::new());
        assert_eq!(terms(&"x".repeat(64)).len(), 1);
    }

    #[test]
    fn a_term_knows_its_source() {
        let text = "run pdf-tools, 数据库";
        let mut reader = TermReader::new();
        let mut stream = reader.read(text);
        let mut sources = Vec::new();
        while let Some(term) = stream.advance() {
            sources.push(&text[term.source.clone()]);
        }
        assert_eq!(sources, ["run", "pdf", "tools", "pdf-tools", "数据", "据库"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_terms_within_bounds(text in "\\PC*") {
            let mut reader = TermReader::new();
            let mut stream = reader.read(&text);
            while let Some(term) = stream.advance() {
                assert!(!term.text.is_empty());
                assert!(text.get(term.source.clone()).is_some());
            }
        }
    }
}
