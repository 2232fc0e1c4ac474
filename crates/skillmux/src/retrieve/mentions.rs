//! Finds the skills that a query names.

use crate::{index::name_key, text::is_stop_word};

/// Longest name that is looked for; the Agent Skills specification allows 64 characters.
const MAX_NAME_BYTES: usize = 64 * 4;

/// At most this many names are looked up for one query.
const MAX_MENTIONS: usize = 32;

/// Words before a name that say to use what is named.
const CUES: [&str; 9] = ["apply", "call", "invoke", "load", "run", "use", "using", "via", "with"];

/// The same in Chinese, at the end of whatever stands before the name.
const CHINESE_CUES: [&str; 3] = ["用", "运行", "加载"];

/// Words that turn a cue around.
const NEGATIONS: [&str; 5] = ["not", "don't", "never", "without", "avoid"];

/// Words after a name that say what is named.
const NOUNS: [&str; 3] = ["skill", "skills", "技能"];

/// A name that a text mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// Key of the name, see [`name_key`].
    pub(super) key: String,
    /// How sure it is that a skill is meant.
    pub(super) strength: Strength,
}

/// How sure it is that a mention means a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    /// The text says so: `the pdf-forms skill`, `/pdf-forms`.
    Certain,
    /// `use pdf-forms` may name a skill, but `use end-to-end tests` does not.
    Likely,
}

/// Returns the names that a text mentions, each once.
///
/// A name is mentioned by a command at the start (`/name`, `$name`); before the word skill, if it
/// is quoted, hyphenated, or after a cue (`use the pdf skill`); after `skill named`; and, likely,
/// if it is all there is, or a hyphenated identifier after a cue (`with pdf-forms`). What comes
/// after `not` or `never` is not wanted. Other words are no mention, even if some skill has that
/// name: of the identifiers in `queries-train` that are the name of a skill, only 31 % name the
/// right one, but 90 % of those with a cue.
pub(super) fn mentions(text: &str) -> Vec<Mention> {
    let mut mentions: Vec<Mention> = Vec::new();
    let mut push = |name: &str, strength: Strength| {
        let key = name_key(name);
        let is_new = mentions.iter().all(|mention| mention.key != key);
        let is_name = !key.is_empty() && name.len() <= MAX_NAME_BYTES;
        if is_name && is_new && mentions.len() < MAX_MENTIONS {
            mentions.push(Mention { key, strength });
        }
    };
    // Words with blanks between them are a request: `merge pdf` does not name `merge-pdf`.
    if !text.trim().contains(char::is_whitespace) && !text.trim().starts_with(['/', '$']) {
        push(text, Strength::Likely);
    }
    for (open, close) in [('`', '`'), ('"', '"'), ('“', '”'), ('「', '」')] {
        for (name, after) in quoted(text, open, close) {
            let near = &after[..after.floor_char_boundary(MAX_NAME_BYTES)];
            if near.split_whitespace().next().is_some_and(is_noun) || after.starts_with("技能") {
                push(name, Strength::Certain);
            }
        }
    }
    let words: Vec<&str> = text.split_whitespace().map(trim_punctuation).collect();
    let (mut nearest, mut second) = (None, None);
    for (at, word) in words.iter().enumerate() {
        let name = word.strip_prefix(['/', '$']);
        let is_command = name.is_some();
        let name = name.unwrap_or(word);
        let before = Before::of(nearest, second);
        if !matches!(*word, "the" | "a" | "my") {
            (nearest, second) = (Some(*word), nearest);
        }
        if !is_plain_name(name) || is_stop_word(&name.to_lowercase()) || before.is_unwanted {
            continue;
        }
        let has_noun = words.get(at + 1).is_some_and(|word| is_noun(word));
        let is_identifier = is_command || has_inner_joint(name);
        // Elsewhere a slash begins a path or an endpoint, and a dollar sign a variable.
        let is_certain = is_command && at == 0
            || has_noun && (is_identifier || before.is_cue)
            || before.is_naming;
        if is_certain {
            push(name, Strength::Certain);
        } else if is_identifier && before.is_cue {
            push(name, Strength::Likely);
        }
    }
    mentions
}

/// What stands before a word that may be a name.
struct Before {
    /// A word that says to use what follows.
    is_cue: bool,
    /// `skill named`.
    is_naming: bool,
    /// A word that says not to.
    is_unwanted: bool,
}

