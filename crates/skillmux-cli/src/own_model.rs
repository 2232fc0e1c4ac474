//! Encoders and cross-encoders of the user's own: of a file, of a folder, or at an endpoint.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use serde::Deserialize;
use skillmux::model::{Encoder, PairScorer};
use skillmux_models::{
    StaticEncoder,
    checkpoint::Checkpoint,
    remote::{
        ApiKey, BatchLimits, EncoderEndpoint, EncoderOptions, EncoderProtocol, EndpointConfig,
        PairScorerEndpoint, PairScorerOptions, PairScorerProtocol, RelevanceScale,
    },
};

use crate::{error::CliError, settings::Settings};

/// What a server of text-embeddings-inference is called: it serves one model, and is not told its name.
const TEI: &str = "TEI";

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

/// Returns the encoder that the settings name, else the one inside the program. It is opened once, for it
/// may be large.
pub(crate) fn encoder(settings: &Settings) -> anyhow::Result<Arc<dyn Encoder>> {
    static ENCODER: OnceLock<Arc<dyn Encoder>> = OnceLock::new();
    if let Some(encoder) = ENCODER.get() {
        return Ok(Arc::clone(encoder));
    }
    let encoder = open_encoder(settings)?;
    Ok(Arc::clone(ENCODER.get_or_init(|| encoder)))
}

fn open_encoder(settings: &Settings) -> anyhow::Result<Arc<dyn Encoder>> {
    let models = &settings.models;
    let name = models.encoder_model.as_deref();
    if let Some(ModelPlace::Url(url)) = &models.encoder {
        let protocol = if name.is_some() { EncoderProtocol::OpenAi } else { EncoderProtocol::Tei };
        let config = endpoint(url, name, settings.encoder_api_key.as_deref());
        let options = EncoderOptions { protocol, ..EncoderOptions::default() };
        return Ok(Arc::new(EncoderEndpoint::open(config, options)?));
    }
    if name.is_some() {
        let (option, owner) = ("encoder-model", "an --encoder URL");
        return Err(CliError::OptionAlone { option, owner }.into());
    }
    Ok(match &models.encoder {
        Some(ModelPlace::Path(path)) if path.is_dir() => {
            Arc::new(Checkpoint::open(path)?.encoder()?)
        }
        Some(ModelPlace::Path(path)) => Arc::new(read_encoder(path)?),
        _ => Arc::new(skillmux_models::encoder()),
    })
}

/// Returns the cross-encoder that the settings name, if they name one.
pub(crate) fn pair_scorer(settings: &Settings) -> anyhow::Result<Option<Arc<dyn PairScorer>>> {
    let models = &settings.models;
    let name = models.reranker_model.as_deref();
    if let Some(ModelPlace::Url(url)) = &models.reranker {
        let protocol = match name {
            Some(_) => PairScorerProtocol::Cohere(RelevanceScale::Probability),
            None => PairScorerProtocol::Tei,
        };
        let config = endpoint(url, name, settings.reranker_api_key.as_deref());
        let options = PairScorerOptions { protocol, batches: BatchLimits::default() };
        return Ok(Some(Arc::new(PairScorerEndpoint::new(config, options)?)));
    }
    if name.is_some() {
        let (option, owner) = ("reranker-model", "a --reranker URL");
        return Err(CliError::OptionAlone { option, owner }.into());
    }
    match &models.reranker {
        Some(ModelPlace::Path(path)) => Ok(Some(Arc::new(Checkpoint::open(path)?.pair_scorer()?))),
        _ if models.reranker_reads.is_some() => {
            let (option, owner) = ("reranker-reads", "a --reranker");
            Err(CliError::OptionAlone { option, owner }.into())
        }
        _ => Ok(None),
    }
}

fn endpoint(url: &str, name: Option<&str>, api_key: Option<&str>) -> EndpointConfig {
    let mut config = EndpointConfig::new(url, name.unwrap_or(TEI));
    config.api_key = api_key.map(ApiKey::new);
    config
}

fn read_encoder(path: &Path) -> anyhow::Result<StaticEncoder> {
    let bytes =
        fs::read(path).map_err(|source| CliError::Model { path: path.to_owned(), source })?;
    Ok(StaticEncoder::from_bytes(bytes).map_err(|error| CliError::ModelForm {
        path: path.to_owned(),
        detail: error.to_string(),
    })?)
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
