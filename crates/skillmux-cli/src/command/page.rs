//! `skillmux page`

use std::sync::Arc;

use serde::Serialize;
use skillmux::{
    Error,
    index::IndexedSkill,
    library::SkillPlaces,
    page::{NodeValues, Page, PartList, classified, semantic_edges, text_edges},
    query::Query,
    route::{Ranker, Router, Stages},
    skill::SkillId,
    trust::TrustNote,
};

use crate::{
    args::{KindChoice, PageArgs, PageFormat, PagerChoice},
    assemble::{of_kinds, pager, pager_weights, value_pager},
    chat::Kinds,
    error::CliError,
    outcome::Outcome,
    own_model::embedded_encoder,
    render::{
        edges::{MAX_DRAWN, PartGraph},
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
    let tells_why = matches!(args.pager, PagerChoice::Transformer | PagerChoice::Value);
    if args.why && !tells_why {
        return Err(CliError::WhyOfPager.into());
    }
    let is_drawn = matches!(args.format, PageFormat::Mermaid | PageFormat::Dot);
    if args.why && is_drawn {
        return Err(CliError::WhyOfDrawing.into());
    }
    let kinds = Kinds::alone(args.kinds, &args.endpoint, settings)?.classifier;
    // An empty task stands for none, but nothing can be said about how it is answered.
    let says_how = args.why || !args.needs.is_empty() || args.kinds != KindChoice::Rules;
    let query = args.query.as_ref().filter(|task| says_how || !task.is_empty());
    let query = query.map(|task| Query::new(task.as_str())?.with_needs(&args.needs));
    let query = query.transpose()?;
    let opened = source::open(&args.source, settings)?;
    // Pages need no ranking, and so no models but the lexicon.
    let ranker = Ranker::default()
        .with_translator(Arc::new(skillmux_models::translator()))
        .with_trust(settings.trust_policy(&opened.places, Some(&opened.index))?);
    let weights = args.pager_weights.as_deref().or(settings.models.pager.as_deref());
    let weights = pager_weights(weights)?;
    // A copy knows what the other has read: reasons are of what the page was made from.
    let (valued, pager) = if args.why {
        let valued = value_pager(args.pager, weights);
        (Some(valued.clone()), of_kinds(Box::new(valued), kinds.clone()))
    } else {
        (None, pager(args.pager, weights, kinds.clone()))
    };
    let stages = Stages { pager, ranker, ..Stages::default() };
    let router = Router::new(opened.index, stages)?.with_places(opened.places);
    let id = router
        .resolve(&args.skill_id)
        .map_err(|error| unresolved(error, &args.skill_id, router.places()))?;
    let had: PartList = args.have.parse()?;
    let page = router.page(&id, query.as_ref(), args.budget, &had)?;
    let (folder, trust) = (router.folder(&id)?, router.trust(&id)?);
    let shown = PlacedPage { page: &page, folder: folder.as_deref(), trust: &trust };
    let text = || page_text(&page, folder.as_deref(), Some(&trust), &had);
    let indexed = || -> skillmux::Result<IndexedSkill> {
        let index = router.index();
        let mut indexed = index.skill(index.find(&id)?)?;
        if let Some(kinds) = &kinds {
            indexed.nodes = classified(&**kinds, &indexed.skill.body, &indexed.nodes);
        }
        Ok(indexed)
    };
    if is_drawn {
        // Without a question, no part is meant more than another.
        let shown = query.map_or_else(PartList::default, |_| page.parts());
        return draw(args.format, &indexed()?, &shown);
    }
    let parts = match query.zip(valued) {
        Some((query, pager)) => {
            let indexed = indexed()?;
            let NodeValues { features, weights } =
                router.with_page_request(&indexed, &query, |request| pager.values(request));
            Some(part_reasons(&page, &indexed.nodes, &indexed.skill.body, &features, &weights))
        }
        None => None,
    };
    match (args.format, parts) {
        (PageFormat::Json, None) => print_json(&shown)?,
        (PageFormat::Json, Some(parts)) => {
            print_json(&serde_json::json!({ "page": shown, "parts": parts }))?;
        }
        (_, None) => print_text(&text())?,
        (_, Some(parts)) => print_text(&(text() + &why_text(&parts)))?,
    }
    Ok(if page.nodes.is_empty() { Outcome::NothingFound } else { Outcome::Found })
}

/// Returns why there is no such skill in the index: its author may keep it from the model.
fn unresolved(error: Error, id_or_name: &str, places: &SkillPlaces) -> anyhow::Error {
    let Error::SkillUnknown { nearest, .. } = &error else { return error.into() };
    // Several skills of the index may have the name.
    let is_namesake = |id: &SkillId| id.as_str().rsplit('/').next() == Some(id_or_name);
    if nearest.iter().any(is_namesake) {
        return error.into();
    }
    match places.for_user_only(id_or_name) {
        Some(place) => {
            CliError::ForUserOnly { id: id_or_name.to_owned(), folder: place.shown() }.into()
        }
        None => error.into(),
    }
}

/// Draws how all parts of a skill hang together.
fn draw(format: PageFormat, indexed: &IndexedSkill, shown: &PartList) -> anyhow::Result<Outcome> {
    let (body, tree) = (indexed.skill.body.as_str(), &indexed.nodes);
    let mut edges = text_edges(body, tree);
    edges.extend(semantic_edges(body, tree, &*embedded_encoder())?);
    let graph = PartGraph { body, tree, edges: &edges, shown };
    print_text(&if format == PageFormat::Dot { graph.dot() } else { graph.mermaid() })?;
    let n_parts = tree.nodes.len();
    if n_parts > MAX_DRAWN {
        anstream::eprintln!("note: of {n_parts} parts, the first {MAX_DRAWN} are drawn");
    }
    Ok(if tree.nodes.is_empty() { Outcome::NothingFound } else { Outcome::Found })
}
