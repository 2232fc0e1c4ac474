//! [`is_no_negation`]: what looks like words that rule something out, and rules out nothing.

use std::ops::Range;

use super::{head, tail};

/// Beginnings of reports, of which `no such file` says what is wrong.
const REPORTS: [&str; 8] =
    ["complains:", "error:", "failed:", "fails:", "fatal:", "found:", "says:", "warning:"];

/// Words that say what cannot be or is never done `without` a thing, which so is wanted.
const NEGATIVES: [&str; 4] = ["cannot", "cant", "never", "not"];

/// Who cannot use a thing that is to be mended: `users can't use the login`.
const OTHERS: [&str; 15] = [
    "clients",
    "customers",
    "employees",
    "he",
    "it",
    "members",
    "people",
    "she",
    "students",
    "that",
    "they",
    "users",
    "visitors",
    "which",
    "who",
];

/// Words of a sentence that tells what is wrong with what cannot be used.
const TROUBLE: [&str; 9] =
    ["broken", "crashes", "crashing", "denied", "failed", "failing", "fails", "hangs", "why"];

/// What stands before a Chinese `not` that asks why or whether, or says that something must be.
const CHINESE_BEFORE: [&str; 7] = ["不得", "为什么", "为何", "为啥", "干嘛", "能不能", "可不可以"];

/// What stands behind a Chinese `not` that says what is to be kept in mind, or not alone, and what
/// is no matter.
const CHINESE_AFTER: [&str; 9] = ["仅", "光", "只", "客气", "忘", "急", "担心", "漏", "说"];

/// Longest quotation in bytes.
const MAX_QUOTED_BYTES: usize = 300;

/// Pairs of quotation marks.
const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('„', '“'), ('「', '」'), ('«', '»')];

/// Words of Spanish and Portuguese, in which `no` is another word: `No PDF, extraia as tabelas`.
const IBERIAN_WORDS: [&str; 14] =
    ["como", "con", "de", "el", "en", "la", "las", "los", "mim", "para", "que", "um", "una", "uno"];

/// Returns whether a text in small letters is in Spanish or Portuguese, as far as can be told.
pub(super) fn is_iberian(lower: &str) -> bool {
    let lang = whatlang::detect_lang(lower);
    matches!(lang, Some(whatlang::Lang::Spa | whatlang::Lang::Por))
        && lower.split(|c: char| !c.is_alphanumeric()).any(|word| IBERIAN_WORDS.contains(&word))
}

/// Returns whether a text begins with an abbreviation among words in small letters: `SEM images`.
pub(super) fn begins_with_abbreviation(text: &str, all: &str) -> bool {
    let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    word.len() > 1
        && word.bytes().all(|c| c.is_ascii_uppercase())
        && all.contains(char::is_lowercase)
}

/// Returns whether words that begin at these bytes rule nothing out, though they look so.
pub(super) fn is_no_negation(lower: &str, words: &Range<usize>, is_chinese: bool) -> bool {
    let before = tail(&lower[..words.start]).trim_end();
    let after = &lower[words.end..];
    if is_chinese {
        return CHINESE_BEFORE.iter().any(|text| before.ends_with(text))
            || CHINESE_AFTER.iter().any(|text| after.starts_with(text));
    }
    match &lower[words.clone()] {
        "no" | "not" => REPORTS.iter().any(|report| before.ends_with(report)),
        "without" | "with no" => {
            let phrase = before.rsplit([',', '.', ';', ':', '!', '?', '\n']).next();
            let is_negative = |word: &str| {
                NEGATIVES.contains(&word) || word.ends_with("n't") || word.ends_with("n\u{2019}t")
            };
            phrase.unwrap_or_default().split_whitespace().any(is_negative)
        }
        "do not want" | "don't want" | "don\u{2019}t want" => {
            // `I don't want the invoice to be late`.
            words_of_phrase(after).any(|word| word == "to")
        }
        "anything but" | "everything but" => {
            // `anything but docker works`.
            words_of_phrase(after).any(|word| matches!(word, "work" | "works"))
        }
        of_use if of_use.ends_with(" use") => {
            let subject = before.rsplit(|c: char| !c.is_alphanumeric()).next();
            let cannot = of_use.starts_with("can");
            subject.is_some_and(|word| OTHERS.contains(&word))
                || cannot && words_of(head(after)).any(|word| TROUBLE.contains(&word))
        }
        _ => false,
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
}

/// Returns the words up to the next mark.
fn words_of_phrase(text: &str) -> impl Iterator<Item = &str> {
    let text = head(text);
    let end = text.find([',', '.', ';', ':', '!', '?', '\n']).unwrap_or(text.len());
    words_of(&text[..end])
}

/// Returns the quotations of a text, with their marks, in its order: what they say is no wish. The
/// whole text is none.
pub(super) fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices() {
        if found.last().is_some_and(|last| at < last.end) {
            continue;
        }
        let Some((_, close)) = QUOTES.iter().find(|(open, _)| *open == c) else { continue };
        let inner = &text[at + c.len_utf8()..];
        let inner = &inner[..inner.floor_char_boundary(MAX_QUOTED_BYTES)];
        if let Some(length) = inner.find(*close) {
            found.push(at..at + c.len_utf8() + length + close.len_utf8());
        }
    }
    found.retain(|quotation| *quotation != (0..text.trim_end().len()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    #[test]
    fn quotations_are_found_but_for_a_text_that_is_one() {
        let text = "say \"no\" and «non» or “a \" b";
        let found: Vec<&str> = quotations(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["\"no\"", "«non»"]);
        assert!(quotations("\"merge the files\"\n").is_empty());
        for unit in ["\"", "“", "\"a ", "「」"] {
            assert_linear(unit, 64_000, |text| drop(quotations(text)));
        }
    }

    #[test]
    fn abbreviations_are_capitals_among_small_letters() {
        assert!(begins_with_abbreviation("SEM images", "Resize SEM images"));
        assert!(!begins_with_abbreviation("SIN DOCKER", "DESPLIEGA SIN DOCKER"));
        assert!(!begins_with_abbreviation("Sin docker", "Sin docker"));
    }

    #[test]
    fn other_languages_are_told_by_their_words() {
        assert!(is_iberian("no pdf, extraia as tabelas para mim"));
        assert!(!is_iberian("no docker, deploy it with systemd"));
    }
}
