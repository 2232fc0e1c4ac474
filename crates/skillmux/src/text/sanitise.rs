//! The one table of hidden characters, and how untrusted text is made safe to show.

use std::fmt::Write;

use super::{is_han, is_mongolian};

/// Returns whether a character shows nothing and changes how its neighbours are read: soft hyphens,
/// marks and overrides of the writing direction (U+061C among them), zero-width spaces, fillers of
/// Hangul, vowels of Khmer that are not written, invisible operators, marks between lines, marks of
/// shorthand and of music, tags, and what Unicode keeps free for more of the kind.
///
/// Not so the two joiners, which [`is_joiner`] tells, and selectors of variants: some writings and
/// emoji need them.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// Returns whether a character is the zero-width joiner or non-joiner.
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Returns the text without hidden characters, and without control characters but line feeds and
/// tabs. What separates lines or paragraphs becomes a line feed.
///
/// Joiners and selectors of variants stay where writing has them.
///
/// Skills are untrusted: an escape sequence in one must not reach a terminal.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut joints = Joints::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' '..='~' | '\n' | '\t' => joints.letter(c),
            _ if is_line_end(c) => {
                joints.letter('\n');
                out.push('\n');
                continue;
            }
            _ if is_joint(c) => {
                if !joints.is_needed(c, chars.peek().copied()) {
                    continue;
                }
            }
            _ if is_hidden(c) || c.is_control() => continue,
            _ => joints.letter(c),
        }
        out.push(c);
    }
    out
}

/// Returns the text on one line: each run of white space, control characters and hidden characters
/// becomes one space. Joiners and selectors stay where [`printable`] leaves them.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let is_blank = |c: char| c.is_whitespace() || c.is_control() || is_hidden(c);
    for word in text.split(is_blank).filter(|word| !word.is_empty()) {
        let start = line.len();
        if !line.is_empty() {
            line.push(' ');
        }
        let n_bytes = line.len();
        if word.is_ascii() {
            line.push_str(word);
        } else {
            line.push_str(&printable(word));
        }
        if line.len() == n_bytes {
            line.truncate(start);
        }
    }
    line
}

/// Returns a path as people and models read it: on one line, without hidden characters. Other than
/// in [`one_line`], each white space becomes a space of its own: two of them are part of a path.
pub fn shown_path(path: &str) -> String {
    let shown = |c: char| if c.is_whitespace() { ' ' } else { c };
    printable(path).chars().map(shown).collect()
}

/// Returns whether a character shows nothing but joins its neighbours, or chooses a form of the one
/// before it.
fn is_joint(c: char) -> bool {
    is_joiner(c) || is_selector(c) || is_ideograph_selector(c) || is_mongolian_selector(c)
}

/// Returns whether a character chooses between forms of a letter or a picture.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Returns whether a character chooses between forms of an ideograph.
fn is_ideograph_selector(c: char) -> bool {
    matches!(c, '\u{e0100}'..='\u{e01ef}')
}

/// Returns whether a character chooses between forms of a Mongolian letter.
pub(crate) fn is_mongolian_selector(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180d}' | '\u{180f}')
}

/// What was read last, for telling joiners and selectors that writing needs from those that carry a
/// message.
///
/// - A selector of an ideograph follows one, and that of a Mongolian letter such a letter.
/// - Any other one is alone: of a row, the first stays. A picture may have a selector and then a
///   joiner, as may a Mongolian letter.
/// - None stands between two ASCII characters, but in the signs of keys (`1`, U+FE0F, U+20E3).
struct Joints {
    /// The last character that stays and shows something.
    before: char,
    /// The joiner or selector that stays after it.
    joint: Option<char>,
}

impl Default for Joints {
    fn default() -> Self {
        Self { before: '\n', joint: None }
    }
}

impl Joints {
    /// Takes a character that is shown.
    fn letter(&mut self, c: char) {
        *self = Self { before: c, joint: None };
    }

    /// Returns whether a joiner or selector stays; `next` is what stands behind it.
    fn is_needed(&mut self, c: char, next: Option<char>) -> bool {
        let is_followed = |by: fn(char) -> bool| {
            next.is_some_and(|next| !is_joint(next) && !is_hidden(next) && by(next))
        };
        let is_needed = match self.joint {
            None if is_ideograph_selector(c) => is_han(self.before),
            None if is_mongolian_selector(c) => is_mongolian(self.before),
            None => !self.before.is_ascii() || is_followed(|next| !next.is_ascii()),
            Some(joint) => {
                (is_selector(joint) || is_mongolian_selector(joint))
                    && c == '\u{200d}'
                    && is_followed(|_| true)
            }
        };
        if is_needed {
            self.joint = Some(c);
        }
        is_needed
    }
}

