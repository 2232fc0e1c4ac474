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
const LINKS: [&str; 14] = [
    "afterwards",
    "also",
    "and",
    "at",
    "end",
    "finally",
    "it",
    "lastly",
    "next",
    "or",
    "please",
    "plus",
    "the",
    "then",
];

/// Fewest words of a piece.
const MIN_WORDS: usize = 2;

/// Fewest characters of a piece in writing without spaces.
const MIN_CHARACTERS: usize = 6;

/// Returns the pieces of a clause that begin with a verb of their own, after a mark or `and`; in writing without spaces what stands
/// between marks. They cover the clause, in its order.
pub(super) fn requests(clause: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, c) in clause.char_indices() {
        let end = at + c.len_utf8();
        let is_cut = match c {
            ',' | ';' | '，' | '；' => {
                begins_request(&clause[end..]) || is_long_spaceless(&clause[start..at])
            }
            ' ' => clause[end..].starts_with("and ") && begins_request(&clause[end..]),
            _ => false,
        };
        if is_cut && is_enough(&clause[start..at]) && is_enough(&clause[end..]) {
            pieces.push(start..end);
            start = end;
        }
    }
    pieces.push(start..clause.len());
    pieces
}

/// Returns whether a text begins with a verb, but for words that link.
fn begins_request(text: &str) -> bool {
    let words =
        head(text).split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let first = words.map(str::to_ascii_lowercase).find(|word| !LINKS.contains(&word.as_str()));
    first.is_some_and(|word| VERBS.binary_search(&word.as_str()).is_ok())
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
        // With a look at the whole rest each, this takes minutes.
        assert_eq!(requests(&"fix,".repeat(50 << 10)).len(), 1);
        assert_eq!(
            texts("电子发票都在压缩包里,先帮我提取号码和金额"),
            ["电子发票都在压缩包里,", "先帮我提取号码和金额"]
        );
    }
}
