//! [`requests`]: the pieces of a clause that ask for work of their own.

use std::ops::Range;

use super::{
    head,
    request_words::{
        ASKING, CHINESE_ASKING, CONNECTORS, COUNTS, DETERMINERS, LINKS, NO_VERBS, PERSONS, VERBS,
        WISHES,
    },
};
use crate::text::is_spaceless;

/// Fewest words of a piece.
const MIN_WORDS: usize = 2;

/// Fewest words of a thing in a list, and of what stands before it: shorter lists name one thing.
const MIN_WORDS_OF_THING: usize = 4;

/// Fewest characters of a piece in writing without spaces.
const MIN_CHARACTERS: usize = 6;

/// Returns the pieces of a clause that ask for work of their own: after a mark or `and` they begin with a verb, a question,
/// a wish, or the next of some things that are wanted; in writing without spaces what stands between marks. They cover the
/// clause, in its order. Nothing in brackets is cut.
pub(super) fn requests(clause: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut depth = 0_usize;
    for (at, c) in clause.char_indices() {
        let end = at + c.len_utf8();
        match c {
            '(' | '[' | '（' => depth += 1,
            ')' | ']' | '）' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let (before, after) = (&clause[start..at], &clause[end..]);
        let is_cut = match c {
            _ if depth > 0 => false,
            ',' | ';' | '，' | '；' => {
                begins_request(after)
                    || is_long_spaceless(before)
                    || lists_thing(before, after)
                    || ends_afterwards(after)
            }
            ' ' if after.starts_with("and ") || after.starts_with("and,") => {
                begins_request(after) || lists_thing(before, after)
            }
            ' ' if after.starts_with("then ") => begins_request(after),
            ' ' if after.starts_with("before ") => precedes_request(after),
            _ => false,
        };
        let is_cut = is_cut && !is_connector(before);
        if is_cut && is_enough(before) && is_enough(after) {
            pieces.push(start..end);
            start = end;
        }
    }
    pieces.push(start..clause.len());
    pieces
}

/// Returns a text without words that link at its start, and whether one of [`CONNECTORS`] was among them.
fn after_connectors(text: &str) -> (&str, bool) {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '-' | '–' | '—');
    let (mut rest, mut is_connected) = (text.trim_start_matches(is_mark), false);
    loop {
        let after = |phrase: &str| {
            let start = rest.get(..phrase.len())?;
            let after = &rest[phrase.len()..];
            let is_whole = !after.starts_with(char::is_alphanumeric);
            (start.eq_ignore_ascii_case(phrase) && is_whole)
                .then(|| after.trim_start_matches(is_mark))
        };
        if let Some(after) = CONNECTORS.iter().find_map(|phrase| after(phrase)) {
            (rest, is_connected) = (after, true);
        } else if let Some(after) = after("and") {
            rest = after;
        } else {
            return (rest, is_connected);
        }
    }
}

/// Returns whether a text is nothing but words that link.
fn is_connector(text: &str) -> bool {
    after_connectors(head(text)).0.trim().is_empty()
}

