//! [`requests`]: the pieces of a clause that ask for work of their own.

use std::ops::Range;

use super::head;
use crate::text::is_spaceless;

/// Verbs that a request begins with; sorted.
const VERBS: [&str; 175] = [
    "add",
    "align",
    "analyse",
    "analyze",
    "animate",
    "answer",
    "apply",
    "arrange",
    "audit",
    "automate",
    "backup",
    "benchmark",
    "book",
    "brainstorm",
    "bring",
    "build",
    "bundle",
    "calculate",
    "caption",
    "check",
    "clean",
    "clip",
    "collect",
    "combine",
    "compare",
    "compile",
    "compose",
    "compress",
    "compute",
    "configure",
    "convert",
    "count",
    "create",
    "crop",
    "cut",
    "debug",
    "dedupe",
    "deduplicate",
    "define",
    "delete",
    "deploy",
    "describe",
    "design",
    "detect",
    "document",
    "download",
    "draft",
    "draw",
    "edit",
    "email",
    "enrich",
    "estimate",
    "evaluate",
    "explain",
    "export",
    "extract",
    "fetch",
    "figure",
    "fill",
    "filter",
    "find",
    "fix",
    "forecast",
    "format",
    "generate",
    "get",
    "give",
    "go",
    "group",
    "have",
    "help",
    "highlight",
    "identify",
    "illustrate",
    "implement",
    "import",
    "improve",
    "install",
    "integrate",
    "investigate",
    "keep",
    "list",
    "load",
    "look",
    "mail",
    "make",
    "map",
    "measure",
    "merge",
    "migrate",
    "mix",
    "model",
    "monitor",
    "move",
    "name",
    "narrate",
    "normalise",
    "normalize",
    "notify",
    "optimise",
    "optimize",
    "order",
    "organise",
    "organize",
    "outline",
    "package",
    "paraphrase",
    "parse",
    "pick",
    "plan",
    "plot",
    "polish",
    "post",
    "predict",
    "prepare",
    "present",
    "print",
    "prioritise",
    "prioritize",
    "produce",
    "proofread",
    "publish",
    "pull",
    "push",
    "put",
    "rank",
    "record",
    "redact",
    "refactor",
    "release",
    "remind",
    "remove",
    "rename",
    "render",
    "report",
    "research",
    "resize",
    "review",
    "rewrite",
    "roll",
    "run",
    "save",
    "say",
    "schedule",
    "scrape",
    "search",
    "send",
    "set",
    "show",
    "simplify",
    "sort",
    "split",
    "store",
    "suggest",
    "summarise",
    "summarize",
    "sync",
    "tell",
    "test",
    "tidy",
    "track",
    "train",
    "transcribe",
    "translate",
    "tune",
    "turn",
    "update",
    "upload",
    "validate",
    "visualise",
    "visualize",
    "walk",
    "word",
    "work",
    "write",
];

/// Words between a mark and the verb.
const LINKS: [&str; 16] = [
    "afterwards",
    "also",
    "and",
    "at",
    "end",
    "finally",
    "from",
    "it",
    "lastly",
    "next",
    "or",
    "please",
    "plus",
    "that",
    "the",
    "then",
];

/// Words that a wish or a question begins with, before one of [`PERSONS`]: `could we`, `how do I`.
const ASKING: [&str; 16] = [
    "are", "can", "could", "did", "do", "does", "have", "how", "is", "should", "what", "which",
    "who", "why", "will", "would",
];

/// Who asks, or is asked about.
const PERSONS: [&str; 8] = ["anybody", "anyone", "else", "i", "it", "there", "we", "you"];

/// What a person who wants something says of it, after `I` or `we`.
const WISHES: [&str; 5] = ["need", "require", "should", "want", "would"];

/// Words that a thing begins with, in a list of things that are wanted; so does a number.
const COUNTS: [&str; 14] = [
    "a", "an", "another", "eight", "five", "four", "nine", "one", "seven", "six", "some", "ten",
    "three", "two",
];

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
                begins_request(after) || is_long_spaceless(before) || lists_thing(before, after)
            }
            ' ' => {
                after.starts_with("and ") && (begins_request(after) || lists_thing(before, after))
            }
            _ => false,
        };
        if is_cut && is_enough(before) && is_enough(after) {
            pieces.push(start..end);
            start = end;
        }
    }
    pieces.push(start..clause.len());
    pieces
}

/// Returns the first words of a text in small letters, but for words that link.
fn first_words(text: &str) -> [String; 2] {
    let words =
        head(text).split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let mut words =
        words.map(str::to_ascii_lowercase).skip_while(|word| LINKS.contains(&word.as_str()));
    std::array::from_fn(|_| words.next().unwrap_or_default())
}

/// Returns whether a text begins with a verb, a question or a wish, but for words that link.
fn begins_request(text: &str) -> bool {
    let [first, second] = first_words(text);
    let (first, second) = (first.as_str(), second.as_str());
    VERBS.binary_search(&first).is_ok()
        || ASKING.contains(&first) && PERSONS.contains(&second)
        || first == "how" && matches!(second, "many" | "much")
        || matches!(first, "i" | "we") && WISHES.contains(&second)
        || matches!(first, "i'd" | "we'd")
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
        // With a look at the whole rest each, this takes minutes.
        assert_eq!(requests(&"fix,".repeat(50 << 10)).len(), 1);
        assert_eq!(
            texts("电子发票都在压缩包里,先帮我提取号码和金额"),
            ["电子发票都在压缩包里,", "先帮我提取号码和金额"]
        );
    }
}
