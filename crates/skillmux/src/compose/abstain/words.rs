//! Words of a task as small talk and evidence count them.

use crate::text::is_spaceless;

/// Returns the runs of letters and digits other than Chinese, kana and Hangul, lower-cased.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() || is_spaceless(c))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
