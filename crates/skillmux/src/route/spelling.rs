//! What stands in a task for other words: short forms, short names and typing errors.

use std::{borrow::Cow, cell::LazyCell, collections::BTreeMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::terms::terms;
use crate::{
    error::Result,
    index::Index,
    model::Speller,
    query::Query,
    text::{is_english, is_spaceless},
};

/// Longest task that is read for typing errors, in words: a long one has names and code that look
/// like errors.
const MAX_WORDS: usize = 80;

/// Shortest word that is taken for a typing error.
const MIN_LETTERS: usize = 4;

/// Skills of the largest library in which a word of one skill is no typing error; in a larger one,
/// skills have such errors, too.
const SMALL_LIBRARY: usize = 10_000;

/// Short forms that people type, with what they stand for. None is the end of a file name, a code
/// of a language, or a measure.
const SHORT_FORMS: [(&str, &str); 10] = [
    ("abt", "about"),
    ("cuz", "because"),
    ("gimme", "give me"),
    ("lemme", "let me"),
    ("pls", "please"),
    ("plz", "please"),
    ("thx", "thanks"),
    ("u", "you"),
    ("w/", "with"),
    ("w/o", "without"),
];

/// Short names of things, with the names by which skills know them.
pub(super) const SHORT_NAMES: [(&str, &str); 5] = [
    ("k8s", "Kubernetes"),
    ("ppt", "PowerPoint"),
    ("pptx", "PowerPoint"),
    ("xls", "Excel"),
    ("xlsx", "Excel"),
];

/// A word that was read as another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Correction {
    /// As the task has it.
    pub from: String,
    /// As it was read.
    pub to: String,
}

/// Returns a task with its short forms spelled out, as the encoders know the words; as it is, where
/// that would make it too long.
pub(super) fn spelled_out(task: &str) -> Cow<'_, str> {
    let form = |word: &str| SHORT_FORMS.iter().find(|(short, _)| *short == word);
    let is_long = task.split_whitespace().nth(MAX_WORDS).is_some();
    if is_long || !task.split_whitespace().any(|word| form(bare(word)).is_some()) {
        return Cow::Borrowed(task);
    }
    let spelled_out = |piece: &str| match form(bare(piece)) {
        Some((short, long)) => piece.replacen(short, long, 1),
        None => piece.to_owned(),
    };
    let long: String = task.split_inclusive(char::is_whitespace).map(spelled_out).collect();
    if long.len() > Query::MAX_BYTES { Cow::Borrowed(task) } else { Cow::Owned(long) }
}

/// Returns a task with the full names of what it calls by a short name that no skill has, and which
/// these are, each once. What is a part of a file name stays, and so does what would make the task
/// too long.
pub(super) fn full_names(
    task: &str,
    is_known: impl Fn(&str) -> Result<bool>,
) -> Result<(String, Vec<Correction>)> {
    let (mut text, mut renamed) = (String::with_capacity(task.len()), Vec::new());
    let is_of_name = |c: char| c.is_alphanumeric() && !is_spaceless(c) || "._-/\\:@#".contains(c);
    // Whether a skill has a short name, asked once for each.
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    let mut room = Query::MAX_BYTES.saturating_sub(task.len());
    let mut rest = task;
    while let Some(start) = rest.find(is_of_name) {
        let word = &rest[start..];
        let word = &word[..word.find(|c| !is_of_name(c)).unwrap_or(word.len())];
        let bare = word.trim_end_matches(['.', ':']);
        let full = SHORT_NAMES.iter().find(|(short, _)| bare.eq_ignore_ascii_case(short));
        text.push_str(&rest[..start]);
        let full = full.map(|(_, full)| *full).filter(|full| full.len() - bare.len() <= room);
        let is_known = match (full, known.get(bare)) {
            (None, _) => true,
            (_, Some(is_known)) => *is_known,
            (_, None) => *known.entry(bare).or_insert(is_known(bare)?),
        };
        match full {
            Some(full) if !is_known => {
                room -= full.len() - bare.len();
                text.push_str(full);
                text.push_str(&word[bare.len()..]);
                add(&mut renamed, Correction { from: bare.to_owned(), to: full.to_owned() });
            }
            _ => text.push_str(word),
        }
        rest = &rest[start + word.len()..];
    }
    text.push_str(rest);
    Ok((text, renamed))
}

/// Adds a correction that is not there yet.
fn add(corrections: &mut Vec<Correction>, correction: Correction) {
    if !corrections.contains(&correction) {
        corrections.push(correction);
    }
}

/// Returns a word without the marks of a sentence behind it. Other signs belong to it: code has
/// them.
fn bare(word: &str) -> &str {
    word.trim_end_matches(|c: char| c.is_whitespace() || ",.?!;:，。？！".contains(c))
}

