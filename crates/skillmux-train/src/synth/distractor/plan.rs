//! [`Plan`]: which distractors are asked for, in which order.

use std::sync::Arc;

use skillmux::{index::Index, skill::Skill};

use super::{
    assignment::DistractorAssignment,
    options::{DistractorOptions, Strategy},
    row::key_of,
};
use crate::{
    error::Result,
    synth::{
        name::Names,
        sample::Sampler,
        work::{Assignments, WorkOptions},
    },
};

/// The distractors to ask for: all of one skill, then those of the next.
pub(super) struct Plan<'i> {
    index: &'i Index,
    sampler: Sampler<'i>,
    n_per_skill: usize,
    /// The present skill, and the number of its distractors that were given.
    present: Option<(Arc<Skill>, usize)>,
    model_name: String,
}

impl<'i> Plan<'i> {
    pub(super) fn new(
        index: &'i Index,
        options: DistractorOptions,
        work_options: &WorkOptions<'_>,
    ) -> Result<Self> {
        Ok(Self {
            index,
            sampler: Sampler::new(index, work_options.seed)?,
            n_per_skill: options.n_per_skill.clamp(1, Strategy::ALL.len()),
            present: None,
            model_name: work_options.model_name.to_owned(),
        })
    }
}

impl<'i> Assignments for Plan<'i> {
    type Item = DistractorAssignment<'i>;

    fn next(&mut self) -> Result<Option<DistractorAssignment<'i>>> {
        let (reference, n_given) = match self.present.take() {
            Some((reference, n_given)) if n_given < self.n_per_skill => (reference, n_given),
            _ => match self.sampler.next()? {
                Some(skill) => (Arc::new(skill), 0),
                None => return Ok(None),
            },
        };
        self.present = Some((Arc::clone(&reference), n_given + 1));
        let strategy = Strategy::ALL[n_given];
        Ok(Some(DistractorAssignment {
            key: key_of(&reference.id, strategy),
            names: Names::of_several_words(&reference),
            reference,
            strategy,
            index: self.index,
            model_name: self.model_name.clone(),
        }))
    }

    fn n_passed_over(&self) -> (usize, usize) {
        self.sampler.n_passed_over()
    }
}
