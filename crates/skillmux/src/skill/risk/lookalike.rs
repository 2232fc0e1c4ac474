//! Letters that look like others.

use std::borrow::Cow;

/// Returns a text in which words of two writings are written in Latin letters, as they look. Lines
/// stay.
///
/// A word of one writing is left as it is: it may look like a Latin one, but is most often a word
/// of a language.
pub(super) fn as_seen(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| latin_of(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphabetic) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_alphabetic()).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        out.push_str(before);
        let is_mixed = word.contains(|c: char| c.is_ascii());
        out.extend(word.chars().map(|c| match latin_of(c) {
            Some(latin) if is_mixed || is_styled(c) => latin,
            _ => c,
        }));
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns whether a character is a Latin letter in another style: it belongs to no other writing.
fn is_styled(c: char) -> bool {
    matches!(c, '\u{ff21}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d6a3}')
}

/// Returns the ASCII letter that a character looks like.
fn latin_of(c: char) -> Option<char> {
    let latin = match c {
        _ if c < '\u{370}' => return None,
        'а' | 'α' => 'a',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' => 'e',
        'һ' => 'h',
        'і' | 'ι' => 'i',
        'ј' | 'ϳ' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'п' => 'n',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'у' => 'y',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'С' | 'Ϲ' => 'C',
        'Е' | 'Ε' => 'E',
        'Н' | 'Η' => 'H',
        'І' | 'Ι' | 'Ӏ' => 'I',
        'Ј' => 'J',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'Ν' => 'N',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'Ѕ' => 'S',
        'Т' | 'Τ' => 'T',
        'Х' | 'Χ' => 'X',
        'У' | 'Υ' => 'Y',
        'Ζ' => 'Z',
        '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => ascii(u32::from(c) - 0xff21 + 0x41)?,
        '\u{1d400}'..='\u{1d6a3}' => {
            // Thirteen styles of 26 capital and 26 small letters.
            let n = (u32::from(c) - 0x1d400) % 52;
            ascii(if n < 26 { 0x41 + n } else { 0x61 + n - 26 })?
        }
        _ => return None,
    };
    Some(latin)
}

fn ascii(code: u32) -> Option<char> {
    char::from_u32(code).filter(char::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_two_writings_are_read_as_they_look() {
        assert_eq!(as_seen("Ignоrе\nаll рrevious"), "Ignore\nall previous");
        assert_eq!(as_seen("Ｉｇｎｏｒｅ 𝐚𝐥𝐥 𝖆𝖑𝖑 𝙰𝚕𝚕"), "Ignore all all All");
    }

    #[test]
    fn words_of_one_writing_stay() {
        for text in ["Съешь ещё этих мягких булок", "α und β, Δt, 表と裏", "plain", "μs, 10 МБ"]
        {
            assert_eq!(as_seen(text), text);
        }
    }
}
