//! [`refusals`]: what a task says is not to be done.

use std::ops::Range;

use super::{
    head, negation::Negation, phrase::begins_phrase, request_start::is_base_form, verbs::VERBS,
};

/// Words before a verb that refuse what it says, at the begin of a phrase.
const STARTS: [&str; 5] = ["do not", "don't", "don\u{2019}t", "dont", "never"];

/// The same, after which a verb alone is no state: `no need to translate`.
const CLEAR_STARTS: [&str; 15] = [
    "i do not need you to",
    "i do not want you to",
    "i don't need you to",
    "i don't want you to",
    "i don\u{2019}t need you to",
    "i don\u{2019}t want you to",
    "no need to",
    "you do not have to",
    "you do not need to",
    "you don't have to",
    "you don't need to",
    "you don\u{2019}t have to",
    "you don\u{2019}t need to",
    "you shouldn't",
    "you shouldn\u{2019}t",
];

/// The same before a verb in `-ing`, wherever they stand.
const STARTS_OF_ING: [&str; 2] = ["instead of", "rather than"];

/// Words that refuse a thing, at the begin of a phrase; `leave` does if `alone` comes after the
/// thing.
const LEAVE_OUT: &str = "leave out";
const LEAVE: &str = "leave";
const ALONE: &str = " alone";

/// Verbs after which nothing is refused: `don't forget to`, `do not know how`. What is not to be
/// used has rules of its own.
const NO_REFUSALS: [&str; 36] = [
    "be",
    "believe",
    "care",
    "even",
    "exist",
    "feel",
    "find",
    "forget",
    "get",
    "have",
    "hesitate",
    "i",
    "just",
    "know",
    "let",
    "like",
    "mind",
    "miss",
    "need",
    "only",
    "really",
    "remember",
    "see",
    "seem",
    "start",
    "stop",
    "think",
    "touch",
    "understand",
    "use",
    "want",
    "we",
    "work",
    "worry",
    "yet",
    "you",
];

/// Words of a condition: `do not merge until it is green` asks for the merge.
const CONDITIONS: [&str; 12] = [
    "before", "except", "if", "longer", "more", "than", "too", "unless", "until", "when", "while",
    "without",
];

/// Words that begin something new.
const ENDS: [&str; 6] = ["but", "instead", "just", "only", "please", "then"];

/// Words that join a refusal to what is before it.
const JOINTS: [&str; 4] = ["and", "but", "please", "so"];

/// Marks that end a phrase.
const MARKS: [char; 12] = [',', '.', ';', ':', '!', '?', ')', '，', '。', '；', '！', '？'];

/// Most words of a refusal; more are a description.
const MAX_WORDS: usize = 9;

/// Returns what a task says is not to be done, in its order; the bytes have what joins it to the
/// rest. They do not overlap.
///
/// `clean the table, but don't draw a chart` has `, but don't draw a chart`, which rules out `draw
/// a chart`. A state is none, as in `the tests don't pass`; nor is a condition, as in `do not merge
/// until the tests pass`.
pub(crate) fn refusals(task: &str) -> Vec<Negation> {
    let lower = task.to_ascii_lowercase();
    let mut found: Vec<Negation> = Vec::new();
    let mut from = 0;
    for (at, c) in lower.char_indices() {
        if at < from || !c.is_alphabetic() || lower[..at].ends_with(char::is_alphanumeric) {
            continue;
        }
        if let Some((object, end)) = refused_at(&lower, at) {
            let start = from.max(joined_from(&lower, at));
            found.push(Negation { range: start..end, object });
            from = end;
        }
    }
    found
}

/// Returns what is refused by words that begin here, and where they end.
fn refused_at(lower: &str, at: usize) -> Option<(Range<usize>, usize)> {
    let rest = head(&lower[at..]);
    let after = |words: &str| rest.strip_prefix(words)?.strip_prefix(' ').map(str::trim_start);
    let verb_of = |phrase: &str| phrase.split_whitespace().next().map(bare).map(str::to_owned);
    let whole = |phrase: &str, n_least: usize| {
        let n_bytes = phrase_len(phrase, n_least)?;
        let start = at + rest.len() - phrase.len();
        Some((start..start + n_bytes, start + n_bytes))
    };
    if let Some(phrase) = STARTS_OF_ING.iter().find_map(|words| after(words)) {
        let verb = verb_of(phrase)?;
        return (verb.len() > 4 && verb.ends_with("ing")).then(|| whole(phrase, 1))?;
    }
    if !begins_phrase(lower, at) {
        return None;
    }
    if let Some(phrase) = STARTS.iter().find_map(|words| after(words)) {
        let verb = verb_of(phrase)?;
        let is_never = rest.starts_with("never");
        let is_asked = !is_never || VERBS.binary_search(&verb.as_str()).is_ok();
        let is_refused = is_asked && is_base_form(&verb) && !NO_REFUSALS.contains(&verb.as_str());
        // A verb alone tells a state, as in `the pods stop, don't restart`.
        return is_refused.then(|| whole(phrase, 2))?;
    }
    // What stands in quotation marks, or after a colon, is what a text is to say.
    let is_said = lower[..at].trim_end().ends_with(['"', '\'', '“', '‘', '「', ':', '：']);
    if !is_said && let Some(phrase) = CLEAR_STARTS.iter().find_map(|words| after(words)) {
        let verb = verb_of(phrase)?;
        let is_refused = is_base_form(&verb) && !NO_REFUSALS.contains(&verb.as_str());
        return is_refused.then(|| whole(phrase, 1))?;
    }
    if let Some(thing) = after(LEAVE_OUT) {
        return whole(thing, 1);
    }
    let (object, end) = whole(after(LEAVE)?, 2)?;
    let thing = lower[object.clone()].strip_suffix(ALONE)?;
    Some((object.start..object.start + thing.trim_end().len(), end))
}

