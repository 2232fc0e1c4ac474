//! Finds commands in a text, whatever line ends and quotation marks tear them apart.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use regex::Regex;

use super::{Sign, pattern};

/// Longest command that is looked at, in bytes; of a longer one, what follows the word that makes
/// it suspicious.
const MAX_COMMAND_BYTES: usize = 4096;

/// Returns the first word of `words` whose command is one of those.
pub(super) fn first(body: &str, words: &Regex, is_sign: impl Fn(&str) -> bool) -> Option<Sign> {
    let mut read_to = 0;
    for word in words.find_iter(body) {
        // A command has many such words and is read once.
        if word.start() < read_to {
            continue;
        }
        let command = command_around(body, word.start());
        read_to = command.end;
        if is_sign(&body[command]) {
            return Some(Sign::At(word.start()));
        }
    }
    None
}

/// Returns the line around a byte, with those that a backslash or a pipe joins to it.
pub(super) fn command_around(body: &str, at: usize) -> Range<usize> {
    let mut start = at;
    // A chain of lines may be as long as a text, too: what is cut off below is not read.
    while at - start <= MAX_COMMAND_BYTES {
        start = body[..start].rfind('\n').map_or(0, |end| end + 1);
        let Some(before) = body[..start].strip_suffix('\n').filter(|text| goes_on(text)) else {
            break;
        };
        start = before.len();
    }
    // A line may be as long as a text.
    let start = if at - start > MAX_COMMAND_BYTES { at } else { start };
    let mut end = at;
    while end - start <= 2 * MAX_COMMAND_BYTES {
        end = body[end..].find('\n').map_or(body.len(), |n| end + n);
        if end == body.len() || !goes_on(&body[..end]) {
            break;
        }
        end += 1;
    }
    let end = body.floor_char_boundary(end.min(start + 2 * MAX_COMMAND_BYTES));
    start..end.max(at)
}

/// Returns whether the last line of a text goes on in the next one: rows of tables end in a pipe,
/// too, and do not.
fn goes_on(text: &str) -> bool {
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.ends_with('\\') {
        return true;
    }
    let text = text.trim_end_matches([' ', '\t']);
    if !text.ends_with('|') && !text.ends_with("|&") {
        return false;
    }
    let line =
        text[text.rfind('\n').map_or(0, |end| end + 1)..].trim_start_matches([' ', '\t', '>']);
    !line.starts_with('|') || line == "|" || line == "|&"
}

/// Returns the text without the marks that tear the names of programs apart, as in `cu''rl` and
/// `c\url`: a shell drops them. Lines stay.
pub(super) fn mended(text: &str) -> Cow<'_, str> {
    if !TORN.is_match(text) {
        return Cow::Borrowed(text);
    }
    TORN_PROGRAM
        .replace_all(text, |found: &regex::Captures<'_>| found[0].replace(['\'', '"', '\\'], ""))
}

/// Programs that nobody has a reason to write in pieces.
const TEARABLE: [&str; 9] =
    ["curl", "wget", "bash", "zsh", "sh", "eval", "base64", "python3", "source"];

/// Marks that a shell drops within a word.
const MARK: &str = r#"['"\\]{1,2}"#;

/// Without one of these, no name is torn.
static TORN: LazyLock<Regex> = LazyLock::new(|| {
    let pairs = TEARABLE.iter().flat_map(|name| {
        name.as_bytes()
            .windows(2)
            .map(|pair| format!("{}{MARK}{}", char::from(pair[0]), char::from(pair[1])))
    });
    pattern(&pairs.collect::<Vec<_>>().join("|"))
});

static TORN_PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    let name = |name: &&str| {
        let letters: Vec<String> = name.chars().map(String::from).collect();
        letters.join(r#"['"\\]{0,2}"#)
    };
    let names: Vec<String> = TEARABLE.iter().map(name).collect();
    pattern(&format!(r"\b(?:{})\b", names.join("|")))
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    #[test]
    fn torn_names_are_mended() {
        let text = "cu''rl x |\nba''sh; c\\url; w\"g\"et; s''h";
        assert_eq!(mended(text), "curl x |\nbash; curl; wget; sh");
        for text in ["a\\nb", "it's here", "x = ''", "crash's hash"] {
            assert_eq!(mended(text), text);
        }
    }

    #[test]
    fn a_command_goes_on_behind_a_backslash_and_a_pipe() {
        let text = "a\nb |\nc \\\r\n| \\\nd\ne\n| f |\n| g |";
        assert_eq!(&text[command_around(text, text.find('c').unwrap())], "b |\nc \\\r\n| \\\nd");
        assert_eq!(&text[command_around(text, text.find('f').unwrap())], "| f |");
    }

    #[test]
    fn a_long_chain_of_lines_is_cut_as_a_long_line_is() {
        let text = "a \\\n".repeat(8_000);
        let (at, end) = (8_000, 8_000 + 2 * MAX_COMMAND_BYTES);
        assert_eq!(command_around(&text, at), at..end);
        let near = MAX_COMMAND_BYTES;
        assert_eq!(command_around(&text, near), 0..2 * MAX_COMMAND_BYTES);
    }

    #[test]
    fn a_long_chain_of_lines_takes_linear_time() {
        let far_apart = format!("{}curl x \\\n", "a \\\n".repeat(2_050));
        for unit in ["curl x \\\n", "curl x |\n", &far_apart] {
            assert_linear(unit, 400_000, |text| {
                assert_eq!(first(text, &pattern("curl"), |_| false), None);
            });
        }
    }
}
