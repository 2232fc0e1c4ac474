//! Splits long paragraphs at the ends of sentences, English and Chinese.

use std::ops::Range;

/// Longest paragraph that stays whole, in bytes (about 250 tokens).
pub(super) const PARAGRAPH_BYTES: usize = 4 * 250;
/// Part of a split paragraph that is long enough to end, in bytes (about 150 tokens).
const PART_BYTES: usize = 4 * 150;

/// Blanks and marks of Markdown that may stand before the first word, in bytes.
const MAX_MARK_BYTES: usize = 80;

/// Words that open a condition, the local header of what follows (`SkillPager` §3.1).
const CONDITIONS: &[&str] = &["if", "when", "otherwise", "unless", "else"];
const CONDITIONS_ZH: &[&str] = &["如果", "若", "当", "否则", "一旦"];
/// Words that tie a sentence to the one before it (`SkillPager` §3.1).
const CONNECTIVES: &[&str] = &["or", "and", "e.g", "i.e", "but", "then"];
const CONNECTIVES_ZH: &[&str] = &["或", "以及", "例如", "即", "但", "然后"];
/// Words of a condition that is about the steps after it.
const AHEAD: &[&str] = &[
    "next step",
    "next two",
    "next three",
    "following",
    "skip step",
    "skip to",
    "skip ahead",
    "leave out",
    "instead of step",
    "do this instead",
    "continue with",
    "continue to",
    "continue at",
    "proceed to",
    "proceed with",
    "go to step",
    "jump to",
];
const AHEAD_ZH: &[&str] = &[
    "下一步",
    "以下",
    "下面",
    "下列",
    "跳过第",
    "跳到",
    "跳至",
    "转到",
    "继续第",
    "继续执行",
    "进入第",
];

/// Returns the parts of `text`, which follow each other and are all of it; text of at most
/// [`PARAGRAPH_BYTES`] has one part.
///
/// A part ends with a sentence; where a sentence is too long it ends with a line, and a line is
/// never broken. A condition stays with the next sentence, a connective with the one before.
pub(super) fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    if text.len() <= PARAGRAPH_BYTES {
        parts.push(0..text.len());
        return parts;
    }
    let mut part_start = 0;
    let mut sentence_start = 0;
    let mut in_code = false;
    for (at, mark) in text.char_indices().filter(|(_, mark)| is_break_mark(*mark)) {
        if mark == '`' {
            in_code = !in_code;
            continue;
        }
        let after = at + mark.len_utf8();
        let len = after - part_start;
        let ends = match mark {
            '\n' => len > 2 * PART_BYTES,
            _ => !in_code && ends_sentence(text, after, mark),
        };
        if !ends {
            continue;
        }
        // Closing quotes and emphasis belong to the sentence they close.
        let closing = |c: char| matches!(c, '"' | '\'' | ')' | '*' | '_' | '”' | '’' | '）' | '」');
        let rest = text[after..].trim_start_matches(closing);
        let end = text.len() - rest.len();
        let is_condition = opens_condition(&text[sentence_start..]) && len <= 2 * PART_BYTES;
        if len >= PART_BYTES && !is_condition && !opens_with_connective(rest) {
            parts.push(part_start..end);
            part_start = end;
        }
        sentence_start = end;
    }
    // A short remainder goes with the last part.
    match parts.last_mut() {
        Some(last) if text.len() - part_start < PART_BYTES / 4 => last.end = text.len(),
        _ => parts.push(part_start..text.len()),
    }
    parts
}

/// Tells whether `text` is read as the header of what follows it: it ends in a colon, is nothing
/// but emphasis (`**Usage**`), or is a connective (`or`).
pub(super) fn is_local_header(text: &str) -> bool {
    let text = text.trim();
    let bare = text.trim_end_matches(['*', '_', '`', ' ', '）', ')']);
    if bare.ends_with([':', '：']) {
        return true;
    }
    let is_bold = text.len() > 4
        && text.starts_with("**")
        && text.ends_with("**")
        && !text[2..text.len() - 2].contains("**");
    let is_connective = text.len() <= 12 && opens_with_connective(text) && !text.contains(' ');
    is_bold || is_connective
}

/// Tells whether `text` begins with a condition, as in `If the build fails`.
pub(super) fn opens_condition(text: &str) -> bool {
    opens_with(text, CONDITIONS, CONDITIONS_ZH)
}

