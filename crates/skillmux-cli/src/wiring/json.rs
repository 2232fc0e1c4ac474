//! [`JsonDocument`]: settings in JSON, edited in place.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode},
};
use serde_json::{Map, Value};
use skillmux::library::agents::{SettingsField, SettingsFormat, SettingsValue};

use super::{
    entry::{BadShape, HookCommand, SERVER, starts_server},
    half_pairs::HalfPairs,
    lines::{BYTE_ORDER_MARK, with_blank_lines},
};

const HOOKS: &str = "hooks";
/// What a table is called in JSON.
const OBJECT: &str = "an object `{…}`";

/// A JSON file with all its spacing and comments.
pub(super) struct JsonDocument {
    root: CstRootNode,
    has_byte_order_mark: bool,
    /// What the parser would refuse, and is in the text.
    half_pairs: HalfPairs,
    /// The text that was parsed, without the mark; edits lose blank lines at the end of an object.
    before: String,
}

impl JsonDocument {
    /// Parses JSON, with comments and trailing commas, or JSON5; the error is the line and what is
    /// wrong.
    pub(super) fn parse(text: &str, format: SettingsFormat) -> Result<Self, (usize, String)> {
        let is_json5 = format == SettingsFormat::Json5;
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_missing_commas: false,
            allow_loose_object_property_names: is_json5,
            allow_single_quoted_strings: is_json5,
            allow_hexadecimal_numbers: is_json5,
            allow_unary_plus_numbers: is_json5,
            allow_bare_decimal_point_numbers: is_json5,
            allow_non_finite_numbers: is_json5,
            allow_extended_string_escapes: is_json5,
        };
        let stripped = text.strip_prefix(BYTE_ORDER_MARK);
        let (before, half_pairs) = HalfPairs::hide(stripped.unwrap_or(text));
        let root = CstRootNode::parse(&before, &options)
            .map_err(|error| (error.line_display(), error.kind().to_string()))?;
        if root.value().is_some() && root.object_value().is_none() {
            return Err((1, "it holds no object".to_owned()));
        }
        let before = before.into_owned();
        Ok(Self { root, has_byte_order_mark: stripped.is_some(), half_pairs, before })
    }

    pub(super) fn text(&self) -> String {
        let mark = if self.has_byte_order_mark { BYTE_ORDER_MARK } else { "" };
        let text = with_blank_lines(&self.root.to_string(), &self.before);
        mark.to_owned() + &self.half_pairs.put_back(text)
    }

    /// Returns whether there is neither a field nor a comment.
    pub(super) fn is_empty(&self) -> bool {
        let text = self.text();
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        text.chars().all(|c| c.is_whitespace() || matches!(c, '{' | '}'))
    }

    pub(super) fn has_table(&self, keys: &[String]) -> Result<bool, BadShape> {
        self.table(keys).map(|table| table.is_some())
    }

    pub(super) fn has_server(&self, keys: &[String]) -> Result<bool, BadShape> {
        Ok(self.table(keys)?.is_some_and(|table| table.get(SERVER).is_some()))
    }

    pub(super) fn renamed_server(&self, keys: &[String]) -> Result<Option<String>, BadShape> {
        let Some(table) = self.table(keys)? else { return Ok(None) };
        let renamed = |property: CstObjectProp| {
            let name = property.decoded_name()?;
            let server = property.value()?.to_serde_value()?;
            let words = [words(&server["command"]), words(&server["args"])].concat();
            (name != SERVER && starts_server(&words)).then_some(name)
        };
        let name = table.properties().into_iter().find_map(renamed);
        Ok(name.map(|name| self.half_pairs.put_back(name)))
    }

    pub(super) fn has_same_server(&self, keys: &[String], fields: &[SettingsField]) -> bool {
        let table = self.table(keys).ok().flatten();
        let server = table.and_then(|table| table.get(SERVER)?.value()?.to_serde_value());
        server == Some(Value::Object(fields.iter().map(plain).collect::<Map<_, _>>()))
    }

    pub(super) fn set_server(
        &mut self,
        keys: &[String],
        fields: &[SettingsField],
    ) -> Result<usize, BadShape> {
        let (table, n_made) = self.table_or_made(keys)?;
        let server = CstInputValue::Object(fields.iter().map(input).collect());
        match table.get(SERVER) {
            Some(present) => present.set_value(server),
            None => drop(table.append(SERVER, server)),
        }
        Ok(n_made)
    }

    pub(super) fn remove_server(&mut self, keys: &[String], n_made: usize) {
        let Ok(Some(table)) = self.table(keys) else { return };
        if let Some(server) = table.get(SERVER) {
            server.remove();
        }
        self.remove_empty(keys, n_made);
    }

    /// Returns the commands on an event, in order.
    pub(super) fn hook_commands(&self, event: &str) -> Result<Vec<String>, BadShape> {
        let groups = self.groups(event)?;
        let handlers = groups.iter().flat_map(handlers);
        Ok(handlers.filter_map(|handler| command(&handler)).collect())
    }

    /// Adds a command to an event, or replaces `old`, and returns how many tables and lists had to
    /// be made.
    pub(super) fn set_hook(
        &mut self,
        hook: HookCommand<'_>,
        old: Option<&str>,
    ) -> Result<usize, BadShape> {
        let handler = || {
            CstInputValue::Object(vec![
                ("type".to_owned(), "command".into()),
                ("command".to_owned(), hook.command.into()),
                ("timeout".to_owned(), hook.timeout.into()),
            ])
        };
        let groups = self.groups(hook.event)?;
        let present = old.and_then(|old| {
            let mut handlers = groups.iter().flat_map(handlers);
            handlers.find(|handler| command(handler).as_deref() == Some(old))
        });
        if let Some(CstNode::Container(present)) = present {
            if let Some(object) = present.as_object() {
                object.replace_with(handler());
            }
            return Ok(0);
        }
        let (table, n_made) = self.table_or_made(&[HOOKS.to_owned()])?;
        let n_made = n_made + usize::from(table.get(hook.event).is_none());
        let list = table.array_value_or_create(hook.event).ok_or_else(|| no_list(hook.event))?;
        list.append(CstInputValue::Object(vec![(
            HOOKS.to_owned(),
            CstInputValue::Array(vec![handler()]),
        )]));
        Ok(n_made)
    }

    /// Removes a command from an event, its group if it has no other, and the innermost `n_made` of
    /// list and table if nothing else is in them.
    pub(super) fn remove_hook(&mut self, event: &str, removed: &str, n_made: usize) {
        for group in self.groups(event).unwrap_or_default() {
            let before = handlers(&group);
            let ours: Vec<CstNode> = before
                .iter()
                .filter(|handler| command(handler).as_deref() == Some(removed))
                .cloned()
                .collect();
            if ours.is_empty() {
                continue;
            }
            if ours.len() == before.len() {
                group.remove();
            } else {
                ours.into_iter().for_each(CstNode::remove);
            }
        }
        let keys = [HOOKS.to_owned()];
        let Ok(Some(table)) = self.table(&keys) else { return };
        if n_made > 0 && table.array_value(event).is_some_and(|list| is_bare(&list.children())) {
            if let Some(list) = table.get(event) {
                list.remove();
            }
            self.remove_empty(&keys, n_made - 1);
        }
    }

    /// Returns the groups of commands of an event.
    fn groups(&self, event: &str) -> Result<Vec<CstNode>, BadShape> {
        let Some(table) = self.table(&[HOOKS.to_owned()])? else { return Ok(Vec::new()) };
        match table.get(event) {
            None => Ok(Vec::new()),
            Some(property) => {
                property.array_value().map(|list| list.elements()).ok_or_else(|| no_list(event))
            }
        }
    }

    /// Returns the table that the keys lead to.
    fn table(&self, keys: &[String]) -> Result<Option<CstObject>, BadShape> {
        let Some(mut table) = self.root.object_value() else { return Ok(None) };
        for (at, key) in keys.iter().enumerate() {
            let Some(property) = table.get(key) else { return Ok(None) };
            let is_same = |other: &CstObjectProp| other.decoded_name().as_ref() == Some(key);
            if table.properties().iter().filter(|other| is_same(other)).count() > 1 {
                return Err(BadShape::twice(&keys[..=at]));
            }
            table =
                property.object_value().ok_or_else(|| BadShape::no_table(&keys[..=at], OBJECT))?;
        }
        Ok(Some(table))
    }

    /// Returns the table that the keys lead to, and how many had to be made.
    fn table_or_made(&mut self, keys: &[String]) -> Result<(CstObject, usize), BadShape> {
        self.table(keys)?;
        let mut table = self.root.object_value_or_set();
        let mut n_made = 0;
        for (at, key) in keys.iter().enumerate() {
            n_made += usize::from(table.get(key).is_none());
            table = table
                .object_value_or_create(key)
                .ok_or_else(|| BadShape::no_table(&keys[..=at], OBJECT))?;
        }
        Ok((table, n_made))
    }

    /// Removes the innermost `n_made` tables, as long as nothing is in them.
    fn remove_empty(&self, keys: &[String], n_made: usize) {
        for n_keys in (1..=keys.len()).rev().take(n_made) {
            let Ok(Some(table)) = self.table(&keys[..n_keys]) else { return };
            let Ok(Some(outer)) = self.table(&keys[..n_keys - 1]) else { return };
            match outer.get(&keys[n_keys - 1]) {
                Some(property) if is_bare(&table.children()) => property.remove(),
                _ => return,
            }
        }
    }
}

