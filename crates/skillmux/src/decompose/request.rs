//! [`requests`]: the pieces of a clause that ask for work of their own.

use std::ops::Range;

use super::{
    head,
    request_start::{
        asks, begins_request, first_words, goes_on, is_bare_verb, is_connector, is_opener,
        precedes_request,
    },
    request_words::{CONDITION_STARTS, COUNTS, DEFINITE, MEASURES, NO_VERBS},
    tail,
};
use crate::text::is_spaceless;

/// Fewest words of a piece.
const MIN_WORDS: usize = 2;

/// Fewest words of a thing in a list, and of what stands before it: shorter lists name one thing.
const MIN_WORDS_OF_THING: usize = 4;

/// Fewest characters of a piece in writing without spaces.
const MIN_CHARACTERS: usize = 6;

/// Fewest characters of any piece there, such as the next thing of a list.
const MIN_REST: usize = 4;

/// Pairs of marks in which nothing is cut.
const PAIRS: [(char, char); 7] =
    [('(', ')'), ('[', ']'), ('（', '）'), ('“', '”'), ('「', '」'), ('《', '》'), ('"', '"')];

/// Words that link two requests as `and` does.
const LINKING_WORDS: [&str; 3] = ["then ", "plus ", "as well as "];

/// The same in signs; `|` is none, since commands have it.
const LINKING_SIGNS: [&str; 9] = ["- ", "– ", "— ", "& ", "+ ", "/ ", "-> ", "=> ", "→ "];

/// Returns the pieces of a clause that ask for work of their own: after a mark or `and` they begin
/// with a verb, a question, a wish, or the next of some things that are wanted; in writing without
/// spaces what stands between marks. They cover the clause, in its order. Nothing in brackets and
/// quotes is cut. A condition stays with the request that it is for.
pub(super) fn requests(clause: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut closing: Option<char> = None;
    let mut is_list = false;
    for (at, c) in clause.char_indices() {
        let end = at + c.len_utf8();
        let (before, after) = (&clause[start..at], &clause[end..]);
        if closing == Some(c) {
            closing = None;
            continue;
        }
        if let Some((_, close)) = PAIRS.iter().find(|(open, _)| *open == c)
            && closing.is_none()
        {
            if matches!(c, '(' | '（') && begins_aside(after) && is_enough(before) {
                pieces.push(start..at);
                start = at;
            } else if head(after).contains(*close) {
                closing = Some(*close);
            }
            continue;
        }
        let may_list = matches!(c, ',' | ';') || c == ' ' && after.starts_with("and ");
        let min_words = if is_list { MIN_WORDS } else { MIN_WORDS_OF_THING };
        let is_thing = may_list
            && (lists_thing(before, after, min_words)
                || c == ','
                    && has_words_of_thing(before)
                    && lists_on(after, is_list || asks(before)));
        if closing.is_none() && c == ':' && is_enough(before) && lists_all(after) {
            is_list = true;
            continue;
        }
        let may_cut = closing.is_none() && is_cut(c, before, after, is_thing);
        if !may_cut || !is_enough(&clause[start..end]) || !is_enough(after) {
            continue;
        }
        // A condition belongs to what comes after it, as `和` does.
        let end = if c == '和' { at } else { end };
        let cut = condition_at(before).map_or(end, |condition| start + condition);
        let piece = &clause[start..cut];
        if is_enough(piece) && !last_part(piece).is_some_and(is_opener) {
            pieces.push(start..cut);
            (start, is_list) = (cut, is_thing);
        }
    }
    pieces.push(start..clause.len());
    pieces
}

/// Returns whether a piece ends at this character.
fn is_cut(c: char, before: &str, after: &str, is_thing: bool) -> bool {
    let is_cut = match c {
        // `2,000` is one number.
        ',' | ';' if !after.starts_with(char::is_whitespace) => is_long_spaceless(before),
        ',' | ';' | '，' | '；' => {
            begins_request(after)
                || goes_on(after)
                || is_long_spaceless(before)
                || is_thing
                || lists_definite(before, after)
                || ends_afterwards(after)
                || after.trim_start().starts_with("followed by a")
        }
        '、' | '和' => lists_measured(before, after),
        ' ' if is_now_and_then(before, after) => false,
        ' ' if after.starts_with("and ") || after.starts_with("and,") => {
            begins_request(after) || goes_on(after) || is_thing && !is_in_phrase(before)
        }
        ' ' if let Some(next) = behind_link(after) => begins_request(next),
        ' ' if after.starts_with("before ") => precedes_request(after, &["I", "i", "we", "you"]),
        ' ' if after.starts_with("while ") => precedes_request(after, &["you"]),
        ' ' => ["btw ", "oh and ", "i also ", "I also "].iter().any(|word| after.starts_with(word)),
        _ => false,
    };
    is_cut && !is_connector(before) && !is_bare_verb(before)
}

