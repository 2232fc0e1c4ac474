//! [`ModelPlace`]: where the user keeps a model.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use skillmux_models::hub::ModelId;

/// Where a model is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "PathBuf")]
pub(crate) enum ModelPlace {
    /// A file or a folder.
    Path(PathBuf),
    /// A model of the hub.
    Id(ModelId),
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
    /// Returns the place, taken from a folder where it is a relative path. A path at which there is
    /// nothing is an id where it has the form of one.
    pub(crate) fn relative_to(self, folder: &Path) -> Self {
        let Self::Path(path) = self else { return self };
        let place = folder.join(&path);
        let id = path.to_str().and_then(|text| text.parse().ok());
        match id {
            Some(id) if !place.exists() => Self::Id(id),
            _ => Self::Path(place),
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

    #[test]
    fn a_path_at_which_there_is_nothing_may_be_an_id() {
        let dir = tempfile::tempdir().unwrap();
        let place = |text: &str| ModelPlace::from(PathBuf::from(text)).relative_to(dir.path());
        let id = ModelPlace::Id("BAAI/bge-m3".parse().unwrap());
        assert_eq!(place("BAAI/bge-m3"), id);
        assert_eq!(place("./BAAI/bge-m3"), ModelPlace::Path(dir.path().join("./BAAI/bge-m3")));
        assert_eq!(place("bge-m3"), ModelPlace::Path(dir.path().join("bge-m3")));
        std::fs::create_dir_all(dir.path().join("BAAI/bge-m3")).unwrap();
        assert_eq!(place("BAAI/bge-m3"), ModelPlace::Path(dir.path().join("BAAI/bge-m3")));
    }
}