/// Returns a task with the typing errors mended that the words of the library or of the speller
/// tell; as it is, where that would make it too long.
pub(super) fn mended(
    task: &str,
    index: &Index,
    speller: &dyn Speller,
) -> Result<(String, Vec<Correction>)> {
    let mut corrections: Vec<Correction> = Vec::new();
    if task.split_whitespace().nth(MAX_WORDS).is_some() {
        return Ok((task.to_owned(), corrections));
    }
    let is_english = LazyCell::new(|| is_english(task));
    let mut mended = String::with_capacity(task.len());
    let mut is_first = true;
    for piece in task.split_inclusive(char::is_whitespace) {
        let written = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let word = if is_first { uncapitalized(written) } else { written.into() };
        is_first = ends_sentence(piece);
        let is_plain = word.len() >= MIN_LETTERS && word.bytes().all(|c| c.is_ascii_lowercase());
        let is_unknown = is_plain && !is_familiar(&word, index)?;
        let meant = if is_unknown && *is_english { meant(&word, index, speller)? } else { None };
        match meant {
            Some(mut meant) => {
                if *word != *written
                    && let Some(first) = meant.get_mut(..1)
                {
                    first.make_ascii_uppercase();
                }
                mended.push_str(&piece.replacen(written, &meant, 1));
                add(&mut corrections, Correction { from: written.to_owned(), to: meant });
            }
            None => mended.push_str(piece),
        }
    }
    if mended.len() > Query::MAX_BYTES {
        return Ok((task.to_owned(), Vec::new()));
    }
    Ok((mended, corrections))
}

/// Returns the first word of a sentence without its capital.
fn uncapitalized(word: &str) -> Cow<'_, str> {
    let (first, rest) = word.split_at_checked(1).unwrap_or_default();
    let is_lower = rest.bytes().all(|c| c.is_ascii_lowercase());
    if is_lower { (first.to_ascii_lowercase() + rest).into() } else { word.into() }
}

/// Returns whether the next piece of a text begins a sentence or a line.
fn ends_sentence(piece: &str) -> bool {
    piece.ends_with('\n') || piece.trim_end().ends_with(['.', '!', '?', ':'])
}

/// Returns whether a word is a stop word, or one that a library has which is small enough: then no
/// speller need be asked, whose vocabulary takes time to read.
fn is_familiar(word: &str, index: &Index) -> Result<bool> {
    let is_small = index.n_skills() <= SMALL_LIBRARY;
    Ok(terms(word).is_empty() || is_small && n_users(word, index)? > 0)
}

/// Returns what an unknown word is most likely meant for: of the nearest words, a stop word, for
/// these are written most; else of those of the library that of most skills; without any, two words
/// of the library in one; else the one nearest word that the speller has, if there is only one, so
/// that the transformer can read it. A word that is spelled right is at most two in one.
fn meant(word: &str, index: &Index, speller: &dyn Speller) -> Result<Option<String>> {
    let is_small = index.n_skills() <= SMALL_LIBRARY;
    let is_right = speller.is_spelled_right(word);
    if is_right && (!is_small || speller.has_whole_word(word)) {
        return Ok(None);
    }
    let library = if is_small { index.headline_words()? } else { &[] };
    if is_right {
        return Ok(two_words(word, library));
    }
    let mut best: Option<(u32, String)> = None;
    let nearest = speller.nearest(word, library);
    if let Some(stop_word) = nearest.iter().find(|candidate| terms(candidate).is_empty()) {
        return Ok(Some(stop_word.clone()));
    }
    for candidate in &nearest {
        let n_users = n_users(candidate, index)?;
        if n_users > best.as_ref().map_or(0, |(n, _)| *n) {
            best = Some((n_users, candidate.clone()));
        }
    }
    if let Some(words) = best.map(|(_, word)| word).or_else(|| two_words(word, library)) {
        return Ok(Some(words));
    }
    let mut words = nearest.into_iter().filter(|candidate| speller.has_whole_word(candidate));
    Ok(words.next().filter(|_| words.next().is_none()))
}

/// Returns the two words of the library, which are in order, that a word is made of: `helmchart`.
/// Of several such pairs, the one with the longest first word.
fn two_words(word: &str, library: &[String]) -> Option<String> {
    let has = |part: &str| library.binary_search_by(|known| known.as_str().cmp(part)).is_ok();
    let ends = MIN_LETTERS..=word.len().saturating_sub(MIN_LETTERS);
    let mut pairs = ends.rev().filter_map(|end| word.split_at_checked(end));
    pairs
        .find(|(first, last)| has(first) && has(last))
        .map(|(first, last)| format!("{first} {last}"))
}

