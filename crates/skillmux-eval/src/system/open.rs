//! Opens the system that a spec names.

use super::{
    context::SystemContext,
    contract::System,
    fusion::Fusion,
    judge::ListwiseJudge,
    paging::system::PagingSystem,
    ranking::RankingSystem,
    recipe::{Part, Recipe},
    spec::SystemSpec,
    sufficiency::JudgedPages,
    trec::TrecSystem,
    whole_router::WholeRouter,
};
use crate::error::Error;

impl SystemSpec {
    /// Returns the system without its cut; what it has to build or read is built now, on all cores.
    ///
    /// # Errors
    /// [`Error::ModelMissing`] if the context has not the model that it asks, [`Error::Read`] and
    /// those of [`Run::parse`](crate::Run::parse) for a run, and [`Error::Engine`].
    pub fn open<'a>(&self, context: &SystemContext<'a>) -> Result<Box<dyn System + 'a>, Error> {
        open(&self.recipe, context)
    }
}

fn open<'a>(recipe: &Recipe, context: &SystemContext<'a>) -> Result<Box<dyn System + 'a>, Error> {
    let name = || recipe.to_string();
    Ok(match recipe {
        Recipe::Router => Box::new(WholeRouter::new(context)),
        Recipe::Text(system, text) => system.open(*text, context)?,
        Recipe::Fusion(rule, parts) => {
            let open = |part: &Part| Ok((open(&part.recipe, context)?, part.weight));
            let parts = parts.iter().map(open).collect::<Result<_, Error>>()?;
            Box::new(Fusion::new(name(), *rule, parts))
        }
        Recipe::Trec(path) => Box::new(TrecSystem::read(path, &*context.aliases()?)?),
        Recipe::Ranking(name, text) => Box::new(RankingSystem::open(name, *text, context)?),
        Recipe::Judge(part) => {
            let model = context.chat_for(&name())?;
            Box::new(ListwiseJudge::open(open(part, context)?, model, context)?)
        }
        Recipe::Vote(part) => {
            let model = context.chat_for(&name())?;
            Box::new(JudgedPages::open(open(part, context)?, model, context)?)
        }
        Recipe::Page(method, budget) => {
            Box::new(PagingSystem::open(name(), *method, *budget, context)?)
        }
    })
}
