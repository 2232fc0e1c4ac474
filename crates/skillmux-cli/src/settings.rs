//! What the environment and the settings file say, read once.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use etcetera::{BaseStrategy, base_strategy::Xdg};
use serde::Deserialize;
use skillmux::{
    index::Index,
    library::{SkillPlaces, agents::project_of},
    trust::TrustPolicy,
};
use skillmux_models::checkpoint::{ModelOptions, Preset};

use crate::{
    args::{InferenceChoice, ModelArgs, PassageChoice},
    error::CliError,
    hub::HubSettings,
    model_place::ModelPlace,
    pins::Pins,
    trust::TrustSettings,
};

/// Places that depend on the user, and the user's choices.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Home folder, if there is one.
    pub(crate) home: Option<PathBuf>,
    /// Folder of the project, if the working directory can be told.
    pub(crate) project: Option<PathBuf>,
    /// Folder for the default index.
    pub(crate) data: Option<PathBuf>,
    /// Folder for what can be made again.
    pub(crate) cache: Option<PathBuf>,
    /// Folder for what was done to the settings of agents.
    pub(crate) state: Option<PathBuf>,
    /// Where the shell finds programs, `PATH`.
    pub(crate) search_path: Option<OsString>,
    /// Key for a chat endpoint, `SKILLMUX_API_KEY`.
    pub(crate) api_key: Option<String>,
    /// Key for the endpoint of an encoder, `SKILLMUX_ENCODER_API_KEY`.
    pub(crate) encoder_api_key: Option<String>,
    /// Key for the endpoint of a cross-encoder, `SKILLMUX_RERANKER_API_KEY`.
    pub(crate) reranker_api_key: Option<String>,
    /// Where models are fetched from that are named by an id.
    pub(crate) hub: HubSettings,
    /// Models in place of those inside the program.
    pub(crate) models: OwnModels,
    /// Whom the user trusts.
    pub(crate) trust: TrustSettings,
    /// Where skills are pinned.
    pub(crate) pins: Option<PathBuf>,
    /// The settings file, whether it is there or not.
    file: Option<PathBuf>,
}

/// The models that the user names, in place of those inside the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnModels {
    /// An encoder: a file that `skillmux train encoder` wrote, a folder, an id, or a URL.
    pub(crate) encoder: Option<ModelPlace>,
    /// Its name, if it is at a URL.
    pub(crate) encoder_model: Option<String>,
    /// A cross-encoder: a folder, an id, or a URL.
    pub(crate) reranker: Option<ModelPlace>,
    /// Its name, if it is at a URL.
    pub(crate) reranker_model: Option<String>,
    /// What it reads of a skill.
    pub(crate) reranker_reads: Option<PassageChoice>,
    /// The words that both were trained with.
    pub(crate) preset: Option<Preset>,
    /// The numbers that both are computed in.
    pub(crate) precision: Option<InferenceChoice>,
    /// A folder of a transformer, as `training/transformer/export.py` writes it.
    pub(crate) transformer: Option<PathBuf>,
    /// The weights of a ranker, as `skillmux train ranker` writes them.
    pub(crate) ranker: Option<PathBuf>,
    /// Calibrations, as `skillmux train abstention` writes them.
    pub(crate) abstention: Option<PathBuf>,
    /// The weights that tell what a task asks for, as `skillmux train asking` writes them.
    pub(crate) asking: Option<PathBuf>,
    /// The weights of a composer, as `skillmux train composer` writes them.
    pub(crate) composer: Option<PathBuf>,
    /// The weights of a pager, as `skillmux train pager` writes them.
    pub(crate) pager: Option<PathBuf>,
    /// The weights that tell work from talk, as `skillmux train work` writes them.
    pub(crate) work: Option<PathBuf>,
}

impl OwnModels {
    /// Returns what is said of models of a folder or an id.
    pub(crate) fn options(&self) -> ModelOptions {
        ModelOptions { preset: self.preset, precision: self.precision.map(Into::into) }
    }

    /// Returns whether a model is at a URL, or is one of the hub, which may have to be fetched.
    pub(crate) fn is_elsewhere(&self) -> bool {
        let mut places = [&self.encoder, &self.reranker].into_iter().flatten();
        places.any(|place| !matches!(place, ModelPlace::Path(_)))
    }

    /// Returns whether a model is one of a folder or an id, of which a preset and a precision say
    /// something.
    pub(crate) fn has_folder(&self) -> bool {
        [&self.encoder, &self.reranker].into_iter().flatten().any(|place| match place {
            ModelPlace::Id(_) => true,
            // Where there is nothing, that is told when it is read.
            ModelPlace::Path(path) => !path.is_file(),
            ModelPlace::Url(_) => false,
        })
    }

