//! [`TopK`]: the best skills, as many as were asked for.

use super::{Alternative, Calibration, ComposeRequest, Composer, DropReason, Plan};

/// Loads the best `max_skills` skills, whatever their scores: the usual baseline.
#[derive(Debug, Clone, Copy, Default)]
pub struct TopK {
    calibration: Calibration,
}

impl TopK {
    /// Returns a composer that tells its confidence by a calibration.
    pub fn new(calibration: Calibration) -> Self {
        Self { calibration }
    }
}

impl Composer for TopK {
    fn compose(&self, request: &ComposeRequest<'_>) -> Plan {
        let n_loaded = request.max_skills.min(request.found.len());
        let (loaded, rest) = request.found.split_at(n_loaded);
        let alternatives =
            rest.iter().map(|skill| Alternative::of(skill, DropReason::OverLimit)).collect();
        let evidence = if n_loaded > 0 { request.evidence() } else { None };
        let confidence = evidence.map_or(0.0, |evidence| self.calibration.confidence(&evidence));
        let reason = match n_loaded {
            0 if !request.found.is_empty() => "no skill was asked for".to_owned(),
            0 => "no skill shares a word with the task".to_owned(),
            1 => "the best skill, as asked".to_owned(),
            n => format!("the best {n} skills, as asked"),
        };
        Plan::of_one_step(request.task, confidence, loaded.to_vec(), alternatives, reason)
    }
}
