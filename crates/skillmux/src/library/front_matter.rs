//! Splits a `SKILL.md` into front matter and body, and reads the fields that skillmux needs.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeOwned, MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::{Error as YamlError, MessageFormatter, UserMessageFormatter, render_options};

use super::{
    decode::truncated,
    front_matter_fields::{FrontMatter, hides},
    front_matter_lines,
};

/// Larger front matter is read line by line, and only up to here.
const MAX_FRONT_MATTER_BYTES: usize = 64 * 1024;
/// Longest text of a YAML error that is quoted, in characters.
const MAX_DETAIL_CHARS: usize = 200;

/// A `SKILL.md` taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Document<'a> {
    /// `None` where the text does not start with front matter.
    pub(super) front_matter: Option<FrontMatter>,
    /// Everything after the front matter; the whole text where there is none.
    pub(super) body: &'a str,
}

/// Splits the text (with `\n` line ends) and reads the front matter.
///
/// Front matter stands between a first line `---` and a line `---` or `...`. Where it is not valid
/// YAML its lines are read one by one. Where it is never closed, it ends before the first line that
/// cannot belong to it, so no text is lost; likewise where what seems to close it is a ruler in the
/// text. A `---` that opens no `key: value` lines is a ruler.
pub(super) fn parse(text: &str) -> Document<'_> {
    let start = text.trim_start_matches(['\n', ' ', '\t']);
    let whole = Document { front_matter: None, body: text };
    let Some((first, block)) = start.split_once('\n') else { return whole };
    if first.trim_end() != "---" {
        return whole;
    }
    let n_lines_before = text[..text.len() - block.len()].matches('\n').count();
    let closed = closing_line(block).filter(|(yaml, _)| !has_text(yaml, n_lines_before));
    let is_closed = closed.is_some();
    let (yaml, body) = closed.unwrap_or_else(|| front_matter_lines::split_unclosed(block));
    // Between two rulers there may be nothing; a single ruler opens nothing.
    let front_matter =
        if is_closed || !yaml.is_empty() { read(yaml, n_lines_before) } else { None };
    match front_matter {
        Some(mut front_matter) => {
            if !is_closed {
                front_matter.repaired = Some("no closing `---`".to_owned());
            }
            Document { front_matter: Some(front_matter), body }
        }
        None => whole,
    }
}

/// Returns what stands before and after the closing line.
fn closing_line(block: &str) -> Option<(&str, &str)> {
    let mut offset = 0;
    for line in block.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&block[..offset], &block[offset + line.len()..]));
        }
        offset += line.len();
    }
    None
}

/// Returns whether a block that is no YAML is front matter that was never closed, and text up to a
/// ruler.
fn has_text(block: &str, n_lines_before: usize) -> bool {
    let is_yaml = |yaml: &str| {
        yaml.len() <= MAX_FRONT_MATTER_BYTES && from_yaml(yaml, n_lines_before).is_ok()
    };
    let (front_matter, rest) = front_matter_lines::split_unclosed(block);
    !front_matter.is_empty()
        && front_matter_lines::is_text(rest)
        && is_yaml(front_matter)
        && !is_yaml(block)
}

/// Returns the fields, or `None` where the block is no front matter at all.
fn read(yaml: &str, n_lines_before: usize) -> Option<FrontMatter> {
    if yaml.trim().is_empty() {
        return Some(FrontMatter::default());
    }
    let detail = if yaml.len() > MAX_FRONT_MATTER_BYTES {
        format!("larger than {MAX_FRONT_MATTER_BYTES} bytes")
    } else {
        match from_yaml(yaml, n_lines_before) {
            Ok(front_matter) => return Some(front_matter),
            Err(detail) => detail,
        }
    };
    let head = &yaml[..yaml.floor_char_boundary(MAX_FRONT_MATTER_BYTES)];
    front_matter_lines::starts_with_key(head).then(|| FrontMatter {
        repaired: Some(detail),
        // It counts wherever it stands.
        is_for_user_only: front_matter_lines::is_for_user_only(yaml),
        ..front_matter_lines::read(head)
    })
}

