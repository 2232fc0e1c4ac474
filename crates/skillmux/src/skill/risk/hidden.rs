//! Characters that a reader does not see.

use super::Sign;
use crate::text::{is_han, is_hidden, is_joiner, is_mongolian, is_mongolian_selector};

/// The flags of England, Scotland and Wales are this and tags.
const BLACK_FLAG: char = '\u{1f3f4}';

/// Tags of the longest such flag, with the one that ends it.
const MAX_FLAG_TAGS: usize = 6;

/// Returns where a text of a skill hides something. The body is the last one.
pub(super) fn sign(texts: [&str; 3]) -> Option<Sign> {
    let [name, description, body] = texts.map(first);
    let above = name.or(description).map(|_| Sign::Somewhere);
    above.or(body.map(Sign::At))
}

/// Characters in a row that show nothing and stand for nothing: writing needs one at a place, or
/// two.
const MAX_IN_A_ROW: usize = 2;

/// Such characters in a text. Some come into honest ones when they are copied from web pages and
/// documents.
const MAX_STRAY: usize = 24;

/// Returns the first byte of a character that writes unseen text, turns the direction of writing,
/// or moves the cursor of a terminal; else of the first of many that show nothing.
fn first(text: &str) -> Option<usize> {
    if text.is_ascii() && !text.contains('\u{1b}') && !text.contains('\u{8}') {
        return None;
    }
    let mut flag_tags = 0;
    let (mut n_in_a_row, mut n_stray, mut first_stray) = (0, 0, 0);
    let mut before = '\n';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\u{8}' if is_erased(Some(before)) => return Some(at),
            '\u{1b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                return Some(at);
            }
            '\u{e0020}'..='\u{e007f}' if flag_tags > 0 => {
                flag_tags -= 1;
                before = c;
                continue;
            }
            '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}' => return Some(at),
            // They choose between two forms of one ideograph.
            '\u{e0100}'..='\u{e01ef}' if !is_han(before) => return Some(at),
            // And these of one Mongolian letter.
            _ if is_mongolian_selector(c) && !is_mongolian(before) => return Some(at),
            BLACK_FLAG => flag_tags = MAX_FLAG_TAGS,
            _ => flag_tags = 0,
        }
        // The mark of the byte order.
        let is_first = at == 0 && c == '\u{feff}';
        if !is_first && (is_hidden(c) || is_joiner(c) || is_selector(c)) {
            n_in_a_row += 1;
            if n_in_a_row > MAX_IN_A_ROW {
                return Some(at);
            }
            // One joiner or selector is part of the letter or picture before it, and some go on
            // after ASCII. A picture may have one of each.
            let is_part = !is_hidden(c)
                && if n_in_a_row == 1 {
                    !before.is_ascii() || chars.peek().is_some_and(|(_, next)| !next.is_ascii())
                } else {
                    c == '\u{200d}' && is_selector(before)
                };
            if !is_part {
                if n_stray == 0 {
                    first_stray = at;
                }
                n_stray += 1;
            }
        } else {
            n_in_a_row = 0;
        }
        before = c;
    }
    (n_stray > MAX_STRAY).then_some(first_stray)
}

/// Returns whether a backspace erases what stands before it. Others are escapes that went wrong, as
/// of `\bash`.
fn is_erased(before: Option<char>) -> bool {
    before.is_some_and(|c| c == '\u{8}' || c.is_alphanumeric())
}

/// Returns whether a character chooses between forms of the one before it.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unseen_text_is_a_sign() {
        assert_eq!(sign(["a", "b", "c\u{e0041}"]), Some(Sign::At(1)));
        assert_eq!(sign(["a", "b\u{202e}", "c"]), Some(Sign::Somewhere));
    }

    #[test]
    fn characters_that_carry_a_message_are_a_sign() {
        let between = |c: char| "abcd".repeat(8).chars().flat_map(|a| [a, c]).collect::<String>();
        for body in [
            "a\u{200b}\u{200c}\u{200b}\u{200c}b",
            "\u{1f600}\u{fe0f}\u{fe0f}\u{fe0f}",
            "\u{1f600}\u{fe01}\u{fe0e}\u{fe03}",
            "a\u{e0150}",
            "\u{1f600}\u{e0150}",
            "葛\u{e01f0}",
            "葛\u{e0100}\u{e0101}",
            "a\u{e0080}",
            "a\u{e0fff}",
            "a\u{180b}",
            "\u{182d}\u{180b}\u{180c}",
            "a\u{1d173}\u{1d174}\u{1d175}b",
            "red \u{1b}[31m",
            "rm\u{8}\u{8}ls",
            "写\u{8}",
        ] {
            assert!(sign(["", "", body]).is_some(), "{body:?}");
        }
        for c in
            ['\u{200b}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{2060}', '\u{2061}', '\u{feff}']
        {
            assert_eq!(sign(["", "", &between(c)]), Some(Sign::At(1)), "{c:?}");
        }
        for c in ['\u{17b4}', '\u{1bca0}', '\u{1d17a}', '\u{fff0}'] {
            assert_eq!(sign(["", "", &between(c)]), Some(Sign::At(1)), "{c:?}");
        }
        for c in ['\u{ad}', '\u{34f}', '\u{180e}', '\u{3164}', '\u{115f}', '\u{ffa0}', '\u{fe0f}'] {
            assert_eq!(sign(["", "", &between(c)]), Some(Sign::At(1)), "{c:?}");
        }
    }

    #[test]
    fn what_honest_texts_have_is_none() {
        let scotland = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
        assert_eq!(sign(["\u{feff}a", "b\u{200b}\u{ad}", scotland]), None);
        let more = format!("{scotland}\u{e0041}");
        assert_eq!(sign(["", "", &more]), Some(Sign::At(scotland.len())));
        for body in [
            // A family, a heart on fire, a rainbow flag.
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{2764}\u{fe0f}\u{200d}\u{1f525} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308} ",
            "1\u{fe0f}\u{20e3} 2\u{fe0f}\u{20e3} \u{26a0}\u{fe0f} ",
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645} PDF\u{200c}\u{647}\u{627} ",
            "\u{915}\u{94d}\u{200d}\u{937} ",
            "葛\u{e0100}城 ",
            "\u{182d}\u{180b}\u{1820} \u{1828}\u{180d} ",
        ] {
            assert_eq!(sign(["", "", &body.repeat(20)]), None, "{body:?}");
        }
        assert_eq!(sign(["", "", "\\\u{8}ash Donau\u{ad}dampf\u{ad}schiff and \\x1b[31m"]), None);
    }
}
