//! Turns bytes of unknown origin into text with `\n` line ends.

use super::report::Issue;

/// Text that was checked and normalised.
pub(super) struct Decoded {
    pub(super) text: String,
    /// What had to be repaired.
    pub(super) issues: Vec<Issue>,
}

/// Returns the bytes as text: UTF-8 without byte-order mark, `\n` line ends, no NUL.
pub(super) fn decode(bytes: Vec<u8>) -> Result<Decoded, Issue> {
    let mut text = String::from_utf8(bytes)
        .map_err(|error| Issue::NotUtf8 { offset: error.utf8_error().valid_up_to() })?;
    if text.contains('\0') {
        return Err(Issue::NulByte);
    }
    let mut issues = Vec::new();
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len_utf8());
        issues.push(Issue::ByteOrderMark);
    }
    Ok(Decoded { text: with_newlines(text), issues })
}

/// The byte-order mark as a character.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the text with `\n` line ends instead of `\r\n` and `\r`.
pub(super) fn with_newlines(text: String) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

/// Returns the text on one line: each run of white space and control characters becomes one space.
pub(super) fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the longest prefix of at most `max_chars` characters.
pub(super) fn truncated(text: &str, max_chars: usize) -> &str {
    text.char_indices().nth(max_chars).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_every_kind_become_newlines() {
        assert_eq!(with_newlines("a\r\nb\rc\nd\r\n".into()), "a\nb\nc\nd\n");
    }

    #[test]
    fn a_byte_order_mark_is_removed_and_reported() {
        let decoded = decode(b"\xef\xbb\xbfhello".to_vec()).unwrap();
        assert_eq!(decoded.text, "hello");
        assert_eq!(decoded.issues, [Issue::ByteOrderMark]);
    }

    #[test]
    fn bytes_that_are_not_text_are_refused() {
        assert_eq!(decode(b"ab\xff".to_vec()).err(), Some(Issue::NotUtf8 { offset: 2 }));
        assert_eq!(decode(b"a\0b".to_vec()).err(), Some(Issue::NulByte));
    }

    #[test]
    fn control_characters_and_line_breaks_become_single_spaces() {
        assert_eq!(on_one_line(" a\n\tb\u{1b}[31m  c "), "a b [31m c");
    }

    #[test]
    fn truncation_counts_characters_not_bytes() {
        assert_eq!(truncated("äöü", 2), "äö");
        assert_eq!(truncated("ab", 2), "ab");
    }
}
