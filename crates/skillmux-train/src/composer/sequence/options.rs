//! [`SequenceOptions`]: what a run may do otherwise.

use serde::{Deserialize, Serialize};
use skillmux::model::EncoderIdentity;
use skillmux_models::sequence::{PriorKind, SceneKind, SequenceConfig};

use crate::{
    error::Result,
    option::{at_least_one, check, finite, not_negative, positive, share_below_one},
};

/// How a sequence composer is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each switches one part off, for an ablation")]
pub struct SequenceOptions {
    /// What it chooses from.
    pub scene: SceneKind,
    /// Width of all states.
    pub width: usize,
    /// Layers of the decoder.
    pub n_layers: usize,
    /// Layers by which the skills see each other.
    pub n_memory_layers: usize,
    /// Heads of attention.
    pub n_heads: usize,
    /// Width of the feed-forward part of a layer, in widths.
    pub n_feed_forward: usize,
    /// Whether the decoder attends to the memory.
    pub attends: bool,
    /// Most skills of a sequence.
    pub max_skills: usize,
    /// Most skills of the memory; in training, also of a closed scene.
    pub max_memory: usize,
    /// Which prior is added when a sequence is decoded.
    pub prior: PriorKind,
    /// Most epochs.
    pub n_epochs: usize,
    /// Validation tasks that an epoch is judged by; the weights of Eq. 4.4 are fitted to all.
    pub n_judged: usize,
    /// Epochs without a better one after which the training stops.
    pub patience: usize,
    /// Tasks of a step.
    pub n_tasks: usize,
    /// Rate of learning, after the first steps.
    pub learning_rate: f64,
    /// Steps in which the rate rises.
    pub n_warm_up: usize,
    /// What is taken off a matrix at a rate of 1, as a share of it.
    pub weight_decay: f64,
    /// Longest gradient.
    pub max_gradient_norm: f64,
    /// Share of the numbers that are dropped.
    pub dropout: f32,
    /// Share of the wrong skills that are left out of a scene, other ones each time.
    pub skill_dropout: f32,
    /// Weight of the loss of the set head; 0 for no set head, also when a sequence is decoded.
    pub set_weight: f64,
    /// Weight of the loss of the cardinality head; 0 for none.
    pub count_weight: f64,
    /// Weight of a rejected skill in the loss of the set head, where other wrong ones have 1.
    pub rejected_weight: f32,
    /// Whether the weight of the set head is fitted when a sequence is decoded; else it is 0.
    pub fits_set: bool,
    /// Whether the weight of the cardinality head is; else it is 0.
    pub fits_count: bool,
    /// Whether the weight of the prior is fitted; else it is 0.
    pub fits_prior: bool,
    /// Whether the bias of stopping is fitted; else it is 0.
    pub fits_stop: bool,
    /// Sequences that are kept after each step.
    pub n_beams: usize,
    /// A log-probability is divided by the length to this power.
    pub length_penalty: f32,
    /// Seed of everything that is drawn.
    pub seed: u64,
}

impl SequenceOptions {
    /// Returns the defaults: the shape, the beam, the decay and the dropout of `SkillComposer`
    /// section 5.1. Its other numbers are not readable in our copy; ours are usual ones, which
    /// nobody tuned. In an open scene the skills see each other by a layer, and the prior is that
    /// of the ranking.
    pub fn of_scene(scene: SceneKind) -> Self {
        let closed = Self {
            scene,
            width: 256,
            n_layers: 3,
            n_memory_layers: 0,
            n_heads: 4,
            n_feed_forward: 2,
            attends: true,
            max_skills: 6,
            max_memory: 64,
            prior: PriorKind::TfIdf,
            n_epochs: 30,
            n_judged: 300,
            patience: 6,
            n_tasks: 32,
            learning_rate: 3e-4,
            n_warm_up: 100,
            weight_decay: 0.01,
            max_gradient_norm: 1.0,
            dropout: 0.1,
            skill_dropout: 0.1,
            set_weight: 1.0,
            count_weight: 0.3,
            rejected_weight: 1.0,
            fits_set: true,
            fits_count: true,
            fits_prior: true,
            fits_stop: true,
            n_beams: 4,
            length_penalty: 0.7,
            seed: 1,
        };
        match scene {
            SceneKind::Open => Self { n_memory_layers: 1, prior: PriorKind::Ranking, ..closed },
            SceneKind::Closed => closed,
        }
    }

