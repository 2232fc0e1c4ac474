//! [`begins_phrase`]: where a task may go on with something else; [`begins_with`]: whole words.

/// Returns whether a phrase begins at these bytes: after a mark, or after `and`, `but` or `please`.
pub(super) fn begins_phrase(lower: &str, at: usize) -> bool {
    let before = lower[..at].trim_end_matches(' ');
    before.is_empty()
        || before.ends_with(|c: char| !c.is_alphanumeric() && c != '\'')
        || ["and", "but", "please"].iter().any(|word| {
            before.strip_suffix(word).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
        })
}

/// Returns whether a text begins with these words, the last of which ends there.
pub(super) fn begins_with(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|after| !after.starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_go_on_are_others() {
        assert!(begins_with("no docker", "no") && begins_with("no", "no"));
        assert!(!begins_with("not docker", "no") && !begins_with("a", "no"));
    }

    #[test]
    fn a_phrase_begins_at_the_start_or_behind_a_mark_or_some_words() {
        for (before, expected) in [
            ("", true),
            ("sort it, ", true),
            ("sort it but ", true),
            ("please ", true),
            ("don't ", false),
            ("zsh: command ", false),
            ("sort it ", false),
        ] {
            assert_eq!(
                begins_phrase(&format!("{before}no docs"), before.len()),
                expected,
                "{before}"
            );
        }
    }
}