/// Returns whether a table or list holds neither a value nor a comment.
fn is_bare(children: &[CstNode]) -> bool {
    let is_bare = |child: &CstNode| !child.is_comment() && (child.is_trivia() || child.is_token());
    children.iter().all(is_bare)
}

/// Returns the commands of a group.
fn handlers(group: &CstNode) -> Vec<CstNode> {
    let list = group.as_object().and_then(|group| group.array_value(HOOKS));
    list.map(|list| list.elements()).unwrap_or_default()
}

fn command(handler: &CstNode) -> Option<String> {
    let value = handler.as_object()?.get("command")?.value()?;
    value.as_string_lit()?.decoded_value().ok()
}

/// Returns a text, or the texts of a list.
fn words(value: &Value) -> Vec<&str> {
    match value.as_array() {
        Some(values) => values.iter().filter_map(Value::as_str).collect(),
        None => value.as_str().into_iter().collect(),
    }
}

fn no_list(event: &str) -> BadShape {
    BadShape { key: format!("{HOOKS}.{event}"), expected: "a list `[…]`" }
}

fn input(field: &SettingsField) -> (String, CstInputValue) {
    let value = match &field.value {
        SettingsValue::List(texts) => {
            CstInputValue::Array(texts.iter().map(|text| text.as_str().into()).collect())
        }
        SettingsValue::Text(text) => text.as_str().into(),
    };
    (field.key.clone(), value)
}

