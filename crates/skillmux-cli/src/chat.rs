//! The chat model that a command asks.

use std::sync::Arc;

use skillmux::model::ChatModel;
use skillmux_models::remote::{ApiKey, ChatEndpoint, EndpointConfig};

use crate::{
    args::{EndpointArgs, JudgeArgs},
    error::CliError,
    settings::Settings,
};

/// Returns the chat model that the arguments name.
pub(crate) fn chat(
    args: &EndpointArgs,
    settings: &Settings,
) -> anyhow::Result<Option<ChatEndpoint>> {
    let (Some(url), Some(model)) = (&args.chat_url, &args.chat_model) else {
        return Ok(None);
    };
    let mut config = EndpointConfig::new(url, model);
    config.api_key = settings.api_key.as_deref().map(ApiKey::new);
    Ok(Some(ChatEndpoint::new(config)?))
}

/// Returns the chat model that chooses from a ranking, if the arguments ask for one.
pub(crate) fn judge(
    args: &JudgeArgs,
    settings: &Settings,
) -> anyhow::Result<Option<Arc<dyn ChatModel>>> {
    match (args.judge, chat(&args.endpoint, settings)?) {
        (true, Some(model)) => Ok(Some(Arc::new(model))),
        (true, None) => Err(CliError::NoChat.into()),
        (false, Some(_)) => Err(CliError::ChatUnused.into()),
        (false, None) => Ok(None),
    }
}
