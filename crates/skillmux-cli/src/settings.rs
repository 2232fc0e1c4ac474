//! What the environment says, read once.

use std::{env, path::PathBuf};

/// Places that depend on the user.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Home folder, if there is one.
    pub(crate) home: Option<PathBuf>,
    /// Working directory, if it can be told.
    pub(crate) project: Option<PathBuf>,
    /// Folder for the user's own index.
    pub(crate) data: Option<PathBuf>,
    /// Folder for what can be made again.
    pub(crate) cache: Option<PathBuf>,
    /// Key for a chat endpoint, `SKILLMUX_API_KEY`.
    pub(crate) api_key: Option<String>,
}

impl Settings {
    /// Reads the environment, after the XDG base directory specification.
    pub(crate) fn from_environment() -> Self {
        let home = env::home_dir().filter(|home| home.is_absolute());
        let xdg = |variable: &str, fallback: &str| {
            let set = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            let base = set.or_else(|| Some(home.as_ref()?.join(fallback)))?;
            Some(base.join("skillmux"))
        };
        Self {
            data: xdg("XDG_DATA_HOME", ".local/share"),
            cache: xdg("XDG_CACHE_HOME", ".cache"),
            project: env::current_dir().ok(),
            api_key: env::var_os("SKILLMUX_API_KEY").and_then(|key| key.into_string().ok()),
            home,
        }
    }

    /// Returns the folder of the index that is used when none is named.
    pub(crate) fn own_index(&self) -> Option<PathBuf> {
        Some(self.data.as_ref()?.join("index"))
    }
}
