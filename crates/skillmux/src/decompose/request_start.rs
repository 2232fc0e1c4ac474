//! How a request begins, as far as its first words tell.

use super::{
    clauses, head,
    request_words::{
        ASKING, ASKING_PHRASES, AUXILIARIES, CHINESE_ASKING, CHINESE_PHRASES, CONDITIONS,
        CONNECTORS, COUNTS, DEFINITE, DETERMINERS, LINKS, NO_VERBS, OBJECTS, OPENERS, PAST,
        PERSONS, QUESTIONS, SUBJECTS, TELLERS, WANTS, WHEN, WISHES,
    },
    tail,
    verbs::VERBS,
};

/// Most words of what leads to a request.
const MAX_OPENER_WORDS: usize = 6;

/// Words of a piece in which a verb is looked for that is not the first one.
const N_SEEN: usize = 8;

/// Words of a piece in which the verb of a story is looked for.
const N_TOLD: usize = 5;

/// Returns a text without words that link at its start, and whether one of [`CONNECTORS`] was among
/// them.
fn after_connectors(text: &str) -> (&str, bool) {
    let is_mark =
        |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '-' | '–' | '—' | '(' | '（');
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
pub(super) fn is_connector(text: &str) -> bool {
    after_connectors(head(text)).0.trim().is_empty()
}

/// Returns whether a text that begins with a word such as `before` says what one of these persons
/// does: `before we send it`.
pub(super) fn precedes_request(text: &str, persons: &[&str]) -> bool {
    let mut words = head(text).split_whitespace().skip(1);
    let is_person = words.next().is_some_and(|word| persons.contains(&word));
    let verb = words.next().unwrap_or_default();
    is_person
        && (VERBS.binary_search(&verb).is_ok() || is_verb(verb, words.next().unwrap_or_default()))
}

/// Returns whether a text only leads to a request: `could you`, `by Friday`, `in main.rs`.
pub(super) fn is_opener(text: &str) -> bool {
    let (text, _) = after_connectors(head(text));
    let words: Vec<String> = text.split_whitespace().take(MAX_OPENER_WORDS + 1).map(bare).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words {
        [asking, person] if ASKING.contains(&asking) && PERSONS.contains(&person) => true,
        [first, ..] => {
            words.len() <= MAX_OPENER_WORDS
                && OPENERS.contains(&first)
                && !words.iter().any(|word| VERBS.binary_search(word).is_ok())
        }
        [] => true,
    }
}

/// Returns whether a text ends with a verb whose object is still to come: `how do I stop`, and then
/// `and remove the container`.
pub(super) fn is_bare_verb(text: &str) -> bool {
    let mut words = tail(text).split_whitespace().rev().map(bare);
    let (last, before) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_known = |word: &str| VERBS.binary_search(&word).is_ok();
    is_known(&last)
        && (is_known(&before)
            || matches!(
                before.as_str(),
                "and" | "i" | "or" | "people" | "please" | "they" | "to" | "we" | "you"
            ))
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
    let is_form = word.len() > 4
        && !word.ends_with("eed")
        && ["ed", "ing", "ly"].iter().any(|end| word.ends_with(end));
    let is_third_person =
        word.ends_with('s') && !["as", "is", "ss", "us"].iter().any(|end| word.ends_with(end));
    is_plain && !is_form && !is_third_person
}

/// Returns a word without marks around it, in small letters.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase()
}

/// Returns the first words of a text in small letters, but for words that link; the second one is
/// empty behind a mark.
pub(super) fn first_words(text: &str) -> [String; 2] {
    let mut words =
        head(text).split_whitespace().skip_while(|word| LINKS.contains(&bare(word).as_str()));
    let first = words.next().unwrap_or_default();
    let is_apart = first.ends_with([',', ';', '.', ':', '?', '!']);
    let second = words.next().filter(|_| !is_apart).unwrap_or_default();
    // `read()` is a name.
    let first = if first.contains("()") { "" } else { first };
    [bare(first), bare(second)]
}