/// Returns what stands behind a word or a sign that links two requests.
fn behind_link(text: &str) -> Option<&str> {
    LINKING_WORDS.iter().chain(&LINKING_SIGNS).find_map(|link| text.strip_prefix(link))
}

/// Returns a piece without the sign that links it to the one before.
pub(super) fn without_sign(piece: &str) -> &str {
    let inner = LINKING_SIGNS.iter().find_map(|sign| piece.strip_prefix(sign));
    inner.map_or(piece, str::trim_start)
}

/// Returns what stands behind the last mark of a piece, which may end with one; `None` if it is too
/// long to lead to a request.
fn last_part(piece: &str) -> Option<&str> {
    let end = tail(piece).trim_end_matches([',', ';', ' ']);
    match end.rfind([',', ';']) {
        Some(at) => Some(&end[at + 1..]),
        None => (tail(piece).len() == piece.len()).then_some(end),
    }
}

/// Returns whether what a bracket holds is another request: `(and while you are at it, ...)`.
fn begins_aside(text: &str) -> bool {
    ["and ", "also ", "then ", "plus ", "顺便", "另外", "再"]
        .iter()
        .any(|word| text.starts_with(word))
}

/// Returns where the condition begins that a piece ends with; 0 if it is nothing else, `None` if
/// there is none, or a long one.
fn condition_at(piece: &str) -> Option<usize> {
    let from = piece.len() - tail(piece).len();
    let mark = tail(piece).rfind([',', ';']).map(|at| from + at + 1);
    let last = mark.or((from == 0).then_some(0));
    let begins = |text: &str| {
        let text = text.trim_start();
        let text = text.strip_prefix("and ").unwrap_or(text).trim_start_matches([',', ' ']);
        let is_start = |start: &&str| {
            text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
        };
        CONDITION_STARTS.iter().any(is_start)
    };
    let and_from = last.unwrap_or(from);
    let and = piece[and_from..].rfind(" and").map(|at| and_from + at);
    [last, and].into_iter().flatten().find(|at| begins(&piece[*at..]))
}

/// Returns whether the end of a piece is still the phrase of a `with` or `using`: `with a spoon and
/// a fork`.
fn is_in_phrase(piece: &str) -> bool {
    let mut last = tail(piece).split_whitespace().rev().take(5);
    last.any(|word| matches!(word, "with" | "using" | "without" | "between" | "including"))
}

/// Returns whether two texts are apart within `now and then`.
fn is_now_and_then(before: &str, after: &str) -> bool {
    before.ends_with("now") && after.starts_with("and then ")
        || before.ends_with("now and") && after.starts_with("then ")
}

/// Returns whether a text is a piece of work to its end, which says that it is done later: `and
/// tidy up afterwards`.
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

/// Returns whether a text begins with a thing of a list, with enough words on both sides.
fn lists_thing(before: &str, after: &str, min_words: usize) -> bool {
    let [first, second] = first_words(after);
    // `9:30, 11:45 and noon` lists no things.
    let is_number = first.starts_with(|c: char| c.is_ascii_digit())
        && second.len() > 1
        && !matches!(second.as_str(), "am" | "and" | "or" | "pm" | "to")
        && second.starts_with(char::is_alphabetic)
        && !NO_VERBS.contains(&second.as_str());
    let is_count = COUNTS.contains(&first.as_str()) || is_number;
    let n_words = |text: &str| head(text).split_whitespace().take(MIN_WORDS_OF_THING).count();
    let next = first_thing(after);
    is_count && n_words(before) >= min_words && n_words(next) >= min_words
}

/// Returns whether a text after a comma goes on with the next thing of a list, whatever its first
/// word: `, rough drawings of its three screens, and ...`.
fn lists_on(after: &str, is_list: bool) -> bool {
    let text = head(after).trim_start();
    match text.strip_prefix("and ") {
        Some(last) => is_list && has_words_of_thing(first_thing(last)) && is_thing(last),
        None => is_list && lists_all(text),
    }
}

