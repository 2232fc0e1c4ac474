//! The chat model that a command asks.

use std::sync::Arc;

use skillmux::{
    model::ChatModel,
    route::{NeedsConfig, NeedsWriter},
};
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

/// What a chat model is asked for.
#[derive(Default)]
pub(crate) struct ChatUses {
    /// The model that chooses from a ranking.
    pub(crate) judge: Option<Arc<dyn ChatModel>>,
    /// What says the needs of a task.
    pub(crate) writer: Option<NeedsWriter>,
}

/// Returns the chat model that chooses from a ranking, if the arguments ask for one.
pub(crate) fn judge(
    args: &JudgeArgs,
    settings: &Settings,
) -> anyhow::Result<Option<Arc<dyn ChatModel>>> {
    Ok(uses(args, None, settings)?.judge)
}

/// Returns what the arguments ask a chat model for; `needs` says how needs are asked for, if they are.
pub(crate) fn uses(
    args: &JudgeArgs,
    needs: Option<NeedsConfig>,
    settings: &Settings,
) -> anyhow::Result<ChatUses> {
    let is_used = args.judge || needs.is_some();
    let model: Arc<dyn ChatModel> = match chat(&args.endpoint, settings)? {
        Some(model) if is_used => Arc::new(model),
        Some(_) => return Err(CliError::ChatUnused.into()),
        None if is_used => return Err(CliError::NoChat.into()),
        None => return Ok(ChatUses::default()),
    };
    let judge = args.judge.then(|| Arc::clone(&model));
    let writer = needs.map(|config| NeedsWriter::new(model, config));
    Ok(ChatUses { judge, writer })
}