    /// Returns the models of the arguments, and these where the arguments name none.
    fn overridden_by(&self, args: &ModelArgs) -> Self {
        // The name of a model goes with its place.
        let name = |place: &Option<ModelPlace>, name: &Option<String>, own: &Option<String>| {
            name.clone().or_else(|| own.clone().filter(|_| place.is_none()))
        };
        let place = |place: &Option<ModelPlace>| {
            place.clone().map(|place| place.relative_to(Path::new("")))
        };
        let mut models = Self {
            encoder: place(&args.encoder).or_else(|| self.encoder.clone()),
            encoder_model: name(&args.encoder, &args.encoder_model, &self.encoder_model),
            reranker: place(&args.reranker).or_else(|| self.reranker.clone()),
            reranker_model: name(&args.reranker, &args.reranker_model, &self.reranker_model),
            reranker_reads: args.reranker_reads.or(self.reranker_reads),
            preset: args.preset.or(self.preset),
            precision: args.precision.or(self.precision),
            transformer: args.transformer_weights.clone().or_else(|| self.transformer.clone()),
            ranker: args.ranker.clone().or_else(|| self.ranker.clone()),
            abstention: args.abstention.clone().or_else(|| self.abstention.clone()),
            asking: args.asking_weights.clone().or_else(|| self.asking.clone()),
            composer: args.composer_weights.clone().or_else(|| self.composer.clone()),
            pager: args.pager_weights.clone().or_else(|| self.pager.clone()),
            work: args.work_weights.clone().or_else(|| self.work.clone()),
        };
        // What is said of a model goes with it where another kind of model takes its place.
        if (args.encoder.is_some() || args.reranker.is_some()) && !models.has_folder() {
            (models.preset, models.precision) = (args.preset, args.precision);
        }
        models
    }

    /// Returns the models, with paths taken from a folder where they are relative.
    fn relative_to(self, folder: &Path) -> Self {
        let from = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        Self {
            encoder: self.encoder.map(|place| place.relative_to(folder)),
            reranker: self.reranker.map(|place| place.relative_to(folder)),
            transformer: from(self.transformer),
            ranker: from(self.ranker),
            abstention: from(self.abstention),
            asking: from(self.asking),
            composer: from(self.composer),
            pager: from(self.pager),
            work: from(self.work),
            ..self
        }
    }
}

/// The settings file.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsFile {
    #[serde(default)]
    models: OwnModels,
    #[serde(default)]
    trust: TrustSettings,
}

/// Returns whether the environment asks for exact products on all processors.
pub(crate) fn is_exact() -> bool {
    env::var_os("SKILLMUX_EXACT").is_some_and(|value| value == "1")
}

impl Settings {
    /// Reads the environment, after the XDG base directory specification, and the settings file.
    ///
    /// # Errors
    /// [`CliError::SettingsUnread`] if the settings file cannot be read, [`CliError::Settings`] if it
    /// holds something else.
    pub(crate) fn from_environment() -> Result<Self, CliError> {
        let xdg = Xdg::new().ok();
        let key = |name| env::var_os(name).and_then(|key| key.into_string().ok());
        let config = xdg.as_ref().map(|xdg| xdg.config_dir().join("skillmux/settings.toml"));
        let home = xdg.as_ref().map(BaseStrategy::home_dir);
        let data = xdg.as_ref().map(|xdg| xdg.data_dir().join("skillmux"));
        let SettingsFile { models, trust } =
            config.as_deref().map_or(Ok(SettingsFile::default()), read_file)?;
        Ok(Self {
            home: xdg.as_ref().map(|xdg| xdg.home_dir().to_owned()),
            pins: data.as_ref().map(|data| data.join("pins.json")),
            data,
            cache: xdg.as_ref().map(|xdg| xdg.cache_dir().join("skillmux")),
            state: xdg.as_ref().and_then(Xdg::state_dir).map(|dir| dir.join("skillmux")),
            search_path: env::var_os("PATH"),
            project: env::current_dir().ok().map(|folder| project_of(&folder, home).to_owned()),
            api_key: key("SKILLMUX_API_KEY"),
            encoder_api_key: key("SKILLMUX_ENCODER_API_KEY"),
            reranker_api_key: key("SKILLMUX_RERANKER_API_KEY"),
            hub: HubSettings::read(|name| env::var_os(name), xdg.as_ref().map(Xdg::cache_dir)),
            models,
            trust,
            file: config,
        })
    }

    /// Returns the settings with the models that arguments name in place of these.
    pub(crate) fn with_models(&self, args: &ModelArgs) -> Self {
        Self { models: self.models.overridden_by(args), ..self.clone() }
    }

    /// Returns whom the user trusts among the skills at these places, which an index holds.
    pub(crate) fn trust_policy(
        &self,
        places: &SkillPlaces,
        index: Option<&Index>,
    ) -> anyhow::Result<TrustPolicy> {
        let pins = self.pins.as_deref().map_or(Ok(Pins::default()), Pins::read)?;
        Ok(self.trust.policy(places, index, &pins)?.policy)
    }

