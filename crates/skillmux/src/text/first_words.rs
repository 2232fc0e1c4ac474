//! [`first_words`]: the beginning of a text.

use super::is_spaceless;

/// Returns the first `n_words` words of a text, up to where the next one would begin; all of it if
/// it has no more. Two Chinese, Japanese or Korean characters count as one word.
pub(crate) fn first_words(text: &str, n_words: usize) -> &str {
    let (mut n_halves, mut is_apart) = (0, true);
    for (at, c) in text.char_indices() {
        n_halves += match c {
            _ if is_spaceless(c) => 1,
            _ if is_apart && c.is_alphanumeric() => 2,
            _ => 0,
        };
        if n_halves > n_words.saturating_mul(2) {
            return &text[..at];
        }
        is_apart = c.is_whitespace() || is_spaceless(c) || is_apart && !c.is_alphanumeric();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_from_the_beginning() {
        for (text, n_words, first) in [
            ("", 2, ""),
            ("one, two; three", 2, "one, two; "),
            ("one, two", 2, "one, two"),
            ("- don't \"stop\"", 1, "- don't \""),
            ("帮我看这个 log", 2, "帮我看这"),
            ("帮我 log it", 2, "帮我 log "),
            ("one two", 0, ""),
        ] {
            assert_eq!(first_words(text, n_words), first, "{text}");
        }
    }
}
