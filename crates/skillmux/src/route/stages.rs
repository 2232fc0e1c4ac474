//! [`Stages`]: what a router is assembled from.

use std::time::Duration;

use super::Ranker;
use crate::{
    compose::{Calibrations, Composer, ScoreCut},
    decompose::{Decomposer, WholeTask},
    page::{MmrPager, Pager},
};

/// The stages of a router, each behind its port.
pub struct Stages {
    /// Splits the task into needs.
    pub decomposer: Box<dyn Decomposer>,
    /// Finds and orders the skills for a need.
    pub ranker: Ranker,
    /// Decides which skills to load.
    pub composer: Box<dyn Composer>,
    /// Selects the parts of skills.
    pub pager: Box<dyn Pager>,
    /// Judges whether the best skill helps, by who ranked it.
    pub calibrations: Calibrations,
    /// Returns the time since some fixed moment, for the trace; the engine itself reads no clock.
    pub clock: fn() -> Duration,
}

impl Default for Stages {
    /// Words alone, no calibration, and a clock that stands still: what needs no model.
    fn default() -> Self {
        Self {
            decomposer: Box::new(WholeTask),
            ranker: Ranker::default(),
            composer: Box::new(ScoreCut::default()),
            pager: Box::new(MmrPager::default()),
            calibrations: Calibrations::default(),
            clock: || Duration::ZERO,
        }
    }
}

impl Stages {
    /// Returns the names of all stages with their constants, for reports.
    pub fn identity(&self) -> String {
        format!(
            "decomposer={} ranker={} composer={} pager={}",
            self.decomposer.identity(),
            self.ranker.identity(),
            self.composer.identity(),
            self.pager.identity(),
        )
    }
}
