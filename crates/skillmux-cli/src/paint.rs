//! Colours, and text that fits 80 columns. Everything is legible without colour.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use clap::builder::Styles;

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

/// Returns the text wrapped to 80 columns, every line after an indent, without its control characters.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    let plain: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let options = textwrap::Options::new(WIDTH).initial_indent(indent).subsequent_indent(indent);
    textwrap::fill(&printable(&plain), options)
}

/// Returns the text without control characters other than line feeds and tabs.
///
/// Skills are untrusted: an escape sequence in one must not reach the terminal.
pub(crate) fn printable(text: &str) -> String {
    let is_printable = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(is_printable).filter(|c| !is_deceptive(*c)).collect()
}

/// Returns the text on one line, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

/// Returns JSON with the characters escaped that a terminal would act on. JSON holds them in
/// strings only, where an escape means the same.
pub(crate) fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_deceptive(c) || c.is_control() && c != '\n' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns whether a character changes how its neighbours are shown without being seen itself.
fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Returns the beginning of a text, at most `n_chars` characters, with a mark if it was cut.
pub(crate) fn shortened(text: &str, n_chars: usize) -> String {
    match text.char_indices().nth(n_chars) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Returns a number with its digits in groups of three.
pub(crate) fn grouped(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
    fn escape_sequences_and_hidden_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\u{202e}c\u{e0041}\td\u{200b}\u{feff}"), "a[31mbc\td");
    }

    #[test]
    fn json_means_the_same_and_holds_nothing_that_a_terminal_acts_on() {
        let text = "a\u{9b}31m\u{202e}\u{e0041}\n\u{1b}表";
        let json = escaped_json(&serde_json::to_string_pretty(&[text]).unwrap());
        assert!(!json.contains(['\u{9b}', '\u{202e}', '\u{e0041}', '\u{1b}']), "{json}");
        let [back]: [String; 1] = serde_json::from_str(&json).unwrap();
        assert_eq!(back, text);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(7_u64), "7");
        assert_eq!(grouped(78_171_usize), "78,171");
        assert_eq!(grouped(1_000_000_u32), "1,000,000");
    }

    #[test]
    fn wide_characters_wrap_at_eighty_columns() {
        let text = wrapped(&"发票报销".repeat(20), "  ");
        assert!(text.lines().count() > 1);
        assert!(text.lines().all(|line| textwrap::core::display_width(line) <= 80));
    }
}
