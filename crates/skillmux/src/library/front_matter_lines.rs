//! Reads front matter that is not valid YAML line by line, and keeps what can be understood.

use super::front_matter_fields::{FrontMatter, hides};

/// The field that keeps a skill from the model.
const FOR_USER_ONLY: &str = "disable-model-invocation";

/// The fields that are looked for.
const FIELDS: [&str; 4] = ["name", "description", "license", FOR_USER_ONLY];

/// Returns true where the first line that says something is `key: value`.
pub(super) fn starts_with_key(block: &str) -> bool {
    block
        .lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .is_some_and(|line| split_key(line).is_some())
}

/// Returns front matter that lacks its closing line, and the text after it.
///
/// It ends before the first line that is blank or neither a `key: value` nor indented.
pub(super) fn split_unclosed(block: &str) -> (&str, &str) {
    let mut end = 0;
    for line in block.split_inclusive('\n') {
        let belongs = !line.trim().is_empty()
            && (line.starts_with([' ', '\t']) || split_key(line.trim_end()).is_some());
        if !belongs {
            break;
        }
        end += line.len();
    }
    block.split_at(end)
}

/// Returns whether the rest behind [`split_unclosed`] is text: behind blank lines, comments or
/// headings it goes on with something else than front matter, and no field stands further below.
pub(super) fn is_text(rest: &str) -> bool {
    let is_apart = |line: &&str| line.trim().is_empty() || line.starts_with('#');
    let is_field =
        |(key, _): (&str, &str)| FIELDS.iter().any(|field| key.eq_ignore_ascii_case(field));
    rest.lines().next().is_some_and(|first| is_apart(&first))
        && rest.lines().find(|line| !is_apart(line)).is_some_and(|line| {
            !line.starts_with([' ', '\t', '-']) && split_key(line.trim_end()).is_none()
        })
        && !rest.lines().filter_map(split_key).any(is_field)
}

/// Returns name, description and license as far as they can be understood; of several, the first
/// counts.
pub(super) fn read(block: &str) -> FrontMatter {
    let mut front_matter = FrontMatter::default();
    let mut lines = block.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((key, value)) = split_key(line) else { continue };
        let mut more = Vec::new();
        while let Some(line) = lines.next_if(|line| continues(line)) {
            more.push(line);
        }
        let (slot, text) = if key.eq_ignore_ascii_case("name") {
            // A name never wraps: what follows it on the next line is a stray.
            let is_whole = !value.is_empty() && block_style(value).is_none();
            let more = if is_whole { &[][..] } else { &more[..] };
            let name = value_text(value, more);
            // What is left of broken YAML is no name: the folder has a better one.
            let is_name = !name.contains(['[', ']', '{', '}']);
            (&mut front_matter.name, if is_name { name } else { String::new() })
        } else if key.eq_ignore_ascii_case("description") {
            (&mut front_matter.description, value_text(value, &more))
        } else if key == "license" {
            (&mut front_matter.license, value_text(value, &more))
        } else {
            continue;
        };
        if slot.is_none() && !text.is_empty() {
            *slot = Some(text);
        }
    }
    front_matter
}

/// Returns whether a line keeps the skill from the model, also an indented one: in broken YAML it
/// cannot be told what a line belongs to.
pub(super) fn is_for_user_only(block: &str) -> bool {
    let mut lines = block.lines().peekable();
    while let Some(line) = lines.next() {
        let field =
            split_key(line.trim()).filter(|(key, _)| key.eq_ignore_ascii_case(FOR_USER_ONLY));
        let Some((_, value)) = field else { continue };
        let value = without_comment(value);
        let mut more = Vec::new();
        if value.is_empty() || block_style(value).is_some() {
            while let Some(line) = lines.next_if(|line| continues(line)) {
                more.push(line);
            }
        }
        if hides(without_comment(&value_text(value, &more))) {
            return true;
        }
    }
    false
}

/// Splits an unindented `key: value`; name, description and what keeps a skill from the model may
/// lack the space or use `：`.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once([':', '：'])?;
    let key = key.trim_end().trim_matches(['"', '\'']);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if key.is_empty() || !key.chars().all(is_plain) {
        return None;
    }
    let known = ["name", "description", FOR_USER_ONLY];
    let is_known = known.iter().any(|known| key.eq_ignore_ascii_case(known));
    (is_known || value.is_empty() || value.starts_with([' ', '\t'])).then_some((key, value.trim()))
}

