//! Finds what was asked for in what a model writes.

use serde::de::DeserializeOwned;
use skillmux::{
    model::last_json_in,
    text::{is_hidden, is_joiner},
};

use super::{
    refusal::Refusal,
    text::{Language, longest_shared_run, units},
};

/// Longest answer that is looked at; what is asked for has a tenth of it.
const MAX_ANSWER_BYTES: usize = 256 << 10;

/// Returns the last JSON object of a form in an answer: models write drafts, fences and remarks
/// around what they were asked for, and line ends within strings.
pub(super) fn last_json<T: DeserializeOwned>(
    answer: &str,
    form: &'static str,
) -> Result<T, Refusal> {
    let refused = Refusal::Form { form };
    if answer.len() > MAX_ANSWER_BYTES {
        return Err(refused);
    }
    let mut last = last_json_in(answer, &['{']);
    if last.is_none() {
        last = last_json_in(&with_escaped_line_ends(answer), &['{']);
    }
    last.ok_or(refused)
}

/// Returns a text in which the line ends and tabs of JSON strings are escaped, as JSON wants it.
fn with_escaped_line_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut is_in_object, mut is_in_string, mut is_escaped) = (false, false, false);
    for c in text.chars() {
        match c {
            '"' if !is_escaped && is_in_object => is_in_string = !is_in_string,
            '{' => is_in_object = true,
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
        match c {
            '\n' if is_in_string => out.push_str("\\n"),
            '\r' if is_in_string => {}
            '\t' if is_in_string => out.push_str("\\t"),
            _ => out.push(c),
        }
    }
    out
}

/// Returns a text without blanks around it and with `\n` line ends.
///
/// # Errors
/// [`Refusal::ControlCharacter`] if it holds characters that a terminal acts on, or that are not
/// seen while they change how others are.
pub(super) fn clean(text: &str) -> Result<String, Refusal> {
    let text = text.replace("\r\n", "\n");
    let is_bad =
        |c: char| c.is_control() && !matches!(c, '\n' | '\t') || is_hidden(c) || is_joiner(c);
    if text.contains(is_bad) {
        return Err(Refusal::ControlCharacter);
    }
    Ok(text.trim().to_owned())
}

/// Words with which a placeholder in square brackets begins. In the 1,500 long tasks of this
/// project none does; of the 6,098 short queries of `queries-dev`, many of which are templates, one
/// in twenty.
const PLACEHOLDERS: [&str; 20] = [
    "your",
    "insert",
    "paste",
    "describe",
    "name",
    "url",
    "file",
    "feature",
    "task",
    "topic",
    "text",
    "short",
    "list",
    "add",
    "project",
    "company",
    "date",
    "enter",
    "path",
    "placeholder",
];

/// Longest placeholder.
const MAX_PLACEHOLDER_BYTES: usize = 60;

/// Checks that a text leaves nothing to fill in, such as `[your company]`.
pub(super) fn check_no_placeholder(text: &str) -> Result<(), Refusal> {
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        rest = &rest[start + 1..];
        let end = rest[..rest.floor_char_boundary(MAX_PLACEHOLDER_BYTES)].find([']', '\n']);
        let Some(inner) = end.map(|end| &rest[..end]) else { continue };
        let first = inner.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let after = &rest[inner.len()..];
        // `[text](address)` is a link.
        let is_closed = after.starts_with(']') && !after.starts_with("](");
        if is_closed && PLACEHOLDERS.contains(&first.to_ascii_lowercase().as_str()) {
            return Err(Refusal::Placeholder { text: format!("[{inner}]") });
        }
    }
    Ok(())
}

/// Checks the number of units, words or characters, and the language of a text.
pub(super) fn check_size(
    what: &'static str,
    text: &str,
    language: Language,
    (min, max): (usize, usize),
) -> Result<(), Refusal> {
    let n = units(text).len();
    if !(min..=max).contains(&n) {
        return Err(Refusal::Length { what, n, unit: language.unit(), min, max });
    }
    if language.holds(text) { Ok(()) } else { Err(Refusal::Language { what, language }) }
}

/// Checks that no run of more than `max_units` stands in the text of a skill.
pub(super) fn check_runs(
    text: &[String],
    skill: &[String],
    max_units: usize,
) -> Result<(), Refusal> {
    let run = longest_shared_run(text, skill);
    if run.len() > max_units { Err(Refusal::Copied { run: run.join(" ") }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Written {
        query: String,
    }

    fn query(answer: &str) -> Option<String> {
        last_json(answer, "{}").ok().map(|Written { query }| query)
    }

    #[test]
    fn the_last_object_of_the_form_is_taken() {
        for (answer, expected) in [
            (r#"{"query": "a"}"#, Some("a")),
            ("<think>{\"query\": \"a\"}?</think>\n```json\n{\"query\": \"b\"}\n```", Some("b")),
            (r#"{"query": "a"} {"note": 1}"#, Some("a")),
            ("Sure!\n{\"query\": \"a\nb\tc\"}", Some("a\nb\tc")),
            (r#"{"query": 7}"#, None),
            (r#"{"query": "a"#, None),
            ("Fill in the form.", None),
            ("", None),
        ] {
            assert_eq!(query(answer).as_deref(), expected, "{answer}");
        }
        let long = format!("{{\"query\": \"a\"}}{}", " ".repeat(MAX_ANSWER_BYTES));
        assert_eq!(query(&long), None);
    }

    #[test]
    fn many_braces_are_no_answer() {
        assert_eq!(query(&"{".repeat(100_000)), None);
    }

    #[test]
    fn control_and_hidden_characters_are_refused() {
        assert_eq!(clean(" a\r\n\tb ").unwrap(), "a\n\tb");
        for bad in ['\u{1b}', '\0', '\u{9b}', '\u{202e}', '\u{200b}', '\u{e0041}', '\u{feff}'] {
            assert_eq!(clean(&format!("a{bad}b")), Err(Refusal::ControlCharacter), "{bad:?}");
        }
    }

    #[test]
    fn placeholders_are_refused_and_other_brackets_are_not() {
        for text in ["Plan [feature] today", "a [b] [Your company name]!", "表 [paste 日志]"] {
            assert!(check_no_placeholder(text).is_err(), "{text}");
        }
        for text in
            ["- [ ] done", "[file](a.md)", "[ERROR] [dependencies]", "a[1]", "[list\n]", "["]
        {
            assert_eq!(check_no_placeholder(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn size_and_language_are_checked() {
        let check = |text, language| check_size("query", text, language, (3, 5));
        assert_eq!(check("one two three", Language::En), Ok(()));
        let short = check("one two", Language::En).unwrap_err();
        assert_eq!(short.to_string(), "the query has 2 words, but must have 3 to 5");
        assert!(check("a b c d e f", Language::En).is_err());
        assert_eq!(check("整理表格", Language::Zh), Ok(()));
        let other = check("整理表格", Language::En).unwrap_err();
        assert_eq!(other.to_string(), "the query is not in English");
    }

    #[test]
    fn long_copies_are_refused_and_quoted() {
        let skill = units("First open the ledger, then add up every column of it.");
        let text = units("could you open the ledger then add up all");
        assert_eq!(check_runs(&text, &skill, 6), Ok(()));
        let refused = check_runs(&text, &skill, 5).unwrap_err();
        assert_eq!(refused.to_string(), "it copies the document: `open the ledger then add up`");
    }
}
