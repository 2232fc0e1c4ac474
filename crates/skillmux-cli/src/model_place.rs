//! [`ModelPlace`]: where the user keeps a model.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// Where a model is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "PathBuf")]
pub(crate) enum ModelPlace {
    /// A file or a folder.
    Path(PathBuf),
    /// An endpoint, by its base URL.
    Url(String),
}

impl From<PathBuf> for ModelPlace {
    fn from(path: PathBuf) -> Self {
        let begins_with = |text: &str, scheme: &str| {
            text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        let is_url = |text: &&str| begins_with(text, "http://") || begins_with(text, "https://");
        match path.to_str().filter(is_url) {
            Some(url) => Self::Url(url.to_owned()),
            None => Self::Path(path),
        }
    }
}

impl From<OsString> for ModelPlace {
    fn from(text: OsString) -> Self {
        PathBuf::from(text).into()
    }
}

impl ModelPlace {
    /// Returns the place, taken from a folder where it is a relative path.
    pub(crate) fn relative_to(self, folder: &Path) -> Self {
        match self {
            Self::Path(path) => Self::Path(folder.join(path)),
            url @ Self::Url(_) => url,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_paths() {
        for url in ["http://localhost:8080", "HTTPS://api.example.com/v1"] {
            assert_eq!(ModelPlace::from(PathBuf::from(url)), ModelPlace::Url(url.to_owned()));
        }
        for path in ["minilm", "http", "http:/minilm", "./https://x", "ftp://x", "表格/minilm"] {
            let place = ModelPlace::from(OsString::from(path));
            assert_eq!(place, ModelPlace::Path(path.into()));
        }
    }
}