impl Before {
    /// Reads the nearest words before it that are no articles.
    fn of(nearest: Option<&str>, second: Option<&str>) -> Self {
        let is = |word: Option<&str>, words: &[&str]| {
            word.is_some_and(|word| words.contains(&word.to_lowercase().as_str()))
        };
        Self {
            is_cue: nearest.is_some_and(is_cue),
            is_naming: is(nearest, &["named", "called"]) && second.is_some_and(is_noun),
            is_unwanted: is(nearest, &NEGATIONS) || is(second, &NEGATIONS),
        }
    }
}

fn is_cue(word: &str) -> bool {
    CUES.contains(&word.to_lowercase().as_str())
        || CHINESE_CUES.iter().any(|cue| word.ends_with(cue))
}

fn is_noun(word: &str) -> bool {
    NOUNS.contains(&trim_punctuation(word).to_lowercase().as_str())
}

/// Returns the spans between two marks on one line, each with the rest of its line.
fn quoted(text: &str, open: char, close: char) -> impl Iterator<Item = (&str, &str)> {
    text.lines().flat_map(move |line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            let start = rest.find(open)? + open.len_utf8();
            let length = rest[start..].find(close)?;
            let span = &rest[start..start + length];
            rest = &rest[start + length + close.len_utf8()..];
            Some((span, rest))
        })
    })
}

fn trim_punctuation(word: &str) -> &str {
    let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '$')
}

/// Returns whether the word holds letters, digits and joints only: no path, file name or address.
fn is_plain_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}

fn has_inner_joint(word: &str) -> bool {
    word.trim_matches(['-', '_']).contains(['-', '_'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    fn keys_of(text: &str) -> Vec<String> {
        mentions(text).into_iter().map(|mention| mention.key).collect()
    }

    fn keys(text: &str) -> Vec<String> {
        // Too long to be a name as a whole.
        keys_of(&format!("{text} {}", "x ".repeat(200)))
    }

    #[test]
    fn a_single_word_may_be_a_name_as_a_whole() {
        assert_eq!(keys_of(" PDF-Tools "), ["pdftools"]);
        assert!(keys_of("merge pdf").is_empty());
    }

    #[test]
    fn what_is_not_wanted_is_no_mention() {
        assert!(keys("do not use pdf-forms, and never the csv-cleaning skill").is_empty());
    }

    #[test]
    fn names_with_a_cue_are_mentions() {
        assert_eq!(keys("please use pdf-form_filling, then"), ["pdfformfilling"]);
        assert_eq!(keys("do it with the csv-cleaning tool"), ["csvcleaning"]);
        assert_eq!(keys("the slide-maker skill does that"), ["slidemaker"]);
        assert_eq!(keys("use the pdf skill to merge"), ["pdf"]);
        assert_eq!(keys("with the skill named docx, please"), ["docx"]);
        assert_eq!(keys("/review the last commit, then run $deploy now"), ["review", "deploy"]);
        assert_eq!(
            keys("with the `docx` skill, or \"Slide Maker\" skill."),
            ["docx", "slidemaker"]
        );
        assert_eq!(keys("请使用 invoice-check 处理"), ["invoicecheck"]);
        assert_eq!(keys("请按“发票报销”技能处理"), ["发票报销"]);
    }

    #[test]
    fn words_paths_and_identifiers_without_a_cue_are_no_mentions() {
        assert!(keys("review the test in src/my-app/main.rs using data-set.csv").is_empty());
        assert!(keys("see /usr/local/bin and https://a-b.example/c-d").is_empty());
        assert!(keys("add GET /metrics and /health to the server in $HOME").is_empty());
        assert!(keys("a well-known real-time \"dashboard\" improves the writing skill").is_empty());
    }

    #[test]
    fn a_text_full_of_names_costs_a_bounded_number_of_lookups() {
        let text = (0..1000).map(|n| format!("use name-{n}")).collect::<Vec<_>>().join(" ");
        assert_eq!(mentions(&text).len(), MAX_MENTIONS);
    }

    #[test]
    fn articles_and_quotation_marks_take_linear_time() {
        for unit in ["the ", "the a my x ", "\"", "\"a\"", "`"] {
            assert_linear(unit, 30_000, |text| drop(mentions(text)));
        }
    }
}
