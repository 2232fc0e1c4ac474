//! [`rows_of`]: the rows of a file of the user.

use std::{fs, path::Path};

use serde::de::DeserializeOwned;

use crate::error::CliError;

/// A row of a file of JSON Lines, and where it stands.
pub(super) struct Row<'p, T> {
    pub(super) value: T,
    path: &'p Path,
    /// From 1.
    line: usize,
    form: &'static str,
}

impl<T> Row<'_, T> {
    /// Returns an error that says what is wrong with the row.
    pub(super) fn refused(&self, detail: String) -> CliError {
        let (path, line, form) = (self.path.to_owned(), self.line, self.form);
        CliError::NotALine { path, line, detail, form }
    }
}

/// Returns the rows of a file, each of which looks like `form`; blank lines are passed over.
///
/// # Errors
/// [`CliError::Unreadable`] and [`CliError::NotALine`].
pub(super) fn rows_of<'p, T: DeserializeOwned>(
    path: &'p Path,
    form: &'static str,
) -> Result<Vec<Row<'p, T>>, CliError> {
    let text = fs::read_to_string(path)
        .map_err(|source| CliError::Unreadable { path: path.to_owned(), source })?;
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
    let row = |(line, text)| {
        let row = Row { value: (), path, line, form };
        let value = serde_json::from_str(text).map_err(|error| row.refused(error.to_string()))?;
        Ok(Row { value, path, line, form })
    };
    lines.map(row).collect()
}
