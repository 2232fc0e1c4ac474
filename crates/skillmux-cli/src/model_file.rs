//! Reads the file of a model of the user's own.

use std::{fs, path::Path};

use crate::{error::CliError, model_option::ModelOption};

impl ModelOption {
    /// Reads a file.
    ///
    /// # Errors
    /// [`CliError::Model`] if the system does not let it be read.
    pub(crate) fn read(self, path: &Path) -> Result<Vec<u8>, CliError> {
        fs::read(path).map_err(|source| CliError::Model {
            option: self,
            path: path.to_owned(),
            source,
        })
    }

    /// Returns the error of a file or a folder that holds something else.
    pub(crate) fn refused(self, path: &Path, detail: impl Into<String>) -> CliError {
        CliError::ModelForm { option: self, path: path.to_owned(), detail: detail.into() }
    }
}
