//! [`TableDocument`]: settings in TOML, edited in place.

use skillmux::library::agents::{SettingsField, SettingsValue};
use toml_edit::{Array, DocumentMut, Item, RawString, Table, TableLike, Value};

use super::{
    entry::{BadShape, SERVER, starts_server},
    lines::{BYTE_ORDER_MARK, with_line_ends},
};

/// What a table is called in TOML.
const TABLE: &str = "a table";

/// A TOML file with all its spacing and comments.
pub(super) struct TableDocument {
    document: DocumentMut,
    has_byte_order_mark: bool,
    /// The text that was parsed, without the mark; the parser keeps the text of lines, but not their
    /// ends.
    before: String,
}

impl TableDocument {
    /// Parses TOML; the error is the line and what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, (usize, String)> {
        let stripped = text.strip_prefix(BYTE_ORDER_MARK);
        let has_byte_order_mark = stripped.is_some();
        let text = stripped.unwrap_or(text);
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..start].split(|byte| *byte == b'\n').count();
            (line, error.message().to_owned())
        })?;
        Ok(Self { document, has_byte_order_mark, before: text.to_owned() })
    }

    pub(super) fn text(&self) -> String {
        let mark = if self.has_byte_order_mark { BYTE_ORDER_MARK } else { "" };
        mark.to_owned() + &with_line_ends(&self.document.to_string(), &self.before)
    }

    /// Returns whether there is neither a field nor a comment.
    pub(super) fn is_empty(&self) -> bool {
        self.document.to_string().trim().is_empty()
    }

    pub(super) fn has_table(&self, keys: &[String]) -> Result<bool, BadShape> {
        self.table(keys).map(|table| table.is_some())
    }

    pub(super) fn has_server(&self, keys: &[String]) -> Result<bool, BadShape> {
        Ok(self.table(keys)?.is_some_and(|table| table.contains_key(SERVER)))
    }

    pub(super) fn renamed_server(&self, keys: &[String]) -> Result<Option<String>, BadShape> {
        let Some(table) = self.table(keys)? else { return Ok(None) };
        let is_renamed = |server: &Item| {
            let words = ["command", "args"].map(|key| server.get(key).map_or(vec![], words));
            starts_server(&words.concat())
        };
        let found = table.iter().find(|(name, server)| *name != SERVER && is_renamed(server));
        Ok(found.map(|(name, _)| name.to_owned()))
    }

    pub(super) fn has_same_server(&self, keys: &[String], fields: &[SettingsField]) -> bool {
        let table = self.table(keys).ok().flatten();
        let Some(server) = table.and_then(|table| table.get(SERVER)?.as_table_like()) else {
            return false;
        };
        let is_same = |field: &SettingsField| match (&field.value, server.get(&field.key)) {
            (SettingsValue::Text(text), Some(item)) => item.as_str() == Some(text),
            (SettingsValue::List(texts), Some(item)) => item.as_array().is_some_and(|array| {
                array.iter().map(Value::as_str).eq(texts.iter().map(|text| Some(text.as_str())))
            }),
            (_, None) => false,
        };
        server.len() == fields.len() && fields.iter().all(is_same)
    }

    pub(super) fn set_server(
        &mut self,
        keys: &[String],
        fields: &[SettingsField],
    ) -> Result<usize, BadShape> {
        let mut n_made = 0;
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for (at, key) in keys.iter().enumerate() {
            if !table.contains_key(key) {
                n_made += 1;
                let mut made = Table::new();
                made.set_implicit(true);
                table.insert(key, Item::Table(made));
            }
            table = table
                .get_mut(key)
                .and_then(Item::as_table_like_mut)
                .ok_or_else(|| BadShape::no_table(&keys[..=at], TABLE))?;
        }
        let mut server = Table::new();
        for field in fields {
            let value: Value = match &field.value {
                SettingsValue::Text(text) => text.into(),
                SettingsValue::List(texts) => texts.iter().collect::<Array>().into(),
            };
            server.insert(&field.key, Item::Value(value));
        }
        match table.get_mut(SERVER) {
            Some(Item::Table(present)) => {
                present.clear();
                present.extend(server);
            }
            Some(present) => *present = Item::Value(server.into_inline_table().into()),
            None => {
                table.insert(SERVER, Item::Table(server));
                self.move_below_comments(keys);
            }
        }
        Ok(n_made)
    }

    /// Moves a table that was added below the comments at the end of the file: they are about what
    /// stands above them.
    fn move_below_comments(&mut self, keys: &[String]) {
        let end = self.document.trailing().as_str().unwrap_or_default().to_owned();
        if !end.contains('#') {
            return;
        }
        let added = self.table_mut(keys).and_then(|table| table.get_mut(SERVER));
        // Part of an inline table, it stands within a line.
        let Some(Item::Table(server)) = added else { return };
        let line_end = if end.ends_with('\n') { "" } else { "\n" };
        server.decor_mut().set_prefix(format!("{end}{line_end}\n"));
        server.set_position(Some(isize::MAX));
        self.document.set_trailing("");
    }

    pub(super) fn remove_server(&mut self, keys: &[String], n_made: usize) {
        if let Some(Item::Table(server)) =
            self.table_mut(keys).and_then(|table| table.remove(SERVER))
        {
            self.give_back_comments(&server);
        }
        for n_keys in (1..=keys.len()).rev().take(n_made) {
            let Some(outer) = self.table_mut(&keys[..n_keys - 1]) else { return };
            let key = &keys[n_keys - 1];
            if !outer.get(key).and_then(Item::as_table_like).is_some_and(TableLike::is_empty) {
                return;
            }
            outer.remove(key);
        }
    }

    /// Puts the comments above a table that was removed where they stood before it was added: at
    /// the end of the file, or else above what follows now.
    fn give_back_comments(&mut self, removed: &Table) {
        let comments = removed.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
        if !comments.contains('#') {
            return;
        }
        // The empty line above the table was added with it.
        let without_line = comments.strip_suffix('\n').map(|text| text.trim_end_matches('\r'));
        let comments = without_line.filter(|text| text.ends_with('\n')).unwrap_or(comments);
        let position = removed.position().unwrap_or(isize::MAX);
        let mut next = None;
        find_next(self.document.as_table_mut(), position, &mut next);
        if let Some(next) = next {
            let prefix = next.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
            let prefix = format!("{comments}{prefix}");
            next.decor_mut().set_prefix(prefix);
        } else {
            let end = self.document.trailing().as_str().unwrap_or_default();
            let end = format!("{comments}{end}");
            self.document.set_trailing(end);
        }
    }

    fn table(&self, keys: &[String]) -> Result<Option<&dyn TableLike>, BadShape> {
        let mut table: &dyn TableLike = self.document.as_table();
        for (at, key) in keys.iter().enumerate() {
            let Some(item) = table.get(key) else { return Ok(None) };
            table = item.as_table_like().ok_or_else(|| BadShape::no_table(&keys[..=at], TABLE))?;
        }
        Ok(Some(table))
    }

    fn table_mut(&mut self, keys: &[String]) -> Option<&mut dyn TableLike> {
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for key in keys {
            table = table.get_mut(key)?.as_table_like_mut()?;
        }
        Some(table)
    }
}