/// Reads the fields with a YAML parser; the error says in one line what it did not like, and on
/// which line of the file.
fn from_yaml(yaml: &str, n_lines_before: usize) -> Result<FrontMatter, String> {
    // The first pass keeps scalars as they are written (`3.10`, `on`); the second takes lists and
    // mappings too.
    let fields = limited::<Fields<String>>(yaml)
        .or_else(|_| limited::<Fields<Flat>>(yaml).map(|fields| fields.map(|text| text.0)));
    match fields {
        Ok(fields) => Ok(FrontMatter {
            name: trimmed(fields.name),
            description: trimmed(fields.description),
            license: trimmed(fields.license),
            is_for_user_only: fields.disable_model_invocation.is_some_and(|text| hides(&text)),
            repaired: None,
        }),
        Err(error) => {
            let message = error.render_with_options(render_options! {
                formatter: &YamlMessages,
                line_offset: n_lines_before as u64,
            });
            let line = message.lines().next().unwrap_or_default();
            Err(truncated(line, MAX_DETAIL_CHARS).to_owned())
        }
    }
}

/// What is wrong with front matter, in words for its author.
struct YamlMessages;

impl MessageFormatter for YamlMessages {
    fn format_message<'a>(&self, error: &'a YamlError) -> Cow<'a, str> {
        match error {
            YamlError::DuplicateMappingKey { key: Some(key), .. } => {
                format!("the key `{key}` is there twice").into()
            }
            YamlError::DuplicateMappingKey { key: None, .. } => "a key is there twice".into(),
            YamlError::AliasReplayCounterOverflow { .. }
            | YamlError::AliasReplayLimitExceeded { .. }
            | YamlError::AliasExpansionLimitExceeded { .. }
            | YamlError::AliasReplayStackDepthExceeded { .. } => {
                "its aliases stand for too many values".into()
            }
            YamlError::Budget { .. } => "too many values, or too deep".into(),
            _ => UserMessageFormatter.format_message(error),
        }
    }
}

/// Returns the text without surrounding white space, or `None` where nothing is left.
fn trimmed(text: Option<String>) -> Option<String> {
    let text = text?;
    let trimmed = text.trim();
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// Returns what a front matter says, without repairs; `None` where it is larger than 64 KiB, not
/// valid YAML, or something else than is asked for.
pub fn strict_front_matter<T: DeserializeOwned>(yaml: &str) -> Option<T> {
    if yaml.len() > MAX_FRONT_MATTER_BYTES { None } else { limited(yaml).ok() }
}

/// Reads YAML under limits: hostile YAML (alias bombs, deep nesting) fails fast instead of growing.
fn limited<T: DeserializeOwned>(yaml: &str) -> Result<T, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 20_000,
            max_nodes: 10_000,
            max_depth: 32,
            max_documents: 1,
            max_anchors: 100,
            max_aliases: 100,
            max_merge_keys: 100,
            max_recorded_anchor_events: 10_000,
            max_recorded_anchor_bytes: 4 * MAX_FRONT_MATTER_BYTES,
            max_total_scalar_bytes: 4 * MAX_FRONT_MATTER_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 1_000,
            max_replay_stack_depth: 8,
        },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(yaml, options)
}

/// The fields of interest; all others are ignored.
#[derive(Deserialize)]
struct Fields<T> {
    #[serde(alias = "Name", alias = "NAME")]
    name: Option<T>,
    #[serde(alias = "Description", alias = "DESCRIPTION")]
    description: Option<T>,
    license: Option<T>,
    #[serde(rename = "disable-model-invocation")]
    disable_model_invocation: Option<T>,
}

impl<T> Fields<T> {
    fn map<U>(self, text: impl Fn(T) -> U) -> Fields<U> {
        Fields {
            name: self.name.map(&text),
            description: self.description.map(&text),
            license: self.license.map(&text),
            disable_model_invocation: self.disable_model_invocation.map(&text),
        }
    }
}

/// Any YAML value as text: lists and mappings are joined with `, `.
struct Flat(String);

impl<'de> Deserialize<'de> for Flat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlatVisitor).map(Self)
    }
}

struct FlatVisitor;

impl<'de> Visitor<'de> for FlatVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that can be written as text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_unit<E: de::Error>(self) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_none<E: de::Error>(self) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<String, A::Error> {
        let mut parts = Vec::new();
        while let Some(Flat(part)) = seq.next_element()? {
            if !part.is_empty() {
                parts.push(part);
            }
        }
        Ok(parts.join(", "))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let mut parts = Vec::new();
        while let Some(Flat(key)) = map.next_key()? {
            let Flat(value) = map.next_value()?;
            parts.push(format!("{key}: {value}"));
        }
        Ok(parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: Option<&str>, description: Option<&str>, is_repaired: bool) {
        let front_matter = parse(text).front_matter.unwrap();
        assert_eq!(front_matter.name.as_deref(), name);
        assert_eq!(front_matter.description.as_deref(), description);
        assert_eq!(front_matter.repaired.is_some(), is_repaired);
    }

