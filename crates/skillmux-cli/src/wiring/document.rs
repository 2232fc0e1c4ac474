//! [`Document`]: a settings file that is edited in place, so that comments, order and spacing stay.

use std::path::Path;

use skillmux::library::agents::{SettingsField, SettingsFormat};

use super::{entry::BadShape, error::SettingsFileError, json::JsonDocument, table::TableDocument};

/// A settings file in one of the formats.
pub(super) enum Document {
    Json(JsonDocument),
    Table(TableDocument),
}

impl Document {
    /// Parses a file; `None` is one that is not there.
    pub(super) fn parse(
        path: &Path,
        text: Option<&str>,
        format: SettingsFormat,
    ) -> Result<Self, SettingsFileError> {
        let text = text.unwrap_or_default();
        let document = match format {
            SettingsFormat::Toml => TableDocument::parse(text).map(Self::Table),
            format => JsonDocument::parse(text, format).map(Self::Json),
        };
        document.map_err(|(line, detail)| SettingsFileError::Malformed {
            path: path.to_owned(),
            line,
            detail,
        })
    }

    /// Returns whether a table of servers is there.
    pub(super) fn has_servers(&self, keys: &[String]) -> Result<bool, BadShape> {
        match self {
            Self::Json(json) => json.has_table(keys),
            Self::Table(table) => table.has_table(keys),
        }
    }

    /// Returns whether skillmux is among the servers.
    pub(super) fn has_server(&self, keys: &[String]) -> Result<bool, BadShape> {
        match self {
            Self::Json(json) => json.has_server(keys),
            Self::Table(table) => table.has_server(keys),
        }
    }

    /// Returns the name of a server that is skillmux under another name.
    pub(super) fn renamed_server(&self, keys: &[String]) -> Result<Option<String>, BadShape> {
        match self {
            Self::Json(json) => json.renamed_server(keys),
            Self::Table(table) => table.renamed_server(keys),
        }
    }

    /// Returns whether skillmux is among the servers, with just these fields.
    pub(super) fn has_same_server(&self, keys: &[String], fields: &[SettingsField]) -> bool {
        match self {
            Self::Json(json) => json.has_same_server(keys, fields),
            Self::Table(table) => table.has_same_server(keys, fields),
        }
    }

    /// Adds skillmux to the servers, or replaces it, and returns how many tables had to be made.
    pub(super) fn set_server(
        &mut self,
        keys: &[String],
        fields: &[SettingsField],
    ) -> Result<usize, BadShape> {
        match self {
            Self::Json(json) => json.set_server(keys, fields),
            Self::Table(table) => table.set_server(keys, fields),
        }
    }

    /// Removes skillmux from the servers, and the innermost `n_made` tables if nothing else is in
    /// them.
    pub(super) fn remove_server(&mut self, keys: &[String], n_made: usize) {
        match self {
            Self::Json(json) => json.remove_server(keys, n_made),
            Self::Table(table) => table.remove_server(keys, n_made),
        }
    }

    /// Returns whether nothing is in the file, not even a comment.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Json(json) => json.is_empty(),
            Self::Table(table) => table.is_empty(),
        }
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Json(json) => json.text(),
            Self::Table(table) => table.text(),
        }
    }
}