/// Returns how many bytes a phrase has, up to a mark or to what begins something new; `None` if it
/// has too few words or too many, or has a condition.
fn phrase_len(phrase: &str, n_least: usize) -> Option<usize> {
    let mut n_bytes = 0;
    let mut n_words = 0;
    let mut words = phrase.split_inclusive(char::is_whitespace).peekable();
    while let Some(word) = words.next() {
        let text = bare(word);
        let next = words.peek().map(|word| bare(word)).unwrap_or_default();
        let is_new = ENDS.contains(&text) || text == "and" && VERBS.binary_search(&next).is_ok();
        if n_words > 0 && is_new {
            break;
        }
        if CONDITIONS.contains(&text) {
            return None;
        }
        n_words += 1;
        let unmarked = word.trim_end().trim_end_matches(MARKS);
        n_bytes += unmarked.len();
        if unmarked.len() < word.trim_end().len() || word.ends_with('\n') {
            break;
        }
        n_bytes += word.len() - unmarked.len();
    }
    let n_bytes = phrase[..n_bytes].trim_end().len();
    (n_bytes > 0 && (n_least..=MAX_WORDS).contains(&n_words)).then_some(n_bytes)
}

/// Returns where the words and marks begin that join what stands at `at` to what is before it.
fn joined_from(lower: &str, at: usize) -> usize {
    let mut before = lower[..at].trim_end();
    loop {
        let unmarked = before.trim_end_matches([',', ';', '(', '-', '–', '—']).trim_end();
        let joint = JOINTS.iter().find_map(|joint| {
            let rest = unmarked.strip_suffix(joint)?;
            (!rest.ends_with(char::is_alphanumeric)).then_some(rest)
        });
        let shorter = joint.map_or(unmarked, str::trim_end);
        if shorter.len() == before.len() {
            return before.len();
        }
        before = shorter;
    }
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{decompose::without, growth::assert_linear};

    /// Returns the task without what it refuses, and what that is.
    fn read(task: &str) -> (String, Vec<&str>) {
        let refused = refusals(task);
        (
            without(task, &refused),
            refused.into_iter().map(|refusal| &task[refusal.object]).collect(),
        )
    }

    #[test]
    fn what_is_not_to_be_done_is_refused() {
        for (task, rest, refused) in [
            ("clean the CSVs but don't draw any charts", "clean the CSVs", "draw any charts"),
            ("clean it up, do not draw charts, thanks", "clean it up, thanks", "draw charts"),
            ("clean it, and don’t draw charts.", "clean it.", "draw charts"),
            ("Don't write a message and push the branch", "and push the branch", "write a message"),
            ("tidy it instead of drawing charts", "tidy it", "drawing charts"),
            ("fix the pod but leave the docker image alone", "fix the pod", "the docker image"),
            ("join the PDFs but leave out any redaction", "join the PDFs", "any redaction"),
            ("undo it, never write a commit message", "undo it", "write a commit message"),
            ("no need to translate, just join the PDFs", "just join the PDFs", "translate"),
            ("You shouldn't translate anything, just join", "just join", "translate anything"),
            (
                "Make slides\n- do not draw a chart\n- sum it up",
                "Make slides\n- sum it up",
                "draw a chart",
            ),
            ("sum it up, I don't want you to translate it", "sum it up", "translate it"),
            ("you don’t need to translate it, sum it up", "sum it up", "translate it"),
            ("I don't want you to translate it, only sum up", "only sum up", "translate it"),
        ] {
            assert_eq!(read(task), (rest.to_owned(), vec![refused]));
        }
    }

    #[test]
    fn states_conditions_and_reminders_refuse_nothing() {
        for task in [
            "the tests don't pass the linter",
            "you shouldn't need a key",
            "a post called \"You don't need to learn Kubernetes\"",
            "a letter: you don't have to come",
            "the pods stop, don't restart",
            "I tried it and don't know how to deploy it",
            "deploy it, but don't forget to write a note",
            "do not merge the branch until it is green",
            "don't make the logo too big",
            "Don't you have a skill for this?",
            "leave me a note about it",
            "it never deploys, never builds the image",
            "take tea instead of coffee",
        ] {
            assert_eq!(read(task), (task.to_owned(), Vec::new()));
        }
    }

    #[test]
    fn a_long_task_takes_linear_time() {
        for unit in [" ", "a", "don't draw it, ", "and ", "leave a "] {
            assert_linear(unit, 60_000, |task| drop(refusals(task)));
        }
    }

    proptest! {
        #[test]
        fn refusals_are_in_order_and_apart(
            task in r"(don't|leave|alone|instead of|draw|ing| |, |but |é|a |。){0,12}|.*"
        ) {
            let mut end = 0;
            for Negation { range, object } in refusals(&task) {
                prop_assert!(range.start >= end && object.start >= range.start);
                prop_assert!(object.end <= range.end && task.get(range.clone()).is_some());
                prop_assert!(task.get(object).is_some_and(|text| !text.is_empty()));
                end = range.end;
            }
        }
    }
}