    #[test]
    fn well_formed_front_matter_is_read_as_yaml() {
        let document = parse(
            "---\nname: pdf\ndescription: >-\n  Fills\n  forms.\nmetadata:\n  name: x\n---\n# PDF\n",
        );
        assert_eq!(document.body, "# PDF\n");
        let front_matter = document.front_matter.unwrap();
        assert_eq!(front_matter.name.as_deref(), Some("pdf"));
        assert_eq!(front_matter.description.as_deref(), Some("Fills forms."));
        assert_eq!(front_matter.repaired.as_deref(), None);
    }

    #[test]
    fn leading_blank_lines_and_a_closing_dotted_line_are_accepted() {
        let document = parse("\n \n---  \nname: a\n...\nbody");
        assert_eq!(document.body, "body");
        assert_eq!(document.front_matter.unwrap().name.as_deref(), Some("a"));
    }

    #[test]
    fn values_that_are_no_strings_become_text() {
        check("---\nname: 3.10\ndescription: on\n---\n", Some("3.10"), Some("on"), false);
        check(
            "---\nname: a\ndescription: [read, 2, true, null]\n---\n",
            Some("a"),
            Some("read, 2, true"),
            false,
        );
        check(
            "---\nname: true\ndescription: {use: pdf}\n---\n",
            Some("true"),
            Some("use: pdf"),
            false,
        );
        check("---\nname: null\ndescription: ''\n---\n", None, None, false);
    }

    #[test]
    fn what_is_for_the_user_alone_is_told() {
        for (value, expected) in [
            ("true", true),
            ("True", true),
            ("'true'", true),
            ("yes", true),
            ("&always true", true),
            ("\n  true", true),
            ("true # only I do this", true),
            ("'true'\t# only I do this", true),
            ("# only I do this\n  true", true),
            ("false", false),
            ("False # true", false),
            ("no", false),
            ("", false),
        ] {
            for description in ["d", "a: b"] {
                let text = format!(
                    "---\nname: a\ndescription: {description}\ndisable-model-invocation: {value}\n---\n"
                );
                assert_eq!(parse(&text).front_matter.unwrap().is_for_user_only, expected, "{text}");
            }
        }
    }

    #[test]
    fn in_broken_front_matter_it_is_for_the_user_alone_however_it_is_written() {
        let key = "disable-model-invocation";
        let is_for_user_only = |line: &str| {
            let text = format!("---\nname: a\ndescription: Use when: asked\n{line}\n---\nText.");
            parse(&text).front_matter.unwrap().is_for_user_only
        };
        for line in [
            format!("{key}:true"),
            format!("{key} : true"),
            format!("{key}：true"),
            format!("\t{key}: true"),
            format!("'{key}': true"),
            format!("{key}: >-\n  true"),
            format!("{key}: false\n{key}: true"),
            format!("pad: {}\n{key}: true", "x".repeat(MAX_FRONT_MATTER_BYTES)),
        ] {
            assert!(is_for_user_only(&line), "{line}");
        }
        for line in [
            format!("# {key}: true"),
            format!("license: see {key}: true"),
            format!("{key}: false\nstray line"),
        ] {
            assert!(!is_for_user_only(&line), "{line}");
        }
    }

    #[test]
    fn an_unquoted_colon_is_repaired() {
        check(
            "---\nname: a\ndescription: Use this: for that\n---\n",
            Some("a"),
            Some("Use this: for that"),
            true,
        );
    }

    #[test]
    fn tabs_unbalanced_quotes_and_duplicate_keys_are_repaired() {
        check(
            "---\nname: a\nmetadata:\n\tx: 1\ndescription: \"Reads: mail\n---\n",
            Some("a"),
            Some("Reads: mail"),
            true,
        );
        check("---\nname: a\nname: b\ndescription: c\n---\n", Some("a"), Some("c"), true);
        check("---\nname: [broken\ndescription: c\n---\n", None, Some("c"), true);
    }

