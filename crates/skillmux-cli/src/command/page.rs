//! `skillmux page`

use skillmux::{query::Query, skill::SkillId};

use crate::{
    args::{Format, PageArgs, RetrieverChoice, StageArgs},
    assemble::Models,
    outcome::Outcome,
    render::{page_text, print_json, print_text},
    settings::Settings,
    source,
};

pub(crate) fn run(args: &PageArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let query = args.query.as_ref().map(|query| Query::new(query.as_str())).transpose()?;
    let models = Models::load(settings)?;
    let opened = source::open(&args.source, settings)?;
    // Pages need no ranking, and so no vectors.
    let retriever = RetrieverChoice::Fielded;
    let stages = StageArgs { retriever, pager: args.pager, ..StageArgs::default() };
    let router = models.router(opened.index, stages)?;
    let page = router.page(&SkillId::new(args.skill_id.as_str()), query.as_ref(), args.budget)?;
    match args.format {
        Format::Text => print_text(&page_text(&page))?,
        Format::Json => print_json(&page)?,
    }
    Ok(if page.nodes.is_empty() { Outcome::NothingFound } else { Outcome::Found })
}