    /// Checks that a sequence composer can be trained with these options.
    ///
    /// # Errors
    /// [`Error::BadOption`](crate::Error::BadOption).
    pub fn check(&self) -> Result<()> {
        // There may be no layers of the memory, and no steps of a slow start.
        let Self {
            scene: _,
            width,
            n_layers,
            n_memory_layers: _,
            n_heads,
            n_feed_forward,
            attends: _,
            max_skills,
            max_memory,
            prior: _,
            n_epochs,
            n_judged,
            patience,
            n_tasks,
            learning_rate,
            n_warm_up: _,
            weight_decay,
            max_gradient_norm,
            dropout,
            skill_dropout,
            set_weight,
            count_weight,
            rejected_weight,
            fits_set: _,
            fits_count: _,
            fits_prior: _,
            fits_stop: _,
            n_beams,
            length_penalty,
            seed: _,
        } = self;
        for (name, count) in [
            ("width", width),
            ("n_layers", n_layers),
            ("n_heads", n_heads),
            ("n_feed_forward", n_feed_forward),
            ("max_skills", max_skills),
            ("max_memory", max_memory),
            ("n_epochs", n_epochs),
            ("n_judged", n_judged),
            ("patience", patience),
            ("n_tasks", n_tasks),
            ("n_beams", n_beams),
        ] {
            at_least_one(name, *count)?;
        }
        check("n_heads", n_heads, width.is_multiple_of(*n_heads), "a divisor of `width`")?;
        positive("learning_rate", *learning_rate)?;
        not_negative("weight_decay", *weight_decay)?;
        positive("max_gradient_norm", *max_gradient_norm)?;
        share_below_one("dropout", *dropout)?;
        share_below_one("skill_dropout", *skill_dropout)?;
        not_negative("set_weight", *set_weight)?;
        not_negative("count_weight", *count_weight)?;
        not_negative("rejected_weight", *rejected_weight)?;
        finite("length_penalty", *length_penalty)
    }

    /// Returns the options with the same ones for what does not change the weights of an epoch.
    pub(super) fn of_weights(&self) -> Self {
        Self {
            n_epochs: 0,
            n_judged: 0,
            patience: 0,
            prior: PriorKind::TfIdf,
            fits_set: true,
            fits_count: true,
            fits_prior: true,
            fits_stop: true,
            n_beams: 0,
            length_penalty: 0.0,
            ..self.clone()
        }
    }

    /// Returns the shape of the network.
    pub(super) fn config(&self, encoder: &EncoderIdentity) -> SequenceConfig {
        SequenceConfig {
            scene: self.scene,
            encoder: encoder.clone(),
            width: self.width,
            n_layers: self.n_layers,
            n_memory_layers: self.n_memory_layers,
            n_heads: self.n_heads,
            n_feed_forward: self.n_feed_forward,
            attends: self.attends,
            max_skills: self.max_skills,
            max_memory: self.max_memory,
            prior: self.prior,
        }
    }

    /// Returns the rate of a step, which counts from 1.
    pub(super) fn rate_at(&self, step: usize) -> f64 {
        self.learning_rate * (step as f64 / self.n_warm_up.max(1) as f64).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn options_with_which_nothing_can_be_trained_are_named() {
        let default = SequenceOptions::of_scene(SceneKind::Open);
        default.check().unwrap();
        SequenceOptions::of_scene(SceneKind::Closed).check().unwrap();
        for (name, value) in [
            ("width", "0"),
            ("n_layers", "0"),
            ("n_heads", "0"),
            ("n_heads", "3"),
            ("n_feed_forward", "0"),
            ("max_skills", "0"),
            ("max_memory", "0"),
            ("n_epochs", "0"),
            ("n_judged", "0"),
            ("patience", "0"),
            ("n_tasks", "0"),
            ("learning_rate", "0"),
            ("weight_decay", "-0.01"),
            ("max_gradient_norm", "-1"),
            ("dropout", "1"),
            ("skill_dropout", "1"),
            ("set_weight", "-1"),
            ("count_weight", "-1"),
            ("rejected_weight", "-1"),
            ("n_beams", "0"),
            ("length_penalty", "1e300"),
        ] {
            let mut json = serde_json::to_value(&default).unwrap();
            json[name] = serde_json::from_str(value).unwrap();
            let options: SequenceOptions = serde_json::from_value(json).unwrap();
            let error = options.check().unwrap_err();
            assert!(
                matches!(error, Error::BadOption { name: told, .. } if told == name),
                "{error}"
            );
        }
    }
}
