//! `skillmux page`

use skillmux::{retrieve::Query, skill::SkillId};

use super::{page_text, print_json, print_text};
use crate::{
    Outcome,
    args::{ComposerChoice, Format, PageArgs, RetrieverChoice, StageArgs},
    settings::Settings,
    source,
};

pub(crate) fn run(args: &PageArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let query = args.query.as_ref().map(|query| Query::new(query.as_str())).transpose()?;
    let opened = source::open(&args.source, settings)?;
    let stages = StageArgs {
        retriever: RetrieverChoice::Fielded,
        composer: ComposerChoice::ScoreCut,
        pager: args.pager,
    };
    let router = super::router(opened.index, stages)?;
    let page = router.page(&SkillId::new(args.skill_id.as_str()), query.as_ref(), args.budget)?;
    match args.format {
        Format::Text => print_text(&page_text(&page))?,
        Format::Json => print_json(&page)?,
    }
    Ok(if page.nodes.is_empty() { Outcome::NothingFound } else { Outcome::Found })
}
