//! What a task says in Chinese is not to be used: its words, for `negation`.

use std::ops::Range;

use super::{head, tail};
use crate::text::is_spaceless;

/// Words after which a task names what it does not want.
const STARTS: [&str; 17] = [
    "不要写成",
    "别写成",
    "不想使用",
    "不想用",
    "不要用",
    "不要使用",
    "不能用",
    "别做",
    "别用",
    "不做",
    "不用",
    "不使用",
    "而不是",
    "不需要",
    "无需",
    "不要",
    "别再用",
];

/// Words behind what they rule out, at the end of a phrase: `PPT就不用了`.
const ENDINGS: [&str; 5] = ["就不用了", "就不要了", "就算了", "不用做了", "不用做"];

/// Words that end what is ruled out, wherever they stand.
const ENDS: [&str; 6] = [" 用", "改用", "换成", "而是", "就用", "只用"];

/// What tells that something is so from now on, and is no part of what is ruled out.
const CHANGED: [char; 2] = ['了', '啦'];

/// Longest of it, in characters; a word in Latin letters counts as one.
const MAX_CHARACTERS: usize = 8;

/// Returns the words that rule out and begin at these bytes.
pub(super) fn start_at(lower: &str, at: usize) -> Option<&'static str> {
    let words = STARTS.iter().find(|words| lower[at..].starts_with(**words))?;
    (!is_either_or(lower, at)).then_some(words)
}

/// Returns the bytes of what is ruled out by words that end at `start`; `None` if nothing is named.
pub(super) fn object(lower: &str, start: usize) -> Option<Range<usize>> {
    let rest = head(&lower[start..]);
    let is_end = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
    let text = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    let ends = ENDS.iter().filter_map(|end| text.find(end));
    let text = text[..ends.min().unwrap_or(text.len())].trim_end().trim_end_matches(CHANGED);
    let is_short = (1..=MAX_CHARACTERS).contains(&n_characters(text));
    is_short.then_some(start..start + text.len())
}

/// Returns where what tells that something is so from now on ends, which may stand at `end`.
pub(super) fn behind_change(lower: &str, end: usize) -> usize {
    lower.len() - lower[end..].trim_start_matches(CHANGED).len()
}

/// Returns the bytes of what the words at `at` rule out with these words, and without: it begins a phrase, at `from` or later.
pub(super) fn ending_at(
    lower: &str,
    at: usize,
    from: usize,
) -> Option<(Range<usize>, Range<usize>)> {
    let words = ENDINGS.iter().find(|words| lower[at..].starts_with(**words))?;
    // `今天不用做PPT` names it behind.
    if lower[at + words.len()..].starts_with(char::is_alphanumeric) {
        return None;
    }
    let before = tail(&lower[from..at]);
    let is_mark = |c: char| !c.is_alphanumeric() && c != ' ';
    let object = before.rfind(is_mark).map_or(before, |mark| &before[mark..]);
    let object = object.trim_start_matches(is_mark).trim();
    let is_short = (1..=MAX_CHARACTERS).contains(&n_characters(object));
    let start = at - (before.len() - before.rfind(object)?);
    is_short.then(|| (start..at + words.len(), start..start + object.len()))
}

/// Returns whether the character before a Chinese `not` stands after it as well: `要不要` asks whether,
/// and rules nothing out.
fn is_either_or(lower: &str, at: usize) -> bool {
    let before = lower[..at].chars().next_back();
    let after = lower[at..].strip_prefix('不').and_then(|rest| rest.chars().next());
    before.is_some() && before == after
}

/// Returns the number of characters of a text without marks; a word in Latin letters counts as one.
fn n_characters(text: &str) -> usize {
    let is_letter = |c: &char| c.is_alphanumeric() && !is_spaceless(*c);
    let words = text.split(|c| !is_letter(&c)).filter(|word| !word.is_empty()).count();
    words + text.chars().filter(|c| is_spaceless(*c)).count()
}