/// Returns whether a text is a list of things of enough words up to the end of its sentence, with
/// `and` before the last one.
fn lists_all(text: &str) -> bool {
    let sentence = head(text).split(['.', '?', '!', ';', ':']).next().unwrap_or_default();
    let Some((things, last)) = sentence.rsplit_once(", and ") else { return false };
    things
        .split(',')
        .chain([first_thing(last)])
        .all(|thing| has_words_of_thing(thing) && is_thing(thing))
}

/// Returns whether the first word of a text can begin a thing: `which` goes on with the one before.
fn is_thing(text: &str) -> bool {
    let [first, _] = first_words(text);
    let goes_on = matches!(
        first.as_str(),
        "he" | "i" | "she" | "that" | "they" | "those" | "we" | "which" | "who" | "whose" | "you"
    );
    !first.is_empty() && !goes_on && (!NO_VERBS.contains(&first.as_str()) || first == "for")
}

fn first_thing(text: &str) -> &str {
    head(text).split([',', ';', '.']).next().unwrap_or_default()
}

fn has_words_of_thing(text: &str) -> bool {
    head(text).split_whitespace().take(MIN_WORDS_OF_THING).count() == MIN_WORDS_OF_THING
}

/// Returns whether a text begins with a definite thing of a list that goes on: `, the map of it,
/// and some labels`.
fn lists_definite(before: &str, after: &str) -> bool {
    let [first, _] = first_words(after);
    let text = head(after).trim_start();
    let is_in_list = text.starts_with("and ") || text.contains(", and ");
    let next = first_thing(text.trim_start_matches("and "));
    is_in_list
        && DEFINITE.contains(&first.as_str())
        && has_words_of_thing(before)
        && has_words_of_thing(next)
}

/// Returns whether a text in Chinese goes on with a thing that is counted as the one before:
/// `一首诗、一副春联`.
fn lists_measured(before: &str, after: &str) -> bool {
    let is_counted = |text: &str| {
        let mut counted = text.match_indices('一').map(|(at, one)| &text[at + one.len()..]);
        counted.any(|rest| rest.starts_with(MEASURES))
    };
    let is_next = after.strip_prefix('一').is_some_and(|rest| rest.starts_with(MEASURES));
    is_next && is_counted(head(before))
}

fn is_long_spaceless(text: &str) -> bool {
    n_spaceless(text) >= MIN_CHARACTERS
}

fn n_spaceless(text: &str) -> usize {
    head(text).chars().filter(|c| is_spaceless(*c)).count()
}

fn is_enough(text: &str) -> bool {
    head(text).split_whitespace().count() >= MIN_WORDS || n_spaceless(text) >= MIN_REST
}

