//! `skillmux page`

use std::sync::Arc;

use skillmux::{
    query::Query,
    route::{Ranker, Router, Stages},
    skill::SkillId,
};

use crate::{
    args::{Format, PageArgs},
    assemble::pager,
    outcome::Outcome,
    render::{page_text, print_json, print_text},
    settings::Settings,
    source,
};

pub(crate) fn run(args: &PageArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let query = args.query.as_ref().map(|task| Query::new(task.as_str())?.with_needs(&args.needs));
    let query = query.transpose()?;
    let opened = source::open(&args.source, settings)?;
    // Pages need no ranking, and so no models but the lexicon.
    let ranker = Ranker::default().with_translator(Arc::new(skillmux_models::translator()));
    let stages = Stages { pager: pager(args.pager), ranker, ..Stages::default() };
    let router = Router::new(opened.index, stages)?;
    let page = router.page(&SkillId::new(args.skill_id.as_str()), query.as_ref(), args.budget)?;
    match args.format {
        Format::Text => print_text(&page_text(&page))?,
        Format::Json => print_json(&page)?,
    }
    Ok(if page.nodes.is_empty() { Outcome::NothingFound } else { Outcome::Found })
}