fn plain(field: &SettingsField) -> (String, Value) {
    let value = match &field.value {
        SettingsValue::List(texts) => texts.clone().into(),
        SettingsValue::Text(text) => text.clone().into(),
    };
    (field.key.clone(), value)
}

#[cfg(test)]
mod tests {
    use skillmux::text::without_half_pairs;

    use super::*;

    fn keys(path: &str) -> Vec<String> {
        path.split('.').map(str::to_owned).collect()
    }

    fn fields() -> Vec<SettingsField> {
        let field = |key: &str, value| SettingsField { key: key.to_owned(), value };
        vec![
            field("command", SettingsValue::Text("/bin/skillmux".to_owned())),
            field("args", SettingsValue::List(vec!["mcp".to_owned()])),
        ]
    }

    const HOOK: HookCommand<'_> =
        HookCommand { event: "UserPromptSubmit", command: "skillmux hook a", timeout: 5 };

    #[test]
    fn what_is_added_can_be_taken_away_without_a_trace() {
        for text in [
            "{\n  \"a\": 1\n}\n",
            "{\n  \"a\": 1,\n}\n",
            "{\n  \"a\": 1 // one\n}\n",
            "// top\n{\n    \"servers\": {\n        \"b\": {} // b\n    }\n}\n",
            "{\n\t\"servers\": {\n\t\t\"b\": {},\n\t},\n\t// end\n}\n",
            "{\"servers\":{\"b\":{\"c\":1}}}",
            "{\"a\":1}",
            "{\r\n  \"a\": 1\r\n}\r\n",
            "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
            "{\n  \"a\": \"\\ud83d\",\n  \"servers\": {\n    \"\\uDE00\": {}\n  }\n}\n",
            "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      { \"hooks\": [] }\n    ]\n  }\n}\n",
        ] {
            let mut json = JsonDocument::parse(text, SettingsFormat::Json).ok().unwrap();
            let n_made = json.set_server(&keys("servers"), &fields()).ok().unwrap();
            let n_made_for_hook = json.set_hook(HOOK, None).ok().unwrap();
            let added = json.text();
            serde_json::from_str::<Value>(&without_comments(&without_half_pairs(&added))).unwrap();
            let mut json = JsonDocument::parse(&added, SettingsFormat::Json).ok().unwrap();
            assert!(json.has_same_server(&keys("servers"), &fields()));
            assert_eq!(json.hook_commands(HOOK.event).ok().unwrap(), [HOOK.command]);
            json.remove_hook(HOOK.event, HOOK.command, n_made_for_hook);
            json.remove_server(&keys("servers"), n_made);
            let strip = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(strip(&json.text()), strip(text), "{added}");
        }
    }