    /// Returns the files that say whom the user trusts.
    pub(crate) fn trust_files(&self) -> Vec<PathBuf> {
        let files = self.file.iter().chain(&self.pins).chain(self.trust.reports());
        files.cloned().collect()
    }

    /// Returns the folder of the index that is used when none is named.
    pub(crate) fn own_index(&self) -> Option<PathBuf> {
        Some(self.data.as_ref()?.join("index"))
    }
}

/// Reads a settings file; nothing is set if there is no file.
fn read_file(path: &Path) -> Result<SettingsFile, CliError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SettingsFile::default()),
        Err(source) => return Err(CliError::SettingsUnread { path: path.to_owned(), source }),
    };
    let file: SettingsFile = toml::from_str(&text).map_err(|error| CliError::Settings {
        path: path.to_owned(),
        detail: match error.span() {
            Some(span) => format!("line {}: {}", line_at(&text, span.start), error.message()),
            None => error.message().to_owned(),
        },
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(SettingsFile {
        models: file.models.relative_to(folder),
        trust: file.trust.relative_to(folder),
    })
}

/// Returns the number of the line that holds a byte of a text, from 1.
fn line_at(text: &str, byte: usize) -> usize {
    text.as_bytes()[..byte.min(text.len())].split(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_settings_file_start_at_its_folder_and_arguments_come_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        assert_eq!(read_file(&path).unwrap(), SettingsFile::default());
        fs::write(&path, "[models]\nranker = \"mine.json\"\nencoder = \"/srv/encoder.bin\"\n")
            .unwrap();
        let models = read_file(&path).unwrap().models;
        assert_eq!(models.ranker, Some(dir.path().join("mine.json")));
        assert_eq!(models.encoder, Some(PathBuf::from("/srv/encoder.bin").into()));
        let args = ModelArgs { ranker: Some("other.json".into()), ..ModelArgs::default() };
        let both = models.overridden_by(&args);
        assert_eq!(both.ranker, Some("other.json".into()));
        assert_eq!((both.encoder, both.abstention), (models.encoder, None));
    }

    #[test]
    fn the_name_of_a_model_goes_with_its_url() {
        let url = |text: &str| Some(ModelPlace::Url(text.to_owned()));
        let models: OwnModels =
            toml::from_str("encoder = \"http://a/v1\"\nencoder_model = \"small\"\n").unwrap();
        let models = models.relative_to(Path::new("/srv"));
        assert_eq!(
            (&models.encoder, models.encoder_model.as_deref()),
            (&url("http://a/v1"), Some("small"))
        );
        let large = ModelArgs { encoder_model: Some("large".into()), ..ModelArgs::default() };
        let large = models.overridden_by(&large);
        assert_eq!(
            (&large.encoder, large.encoder_model.as_deref()),
            (&models.encoder, Some("large"))
        );
        let other = ModelArgs { encoder: url("http://b"), ..ModelArgs::default() };
        let other = models.overridden_by(&other);
        assert_eq!((other.encoder, other.encoder_model), (url("http://b"), None));
    }

    #[test]
    fn a_preset_goes_with_the_model_of_a_folder() {
        let models: OwnModels =
            toml::from_str("encoder = \"acme/small\"\npreset = \"r3\"\nprecision = \"int8\"\n")
                .unwrap();
        let encoder = |place| ModelArgs { encoder: Some(place), ..ModelArgs::default() };
        let other = models.overridden_by(&encoder(ModelPlace::Id("acme/large".parse().unwrap())));
        assert_eq!((other.preset, other.precision), (models.preset, models.precision));
        let url = ModelPlace::Url("http://a".to_owned());
        let other = models.overridden_by(&encoder(url.clone()));
        assert_eq!((other.preset, other.precision), (None, None));
        let named = ModelArgs { precision: models.precision, ..encoder(url) };
        assert_eq!(models.overridden_by(&named).precision, models.precision);
    }

    #[test]
    fn a_settings_file_with_a_mistake_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        fs::create_dir(&path).unwrap();
        let error = read_file(&path).unwrap_err();
        assert!(matches!(error, CliError::SettingsUnread { .. }), "a folder: {error}");
        let cause = std::error::Error::source(&error).and_then(|it| it.downcast_ref::<io::Error>());
        assert!(cause.is_some());
        fs::remove_dir(&path).unwrap();
        for (text, line) in [
            ("[models]\nrankr = \"a\"\n", 2),
            ("# Mine.\nmodels = 1\n", 2),
            ("[models\n", 1),
            ("[models]\n\nranker = 1\nencoder = \"a\"\n", 3),
            ("[trust]\npersonal = \"safe\"\n", 2),
            ("[trust]\nblock = [\n  \"danger\",\n]\n", 3),
            ("[models]\nranker =", 2),
        ] {
            fs::write(&path, text).unwrap();
            let Err(CliError::Settings { detail, .. }) = read_file(&path) else { panic!("{text}") };
            assert!(detail.starts_with(&format!("line {line}: ")), "{text}: {detail}");
        }
    }
}