/// Returns whether a text after a mark or `and` goes on with another request, whose verb is not its
/// first word: `and at noon send it`, `and which of them should we keep`, `and they want a list`,
/// `but first check it`.
pub(super) fn goes_on(text: &str) -> bool {
    let text = head(text).trim_start();
    let (rest, is_linked) = match text.strip_prefix("and ") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    if let Some(rest) = text.strip_prefix("but ") {
        let [first, _] = first_words(rest);
        let is_reminder = rest.starts_with("don't forget to ");
        return is_reminder || begins_request(rest) && !CONDITIONS.contains(&first.as_str());
    }
    let sentence = rest.split([';', '.', ':', '?', '!']).next().unwrap_or_default();
    let words: Vec<String> = sentence.split_whitespace().take(N_SEEN).map(bare).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_asked =
        text.contains('?') && words.first().is_some_and(|first| QUESTIONS.contains(first));
    is_timed_request(&words) || is_wanted(&words) || is_linked && (is_question(&words) || is_asked)
}

/// Returns whether words tell when something is to be done, and then what.
fn is_timed_request(words: &[&str]) -> bool {
    let is_when = words.first().is_some_and(|first| WHEN.contains(first));
    is_when
        && words.windows(3).any(|words| {
            let [before, verb, object] = words else { return false };
            let is_known = VERBS.binary_search(verb).is_ok() && DETERMINERS.contains(object);
            let is_told =
                is_base_form(verb) && !NO_VERBS.contains(verb) && OBJECTS.contains(object);
            (is_known || is_told) && !SUBJECTS.contains(before) && !DETERMINERS.contains(before)
        })
}

/// Returns whether words say what somebody else wants: `they also want a list`.
fn is_wanted(words: &[&str]) -> bool {
    let is_somebody = words
        .first()
        .is_some_and(|first| matches!(*first, "he" | "she" | "they") || DEFINITE.contains(first));
    is_somebody && words.iter().skip(1).take(3).any(|word| WANTS.contains(word))
}

/// Returns whether words ask a question in which a person is spoken of: `at what hour should I
/// eat`.
fn is_question(words: &[&str]) -> bool {
    let is_asking = words.iter().take(2).any(|word| QUESTIONS.contains(word));
    let is_person = |word: &str| matches!(word, "i" | "we" | "you");
    let is_verb = |word: &str| matches!(word, "i'd" | "we'd");
    is_asking
        && (words.iter().any(|word| is_verb(word))
            || words.windows(2).any(|words| AUXILIARIES.contains(&words[0]) && is_person(words[1])))
}

/// Returns whether a text begins with one of [`CONNECTORS`], a verb, a question or a wish, but for
/// words that link.
pub(super) fn begins_request(text: &str) -> bool {
    let (text, is_connected) = after_connectors(head(text));
    if is_connected && !text.trim().is_empty() && !is_told(text) {
        return true;
    }
    let [first, second] = first_words(text);
    let (first, second) = (first.as_str(), second.as_str());
    // `Go and Rust` are names, but a sentence begins with a capital letter as well.
    let is_name = matches!(second, "" | "and" | "or")
        && text.trim_start().starts_with(|c: char| c.is_uppercase());
    if is_name {
        return false;
    }
    is_verb(first, second)
        || VERBS.binary_search(&first).is_ok()
        || ASKING.contains(&first) && PERSONS.contains(&second)
        || first == "how" && matches!(second, "many" | "much")
        || matches!(first, "i" | "we") && (WISHES.contains(&second) || second == "also")
        || matches!(first, "i'd" | "we'd")
}

/// Returns whether a text tells what somebody did, or what was, as far as its first words tell:
/// `then my boss came back`, `then we waited`.
fn is_told(text: &str) -> bool {
    let piece = text.split([',', ';', ':', '.', '?', '!']).next().unwrap_or_default();
    let words: Vec<String> = piece.split_whitespace().take(N_TOLD).map(bare).collect();
    let [first, second, rest @ ..] = words.as_slice() else { return false };
    let is_past = |word: &String| PAST.contains(&word.as_str());
    let is_told_later = rest.iter().any(is_past);
    if TELLERS.contains(&first.as_str()) {
        return is_told_later || is_past(second) || second.len() > 4 && second.ends_with("ed");
    }
    // `the left column`, `the sorted table` and `the table sorted by date` are things.
    DEFINITE.contains(&first.as_str()) && is_told_later
}