/// Returns the first `max_chars` characters of a text, with `…` in place of the rest.
pub fn clipped(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Returns whether a character separates lines or paragraphs, as few programs expect.
fn is_line_end(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns JSON with hidden and control characters escaped; JSON holds them in strings only, where
/// an escape means the same.
pub fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        let is_rare_selector = is_ideograph_selector(c) || is_mongolian_selector(c);
        let is_unseen = is_hidden(c) || is_rare_selector || is_line_end(c);
        if is_unseen || c.is_control() && c != '\n' {
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
    fn what_carries_a_message_is_not_shown() {
        for text in [
            "a\u{34f}\u{3164}\u{115f}\u{1160}\u{ffa0}\u{180e}b",
            "a\u{e0100}\u{e01ef}b",
            "a\u{200b}\u{200c}\u{200d}\u{2060}b",
            "a\u{200c}b",
            "a\u{fe0f}\u{fe0f}b",
            "a\u{180b}\u{180c}\u{180d}\u{180f}b",
            "a\u{e0080}\u{e00ff}\u{e01f0}\u{e0fff}b",
            "a\u{17b4}\u{17b5}\u{1d173}\u{1d17a}\u{1bca0}\u{1bca3}\u{fff0}\u{fff8}b",
        ] {
            assert_eq!(printable(text), "ab", "{text:?}");
        }
        assert_eq!(printable("\u{1f600}\u{e0150}\u{e0151}!"), "\u{1f600}!");
        assert_eq!(printable("\u{1f600}\u{fe01}\u{fe02}\u{fe03}!"), "\u{1f600}\u{fe01}!");
        assert_eq!(printable("\u{1f600}\u{fe0f}\u{200d}\u{200d}"), "\u{1f600}\u{fe0f}");
        assert_eq!(printable("\u{645}\u{200c}\u{200c}\u{200d}\u{62e}"), "\u{645}\u{200c}\u{62e}");
        assert_eq!(printable("a\u{2028}b\u{2029}c"), "a\nb\nc");
        assert_eq!(one_line("a\u{2028}b\u{e0100} \u{fe0f} c"), "a b c");
    }

    #[test]
    fn what_writing_needs_stays() {
        for text in [
            // A family, a heart on fire, a rainbow flag, keys, a warning.
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f}\u{200d}\u{1f525}",
            "\u{1f3f3}\u{fe0f}\u{200d}\u{1f308} 1\u{fe0f}\u{20e3} \u{26a0}\u{fe0f} a",
            "\u{1f575}\u{1f3fd}\u{200d}\u{2642}\u{fe0f}",
            // Persian, also behind a Latin word; Hindi, Sinhala; an ideograph of a name.
            "\u{6a9}\u{62a}\u{627}\u{628}\u{200c}\u{647}\u{627} PDF\u{200c}\u{647}\u{627}",
            "\u{915}\u{94d}\u{200d}\u{937} \u{915}\u{94d}\u{200c}\u{937} \u{dc1}\u{dca}\u{200d}\u{dbb}",
            "葛\u{e0100}城",
            // Mongolian.
            "\u{182d}\u{180b}\u{1820} \u{1828}\u{180d} \u{1828}\u{180b}\u{200d}.",
        ] {
            assert_eq!(printable(text), text);
            assert_eq!(one_line(text), text);
        }
    }

    #[test]
    fn escaped_json_says_the_same() {
        let text = "a\u{9b}31m\u{202e}\u{e0041}\u{61c}\n\u{1b}表\u{180b}\u{e01f0}";
        let json = escaped_json(&serde_json::to_string_pretty(text).unwrap());
        assert!(!json.contains(['\u{9b}', '\u{202e}', '\u{e0041}', '\u{1b}', '\u{61c}']), "{json}");
        assert!(!json.contains(['\u{180b}', '\u{e01f0}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clipped("技能路由", 2), "技能…");
        assert_eq!(clipped("技能", 2), "技能");
    }
}
