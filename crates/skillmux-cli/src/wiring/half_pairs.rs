//! [`HalfPairs`]: halves of surrogate pairs, out of the way of a parser and back again.

use std::borrow::Cow;

use skillmux::text::without_half_pairs;

/// What begins an escape of JSON such as `\ud83d`.
const ESCAPE: &str = "\\u";

/// The halves of surrogate pairs that stand alone in a text: JavaScript writes one where it cuts an
/// emoji, and JSON parsers refuse it. While a text is edited, a character stands for the start of
/// each, so that the very digits come back.
pub(super) struct HalfPairs {
    /// A character that is not in the text; `None` if there is nothing to bring back.
    stand_in: Option<char>,
}

impl HalfPairs {
    /// Returns a text of as many lines that can be parsed, and what brings its halves back.
    pub(super) fn hide(text: &str) -> (Cow<'_, str>, Self) {
        let mended = without_half_pairs(text);
        let is_mended = matches!(mended, Cow::Owned(_));
        let unused = || ('\u{e000}'..='\u{f8ff}').find(|c| !text.contains(*c));
        let Some(stand_in) = is_mended.then(unused).flatten() else {
            return (Cow::Borrowed(text), Self { stand_in: None });
        };
        let mut hidden = String::with_capacity(text.len());
        let mut copied = 0;
        for (at, _) in text.match_indices(ESCAPE) {
            let digits = at + ESCAPE.len();
            // The mended text has the same length, and another first digit where a half was.
            if text.as_bytes().get(digits) != mended.as_bytes().get(digits) {
                hidden.push_str(&text[copied..at]);
                hidden.push(stand_in);
                copied = digits;
            }
        }
        hidden.push_str(&text[copied..]);
        (Cow::Owned(hidden), Self { stand_in: Some(stand_in) })
    }

    /// Returns a text with the halves as they were.
    pub(super) fn put_back(&self, text: String) -> String {
        match self.stand_in {
            Some(stand_in) => text.replace(stand_in, ESCAPE),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_hidden_and_come_back() {
        for (text, hidden) in [
            (r#""\ud83d""#, "\"\u{e000}d83d\""),
            (r#""\uDE00 \uD83d\ude00 \udE00""#, "\"\u{e000}DE00 \\uD83d\\ude00 \u{e000}dE00\""),
            (r#""\\\ud83d \ufffd""#, "\"\\\\\u{e000}d83d \\ufffd\""),
            ("\"\\ud83d \u{e000}\"", "\"\u{e001}d83d \u{e000}\""),
            (r#""\\ud83d \u00e9 \u12""#, r#""\\ud83d \u00e9 \u12""#),
        ] {
            let (found, halves) = HalfPairs::hide(text);
            assert_eq!(found, hidden);
            assert_eq!(halves.put_back(found.into_owned()), text);
        }
    }
}
