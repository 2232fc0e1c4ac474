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
    } else if matches!(c, '\u{3041}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}') {
        Some(Script::Syllables)
    } else if c.is_alphanumeric() {
        Some(Script::Word)
    } else {
        None
    }
}

/// Returns whether a character belongs to Chinese, kana or Hangul, which are written without spaces.
pub fn is_spaceless(c: char) -> bool {
    matches!(script_of(c), Some(Script::Han | Script::Syllables))
}

/// Returns the share of the letters of a text that are Chinese, kana or Hangul, in `[0, 1]`; 0 for a text without letters.
pub fn spaceless_share(text: &str) -> f32 {
    let (mut n_spaceless, mut n_letters) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        n_letters += 1;
        n_spaceless += usize::from(is_spaceless(c));
    }
    n_spaceless as f32 / usize::max(n_letters, 1) as f32
}

/// Returns whether the character is a Chinese ideograph.
pub fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// Returns whether the character is in the block of common ideographs, of which nearly all Chinese text
/// is made.
pub fn is_common_han(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}')
}
