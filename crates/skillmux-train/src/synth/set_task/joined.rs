//! [`joined`]: a task of several skills from queries about one each.

use crate::synth::{sample::chosen, text::Language};

/// What stands before a part: the first one, those between, and the last one. Our own words.
struct Frame {
    first: &'static str,
    next: &'static [&'static str],
    last: &'static [&'static str],
}

const ENGLISH: [Frame; 4] = [
    Frame { first: "", next: &["Then", "After that,"], last: &["Then", "Finally,"] },
    Frame {
        first: "First,",
        next: &["Then", "Next,", "After that,"],
        last: &["Then", "Last of all,", "In the end,"],
    },
    Frame { first: "", next: &["Once that is done,", "Next,"], last: &["Once that is done,"] },
    Frame { first: "", next: &["I also need this:", "Also:"], last: &["And one more thing:"] },
];

const CHINESE: [Frame; 4] = [
    Frame { first: "", next: &["然后", "接着"], last: &["最后", "然后"] },
    Frame { first: "首先，", next: &["然后", "接下来，"], last: &["最后，"] },
    Frame { first: "", next: &["做完之后，", "接下来，"], last: &["做完之后，"] },
    Frame { first: "", next: &["另外，", "还有，"], last: &["最后还有一件事："] },
];

/// Returns one task that asks for what all parts ask for, one after the other, in words that the
/// seed chooses. A single part is the task.
///
/// Each part keeps its words. It gets a full stop where it has no end, and a small letter after
/// words that want one.
pub(super) fn joined(parts: &[&str], language: Language, seed: u64, key: &str) -> String {
    let [part] = parts else {
        let frames = match language {
            Language::En => &ENGLISH,
            Language::Zh => &CHINESE,
        };
        let frame = &frames[chosen(&[0, 1, 2, 3], seed, &["frame", key])];
        let mut text = String::new();
        for (at, part) in parts.iter().enumerate() {
            let number = at.to_string();
            let before = match at {
                0 => frame.first,
                _ if at + 1 == parts.len() => chosen(frame.last, seed, &["last", key]),
                _ => chosen(frame.next, seed, &["next", key, &number]),
            };
            push(&mut text, before, part, language);
        }
        return text;
    };
    (*part).to_owned()
}

fn push(text: &mut String, before: &str, part: &str, language: Language) {
    if language == Language::En && !text.is_empty() {
        text.push(' ');
    }
    text.push_str(before);
    if language == Language::En && !before.is_empty() {
        text.push(' ');
    }
    if language == Language::Zh || before.is_empty() || before.ends_with(':') {
        text.push_str(part);
    } else {
        text.push_str(&with_small_begin(part));
    }
    if !part.ends_with(['.', '!', '?', '。', '！', '？', '…', ';', '；']) {
        text.push(if language == Language::Zh { '。' } else { '.' });
    }
}

/// Returns a text whose first word begins small, if it is a plain word and not `I`.
fn with_small_begin(text: &str) -> String {
    let word: String = text.chars().take_while(|c| c.is_alphanumeric()).collect();
    let mut letters = word.chars();
    let first = letters.next().filter(char::is_ascii_uppercase);
    let is_plain = letters.clone().next().is_some() && letters.all(|c| c.is_ascii_lowercase());
    match first {
        Some(first) if is_plain => format!("{}{}", first.to_ascii_lowercase(), &text[1..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: [&str; 3] =
        ["Read the ledger", "Sum the sales of May!", "I want the PDF by mail."];

    #[test]
    fn each_part_keeps_its_words_and_its_place() {
        for key in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            let text = joined(&PARTS, Language::En, 7, key);
            assert_eq!(text, joined(&PARTS, Language::En, 7, key));
            let lower = text.to_lowercase();
            let places: Vec<usize> =
                PARTS.iter().map(|part| lower.find(&part.to_lowercase()).unwrap()).collect();
            assert!(places.is_sorted(), "{text}");
            assert!(
                text.contains("ledger. ") && text.ends_with("I want the PDF by mail."),
                "{text}"
            );
            let chinese =
                joined(&["读取账本", "统计五月的销售额", "发邮件给我！"], Language::Zh, 7, key);
            assert!(chinese.contains("读取账本。") && chinese.ends_with("发邮件给我！"));
            assert!(!chinese.contains(' '), "{chinese}");
        }
        let all: std::collections::BTreeSet<String> =
            (0..40).map(|n| joined(&PARTS, Language::En, n, "k")).collect();
        assert!(all.len() > 8);
    }

    #[test]
    fn a_single_part_is_left_as_it_is() {
        assert_eq!(joined(&["sum it up"], Language::En, 1, "k"), "sum it up");
    }

    #[test]
    fn only_plain_words_begin_small() {
        for (text, expected) in [
            ("Sum it", "sum it"),
            ("I sum it", "I sum it"),
            ("I'm here", "I'm here"),
            ("PDF pages", "PDF pages"),
            ("GitHub issues", "GitHub issues"),
            ("2 pages", "2 pages"),
            ("Éclair", "Éclair"),
            ("", ""),
        ] {
            assert_eq!(with_small_begin(text), expected);
        }
    }
}
