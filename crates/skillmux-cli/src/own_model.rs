//! Encoders and cross-encoders of the user's own: of a file, of a folder, of the hub, or at an
//! endpoint.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use skillmux::model::{Encoder, PairScorer};
use skillmux_models::{
    StaticEncoder,
    checkpoint::{self, Checkpoint, CheckpointUse},
    remote::{
        ApiKey, BatchLimits, EncoderEndpoint, EncoderOptions, EncoderProtocol, EndpointConfig,
        PairScorerEndpoint, PairScorerOptions, PairScorerProtocol, RelevanceScale,
    },
};

use crate::{
    error::CliError,
    model_option::ModelOption,
    model_place::ModelPlace,
    settings::{OwnModels, Settings},
};

/// What a server of text-embeddings-inference is called: it serves one model, and is not told its
/// name.
const TEI: &str = "TEI";

/// Returns the encoder that the settings name, else the one inside the program. It is opened once,
/// for it may be large.
pub(crate) fn encoder(settings: &Settings) -> anyhow::Result<Arc<dyn Encoder>> {
    static ENCODER: OnceLock<Arc<dyn Encoder>> = OnceLock::new();
    if let Some(encoder) = ENCODER.get() {
        return Ok(Arc::clone(encoder));
    }
    let encoder = open_encoder(settings)?;
    Ok(Arc::clone(ENCODER.get_or_init(|| encoder)))
}

/// Returns the static encoder inside the program, which the pager reads with whatever the user
/// names for rankings.
pub(crate) fn embedded_encoder() -> Arc<dyn Encoder> {
    static ENCODER: OnceLock<Arc<dyn Encoder>> = OnceLock::new();
    Arc::clone(ENCODER.get_or_init(|| Arc::new(skillmux_models::encoder())))
}

fn open_encoder(settings: &Settings) -> anyhow::Result<Arc<dyn Encoder>> {
    let models = &settings.models;
    check_options(models)?;
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
    let folder = match &models.encoder {
        Some(ModelPlace::Path(path)) if path.is_dir() => path.clone(),
        Some(ModelPlace::Path(path)) => return Ok(Arc::new(read_encoder(path)?)),
        Some(ModelPlace::Id(id)) => settings.hub.fetch(id)?,
        _ => return Ok(embedded_encoder()),
    };
    Ok(checkpoint::open_encoder(&folder, models.options())?)
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
    let folder = match &models.reranker {
        Some(ModelPlace::Path(path)) => path.clone(),
        Some(ModelPlace::Id(id)) => settings.hub.fetch(id)?,
        _ if models.reranker_reads.is_some() => {
            let (option, owner) = ("reranker-reads", "a --reranker");
            return Err(CliError::OptionAlone { option, owner }.into());
        }
        _ => return Ok(None),
    };
    let checkpoint = Checkpoint::open_as(&folder, CheckpointUse::PairScorer, models.options())?;
    Ok(Some(Arc::new(checkpoint.pair_scorer()?)))
}

/// Checks that a preset and a precision say something of a model.
fn check_options(models: &OwnModels) -> Result<(), CliError> {
    let options = [("preset", models.preset.is_some()), ("precision", models.precision.is_some())];
    match options.into_iter().find(|(_, is_set)| *is_set) {
        Some((option, _)) if !models.has_folder() => {
            let owner = "an --encoder or a --reranker of a folder or an id";
            Err(CliError::OptionAlone { option, owner })
        }
        _ => Ok(()),
    }
}

fn endpoint(url: &str, name: Option<&str>, api_key: Option<&str>) -> EndpointConfig {
    let mut config = EndpointConfig::new(url, name.unwrap_or(TEI));
    config.api_key = api_key.map(ApiKey::new);
    config
}

fn read_encoder(path: &Path) -> anyhow::Result<StaticEncoder> {
    let option = ModelOption::Encoder;
    let encoder = StaticEncoder::from_bytes(option.read(path)?);
    Ok(encoder.map_err(|error| option.refused(path, error.to_string()))?)
}
