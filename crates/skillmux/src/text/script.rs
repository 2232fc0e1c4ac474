//! The one table of scripts: which characters are letters, and of which writing.

/// What kind of characters a run is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Letters and digits with the joints of identifiers.
    Word,
    /// Chinese characters.
    Han,
    /// Kana and Hangul.
    Syllables,
}

/// Returns the writing of a letter or digit; `None` for anything else.
pub(super) fn script_of(c: char) -> Option<Script> {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric().then_some(Script::Word);
    }
    if is_han(c) {
        Some(Script::Han)
    } else if is_kana(c) || matches!(c, '\u{ac00}'..='\u{d7a3}') {
        Some(Script::Syllables)
    } else if c.is_alphanumeric() {
        Some(Script::Word)
    } else {
        None
    }
}

/// Returns whether a character belongs to Chinese, kana or Hangul, which are written without
/// spaces.
pub fn is_spaceless(c: char) -> bool {
    matches!(script_of(c), Some(Script::Han | Script::Syllables))
}

/// Returns the share of the letters of a text that are Chinese, kana or Hangul, in `[0, 1]`; 0 for
/// a text without letters.
pub fn spaceless_share(text: &str) -> f32 {
    let (mut n_spaceless, mut n_letters) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        n_letters += 1;
        n_spaceless += usize::from(is_spaceless(c));
    }
    n_spaceless as f32 / usize::max(n_letters, 1) as f32
}

/// Returns the share of the words of a text that are Chinese, Japanese or Korean, in `[0, 1]`; 0
/// for a text without letters.
///
/// Two of their characters count as a word. So does whatever else stands between blanks and has a
/// letter, as the name of a file.
pub(crate) fn spaceless_share_of_words(text: &str) -> f32 {
    let (mut n_spaceless, mut n_words, mut is_in_word) = (0_usize, 0_usize, false);
    for c in text.chars() {
        if is_spaceless(c) {
            n_spaceless += 1;
            is_in_word = false;
        } else if c.is_alphabetic() {
            n_words += usize::from(!is_in_word);
            is_in_word = true;
        } else if c.is_whitespace() || !(c.is_ascii() || c.is_alphanumeric()) {
            is_in_word = false;
        }
    }
    let n_of_spaceless = n_spaceless as f32 / 2.0;
    n_of_spaceless / f32::max(n_of_spaceless + n_words as f32, 1.0)
}

/// Returns whether the character is a Mongolian letter.
pub(crate) fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1820}'..='\u{18aa}')
}

/// Returns whether the character is a Chinese ideograph.
pub fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// Returns whether the character is kana, which Japanese has beside Chinese ideographs.
pub fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}')
}

/// Returns whether the character is hiragana, the part of kana in which the grammar of Japanese is
/// written.
pub fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}')
}

/// Returns whether the character is a Latin letter, of any language.
pub fn is_latin(c: char) -> bool {
    matches!(c, 'A'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') && c.is_alphabetic()
}

/// Returns whether the character is in the block of common ideographs, of which nearly all Chinese
/// text is made.
pub fn is_common_han(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hiragana_is_a_part_of_kana() {
        assert!("のを".chars().all(|c| is_hiragana(c) && is_kana(c)));
        assert!(!"カー表a".chars().any(is_hiragana));
    }

    #[test]
    fn a_letter_is_of_one_writing() {
        let of = |c: char| (is_han(c), is_kana(c), is_latin(c));
        for (text, expected) in [
            ("表㐀豈𠀀", (true, false, false)),
            ("のカー", (false, true, false)),
            ("aZéĀẞ", (false, false, true)),
            ("ж한×[1。䷀", (false, false, false)),
        ] {
            for c in text.chars() {
                assert_eq!(of(c), expected, "{c}");
            }
        }
    }

    #[test]
    fn a_name_counts_as_one_word() {
        let share = spaceless_share_of_words;
        for (text, expected) in [
            ("", 0.0),
            ("slow query, 2026!", 0.0),
            ("查询很慢", 1.0),
            ("看 review", 1.0 / 3.0),
            ("帮我 review 这个 PR", 0.5),
            ("给 OrderService.java 写单元测试", 0.75),
            ("https://example.com/a/b.html，打不开", 0.6),
        ] {
            assert!((share(text) - expected).abs() < 1e-6, "{text}");
        }
    }
}