/// Returns whether a text has enough letters and digits to be a request; a character of three bytes
/// counts three.
pub(super) fn says_enough(text: &str) -> bool {
    const MIN_LETTERS: usize = 6;
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.map(|c| c.len_utf8().min(3)).sum::<usize>() >= MIN_LETTERS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::{Growing, assert_linear, assert_linear_in};

    fn texts(clause: &str) -> Vec<&str> {
        requests(clause).into_iter().map(|range| clause[range].trim()).collect()
    }

    #[test]
    fn a_request_goes_on_with_a_time_a_wish_or_a_question() {
        for (clause, expected) in [
            (
                "put the film on the telly, and at half past ten tell me to sleep",
                "and at half past ten tell me to sleep",
            ),
            (
                "send it to the printer, and meanwhile play my jazz list",
                "and meanwhile play my jazz list",
            ),
            (
                "My CV has to fit this ad, and they also want a list of references",
                "and they also want a list of references",
            ),
            (
                "How many came back last month, and which words should we bid on",
                "and which words should we bid on",
            ),
            (
                "Move our blog to plain files, but check first whether the form works",
                "but check first whether the form works",
            ),
            (
                "Find out whether it will rain while you work out a route",
                "while you work out a route",
            ),
        ] {
            assert_eq!(texts(clause).last(), Some(&expected), "{clause}");
        }
        for one in [
            "fit it to the ad, and those who set the table",
            "sort the list, but keep the first line",
            "write what happens while we wait for it",
            "how do I get to 2,000 readers, all of them vets",
            "it passes, but now and then it fails here",
            "Explain the rules to people in the room, who send it on",
        ] {
            assert_eq!(texts(one), [one]);
        }
    }

    #[test]
    fn a_clause_without_an_end_takes_linear_time() {
        let phrase = format!("at {} ", "a".repeat(300));
        for (head, unit) in
            [("中文字中文字", "，x"), ("if ", "x then fix "), (&*phrase, "then fix ")]
        {
            let growing = Growing { head, unit, tail: "" };
            assert_linear_in(growing, 32_000, |clause| drop(requests(clause)));
        }
        // A long word before, and many things after it.
        assert_linear("a", 16_000, |word| {
            requests(&format!("{word}{}", ", one".repeat(word.len() / 5)));
        });
    }

    #[test]
    fn a_request_may_stand_behind_a_sign() {
        for sign in ["&", "+", "/", "->", "=>", "→", "—", "–", "-", "as well as", "plus"] {
            let second = format!("{sign} write the letter");
            assert_eq!(texts(&format!("tidy the room {second}")), ["tidy the room", &second]);
        }
    }

    #[test]
    fn what_belongs_together_is_not_cut() {
        for one in [
            "Search & replace a word in it",
            "Explain how to read / write files",
            "Draw a graph with an arrow a -> b in it",
            "Explain cats + dogs",
            "Translate into Spanish: \"Come in, sit down and have some tea.\"",
            "请把“先洗手，然后再吃饭”翻译成英文",
            "Show me how to read, write and append to files in Go",
            "write a story about a boy who finds a dragon, befriends it and flies away",
            "Explain the plot of the play, the one by Shakespeare, in 100 words or less",
            "Compare Python, Go and Rust",
            "If the tests pass, merge the branch",
            "Could you, by Friday, send me the summary of it",
            "Convert the times 9:30, 11:45 and 14:00 from one zone to the other",
            "Put a try block around the open() and read() calls in it",
            "Make a salad with a tomato and a big green cucumber",
        ] {
            assert_eq!(texts(one), [one]);
        }
    }

    #[test]
    fn a_condition_stays_with_its_request() {
        for (clause, expected) in [
            (
                "check whether the bill was paid, and if it was not, send them a letter",
                "and if it was not, send them a letter",
            ),
            (
                "Summarize the report (and while you're at it, extract the figures)",
                "(and while you're at it, extract the figures)",
            ),
            (
                "Deploy the branch to prod, but before that take a snapshot",
                "but before that take a snapshot",
            ),
            ("write a haiku about rust oh and also draw the crab", "oh and also draw the crab"),
            ("写一首关于秋天的诗、一副春联和一段自我介绍", "和一段自我介绍"),
        ] {
            assert_eq!(texts(clause).last(), Some(&expected), "{clause}");
        }
    }

    #[test]
    fn definite_things_of_a_list_are_apart() {
        assert_eq!(
            texts(
                "I need the formula of caffeine and ibuprofen, the wave equation as a picture, and the newest papers on it"
            ),
            [
                "I need the formula of caffeine and ibuprofen,",
                "the wave equation as a picture,",
                "and the newest papers on it"
            ]
        );
        assert_eq!(
            texts(
                "I need a list of what annoys users about forms, rough drawings of its three screens, and tickets for the first five jobs"
            ),
            [
                "I need a list of what annoys users about forms,",
                "rough drawings of its three screens,",
                "and tickets for the first five jobs"
            ]
        );
        assert_eq!(
            texts(
                "For our new site: where to spread it in spring, short answers for the twelve questions, and for each page the blue headline"
            ),
            [
                "For our new site: where to spread it in spring,",
                "short answers for the twelve questions,",
                "and for each page the blue headline"
            ]
        );
        assert_eq!(
            texts(
                "Before the day is over, find the largest files on the drive, tag the notes by theme, and last of all find the address"
            ),
            [
                "Before the day is over, find the largest files on the drive,",
                "tag the notes by theme,",
                "and last of all find the address"
            ]
        );
        let apposition = "ask the head of our team, the woman with the red scarf";
        assert_eq!(texts(apposition), [apposition]);
    }

    #[test]
    fn verbs_after_marks_begin_requests() {
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
        assert_eq!(requests(&"fix,".repeat(50 << 10)).len(), 1);
        assert_eq!(
            texts("电子发票都在压缩包里,先帮我提取号码和金额"),
            ["电子发票都在压缩包里,", "先帮我提取号码和金额"]
        );
    }
}
