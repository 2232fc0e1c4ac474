//! The sequence composer: which skills, how many, and in what order, by one small decoder.
//!
//! It follows `SkillComposer` (section 4): a frozen encoder reads the task, a decoder of a few
//! layers attends to the skills and points at one after the other until it stops, a set head and a
//! cardinality head are trained beside it, and a prior is added to its logits. We depart in what it
//! points at. The paper's decoder has an output for each skill of a library that never changes.
//! This one points at the skills that it sees, so that none of its weights belongs to a skill: the
//! candidates of a task ([`SceneKind::Open`]), or all skills of a library ([`SceneKind::Closed`]).
//! `docs/composer.md` has what each part gives.

mod config;
mod decode;
mod file;
mod network;
mod prior;
mod scene;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use skillmux::{
    compose::{ComposeRequest, Composer, Plan, ScoreCut, Split, first_skill, plan_of_sequence},
    error::{Error as EngineError, Result as EngineResult},
    model::Encoder,
    retrieve::ScoreScale,
    skill::SkillId,
};

pub use config::{Fusion, PriorKind, SceneKind, SequenceConfig};
pub use decode::Decoder;
pub use file::SequenceModel;
pub use network::{Dropout, Memory, SceneBatch, SequenceNetwork, Source, StepLogits};
pub use scene::{N_OF_TASK, N_RELATIONS, N_SIGNALS, Scene, SceneSkill};

use crate::{
    checkpoint::TensorError,
    error::{Error, Result},
};

/// Loads the sequence of skills that a [`SequenceModel`] decodes; none for a task that the best
/// skill most likely does not help with, and none of whose parts another one does.
///
/// As [`ScoreCut`] where the caller named the needs, and where scores are no log-odds or nothing is
/// calibrated.
pub struct SequenceComposer {
    model: SequenceModel,
    encoder: Arc<dyn Encoder>,
    fallback: ScoreCut,
}

impl SequenceComposer {
    /// Returns a composer of this model, with the encoder that it was trained with.
    ///
    /// # Errors
    /// [`Error::ComposerEncoder`] if the encoder is another one.
    pub fn new(model: SequenceModel, encoder: Arc<dyn Encoder>) -> Result<Self> {
        let expected = &model.network.config().encoder;
        if encoder.identity() != expected {
            let (expected, is) = (expected.to_string(), encoder.identity().to_string());
            return Err(Error::ComposerEncoder { expected, is });
        }
        Ok(Self { model, encoder, fallback: ScoreCut::default() })
    }

    /// Returns the skills of the best sequence, in the order of the parts that they serve; those of
    /// one part in that of the decoder.
    ///
    /// # Errors
    /// What the encoder says, and [`EngineError::Encoder`] if the network cannot be computed, as
    /// for want of memory.
    pub fn sequence(&self, request: &ComposeRequest<'_>) -> EngineResult<Vec<SkillId>> {
        let config = self.model.network.config();
        let scene = Scene::new(request, self.encoder.as_ref(), config)?;
        if scene.skills.is_empty() {
            return Ok(Vec::new());
        }
        let failed = |source: candle_core::Error| EngineError::Encoder {
            name: "sequence composer".to_owned(),
            hint: None,
            source: Box::new(TensorError(source)),
        };
        let mut decoder = Decoder::new(&self.model.network, &scene).map_err(failed)?;
        let may_follow = |chosen: &[u32], at: usize| may_follow(request, &scene, chosen, at);
        let best = decoder.best(&self.model.fusion, request.max_skills, &may_follow);
        let mut places = best.map_err(failed)?;
        // The order of the task is better than that of the decoder: docs/composer.md has both.
        places.sort_by_key(|at| scene.skills[*at as usize].part);
        Ok(places.into_iter().map(|at| scene.skills[at as usize].id.clone()).collect())
    }
}

/// Returns whether a skill may be chosen after others: a ranking holds it, and it repeats none of
/// them.
pub fn may_follow(request: &ComposeRequest<'_>, scene: &Scene, chosen: &[u32], at: usize) -> bool {
    let id = &scene.skills[at].id;
    let considered = |id: &SkillId| {
        let all = request.steps.iter().flat_map(|step| &step.candidates);
        all.into_iter().find(|considered| considered.candidate.skill == *id)
    };
    let Some(skill) = considered(id) else { return false };
    chosen.iter().all(|other| {
        let other = &scene.skills[*other as usize].id;
        let same_name = considered(other).is_some_and(|o| o.name.eq_ignore_ascii_case(&skill.name));
        !same_name && (request.similarity)(other, id) <= MAX_SIMILARITY
    })
}

/// Bodies with more than this in common repeat each other, as for the composers of the engine.
const MAX_SIMILARITY: f32 = 0.6;

impl Composer for SequenceComposer {
    fn identity(&self) -> String {
        format!("sequence:{}", self.model.fingerprint)
    }

    fn compose(&self, request: &ComposeRequest<'_>) -> EngineResult<Plan> {
        let is_calibrated = request.steps.iter().all(|step| step.judgement.confidence.is_some());
        if request.split == Split::Needs || request.scale != ScoreScale::LogOdds || !is_calibrated {
            return self.fallback.compose(request);
        }
        let sequence = match first_skill(request.steps) {
            Some(_) => self.sequence(request)?,
            None => Vec::new(),
        };
        Ok(plan_of_sequence(request, &sequence))
    }
}
