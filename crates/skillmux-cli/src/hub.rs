//! [`HubSettings`]: where models are fetched from that are named by an id.

use std::{ffi::OsString, fs, path::PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use skillmux::text::one_line;
use skillmux_models::hub::{ApiKey, Connection, Hub, HubConfig, ModelId};

use crate::error::CliError;

/// What the environment says of the hub, by the names that programs of Hugging Face read.
#[derive(Debug, Clone)]
pub(crate) struct HubSettings {
    /// `HF_HUB_CACHE`, or the folder `hub` in `HF_HOME`, which is `huggingface` in the user's cache
    /// if it is not set.
    cache: Option<PathBuf>,
    /// `HF_ENDPOINT`.
    endpoint: Option<String>,
    /// `HF_TOKEN`, or what `hf auth login` wrote into the file `token` in `HF_HOME`.
    token: Option<ApiKey>,
    /// `HF_HUB_OFFLINE`.
    connection: Connection,
}

impl HubSettings {
    /// Reads the variables; `user_cache` is the user's folder for what can be made again.
    pub(crate) fn read(
        variable: impl Fn(&str) -> Option<OsString>,
        user_cache: Option<PathBuf>,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| set(name).and_then(|value| value.into_string().ok());
        let home =
            set("HF_HOME").map(PathBuf::from).or_else(|| Some(user_cache?.join("huggingface")));
        let login = || {
            fs::read_to_string(home.as_ref()?.join("token")).ok().filter(|t| !t.trim().is_empty())
        };
        let is_on = |value: String| {
            ["1", "ON", "YES", "TRUE"].contains(&value.to_ascii_uppercase().as_str())
        };
        let is_offline = text("HF_HUB_OFFLINE").is_some_and(is_on);
        Self {
            token: text("HF_TOKEN").or_else(login).map(ApiKey::new),
            cache: set("HF_HUB_CACHE")
                .map(PathBuf::from)
                .or_else(|| Some(home.as_ref()?.join("hub"))),
            endpoint: text("HF_ENDPOINT"),
            connection: if is_offline { Connection::Forbidden } else { Connection::Allowed },
        }
    }

    /// Returns the folder of a model, and shows on a terminal how far its download is.
    pub(crate) fn fetch(&self, id: &ModelId) -> anyhow::Result<PathBuf> {
        let cache = self.cache.clone().ok_or(CliError::NoHubCache)?;
        let mut config = HubConfig::new(cache);
        if let Some(endpoint) = &self.endpoint {
            config.endpoint.clone_from(endpoint);
        }
        config.token.clone_from(&self.token);
        config.connection = self.connection;
        let hub = Hub::new(config)?;
        let mut bar = None;
        let folder = hub.fetch(id, &mut |progress| {
            let bar = bar.get_or_insert_with(|| download_bar(progress.n_all, id));
            bar.set_position(progress.n_bytes);
        })?;
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        Ok(folder)
    }
}

/// Returns a bar of the bytes of a model.
fn download_bar(n_all: u64, id: &ModelId) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{spinner} {msg}: {decimal_bytes} of {decimal_total_bytes} ({elapsed}, {eta} left)",
    );
    ProgressBar::new(n_all)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(one_line(&id.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> HubSettings {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        HubSettings::read(variable, Some(PathBuf::from("caches")))
    }

    #[test]
    fn the_cache_is_the_one_of_other_programs() {
        let cache = |variables| read(variables).cache.unwrap().display().to_string();
        assert_eq!(cache(&[]), "caches/huggingface/hub");
        assert_eq!(cache(&[("HF_HOME", "hf")]), "hf/hub");
        assert_eq!(cache(&[("HF_HOME", "hf"), ("HF_HUB_CACHE", "hub")]), "hub");
        assert_eq!(cache(&[("HF_HUB_CACHE", "")]), "caches/huggingface/hub");
    }

    #[test]
    fn connections_are_forbidden_by_what_means_yes() {
        let connection = |value| read(&[("HF_HUB_OFFLINE", value)]).connection;
        for value in ["1", "true", "YES", "on"] {
            assert_eq!(connection(value), Connection::Forbidden, "{value}");
        }
        for value in ["", "0", "false", "no"] {
            assert_eq!(connection(value), Connection::Allowed, "{value}");
        }
    }

    #[test]
    fn a_token_is_that_of_the_environment_or_of_the_login() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().display().to_string();
        assert_eq!(read(&[("HF_HOME", &home)]).token, None);
        fs::write(dir.path().join("token"), "hf_login\n").unwrap();
        assert_eq!(read(&[("HF_HOME", &home)]).token, Some(ApiKey::new("hf_login")));
        let both = [("HF_HOME", home.as_str()), ("HF_TOKEN", "hf_mine")];
        assert_eq!(read(&both).token, Some(ApiKey::new("hf_mine")));
    }
}
