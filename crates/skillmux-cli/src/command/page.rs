//! `skillmux page`

use std::sync::Arc;

use serde::Serialize;
use skillmux::{
    page::{Page, PartList, classified, node_features},
    query::Query,
    route::{Ranker, Router, Stages},
    skill::SkillId,
    trust::TrustNote,
};

use crate::{
    args::{Format, PageArgs, PagerChoice},
    assemble::{pager, pager_weights},
    chat::Kinds,
    error::CliError,
    outcome::Outcome,
    own_model::embedded_encoder,
    render::{
        page_text, print_json, print_text,
        why::{part_reasons, why_text},
    },
    settings::Settings,
    source,
};

/// A page, and where its skill lies.
#[derive(Serialize)]
struct PlacedPage<'a> {
    #[serde(flatten)]
    page: &'a Page,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<&'a str>,
    trust: &'a TrustNote,
}

pub(crate) fn run(args: &PageArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    if args.why && args.pager != PagerChoice::Value {
        return Err(CliError::WhyOfPager.into());
    }
    let kinds = Kinds::alone(args.kinds, &args.endpoint, settings)?.classifier;
    let query = args.query.as_ref().map(|task| Query::new(task.as_str())?.with_needs(&args.needs));
    let query = query.transpose()?;
    let opened = source::open(&args.source, settings)?;
    // Pages need no ranking, and so no models but the lexicon.
    let ranker = Ranker::default()
        .with_translator(Arc::new(skillmux_models::translator()))
        .with_trust(settings.trust_policy(&opened.places)?);
    let weights = args.pager_weights.as_deref().or(settings.models.pager.as_deref());
    let weights = pager_weights(weights)?;
    let pager = pager(args.pager, weights, kinds.clone());
    let stages = Stages { pager, ranker, ..Stages::default() };
    let router = Router::new(opened.index, stages)?.with_places(opened.places);
    let id = SkillId::new(args.skill_id.as_str());
    let had: PartList = args.have.parse()?;
    let page = router.page(&id, query.as_ref(), args.budget, &had)?;
    let (folder, trust) = (router.folder(&id)?, router.trust(&id)?);
    let shown = PlacedPage { page: &page, folder: folder.as_deref(), trust: &trust };
    let text = || page_text(&page, folder.as_deref(), Some(&trust), &had);
    let parts = match query.filter(|_| args.why) {
        Some(query) => {
            let index = router.index();
            let mut indexed = index.skill(index.find(&id)?)?;
            if let Some(kinds) = &kinds {
                indexed.nodes = classified(&**kinds, &indexed.skill.body, &indexed.nodes);
            }
            let features = router.with_page_request(&indexed, &query, |request| {
                node_features(request, &*embedded_encoder())
            });
            Some(part_reasons(&page, &indexed.nodes, &indexed.skill.body, &features, &weights))
        }
        None => None,
    };
    match (args.format, parts) {
        (Format::Text, None) => print_text(&text())?,
        (Format::Text, Some(parts)) => print_text(&(text() + &why_text(&parts)))?,
        (Format::Json, None) => print_json(&shown)?,
        (Format::Json, Some(parts)) => {
            print_json(&serde_json::json!({ "page": shown, "parts": parts }))?;
        }
    }
    Ok(if page.nodes.is_empty() { Outcome::NothingFound } else { Outcome::Found })
}
