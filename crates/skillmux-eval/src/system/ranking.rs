//! [`RankingSystem`]: a ranking of the assembly as a system.

use std::sync::Arc;

use skillmux::{index::Index, route::Ranker};

use super::{
    bodiless::BodilessIndex,
    context::SystemContext,
    contract::System,
    engine::{query_of, scored_ids},
    skill_text::SkillText,
};
use crate::{answer::Answer, error::Error, task::Task};

/// A ranking of the program, over the index or over one without bodies.
///
/// As in the program, a skill that the task names comes first. That is not part of the usual BM25
/// and makes that baseline a little stronger than that of others.
pub(super) struct RankingSystem<'a> {
    name: String,
    ranker: Ranker,
    text: SkillText,
    library: Searched<'a>,
}

/// What is searched.
enum Searched<'a> {
    Whole(&'a Index),
    WithoutBodies(Arc<BodilessIndex>),
}

impl Searched<'_> {
    fn index(&self) -> &Index {
        match self {
            Self::Whole(index) => index,
            Self::WithoutBodies(bodiless) => bodiless.index(),
        }
    }
}

impl<'a> RankingSystem<'a> {
    /// Opens the system; without bodies, the other fields are indexed again, so that all
    /// statistics are those of a library that has no bodies.
    pub(super) fn open(
        name: &str,
        text: SkillText,
        context: &SystemContext<'a>,
    ) -> Result<Self, Error> {
        let library = match text {
            SkillText::Full => Searched::Whole(context.index()),
            SkillText::NameDescription => Searched::WithoutBodies(context.bodiless()?),
        };
        let ranker = context.ranker(name, library.index())?;
        ranker.check(library.index())?;
        Ok(Self { name: format!("{name}{}", text.suffix()), ranker, text, library })
    }
}

impl System for RankingSystem<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn config(&self) -> String {
        format!("{} text={}", self.ranker.identity(), self.text.as_str())
    }

    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error> {
        let ranking = self.ranker.rank(self.library.index(), &query_of(task)?, depth)?;
        Ok(Answer::of_ranking(match &self.library {
            Searched::Whole(_) => scored_ids(&ranking),
            Searched::WithoutBodies(bodiless) => bodiless.scored_ids(&ranking, depth)?,
        }))
    }
}