/// Returns how many skills have a word in one field.
pub(super) fn n_users(word: &str, index: &Index) -> Result<u32> {
    let mut n_users = 0;
    for term in terms(word) {
        for postings in index.postings(&term)? {
            n_users = n_users.max(postings.n_skills);
        }
    }
    Ok(n_users)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tempfile::TempDir;

    use super::*;
    use crate::{index::UpdateOptions, library::Library};

    #[test]
    fn short_forms_are_spelled_out() {
        assert_eq!(
            spelled_out("can u fix it, pls? w/o docker\n"),
            "can you fix it, please? without docker\n"
        );
        for kept in ["u-boot, v = u/3", "`u` (u, v) u- components", "U and I", &"u ".repeat(81)] {
            assert_eq!(spelled_out(kept), kept);
        }
    }

    #[test]
    fn short_names_that_no_skill_has_are_read_in_full() {
        let read = |task: &str| full_names(task, |name| Ok(name == "xlsx")).unwrap();
        let (text, renamed) = read("最后做成PPT，再发 k8s.");
        assert_eq!(text, "最后做成PowerPoint，再发 Kubernetes.");
        let renamed: Vec<_> = renamed.iter().map(|it| (it.from.as_str(), it.to.as_str())).collect();
        assert_eq!(renamed, [("PPT", "PowerPoint"), ("k8s", "Kubernetes")]);
        for kept in ["read deck.ppt and ./xls/a", "an xlsx file", "a ppt-maker, é ppté?", ""] {
            assert_eq!(read(kept), (kept.to_owned(), Vec::new()), "{kept}");
        }
    }

    #[test]
    fn two_words_without_a_blank_are_told_apart() {
        let library = ["chart", "charts", "data", "helm", "hel", "mcharts"].map(str::to_owned);
        let mut library = library.to_vec();
        library.sort();
        let read = |word: &str| two_words(word, &library);
        assert_eq!(read("helmchart").as_deref(), Some("helm chart"));
        assert_eq!(read("helmcharts").as_deref(), Some("helm charts"));
        for word in ["helm", "helmets", "flipchart", "helcharts", "datahelmchart", "chart", ""] {
            assert_eq!(read(word), None, "{word}");
        }
    }

    #[test]
    fn a_short_name_is_told_once_and_makes_no_task_too_long() {
        let n_asked = Cell::new(0);
        let read = |task: &str| {
            let is_known = |_: &str| {
                n_asked.set(n_asked.get() + 1);
                Ok(false)
            };
            full_names(task, is_known).unwrap()
        };
        let (text, renamed) = read(&"ppt ".repeat(60_000));
        assert!(text.len() <= Query::MAX_BYTES && text.starts_with("PowerPoint PowerPoint "));
        assert!(text.len() > Query::MAX_BYTES - 7 && text.ends_with(" ppt ppt "));
        assert_eq!((renamed.len(), n_asked.get()), (1, 1));
        let (_, renamed) = read("ppt, PPT, k8s and ppt");
        let renamed: Vec<&str> = renamed.iter().map(|it| it.from.as_str()).collect();
        assert_eq!(renamed, ["ppt", "PPT", "k8s"]);
    }

    /// Knows all words but one.
    struct KnowsTables;

    impl Speller for KnowsTables {
        fn is_spelled_right(&self, word: &str) -> bool {
            word != "tabel"
        }

        fn has_whole_word(&self, _: &str) -> bool {
            true
        }

        fn nearest(&self, _: &str, _: &[String]) -> Vec<String> {
            vec!["tables".to_owned()]
        }
    }

    /// Returns an index of one skill, and the folder that it is in.
    fn index_of_tables() -> (TempDir, Index) {
        let dir = tempfile::tempdir().unwrap();
        let (skills, path) = (dir.path().join("skills"), dir.path().join("index"));
        std::fs::create_dir_all(skills.join("tables")).unwrap();
        let text = "---\nname: tables\ndescription: Clean messy tables\n---\nText.\n";
        std::fs::write(skills.join("tables/SKILL.md"), text).unwrap();
        let library = Library::open([&skills]).unwrap();
        Index::update(&path, &library, &UpdateOptions::default(), &mut |_| {}).unwrap();
        let index = Index::open(&path).unwrap();
        (dir, index)
    }

    #[test]
    fn what_is_spelled_out_or_mended_makes_no_task_too_long() {
        let (_dir, index) = index_of_tables();
        let long =
            |start: &str, n_bytes: usize| start.to_owned() + &"1".repeat(n_bytes - start.len());
        let task = |n_bytes| long("pls clean up the messy file ", n_bytes);
        assert!(spelled_out(&task(100)).starts_with("please clean up the messy file 1"));
        assert_eq!(spelled_out(&task(Query::MAX_BYTES)), task(Query::MAX_BYTES));

        let task = |n_bytes| long("clean up the messy tabel in the file ", n_bytes);
        let (text, corrections) = mended(&task(100), &index, &KnowsTables).unwrap();
        assert!(text.starts_with("clean up the messy tables in the file 1"), "{text}");
        assert_eq!(corrections.len(), 1);
        let longest = task(Query::MAX_BYTES);
        let found = mended(&longest, &index, &KnowsTables).unwrap();
        assert_eq!(found, (longest, Vec::new()));
    }

    #[test]
    fn only_the_first_word_of_a_sentence_is_mended_with_its_capital() {
        let (_dir, index) = index_of_tables();
        let task = "Tabel of users, please. Ask Tabel for it:\nTABEL and Tabel.";
        let (text, corrections) = mended(task, &index, &KnowsTables).unwrap();
        assert_eq!(text, "Tables of users, please. Ask Tabel for it:\nTABEL and Tabel.");
        assert_eq!(corrections.len(), 1);
        assert_eq!((corrections[0].from.as_str(), corrections[0].to.as_str()), ("Tabel", "Tables"));
    }
}
