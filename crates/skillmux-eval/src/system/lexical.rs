//! [`Lexical`]: the engine's BM25 as a system.

use std::sync::Arc;

use skillmux::{
    index::Index,
    retrieve::{Bm25Retriever, Retriever},
};

use super::{
    bodiless::BodilessIndex,
    context::SystemContext,
    contract::System,
    engine::{query_of, scored_ids},
    lexical_model::{LexicalModel, bm25_config},
    skill_text::SkillText,
};
use crate::{answer::Answer, error::Error, task::Task};

/// BM25 as the engine computes it, over the index or over one without bodies.
///
/// As in the engine, a skill that the task names comes first. That is not part of the usual BM25
/// and makes this baseline a little stronger than that of others.
pub(super) struct Lexical<'a> {
    model: LexicalModel,
    text: SkillText,
    library: Searched<'a>,
}

/// What is searched.
enum Searched<'a> {
    Whole(&'a Index),
    WithoutBodies(Arc<BodilessIndex>),
}

impl<'a> Lexical<'a> {
    /// Opens the system; without bodies, the other fields are indexed again, so that all
    /// statistics are those of a library that has no bodies.
    pub(super) fn open(
        model: LexicalModel,
        text: SkillText,
        context: &SystemContext<'a>,
    ) -> Result<Self, Error> {
        let library = match text {
            SkillText::Full => Searched::Whole(context.index()),
            SkillText::NameDescription => Searched::WithoutBodies(context.bodiless()?),
        };
        Ok(Self { model, text, library })
    }
}

impl System for Lexical<'_> {
    fn name(&self) -> String {
        format!("{}{}", self.model.as_str(), self.text.suffix())
    }

    fn config(&self) -> String {
        format!("{} text={}", bm25_config(&self.model.config()), self.text.as_str())
    }

    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error> {
        let query = query_of(task)?;
        let search = |index| Bm25Retriever::new(index, self.model.config()).retrieve(&query, depth);
        let scored = match &self.library {
            Searched::Whole(index) => scored_ids(index, &search(index)?)?,
            Searched::WithoutBodies(bodiless) => {
                bodiless.scored_ids(&search(bodiless.index())?, depth)?
            }
        };
        Ok(Answer::of_ranking(scored))
    }
}
