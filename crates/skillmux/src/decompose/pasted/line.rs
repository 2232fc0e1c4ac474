//! [`LineKind`]: what a line of a task is by its look.

use std::sync::LazyLock;

use regex::Regex;

use super::n_words;
use crate::text::is_spaceless;

/// Most words in the name of a speaker.
const MAX_SPEAKER_WORDS: usize = 3;

/// Most characters in the name of a speaker.
const MAX_SPEAKER_CHARS: usize = 24;

/// Words before a colon that are no speaker: users mark their own lines by them.
const NO_SPEAKERS: [&str; 14] = [
    "background",
    "btw",
    "context",
    "edit",
    "fyi",
    "goal",
    "important",
    "note",
    "ps",
    "please",
    "question",
    "task",
    "todo",
    "update",
];

/// Beginnings of lines of code, of a trace, of a diff, of a table or of a quotation.
const NON_PROSE_STARTS: [&str; 27] = [
    "#!",
    "$ ",
    "*/",
    "+++ ",
    "--- ",
    "-----",
    "/*",
    "//",
    "<!",
    "</",
    "==",
    ">",
    "@@",
    "@media",
    "CREATE ",
    "File \"",
    "INSERT ",
    "RUN ",
    "SELECT ",
    "Traceback",
    "[",
    "diff ",
    "from .",
    "{",
    "|",
    "}",
    "└",
];

/// Beginnings of the lines of a mail's head, in lower case.
const MAIL_KEYS: [&str; 17] = [
    "an",
    "bcc",
    "betreff",
    "cc",
    "date",
    "from",
    "gesendet",
    "sent",
    "subject",
    "to",
    "von",
    "主题",
    "发件人",
    "收件人",
    "抄送",
    "日期",
    "时间",
];

/// A time or a date at the beginning, as logs and chats have it.
static TIMED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^[\[(<]?(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[:h]\d\d\b|\d\d?[./]\d\d?[./]\d{2,4}|[A-Z][a-z]{2} +\d\d? \d\d:\d\d)";
    Regex::new(pattern).expect("the pattern is right")
});

/// A key and one value: `retries: 3`, `"name"="x"`.
static SETTING: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"^[-"']*[\w&&[:ascii:]./-]{1,40}["']?\s*[:=]\s*[\S&&[:ascii:]]+$"#;
    Regex::new(pattern).expect("the pattern is right")
});

/// Columns: a wide gap within a line.
static COLUMNS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\S(\t| {3,})\S").expect("the pattern is right"));

/// What a line is by its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Blank,
    /// Plain sentences.
    Prose,
    /// A heading, or an item of a list.
    Item,
    /// The head of a mail: `Subject: lunch`.
    MailHead,
    /// What somebody says in a chat: `ana: hello`.
    Speech,
    /// Code, a log, a trace, a diff, a setting, a row of a table, or a quotation.
    NonProse,
}

impl LineKind {
    /// Returns the kind of a line outside a code fence.
    pub(super) fn of(line: &str) -> Self {
        let text = line.trim();
        if text.is_empty() {
            Self::Blank
        } else if is_mail_head(text) {
            Self::MailHead
        } else if is_item(text) {
            Self::Item
        } else if is_non_prose(line, text) {
            Self::NonProse
        } else if is_speech(text) {
            Self::Speech
        } else {
            Self::Prose
        }
    }
}

/// Returns what stands before and behind the first colon of a line.
fn parts(text: &str) -> Option<(&str, &str)> {
    text.split_once([':', '：'])
}

fn is_mail_head(text: &str) -> bool {
    parts(text).is_some_and(|(key, rest)| {
        key.len() < MAX_SPEAKER_CHARS
            && !rest.trim().is_empty()
            && MAIL_KEYS.contains(&key.trim().to_lowercase().as_str())
    })
}

fn is_item(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix(['-', '*', '•', '·', '–']) {
        return rest.starts_with(' ') && !is_code(rest);
    }
    let rest = text.trim_start_matches('#');
    if rest.len() < text.len() {
        return rest.starts_with(' ');
    }
    let rest = text.trim_start_matches('(').trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < text.len()
        && (rest.starts_with('、')
            || rest.strip_prefix([')', '.']).is_some_and(|rest| rest.starts_with(' ')))
}

fn is_non_prose(line: &str, text: &str) -> bool {
    NON_PROSE_STARTS.iter().any(|start| text.starts_with(start))
        || line.starts_with("    ")
        || line.starts_with('\t')
        || TIMED.is_match(text)
        || SETTING.is_match(text)
        || COLUMNS.is_match(text)
        || is_row(text)
        || is_code(text)
}

/// Returns whether a line is a row of a table: hardly a word between the marks.
fn is_row(text: &str) -> bool {
    let n_words = n_words(text);
    [',', ';', '|'].iter().any(|mark| {
        let n_marks = text.matches(*mark).count();
        n_marks >= 3 && n_words <= n_marks + 3
    })
}

/// Returns whether more than half of a line stands in words that hold signs of code or digits.
fn is_code(text: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_digit() || "{}<>=|\\$;`[]_/#@".contains(c);
    let is_code = |word: &&str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric() && !is_sign(c));
        inner.contains(is_sign) || ["::", "->", "()", "--"].iter().any(|signs| word.contains(signs))
    };
    // In writing without spaces, a number does not make all of a sentence code.
    let words = text.split(|c: char| c.is_whitespace() || is_spaceless(c));
    let n_code: usize = words.filter(is_code).map(str::len).sum();
    2 * n_code > text.len()
}

fn is_speech(text: &str) -> bool {
    parts(text).is_some_and(|(name, rest)| {
        let name = name.trim();
        let (n_chars, n_words) = (name.chars().count(), name.split_whitespace().count());
        (1..=MAX_SPEAKER_CHARS).contains(&n_chars)
            && n_words <= MAX_SPEAKER_WORDS
            && !rest.starts_with(['/', '\\'])
            && !rest.trim().is_empty()
            && !NO_SPEAKERS.contains(&name.to_lowercase().as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_by_their_look() {
        use LineKind::{Blank, Item, MailHead, NonProse, Prose, Speech};
        for (kind, lines) in [
            (Blank, &["", "  \t"][..]),
            (
                Prose,
                &[
                    "why does the job fail?",
                    "import my contacts from the old phone, all 340",
                    "at night it stops, about 3 times a week",
                    "index these notes, please",
                    "帮我看看这 3 个报错怎么修",
                    "note: it is for Monday",
                    "see https://example.org/a for the rest of it",
                ],
            ),
            (
                Item,
                &[
                    "- two rooms",
                    "• 床 2 张",
                    "– a lamp",
                    "## Goals",
                    "2. a table",
                    "(3) chairs",
                    "4、椅子",
                ],
            ),
            (MailHead, &["From: Ines", "Subject: lunch on Thursday", "主题：周四"]),
            (Speech, &["ana: who brings the cake?", "Ben K: not me", "王姐：好的"]),
            (
                NonProse,
                &[
                    "2026-03-01 10:22:07 ERROR upstream timed out",
                    "[worker-3] picked up a job",
                    "\tat com.example.Run.main(Run.java:12)",
                    "    return None",
                    "retries: 3",
                    "\"name\": \"x\",",
                    "a,b,c,d",
                    "| rep | sum |",
                    "north   4,100   late",
                    "+++ b/src/app.py",
                    "> as you wrote",
                    "index 9b1c0f2..41d77aa 100644",
                    "rows[i] = load(path_of[i]);",
                ],
            ),
        ] {
            for line in lines {
                assert_eq!(LineKind::of(line), kind, "{line:?}");
            }
        }
    }
}
