//! What the environment and the settings file say, read once.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use etcetera::{BaseStrategy, base_strategy::Xdg};
use serde::Deserialize;

use crate::{
    args::{ModelArgs, PassageChoice},
    error::CliError,
};

/// Places that depend on the user, and the user's choices.
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
    /// Folder into which the Python package `huggingface_hub` downloads models.
    pub(crate) hub_cache: Option<PathBuf>,
    /// Key for a chat endpoint, `SKILLMUX_API_KEY`.
    pub(crate) api_key: Option<String>,
    /// Weights that replace those inside the program.
    pub(crate) models: ModelPaths,
}

/// Files and folders of weights that replace those inside the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelPaths {
    /// An encoder, as `skillmux train encoder` writes it, or a published one.
    pub(crate) encoder: Option<PathBuf>,
    /// A folder of a transformer, as `training/transformer/export.py` writes it.
    pub(crate) transformer: Option<PathBuf>,
    /// A published cross-encoder.
    pub(crate) reranker: Option<PathBuf>,
    /// What it reads of a skill.
    pub(crate) reranker_reads: Option<PassageChoice>,
    /// The weights of a ranker, as `skillmux train ranker` writes them.
    pub(crate) ranker: Option<PathBuf>,
    /// Calibrations, as `skillmux train abstention` writes them.
    pub(crate) abstention: Option<PathBuf>,
}

impl ModelPaths {
    /// Returns the paths of the arguments, and these where the arguments name none.
    fn overridden_by(&self, args: &ModelArgs) -> Self {
        Self {
            encoder: args.encoder.clone().or_else(|| self.encoder.clone()),
            transformer: args.transformer_weights.clone().or_else(|| self.transformer.clone()),
            reranker: args.reranker.clone().or_else(|| self.reranker.clone()),
            reranker_reads: args.reranker_reads.or(self.reranker_reads),
            ranker: args.ranker.clone().or_else(|| self.ranker.clone()),
            abstention: args.abstention.clone().or_else(|| self.abstention.clone()),
        }
    }

    /// Returns the paths, taken from a folder where they are relative.
    fn relative_to(self, folder: &Path) -> Self {
        let from = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        // The name of a repository, `owner/model`, is none of a file.
        let from_or_named = |path: Option<PathBuf>| {
            path.map(|path| match folder.join(&path) {
                joined if joined.exists() || path.components().count() != 2 => joined,
                _ => path,
            })
        };
        Self {
            transformer: from(self.transformer),
            encoder: from_or_named(self.encoder),
            reranker: from_or_named(self.reranker),
            reranker_reads: self.reranker_reads,
            ranker: from(self.ranker),
            abstention: from(self.abstention),
        }
    }
}

/// The settings file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsFile {
    #[serde(default)]
    models: ModelPaths,
}

impl Settings {
    /// Reads the environment, after the XDG base directory specification, and the settings file.
    ///
    /// # Errors
    /// [`CliError::Settings`] if the settings file cannot be read or holds something else.
    pub(crate) fn from_environment() -> Result<Self, CliError> {
        let xdg = Xdg::new().ok();
        let config = xdg.as_ref().map(|xdg| xdg.config_dir().join("skillmux/settings.toml"));
        Ok(Self {
            home: xdg.as_ref().map(|xdg| xdg.home_dir().to_owned()),
            data: xdg.as_ref().map(|xdg| xdg.data_dir().join("skillmux")),
            cache: xdg.as_ref().map(|xdg| xdg.cache_dir().join("skillmux")),
            project: env::current_dir().ok(),
            hub_cache: env::var_os("HF_HUB_CACHE")
                .map(PathBuf::from)
                .or_else(|| Some(PathBuf::from(env::var_os("HF_HOME")?).join("hub")))
                .or_else(|| Some(xdg.as_ref()?.cache_dir().join("huggingface/hub"))),
            api_key: env::var_os("SKILLMUX_API_KEY").and_then(|key| key.into_string().ok()),
            models: config.map_or(Ok(ModelPaths::default()), |path| read_models(&path))?,
        })
    }

    /// Returns the settings with the models that arguments name in place of these.
    pub(crate) fn with_models(&self, args: &ModelArgs) -> Self {
        Self { models: self.models.overridden_by(args), ..self.clone() }
    }

    /// Returns the folder of the index that is used when none is named.
    pub(crate) fn own_index(&self) -> Option<PathBuf> {
        Some(self.data.as_ref()?.join("index"))
    }
}

/// Reads the models of a settings file; none if there is no file.
fn read_models(path: &Path) -> Result<ModelPaths, CliError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ModelPaths::default()),
        Err(error) => {
            return Err(CliError::Settings { path: path.to_owned(), detail: error.to_string() });
        }
    };
    let file: SettingsFile = toml::from_str(&text).map_err(|error| CliError::Settings {
        path: path.to_owned(),
        detail: error.message().to_owned(),
    })?;
    Ok(file.models.relative_to(path.parent().unwrap_or(Path::new(""))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_settings_file_start_at_its_folder_and_arguments_come_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        assert_eq!(read_models(&path).unwrap(), ModelPaths::default());
        fs::write(&path, "[models]\nranker = \"mine.json\"\nencoder = \"/srv/encoder.bin\"\n")
            .unwrap();
        let models = read_models(&path).unwrap();
        assert_eq!(models.ranker, Some(dir.path().join("mine.json")));
        assert_eq!(models.encoder, Some(PathBuf::from("/srv/encoder.bin")));
        let args = ModelArgs { ranker: Some("other.json".into()), ..ModelArgs::default() };
        let both = models.overridden_by(&args);
        assert_eq!(both.ranker, Some("other.json".into()));
        assert_eq!((both.encoder, both.abstention), (models.encoder, None));
    }

    #[test]
    fn a_settings_file_with_a_mistake_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        fs::create_dir(&path).unwrap();
        assert!(matches!(read_models(&path), Err(CliError::Settings { .. })), "a folder");
        fs::remove_dir(&path).unwrap();
        for text in ["[models]\nrankr = \"a\"\n", "models = 1\n", "[models\n"] {
            fs::write(&path, text).unwrap();
            assert!(matches!(read_models(&path), Err(CliError::Settings { .. })), "{text}");
        }
    }
}
