//! Text of others (ids, queries, names), made harmless for terminals and Markdown.

use serde::Serialize;
use skillmux::text::is_hidden;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the text on one line, with a mark in place of every character that a terminal would act
/// on, or that changes how its neighbours are shown.
pub(crate) fn one_line(text: &str) -> String {
    let harmless = |c: char| match c {
        '\n' | '\t' | '\r' | '\u{2028}' | '\u{2029}' => ' ',
        c if c.is_control() || is_hidden(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(harmless).collect()
}

/// Returns the text as a code span of Markdown: nothing in it is markup. Tables escape its bars.
pub(crate) fn code(text: &str) -> String {
    let text = one_line(text);
    if text.trim().is_empty() {
        return "` `".to_owned();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Returns a value of this module as JSON, with a line feed at its end.
pub(crate) fn json(value: &impl Serialize) -> String {
    let mut json = serde_json::to_string_pretty(value).expect("all keys are strings");
    json.push('\n');
    json
}

/// Returns records as CSV (RFC 4180, but with plain line feeds).
///
/// # Panics
/// If the records do not have as many fields each.
pub fn csv<'a, R: IntoIterator<Item = &'a str>>(records: impl IntoIterator<Item = R>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        writer.write_record(record).expect("records have as many fields each");
    }
    let bytes = writer.into_inner().expect("nothing fails to be written to memory");
    String::from_utf8(bytes).expect("fields are text")
}

/// Returns the columns of a terminal that the text takes; a Chinese character takes two.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Returns the beginning of the text on one line, at most so many columns, with a mark if it was
/// cut.
pub(crate) fn clipped(text: &str, max_width: usize) -> String {
    let text = one_line(text);
    if width(&text) <= max_width {
        return text;
    }
    let mut out = String::new();
    let mut n_columns = 0;
    for c in text.chars() {
        n_columns += c.width().unwrap_or(0);
        if n_columns >= max_width {
            break;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_marked() {
        assert_eq!(
            one_line("a\u{1b}[31m\u{202e}b\n\tc\u{9b}"),
            "a\u{fffd}[31m\u{fffd}b  c\u{fffd}"
        );
    }

    #[test]
    fn a_code_span_holds_backticks() {
        assert_eq!(code("a`b``c|d"), "```a`b``c|d```");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(code(""), "` `");
    }

    #[test]
    fn fields_of_a_table_hold_commas_and_quotes() {
        let records = [["query_id", "n"], ["a,b", "1"], ["say \"hi\"\nthen go", "2"]];
        let expected = "query_id,n\n\"a,b\",1\n\"say \"\"hi\"\"\nthen go\",2\n";
        assert_eq!(csv(records), expected);
    }

    #[test]
    fn clipping_counts_columns() {
        assert_eq!(clipped("把两个表格合并", 7), "把两个…");
        assert_eq!(clipped("short", 7), "short");
    }
}
