//! The one table of hidden characters, and how untrusted text is made safe to show.

use std::fmt::Write;

/// Returns whether a character shows nothing and changes how its neighbours are read: soft hyphens,
/// marks and overrides of the writing direction (U+061C among them), zero-width spaces, invisible
/// operators, interlinear marks and tags.
///
/// Not so the two joiners, which [`is_joiner`] tells: some writings and emoji need them.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Returns whether a character is the zero-width joiner or non-joiner.
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Returns the text without hidden characters, and without control characters but line feeds and tabs.
///
/// Skills are untrusted: an escape sequence in one must not reach a terminal.
pub fn printable(text: &str) -> String {
    let is_kept = |c: &char| !is_hidden(*c) && (!c.is_control() || matches!(c, '\n' | '\t'));
    text.chars().filter(is_kept).collect()
}

/// Returns the text on one line: each run of white space, control characters and hidden characters
/// becomes one space.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let is_blank = |c: char| c.is_whitespace() || c.is_control() || is_hidden(c);
    for word in text.split(is_blank).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the first `max_chars` characters of a text, with `…` in place of the rest.
pub fn clipped(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Returns JSON with hidden and control characters escaped; JSON holds them in strings only, where an
/// escape means the same.
pub fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) || c.is_control() && c != '\n' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_not_shown() {
        let text = "a\u{1b}[31mb\u{202e}c\u{e0041}\td\u{200b}\u{feff}\u{61c}";
        assert_eq!(printable(text), "a[31mbc\td");
        assert_eq!(one_line(" a\n2. b\t\u{202e}c\u{61c}d "), "a 2. b c d");
    }

    #[test]
    fn joiners_stay_where_writing_needs_them() {
        let text = "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}";
        assert_eq!(printable(text), text);
        assert!(is_joiner('\u{200d}') && !is_hidden('\u{200d}'));
    }

    #[test]
    fn escaped_json_says_the_same() {
        let text = "a\u{9b}31m\u{202e}\u{e0041}\u{61c}\n\u{1b}表";
        let json = escaped_json(&serde_json::to_string_pretty(text).unwrap());
        assert!(!json.contains(['\u{9b}', '\u{202e}', '\u{e0041}', '\u{1b}', '\u{61c}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clipped("技能路由", 2), "技能…");
        assert_eq!(clipped("技能", 2), "技能");
    }
}