/// Returns whether a piece of a task asks for something, as far as its first words tell.
pub(crate) fn asks(text: &str) -> bool {
    begins_request(text) || CHINESE_ASKING.iter().any(|word| text.starts_with(word))
}

/// Returns whether a part of a task is likely a request: it asks by its first words, or it is a
/// question, or the next thing of a list.
pub(crate) fn is_request(part: &str) -> bool {
    asks(part) || part.trim_end().ends_with(['?', '？']) || is_next_thing(part)
}

/// Returns whether a part begins with a thing that is counted, in small letters: it goes on with
/// the sentence before.
fn is_next_thing(part: &str) -> bool {
    let [first, _] = first_words(part);
    part.starts_with(|c: char| c.is_lowercase()) && COUNTS.contains(&first.as_str())
}

/// Returns whether a task asks for something anywhere, as far as its words tell: a piece of it
/// begins as a request does, or a phrase such as `please` or `how do I` stands in it. What is only
/// reported, such as an error, asks without such words.
pub(crate) fn asks_anywhere(task: &str) -> bool {
    let says = |phrase: &&str| task.contains(*phrase);
    has_asking_phrase(task)
        || CHINESE_PHRASES.iter().any(says)
        || clauses(task).into_iter().any(|clause| {
            let text = &task[clause.range];
            let mut pieces = text.split([',', ':', '，', '：']).map(str::trim);
            pieces.any(asks)
        })
}

/// Returns whether one of [`ASKING_PHRASES`] stands in a text as whole words.
fn has_asking_phrase(text: &str) -> bool {
    let words: Vec<String> = text.split_whitespace().map(bare).collect();
    let stands = |phrase: &&str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|words| words.iter().eq(&phrase))
    };
    ASKING_PHRASES.iter().any(stands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_things_of_a_list_are_requests() {
        for part in [
            "merge the files",
            "What is unsafe in the server?",
            "and a table of the files",
            "哪些文件要删？",
        ] {
            assert!(is_request(part), "{part}");
        }
        for part in ["A reader wrote to us", "it is for Monday", "and the rest can wait"] {
            assert!(!is_request(part), "{part}");
        }
    }

    #[test]
    fn what_happened_next_is_no_request() {
        for told in [
            "Then we had lunch, the soup was cold.",
            "then my boss came back from Spain",
            "After that we walked to the old mill",
            "Then it rained through the roof",
            "Then the lift got stuck",
        ] {
            assert!(!begins_request(told), "{told}");
        }
        for asked in [
            "then the table sorted by date",
            "then the left column of the page",
            "then my slides for Monday",
            "then we need a list",
            "after that the updated chart",
            "Then send it",
        ] {
            assert!(begins_request(asked), "{asked}");
        }
    }

    #[test]
    fn verbs_are_sorted() {
        assert!(VERBS.is_sorted());
    }

    #[test]
    fn a_task_asks_by_its_words_wherever_they_stand() {
        for asking in [
            "Merge the PDF files",
            "The podcast is in the audio folder. Please add chapters.",
            "we have 300 scans and no idea how to search them",
            "The slides are ugly, fix them",
            "帮我把这张图抠出来",
            "周报还没写，怎么办",
        ] {
            assert!(asks_anywhere(asking), "{asking}");
        }
        for telling in [
            "my podcast is in the audio folder",
            "I merged the branch this morning",
            "nice, the chart looks great now",
            "周报已经发了",
        ] {
            assert!(!asks_anywhere(telling), "{telling}");
        }
    }

    #[test]
    fn a_base_form_is_no_other_form_of_a_verb() {
        for base in ["speed", "process", "focus", "look", "fact-check"] {
            assert!(is_base_form(base), "{base}");
        }
        for other in ["played", "playing", "plays", "quickly", "Go", "x"] {
            assert!(!is_base_form(other), "{other}");
        }
    }
}
