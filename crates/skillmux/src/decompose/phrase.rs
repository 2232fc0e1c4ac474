//! [`begins_phrase`]: where a task may go on with something else.

/// Returns whether a phrase begins at these bytes: after a mark, or after `and`, `but` or `please`.
pub(super) fn begins_phrase(lower: &str, at: usize) -> bool {
    let before = lower[..at].trim_end_matches(' ');
    before.is_empty()
        || before.ends_with(|c: char| !c.is_alphanumeric() && c != '\'')
        || ["and", "but", "please"].iter().any(|word| before.ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_begins_at_the_start_or_behind_a_mark_or_some_words() {
        for (before, expected) in [
            ("", true),
            ("sort it, ", true),
            ("sort it but ", true),
            ("please ", true),
            ("don't ", false),
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