/// Finds the first table below this one, or below one of it, that has a header after a position.
fn find_next<'t>(table: &'t mut Table, position: isize, next: &mut Option<&'t mut Table>) {
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => find_first(inner, position, next),
            Item::ArrayOfTables(inner) => {
                inner.iter_mut().for_each(|inner| find_first(inner, position, next));
            }
            _ => {}
        }
    }
}

/// Does so for this table, too: what is in it stands after its own header, but tables in it may
/// stand anywhere.
fn find_first<'t>(table: &'t mut Table, position: isize, next: &mut Option<&'t mut Table>) {
    let of = |table: &Table| table.position().filter(|at| *at > position && !table.is_implicit());
    let first = next.as_deref().and_then(of).unwrap_or(isize::MAX);
    if of(table).is_some_and(|at| at < first) {
        *next = Some(table);
    } else {
        find_next(table, position, next);
    }
}

/// Returns a text, or the texts of a list.
fn words(item: &Item) -> Vec<&str> {
    match item.as_array() {
        Some(array) => array.iter().filter_map(Value::as_str).collect(),
        None => item.as_str().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<String> {
        vec!["mcp_servers".to_owned()]
    }

    fn fields() -> Vec<SettingsField> {
        let field = |key: &str, value| SettingsField { key: key.to_owned(), value };
        vec![
            field("command", SettingsValue::Text("/bin/skillmux".to_owned())),
            field("args", SettingsValue::List(vec!["mcp".to_owned()])),
        ]
    }

    #[test]
    fn what_is_added_can_be_taken_away_without_a_trace() {
        for text in [
            "",
            "a = 1 # one\n",
            "a = 1\n\n# of b\n[b]\nc = 2\n# end\n",
            "[mcp_servers.x]\ncommand = \"x\"\n",
            "mcp_servers = { x = { command = \"x\" } }\n",
            "[mcp_servers]\nx.command = \"x\"\n\n[z]\n",
            "a = 1\r\n[b]\r\nc = '''\r\nd'''\r\n",
            "# alone\n",
            "[mcp_servers.x]\ncommand = \"x\"\n\n# of x\n\n# of z\n[z]\nc = 2\n\n# end\n\n",
            "mcp_servers = { x = { command = \"x\" } }\n# end\n",
            "[b]\r\nc = 2\r\n# end\r\n",
            "x = 1\na = 1\r\n\r\n[b]\nc = 2\r\n",
        ] {
            let mut table = TableDocument::parse(text).ok().unwrap();
            let n_made = table.set_server(&keys(), &fields()).ok().unwrap();
            let added = table.text();
            let mut table = TableDocument::parse(&added).ok().unwrap();
            assert!(table.has_same_server(&keys(), &fields()), "{added}");
            // A second time changes nothing.
            assert_eq!(table.set_server(&keys(), &fields()).ok().unwrap(), 0);
            assert!(table.has_same_server(&keys(), &fields()), "{added}");
            table.remove_server(&keys(), n_made);
            assert_eq!(table.text(), text, "{added}");
        }
    }

    #[test]
    fn comments_at_the_end_stay_above_what_is_added() {
        let text = "[b]\nc = 2\n# of c\n";
        let mut table = TableDocument::parse(text).ok().unwrap();
        let n_made = table.set_server(&keys(), &fields()).ok().unwrap();
        let added = table.text();
        assert!(added.starts_with("[b]\nc = 2\n# of c\n\n[mcp_servers.skillmux]\n"), "{added}");
        assert!(added.ends_with("args = [\"mcp\"]\n"), "{added}");
        // Also if something was added after it.
        let added = format!("{added}# of d\n[d]\n\n[b.inner]\n");
        let mut table = TableDocument::parse(&added).ok().unwrap();
        table.remove_server(&keys(), n_made);
        assert_eq!(table.text(), format!("{text}# of d\n[d]\n\n[b.inner]\n"));
    }

    #[test]
    fn a_server_of_another_name_is_found_by_its_command() {
        let name = |text: &str| {
            let table = TableDocument::parse(text).ok().unwrap();
            table.renamed_server(&keys()).ok().unwrap()
        };
        let entry = "command = \"/x/skillmux\"\nargs = [\"mcp\"]\n";
        assert_eq!(name(&format!("[mcp_servers.router]\n{entry}")).as_deref(), Some("router"));
        let inline = "mcp_servers = { x = 1, r = { command = 'skillmux', args = ['mcp'] } }\n";
        assert_eq!(name(inline).as_deref(), Some("r"));
        assert_eq!(name(&format!("[mcp_servers.skillmux]\n{entry}")), None);
        assert_eq!(name("[mcp_servers.x]\ncommand = \"x\"\n"), None);
        assert_eq!(name(""), None);
    }

    #[test]
    fn other_shapes_are_refused() {
        assert_eq!(TableDocument::parse("a = 1\nb =\n").err().unwrap().0, 2);
        let mut table = TableDocument::parse("mcp_servers = 1\n").ok().unwrap();
        assert_eq!(table.set_server(&keys(), &fields()).err().unwrap().key, "mcp_servers");
    }
}
