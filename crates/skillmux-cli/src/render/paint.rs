//! Colours, and text that fits 80 columns. Everything is legible without colour.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use clap::builder::Styles;
use skillmux::text::printable;

/// Names of skills and other things to look at first.
pub(crate) const STRONG: Style = Style::new().bold();
/// Good news.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Bad news.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Hints.
pub(crate) const NOTE: Style = AnsiColor::Cyan.on_default();
/// What may be skipped.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// Colours of `--help`.
pub(crate) const HELP: Styles = Styles::styled()
    .header(STRONG)
    .usage(STRONG)
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(FAINT);

const WIDTH: usize = 80;

/// Returns the text in a style.
pub(crate) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Returns the text wrapped to 80 columns, every line after an indent, without its control
/// characters.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    let plain: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let options = textwrap::Options::new(WIDTH).initial_indent(indent).subsequent_indent(indent);
    textwrap::fill(&printable(&plain), options)
}

/// Returns the text wrapped to 80 columns at spaces only, so that paths stay whole, without its
/// control characters.
pub(crate) fn wrapped_at_spaces(text: &str) -> String {
    let options = textwrap::Options::new(WIDTH)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::fill(&printable(text), options)
}

/// Returns a number with its digits in groups of three.
pub(crate) fn grouped(n: impl TryInto<u64>) -> String {
    indicatif::HumanCount(n.try_into().unwrap_or(u64::MAX)).to_string()
}

/// Returns a number with the word for one thing or for several.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// Returns a headline that fills the line.
pub(crate) fn rule(title: &str) -> String {
    let title = printable(title);
    let n_used = textwrap::core::display_width(&title) + 4;
    let mut line = format!("── {title} ");
    let _ = write!(line, "{}", "─".repeat(WIDTH.saturating_sub(n_used)));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(7_u64), "7");
        assert_eq!(grouped(78_171_usize), "78,171");
        assert_eq!(grouped(1_000_000_u32), "1,000,000");
    }

    #[test]
    fn paths_stay_whole() {
        let path = format!("/home/me/{}/config.toml", "a-b/".repeat(20));
        let text = wrapped_at_spaces(&format!("Add the lines of {path} to ~/.codex/config.toml."));
        assert_eq!(text, format!("Add the lines of\n{path}\nto ~/.codex/config.toml."));
    }

    #[test]
    fn wide_characters_wrap_at_eighty_columns() {
        let text = wrapped(&"发票报销".repeat(20), "  ");
        assert!(text.lines().count() > 1);
        assert!(text.lines().all(|line| textwrap::core::display_width(line) <= 80));
    }
}