    #[test]
    fn what_is_wrong_is_said_in_plain_words_with_the_line_of_the_file() {
        let deep = format!("x: {}{}", "[".repeat(100), "]".repeat(100));
        let bomb =
            format!("a: &a [{}]\nb: [{}]", vec!["1"; 90].join(", "), vec!["*a"; 90].join(", "));
        for (yaml, expected) in [
            ("name: a\nname: b", "the key `name` is there twice at line 5, column 1"),
            ("name: a\nx: y: z", "mapping values are not allowed in this context at line 5"),
            (deep.as_str(), "too many values, or too deep at line 4"),
            (bomb.as_str(), "its aliases stand for too many values at line 4"),
        ] {
            let text = format!("\n\n---\n{yaml}\n---\n");
            let detail = parse(&text).front_matter.unwrap().repaired.unwrap();
            assert!(detail.starts_with(expected), "{detail}");
        }
    }

    #[test]
    fn unclosed_front_matter_ends_where_the_text_starts() {
        let document = parse("---\nname: a\ndescription: does\n  things\n\n# Title\ntext\n");
        assert_eq!(document.body, "\n# Title\ntext\n");
        let front_matter = document.front_matter.unwrap();
        assert_eq!(front_matter.name.as_deref(), Some("a"));
        assert_eq!(front_matter.description.as_deref(), Some("does things"));
        assert_eq!(front_matter.repaired.as_deref(), Some("no closing `---`"));
    }

    #[test]
    fn a_ruler_in_the_text_closes_no_front_matter() {
        for text in [
            "\n# Title\nIMPORTANT body text here.\n",
            "\nA text.\n\n- an item: one\n",
            "# Title\n\nA text.\n",
        ] {
            let text = format!("{text}\n---\n\nsecond part\n");
            let document = parse_repaired(&format!("---\nname: a\ndescription: Makes tea\n{text}"));
            assert_eq!(document, ("a".to_owned(), "Makes tea".to_owned(), text));
        }
        // Broken front matter that is closed, with comments, blank lines and lines that wrap.
        for yaml in [
            "name: a\ndescription: Makes tea\nUse it: when needed\nor when not",
            "name: a\n\n# what it does\ndescription: Makes tea: green, and black",
            "name: a\ndescription: Makes tea\n\nUse it: when needed: now\nlicense: MIT",
            "description: Makes tea: green\n\nUse it when needed.\n# who\nname: a",
        ] {
            let (name, _, body) = parse_repaired(&format!("---\n{yaml}\n---\nbody"));
            assert_eq!((name.as_str(), body.as_str()), ("a", "body"), "{yaml}");
        }
    }

    /// Returns name, description and body of a text whose front matter has to be repaired.
    fn parse_repaired(text: &str) -> (String, String, String) {
        let document = parse(text);
        let FrontMatter { name, description, repaired, .. } = document.front_matter.unwrap();
        assert!(repaired.is_some(), "{text}");
        (name.unwrap(), description.unwrap(), document.body.to_owned())
    }

    #[test]
    fn a_ruler_is_no_front_matter() {
        for text in ["---\n\nA text\n\n---\nmore", "---\njust text", "----\nname: a\n---\n", "---"]
        {
            assert_eq!(parse(text), Document { front_matter: None, body: text });
        }
    }

    #[test]
    fn an_alias_bomb_is_harmless() {
        let level = |level: usize| {
            let list = vec![format!("*a{}", level - 1); 8].join(", ");
            format!("a{level}: &a{level} [{list}]\n")
        };
        let bomb = format!(
            "---\na0: &a0 [lol, lol, lol, lol]\n{}name: bomb\ndescription: *a11\n---\nbody",
            (1..12).map(level).collect::<Vec<_>>().concat()
        );
        check(&bomb, Some("bomb"), Some("*a11"), true);
    }

    #[test]
    fn deep_nesting_is_harmless() {
        let deep = format!("---\nname: a\nx: {}\n---\n", "[".repeat(20_000));
        check(&deep, Some("a"), None, true);
    }

    #[test]
    fn huge_front_matter_is_read_up_to_the_limit() {
        let pad = "x".repeat(MAX_FRONT_MATTER_BYTES);
        let text = format!("---\nname: a\npad: {pad}\ndescription: beyond\n---\nbody");
        let document = parse(&text);
        assert_eq!(document.body, "body");
        let front_matter = document.front_matter.unwrap();
        assert_eq!(front_matter.name.as_deref(), Some("a"));
        assert_eq!(front_matter.description, None);
    }
}