/// Returns true where the line goes on with the value of the key above it.
fn continues(line: &str) -> bool {
    line.trim().is_empty()
        || line.starts_with([' ', '\t'])
        || !(line.starts_with('#') || split_key(line).is_some())
}

/// Returns what stands before a comment.
fn without_comment(value: &str) -> &str {
    let begins = |at: usize| at == 0 || value[..at].ends_with([' ', '\t']);
    let comment = value.match_indices('#').find(|(at, _)| begins(*at));
    value[..comment.map_or(value.len(), |(at, _)| at)].trim()
}

/// Returns `|` or `>` where the value announces a block scalar.
fn block_style(value: &str) -> Option<char> {
    let style = value.chars().next().filter(|c| matches!(c, '|' | '>'))?;
    let rest = value[1..].split(" #").next().unwrap_or_default().trim();
    rest.chars().all(|c| matches!(c, '+' | '-' | '0'..='9')).then_some(style)
}

/// Returns the text of a value from its first line and the lines that continue it.
fn value_text(value: &str, more: &[&str]) -> String {
    if let Some(style) = block_style(value) {
        return block_text(style, more);
    }
    let parts: Vec<&str> =
        more.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let items: Option<Vec<&str>> = parts.iter().map(|part| part.strip_prefix("- ")).collect();
    match items {
        Some(items) if value.is_empty() => {
            items.into_iter().map(unquoted).collect::<Vec<_>>().join(", ")
        }
        _ => {
            let mut text = value.to_owned();
            for part in parts {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(part);
            }
            unquoted(&text)
        }
    }
}

/// Returns the text of a block scalar: `|` keeps its line breaks, `>` folds them to spaces.
fn block_text(style: char, lines: &[&str]) -> String {
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let line = line.get(indent..).unwrap_or_default().trim_end();
        let is_folded = style == '>' && !line.is_empty() && !text.ends_with('\n');
        if !text.is_empty() {
            text.push(if is_folded { ' ' } else { '\n' });
        }
        text.push_str(line);
    }
    text.trim().to_owned()
}

/// Returns the text without its quotes, also where the closing one is missing.
fn unquoted(text: &str) -> String {
    let text = text.trim();
    for (quote, escaped) in [('"', "\\\""), ('\'', "''")] {
        let Some(inner) = text.strip_prefix(quote) else { continue };
        let inner = match inner.strip_suffix(quote) {
            Some(inner) => inner,
            None if !inner.contains(quote) => inner,
            // Quotes around the first word only belong to the text.
            None => continue,
        };
        return inner.replace(escaped, &quote.to_string()).trim().to_owned();
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(block: &str) -> String {
        read(block).description.unwrap()
    }

    #[test]
    fn literal_blocks_keep_their_lines_and_folded_blocks_join_them() {
        let rest = "\n  First: line\n    indented\n\n  last\nname: a";
        assert_eq!(
            description(&format!("description: |{rest}")),
            "First: line\n  indented\n\nlast"
        );
        assert_eq!(
            description("description: >-  # note\n  First: line\n  second\n\n  last\nname: a"),
            "First: line second\n\nlast"
        );
    }

    #[test]
    fn wrapped_lines_continue_with_and_without_indent() {
        let block =
            "description: Use when: the user\n  asks for it\nand: not a key here? no\nname: a";
        assert_eq!(description(block), "Use when: the user asks for it");
        assert_eq!(description("description: one\nUse when: two\nname: a"), "one Use when: two");
    }

    #[test]
    fn lists_are_joined() {
        assert_eq!(description("description:\n  - \"a: b\"\n  - c\nname: x"), "a: b, c");
    }

    #[test]
    fn quotes_are_removed_only_where_they_enclose_the_value() {
        assert_eq!(description(r#"description: "says \"hi\": twice""#), r#"says "hi": twice"#);
        assert_eq!(description("description: 'it''s: fine'"), "it's: fine");
        assert_eq!(description(r#"description: "PDF" forms: all"#), r#""PDF" forms: all"#);
        assert_eq!(description(r#"description: "never: closed"#), "never: closed");
    }

    #[test]
    fn names_do_not_wrap_and_may_lack_the_space() {
        assert_eq!(read("name:pdf\nstray line\ndescription：读 PDF: 快").name.unwrap(), "pdf");
        assert_eq!(description("name:pdf\nstray line\ndescription：读 PDF: 快"), "读 PDF: 快");
    }

    #[test]
    fn a_url_is_no_key() {
        assert!(!starts_with_key("https://example.org\n"));
        assert!(starts_with_key("# comment\n\nversion: 1\n"));
    }
}
