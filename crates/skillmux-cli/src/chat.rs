//! The chat model that a command asks.

use skillmux_models::remote::{ApiKey, ChatEndpoint, EndpointConfig};

use crate::{args::EndpointArgs, settings::Settings};

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
