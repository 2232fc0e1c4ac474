//! [`Title`]: the heading of a section, as it is compared and as it is shown.

use super::markdown::ELISION;
use crate::skill::Section;

/// Longest title of a section, in bytes; the rest of it is neither compared, nor shown, nor paid.
///
/// A title is shown with every node below it, so that one of 100 KB would cost its length each
/// time.
pub(super) const MAX_TITLE_BYTES: usize = 256;

/// The title of a section, or the start of a long one.
pub(super) struct Title<'a> {
    pub(super) text: &'a str,
    is_clipped: bool,
}

impl<'a> Title<'a> {
    pub(super) fn of(section: &Section, body: &'a str) -> Self {
        let title = section.title(body);
        let text = title[..title.floor_char_boundary(MAX_TITLE_BYTES)].trim_end();
        Self { text, is_clipped: text.len() < title.len() }
    }

    /// Returns it with the line ends of the setext form as spaces, and a mark where it is clipped.
    pub(super) fn shown(&self) -> String {
        let line = self.text.replace(['\n', '\r'], " ");
        if self.is_clipped { format!("{line} {ELISION}") } else { line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::NodeTree;

    fn shown(body: &str) -> String {
        Title::of(&NodeTree::parse(body).sections[0], body).shown()
    }

    #[test]
    fn a_long_title_is_clipped_at_a_character_and_marked() {
        let body = format!("# a{}\n\ntext\n", "标".repeat(200));
        assert_eq!(shown(&body), format!("a{} [...]", "标".repeat(85)));
        let whole = "b".repeat(MAX_TITLE_BYTES);
        assert_eq!(shown(&format!("# {whole}\n")), whole);
    }

    #[test]
    fn titles_are_on_one_line() {
        assert_eq!(shown("a\nb\n===\n"), "a b");
    }
}