    fn without_comments(text: &str) -> String {
        let root = CstRootNode::parse(text, &ParseOptions::default()).unwrap();
        root.to_serde_value().unwrap().to_string()
    }

    #[test]
    fn commands_of_the_user_in_one_group_with_ours_stay() {
        let text = r#"{"hooks": {"UserPromptSubmit": [
            {"hooks": [{"command": "date"}, {"command": "skillmux hook a"}, {"command": "who"}]}
        ]}}"#;
        let mut json = JsonDocument::parse(text, SettingsFormat::Json).ok().unwrap();
        json.remove_hook(HOOK.event, HOOK.command, 2);
        assert_eq!(json.hook_commands(HOOK.event).ok().unwrap(), ["date", "who"]);
    }

    #[test]
    fn tables_that_the_user_has_filled_stay() {
        let mut json = JsonDocument::parse("{}", SettingsFormat::Json).ok().unwrap();
        let n_made = json.set_server(&keys("mcp.servers"), &fields()).ok().unwrap();
        assert_eq!(n_made, 2);
        let text = json.text().replacen("\"mcp\": {", "\"mcp\": { /* mine */", 1);
        let mut json = JsonDocument::parse(&text, SettingsFormat::Json).ok().unwrap();
        json.remove_server(&keys("mcp.servers"), n_made);
        assert!(
            json.text().contains("mine") && !json.text().contains("servers"),
            "{}",
            json.text()
        );
        assert!(!json.is_empty());
    }

    #[test]
    fn a_server_of_another_name_is_found_by_its_command() {
        for (entry, expected) in [
            (r#""r": {"command": "/x/skillmux", "args": ["mcp"]}"#, Some("r")),
            (r#""a": 1, "r": {"command": ["skillmux", "mcp"]}"#, Some("r")),
            (r#""skillmux": {"command": "skillmux", "args": ["mcp"]}"#, None),
            (r#""r": {"command": "other", "args": ["mcp"]}"#, None),
        ] {
            let text = format!("{{\"servers\": {{{entry}}}}}");
            let json = JsonDocument::parse(&text, SettingsFormat::Json).ok().unwrap();
            let name = json.renamed_server(&keys("servers")).ok().unwrap();
            assert_eq!(name.as_deref(), expected, "{entry}");
        }
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in
            ["[]", "3", "{\"a\": }", "{\"a\" 1}", "{'a': 1}", "{a: 1}", "{\"a\": 1 \"b\": 2}"]
        {
            assert!(JsonDocument::parse(text, SettingsFormat::Json).is_err(), "{text}");
        }
        assert!(JsonDocument::parse("{'a': 1, b: +2,}", SettingsFormat::Json5).is_ok());
        let json = JsonDocument::parse(
            "{\"servers\": [], \"hooks\": {\"Stop\": 1}}",
            SettingsFormat::Json,
        )
        .ok()
        .unwrap();
        assert_eq!(json.has_server(&keys("servers")).err().unwrap().key, "servers");
        assert_eq!(json.hook_commands("Stop").err().unwrap().key, "hooks.Stop");
        assert_eq!(JsonDocument::parse("{\n\n?}", SettingsFormat::Json).err().unwrap().0, 3);
    }
}
