//! [`Word`]: the words of a text, so that names are found in one pass.

use crate::text::is_han;

/// A word of a text: a run of letters and digits, or one Chinese character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// As it is written.
    pub(super) text: &'a str,
    /// First byte in the text.
    pub(super) start: usize,
    /// Hash of the word in lower case.
    hash: u64,
}

impl<'a> Word<'a> {
    /// Returns the words of a text, in its order.
    pub(super) fn all(text: &'a str) -> Vec<Self> {
        let mut words = Vec::new();
        let mut start = None;
        let mut end_word = |start: &mut Option<usize>, end: usize| {
            if let Some(start) = start.take() {
                words.push(Self::new(text, start, end));
            }
        };
        for (at, c) in text.char_indices() {
            if is_han(c) {
                end_word(&mut start, at);
                end_word(&mut Some(at), at + c.len_utf8());
            } else if c.is_alphanumeric() {
                start.get_or_insert(at);
            } else {
                end_word(&mut start, at);
            }
        }
        end_word(&mut start, text.len());
        words
    }

    fn new(text: &'a str, start: usize, end: usize) -> Self {
        let text = &text[start..end];
        Self { text, start, hash: hash(text) }
    }

    /// Returns the byte after the last one.
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Returns the hash of the word in lower case.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// Tells whether both are the same word, capitals aside.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.hash == other.hash && is_same(self.text, other.text)
    }

    /// Tells whether it is one of these words, which are in lower case.
    pub(super) fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }

    /// Tells whether it is a Chinese character.
    pub(super) fn is_han(&self) -> bool {
        self.text.starts_with(is_han)
    }

    /// Returns the number that it is, of up to three digits.
    pub(super) fn number(&self) -> Option<u32> {
        let is_number = self.text.len() <= 3 && self.text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { self.text.parse().ok() } else { None }
    }
}

/// FNV-1a over the characters in lower case.
fn hash(text: &str) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let start = 0xcbf2_9ce4_8422_2325;
    if text.is_ascii() {
        return text.bytes().map(|byte| byte.to_ascii_lowercase()).fold(start, fold);
    }
    let mut buffer = [0; 4];
    text.chars()
        .flat_map(char::to_lowercase)
        .fold(start, |hash, c| c.encode_utf8(&mut buffer).bytes().fold(hash, fold))
}

fn is_same(a: &str, b: &str) -> bool {
    if a.is_ascii() && b.is_ascii() {
        return a.eq_ignore_ascii_case(b);
    }
    a.chars().flat_map(char::to_lowercase).eq(b.chars().flat_map(char::to_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_or_single_characters() {
        let texts = |text| Word::all(text).iter().map(|word| word.text).collect::<Vec<_>>();
        assert_eq!(texts("See step 3, (a_b)é."), ["See", "step", "3", "a", "b", "é"]);
        assert_eq!(texts("见第3步x"), ["见", "第", "3", "步", "x"]);
        assert!(texts(" -。").is_empty());
    }

    #[test]
    fn capitals_do_not_tell_words_apart() {
        let [a, b, c] = ["ÉTAPE", "étape", "etape"].map(|text| Word::all(text)[0]);
        assert!(a.is(&b) && !a.is(&c));
        assert!(Word::all("Step")[0].is_one_of(&["see", "step"]));
    }

    #[test]
    fn numbers_have_up_to_three_digits() {
        let number = |text| Word::all(text)[0].number();
        assert_eq!((number("12"), number("2026"), number("3a")), (Some(12), None, None));
    }
}