/// Returns whether a text is a piece of work to its end, which says that it is done later: `and tidy up afterwards`.
fn ends_afterwards(text: &str) -> bool {
    let text = head(text).trim_end_matches(|c: char| !c.is_alphanumeric());
    let later = |end: &&str| {
        text.get(text.len().saturating_sub(end.len())..)
            .is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    text.trim_start().starts_with("and ")
        && !text.contains([',', ';'])
        && [" afterwards", " after that"].iter().any(later)
}

/// Returns whether a text that begins with `before` says what is done next, and by whom: `before we send it`.
fn precedes_request(text: &str) -> bool {
    let mut words = head(text).split_whitespace().skip(1);
    let is_person = words.next().is_some_and(|word| matches!(word, "I" | "i" | "we" | "you"));
    let verb = words.next().unwrap_or_default();
    is_person
        && (VERBS.binary_search(&verb).is_ok() || is_verb(verb, words.next().unwrap_or_default()))
}

/// Returns whether a word is a verb by the word after it, as in `press the button`.
fn is_verb(word: &str, next: &str) -> bool {
    is_base_form(word)
        && !NO_VERBS.contains(&word)
        && !DETERMINERS.contains(&word)
        && DETERMINERS.contains(&next)
}

/// Returns whether a word can be a verb that asks for something: it is no other form of one.
pub(super) fn is_base_form(word: &str) -> bool {
    let is_plain =
        word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_form = word.len() > 4 && ["ed", "ing", "ly"].iter().any(|end| word.ends_with(end));
    is_plain && !is_form
}

/// Returns the first words of a text in small letters, but for words that link.
fn first_words(text: &str) -> [String; 2] {
    let words =
        head(text).split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let mut words =
        words.map(str::to_ascii_lowercase).skip_while(|word| LINKS.contains(&word.as_str()));
    std::array::from_fn(|_| words.next().unwrap_or_default())
}

/// Returns whether a text begins with one of [`CONNECTORS`], a verb, a question or a wish, but for words that link.
fn begins_request(text: &str) -> bool {
    let (text, is_connected) = after_connectors(head(text));
    if is_connected && !text.trim().is_empty() {
        return true;
    }
    let [first, second] = first_words(text);
    let (first, second) = (first.as_str(), second.as_str());
    is_verb(first, second)
        || VERBS.binary_search(&first).is_ok()
        || ASKING.contains(&first) && PERSONS.contains(&second)
        || first == "how" && matches!(second, "many" | "much")
        || matches!(first, "i" | "we") && WISHES.contains(&second)
        || matches!(first, "i'd" | "we'd")
}

/// Returns whether a piece of a task asks for something, as far as its first words tell.
pub(crate) fn asks(text: &str) -> bool {
    begins_request(text) || CHINESE_ASKING.iter().any(|word| text.starts_with(word))
}

/// Returns whether a text begins with a thing of a list, with enough words on both sides.
fn lists_thing(before: &str, after: &str) -> bool {
    let [first, _] = first_words(after);
    let is_count =
        COUNTS.contains(&first.as_str()) || first.starts_with(|c: char| c.is_ascii_digit());
    let n_words = |text: &str| text.split_whitespace().take(MIN_WORDS_OF_THING).count();
    let next = head(after).split([',', ';', '.']).next().unwrap_or_default();
    is_count && n_words(before) >= MIN_WORDS_OF_THING && n_words(next) >= MIN_WORDS_OF_THING
}

fn is_long_spaceless(text: &str) -> bool {
    head(text).chars().filter(|c| is_spaceless(*c)).count() >= MIN_CHARACTERS
}

fn is_enough(text: &str) -> bool {
    head(text).split_whitespace().count() >= MIN_WORDS || is_long_spaceless(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_after_marks_begin_requests() {
        assert!(VERBS.is_sorted());
        let texts = |clause: &'static str| -> Vec<&str> {
            requests(clause).into_iter().map(|range| clause[range].trim()).collect()
        };
        assert_eq!(
            texts(
                "Pull the tables out of the reports, build a forecast from them and put it on six slides"
            ),
            [
                "Pull the tables out of the reports,",
                "build a forecast from them",
                "and put it on six slides"
            ]
        );
        assert_eq!(texts("salt, pepper and a lemon"), ["salt, pepper and a lemon"]);
        assert_eq!(texts("look, fix it"), ["look, fix it"]);
        assert_eq!(
            texts(
                "fetch all listings (title, price, draw it) and a small map of them, could we also sort them"
            ),
            [
                "fetch all listings (title, price, draw it)",
                "and a small map of them,",
                "could we also sort them"
            ]
        );
        assert_eq!(
            texts(
                "I want a transcript with names, from that an article of 1200 words, five posts for Mastodon"
            ),
            [
                "I want a transcript with names,",
                "from that an article of 1200 words,",
                "five posts for Mastodon"
            ]
        );
        assert_eq!(
            texts("First read the notes, and after that recall what we said and press the button"),
            ["First read the notes,", "and after that recall what we said", "and press the button"]
        );
        assert_eq!(
            texts("When you are done, list the files and, once that is done, upscale every photo"),
            ["When you are done, list the files", "and, once that is done, upscale every photo"]
        );
        assert_eq!(
            texts("Help me backtest the strategy, and upscale one blurry image afterwards."),
            ["Help me backtest the strategy,", "and upscale one blurry image afterwards."]
        );
        assert_eq!(
            texts(
                "we have to clean the table before we upload it, before the holidays and for the board"
            ),
            [
                "we have to clean the table",
                "before we upload it, before the holidays and for the board"
            ]
        );
        // With a look at the whole rest each, this takes minutes.
        assert_eq!(requests(&"fix,".repeat(50 << 10)).len(), 1);
        assert_eq!(
            texts("电子发票都在压缩包里,先帮我提取号码和金额"),
            ["电子发票都在压缩包里,", "先帮我提取号码和金额"]
        );
    }
}
