//! The chat model that a command asks.

use std::{
    error::Error as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use skillmux::{
    model::ChatModel,
    route::{NeedsConfig, NeedsWriter},
    skill::{ChatKinds, KindClassifier, KindFailure},
    text::printable,
};
use skillmux_models::remote::{ApiKey, ChatEndpoint, EndpointConfig};

use crate::{
    args::{EndpointArgs, JudgeArgs, KindChoice},
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

/// Returns the chat model that the arguments name, which is an error if nothing asks it.
pub(crate) fn used_chat(
    args: &EndpointArgs,
    settings: &Settings,
    is_used: bool,
) -> anyhow::Result<Option<ChatEndpoint>> {
    let model = chat(args, settings)?;
    if model.is_some() && !is_used {
        return Err(CliError::ChatUnused.into());
    }
    Ok(model)
}

/// What a chat model is asked for.
#[derive(Default)]
pub(crate) struct ChatUses {
    /// The model that chooses from a ranking.
    pub(crate) judge: Option<Arc<dyn ChatModel>>,
    /// What says the needs of a task.
    pub(crate) writer: Option<NeedsWriter>,
    /// What tells the kinds of parts.
    pub(crate) kinds: Kinds,
}

/// What else than a choice from a ranking the arguments may ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChatAsks {
    /// How the needs of a task are asked for, if they are.
    pub(crate) needs: Option<NeedsConfig>,
    pub(crate) kinds: KindChoice,
}

/// Returns the chat model that chooses from a ranking, if the arguments ask for one.
pub(crate) fn judge(
    args: &JudgeArgs,
    settings: &Settings,
) -> anyhow::Result<Option<Arc<dyn ChatModel>>> {
    Ok(uses(args, ChatAsks { needs: None, kinds: KindChoice::Rules }, settings)?.judge)
}

/// Returns what the arguments ask a chat model for, and what tells kinds without one.
pub(crate) fn uses(
    args: &JudgeArgs,
    asks: ChatAsks,
    settings: &Settings,
) -> anyhow::Result<ChatUses> {
    let is_used = args.judge || asks.needs.is_some() || asks.kinds == KindChoice::Chat;
    let model: Arc<dyn ChatModel> = match used_chat(&args.endpoint, settings, is_used)? {
        Some(model) => Arc::new(model),
        None if is_used => return Err(CliError::NoChat.into()),
        None => {
            return Ok(ChatUses { kinds: Kinds::new(asks.kinds, None)?, ..ChatUses::default() });
        }
    };
    let judge = args.judge.then(|| Arc::clone(&model));
    let kinds = Kinds::new(asks.kinds, Some(Arc::clone(&model)))?;
    let writer = asks.needs.map(|config| NeedsWriter::new(model, config));
    Ok(ChatUses { judge, writer, kinds })
}

/// What tells the kinds of parts.
#[derive(Default)]
pub(crate) struct Kinds {
    /// `None` for the rules, whose kinds the index has.
    pub(crate) classifier: Option<Arc<dyn KindClassifier>>,
    /// Parts that a chat model was asked about and did not label.
    n_unsaid: Arc<AtomicUsize>,
}

impl Kinds {
    /// Returns what the arguments choose. A failure of the chat model is a note.
    pub(crate) fn new(
        choice: KindChoice,
        model: Option<Arc<dyn ChatModel>>,
    ) -> anyhow::Result<Self> {
        let n_unsaid: Arc<AtomicUsize> = Arc::default();
        let classifier: Option<Arc<dyn KindClassifier>> = match choice {
            KindChoice::Rules => None,
            KindChoice::Learned => Some(Arc::new(skillmux_models::kinds())),
            KindChoice::Chat => {
                let model = model.ok_or(CliError::NoChat)?;
                let count = Arc::clone(&n_unsaid);
                let on_failure = move |failure: &KindFailure<'_>| {
                    count.fetch_add(failure.n_nodes, Ordering::Relaxed);
                    tell(failure);
                };
                Some(Arc::new(ChatKinds::new(model, Box::new(on_failure))))
            }
        };
        Ok(Self { classifier, n_unsaid })
    }

    /// Returns what the arguments choose for a command that asks a chat model for nothing else.
    pub(crate) fn alone(
        choice: KindChoice,
        endpoint: &EndpointArgs,
        settings: &Settings,
    ) -> anyhow::Result<Self> {
        let model = used_chat(endpoint, settings, choice == KindChoice::Chat)?;
        Self::new(choice, model.map(|model| Arc::new(model) as _))
    }

    /// Returns an error if the chat model left kinds to the rules: they must not be measured as its
    /// own.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        match self.n_unsaid.load(Ordering::Relaxed) {
            0 => Ok(()),
            n_parts => Err(CliError::KindsUnsaid { n_parts }),
        }
    }
}

/// Tells what went wrong.
fn tell(failure: &KindFailure<'_>) {
    let KindFailure { error, n_nodes, is_last, .. } = failure;
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    let note = printable(&format!("{error}{cause}"));
    anstream::eprintln!("note: {note}; rules tell the kinds of {n_nodes} parts");
    if *is_last {
        anstream::eprintln!("note: the chat model is not asked about other parts");
    }
}
