//! [`FrontMatter`]: what skillmux needs of the front matter, however it was read.

/// The fields of the front matter, trimmed; never empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) license: Option<String>,
    /// Whether the model is not to load the skill by itself: `disable-model-invocation`.
    pub(super) is_for_user_only: bool,
    /// Why it was read line by line, if it was.
    pub(super) repaired: Option<String>,
}

/// Returns whether a value of `disable-model-invocation` keeps the skill from the model. Whatever is
/// not a plain no does: YAML has several words for yes, and an author who writes the key wants it
/// to count.
pub(super) fn hides(value: &str) -> bool {
    let value = value.trim().trim_matches(['"', '\'']).trim();
    let no = ["", "false", "no", "n", "off", "null", "~", "0"];
    !no.iter().any(|no| value.eq_ignore_ascii_case(no))
}