/// Tells whether `text` is a condition as it stands below a step: `If it fails, stop.` What ends in
/// a colon, or speaks of the next step, is about what follows.
pub(crate) fn is_step_condition(text: &str) -> bool {
    opens_condition(text) && !is_local_header(text) && !points_ahead(text)
}

/// Tells whether a condition is about the steps that follow it, as `If it is there, skip the next
/// step`.
fn points_ahead(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    AHEAD.iter().any(|words| lower.contains(words))
        || AHEAD_ZH.iter().any(|words| text.contains(words))
}

fn opens_with_connective(text: &str) -> bool {
    opens_with(text, CONNECTIVES, CONNECTIVES_ZH)
}

fn opens_with(text: &str, words: &[&str], words_zh: &[&str]) -> bool {
    // Each line of a paragraph is asked for, and may be nothing but marks.
    let is_mark = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'*' | b'_' | b'>' | b'-');
    let text = &text[text.bytes().take(MAX_MARK_BYTES).take_while(is_mark).count()..];
    if text.starts_with(|c: char| c.is_ascii()) {
        let end = text
            .bytes()
            .position(|byte| !(byte.is_ascii_alphabetic() || byte == b'.'))
            .unwrap_or(text.len());
        let word = text[..end].trim_end_matches('.');
        words.iter().any(|known| known.eq_ignore_ascii_case(word))
    } else {
        words_zh.iter().any(|known| text.starts_with(known))
    }
}

fn is_break_mark(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '；' | '\n' | '`')
}

fn ends_sentence(text: &str, after: usize, mark: char) -> bool {
    if !mark.is_ascii() {
        return true;
    }
    let rest = &text[after..];
    let next = rest.trim_start_matches(['"', '\'', ')', '*', '_']);
    if !next.starts_with([' ', '\n']) {
        return next.is_empty();
    }
    // `e.g. this`, `J. Doe` and `1. item` end no sentence.
    let word_start = text[..after - 1].rfind([' ', '\n', '(', '.']).map_or(0, |at| at + 1);
    let word = &text[word_start..after - 1];
    let is_short = word.chars().count() <= 1 || word.bytes().all(|byte| byte.is_ascii_digit());
    let is_continued = next.trim_start().starts_with(|c: char| c.is_ascii_lowercase());
    !(is_continued || mark == '.' && is_short)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<&str> {
        parts(text).into_iter().map(|part| &text[part]).collect()
    }

    #[test]
    fn short_text_stays_whole() {
        assert_eq!(split("One. Two. Three."), ["One. Two. Three."]);
    }

    #[test]
    fn long_text_splits_after_sentences() {
        let english = "The scan is read page by page. ".repeat(60);
        let chinese = "先读取扫描件的每一页。然后检查结果！".repeat(60);
        for text in [english, chinese] {
            let parts = split(&text);
            assert!(parts.len() >= 2, "{parts:?}");
            assert!(parts.iter().all(|part| part.len() <= 2 * PART_BYTES));
            assert!(parts.iter().all(|part| part.trim_end().ends_with(['.', '。', '！'])));
        }
    }

    #[test]
    fn conditions_stay_with_what_they_govern() {
        let filler = "A plain sentence of no interest. ".repeat(PART_BYTES / 33);
        let text = format!("{filler}If it fails. Restart it. {filler}{filler}");
        let parts = split(&text);
        assert!(parts[0].contains("If it fails. Restart it."), "{parts:?}");
    }

    #[test]
    fn abbreviations_end_no_sentence() {
        let text = format!("{}Use tools, e.g. pandoc, v. 3. ", "word ".repeat(150));
        assert!(!ends_sentence(&text, text.find("e.g.").unwrap() + 4, '.'));
        assert!(!ends_sentence("See J. Doe", 6, '.'));
        assert!(ends_sentence("Done. Next", 5, '.'));
    }

    #[test]
    fn local_headers_are_recognised() {
        for header in ["Run this:", "**Usage:**", "**Usage**", "运行：", "or", "*Note:*"] {
            assert!(is_local_header(header), "{header}");
        }
        for text in ["Run this.", "**Usage** is a word", "**a** and **b**", "order"] {
            assert!(!is_local_header(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parts_are_all_of_the_text(text in "([a-zA-Z .!?:\n`*。！？（）如果]{0,80}\\. ){0,60}") {
            let mut end = 0;
            for part in parts(&text) {
                prop_assert_eq!(part.start, end);
                prop_assert!(part.end > part.start || text.is_empty());
                end = part.end;
            }
            prop_assert_eq!(end, text.len());
        }
    }
}
