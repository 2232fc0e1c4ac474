//! One module a command.

pub(crate) mod eval;
pub(crate) mod index;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod page;
pub(crate) mod route;
pub(crate) mod search;
pub(crate) mod stats;
pub(crate) mod synth;
pub(crate) mod train;

use std::{
    io::{self, Write},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use skillmux::{
    index::Index,
    model::Encoder,
    page::Page,
    retrieve::{Bm25Config, HybridConfig},
    route::{ComposerKind, PagerKind, RetrieverKind, Router, RouterConfig},
};
use skillmux_models::remote::{ApiKey, ChatEndpoint, EndpointConfig};

use crate::{
    args::{ComposerChoice, EndpointArgs, PagerChoice, RetrieverChoice, StageArgs},
    paint::{self, grouped},
    settings::Settings,
};

/// Returns a router with the stages that the arguments choose.
fn router(index: Index, stages: StageArgs) -> anyhow::Result<Router> {
    let (bm25, retriever) = match stages.retriever {
        RetrieverChoice::Ranked | RetrieverChoice::Fielded => {
            (Bm25Config::default(), RetrieverKind::Lexical)
        }
        RetrieverChoice::Joined => (Bm25Config::joined_text(), RetrieverKind::Lexical),
        RetrieverChoice::Dense => (Bm25Config::default(), RetrieverKind::Dense),
        RetrieverChoice::Hybrid => {
            (Bm25Config::default(), RetrieverKind::Hybrid(HybridConfig::default()))
        }
    };
    let is_ranked = stages.retriever == RetrieverChoice::Ranked;
    let config = RouterConfig {
        bm25,
        retriever,
        ranker: is_ranked.then(|| Arc::new(skillmux_models::ranker())),
        composer: match stages.composer {
            ComposerChoice::ScoreCut => ComposerKind::ScoreCut,
            ComposerChoice::TopK => ComposerKind::TopK,
        },
        calibrations: skillmux_models::abstention(),
        pager: match stages.pager {
            PagerChoice::Mmr => PagerKind::Mmr,
            PagerChoice::Full => PagerKind::Full,
        },
        clock: since_start,
    };
    // An index that another program made may hold no vectors: words rank alone then.
    let needs_encoder = match stages.retriever {
        RetrieverChoice::Ranked => index.manifest().encoder.is_some(),
        RetrieverChoice::Fielded | RetrieverChoice::Joined => false,
        RetrieverChoice::Dense | RetrieverChoice::Hybrid => true,
    };
    let router = Router::new(index, config);
    if !needs_encoder {
        return Ok(router);
    }
    Ok(router.with_encoder(Arc::new(skillmux_models::encoder()))?)
}

/// Returns a router that ranks as the default one does; without an encoder, by words alone.
fn ranked_router(index: Index, encoder: Option<Arc<dyn Encoder>>) -> anyhow::Result<Router> {
    let ranker = Some(Arc::new(skillmux_models::ranker()));
    let router = Router::new(index, RouterConfig { ranker, ..RouterConfig::default() });
    match encoder {
        Some(encoder) => Ok(router.with_encoder(encoder)?),
        None => Ok(router),
    }
}

/// Returns the chat model that the arguments name.
fn chat(args: &EndpointArgs, settings: &Settings) -> anyhow::Result<Option<ChatEndpoint>> {
    let (Some(url), Some(model)) = (&args.chat_url, &args.chat_model) else {
        return Ok(None);
    };
    let mut config = EndpointConfig::new(url, model);
    config.api_key = settings.api_key.as_deref().map(ApiKey::new);
    Ok(Some(ChatEndpoint::new(config)?))
}

/// Returns a bar on the terminal that shows how much of something is done.
fn progress(n_all: usize, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{spinner} {human_pos} of {human_len} {msg} ({elapsed}, {eta} left)",
    );
    let bar = ProgressBar::new(n_all as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(paint::one_line(what));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Returns the time since the first call.
fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Shows a page under a headline that says how much of the skill it is.
fn page_text(page: &Page) -> String {
    let (n_tokens, full_tokens) = (grouped(page.n_tokens), grouped(page.full_tokens));
    let title = format!("{} · {n_tokens} of {full_tokens} tokens", page.skill_id);
    let title = paint::styled(paint::STRONG, &paint::rule(&title));
    format!("{title}\n{}", paint::printable(&page.to_markdown()))
}

/// Prints text for people, in colour on a terminal.
fn print_text(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints a value as indented JSON.
fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let json = paint::escaped_json(&serde_json::to_string_pretty(value)?);
    writeln!(io::stdout().lock(), "{json}")?;
    Ok(())
}

/// Returns a size in the unit that suits it.
fn size(n_bytes: u64) -> String {
    indicatif::BinaryBytes(n_bytes).to_string()
}
