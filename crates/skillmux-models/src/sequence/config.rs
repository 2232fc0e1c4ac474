//! [`SequenceConfig`]: the shape of a sequence composer, and how it decodes.

use serde::{Deserialize, Serialize};
use skillmux::model::EncoderIdentity;

/// What a sequence composer chooses from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SceneKind {
    /// The candidates of the task and of its clauses, with what the rankings say of them.
    Open,
    /// All skills of the library by their names and descriptions alone, as in the paper.
    Closed,
}

/// Which score of a skill for the task is added to the logits of the decoder (Eq. 4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorKind {
    /// The cosine of TF-IDF vectors over single terms and pairs.
    TfIdf,
    /// The log-odds of the ranking for the whole task; 0 in a closed scene, which has no ranking.
    Ranking,
}

/// The shape of the network, and what it was trained with. The weights of another shape are
/// refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SequenceConfig {
    /// What it chooses from.
    pub scene: SceneKind,
    /// The encoder of tasks and skills, which is frozen.
    pub encoder: EncoderIdentity,
    /// Width of all states.
    pub width: usize,
    /// Layers of the decoder.
    pub n_layers: usize,
    /// Layers by which the skills of the memory see each other; the paper has none.
    pub n_memory_layers: usize,
    /// Heads of attention; they divide the width.
    pub n_heads: usize,
    /// Width of the feed-forward part of a layer, in widths.
    pub n_feed_forward: usize,
    /// Whether the decoder attends to the memory; without, it sees the chosen skills alone.
    pub attends: bool,
    /// Most skills of a sequence.
    pub max_skills: usize,
    /// Most skills of the memory in an open scene: those with the best shares.
    pub max_memory: usize,
    /// Which prior is added.
    pub prior: PriorKind,
}

/// How the parts of the network are weighed when a sequence is decoded: numbers that are fitted on
/// validation tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fusion {
    /// Weight of the prior (Eq. 4.4).
    pub prior: f32,
    /// Weight of the logits of the set head (Eq. 4.4).
    pub set: f32,
    /// Added to the logit of stopping.
    pub stop: f32,
    /// Weight of the log-probability of the number of skills, by the cardinality head.
    pub count: f32,
    /// Sequences that are kept after each step.
    pub n_beams: usize,
    /// A log-probability is divided by the length to this power.
    pub length_penalty: f32,
}

impl Default for Fusion {
    /// A beam of 4 with a penalty of 0.7, as in `SkillComposer` section 5.1, and the decoder alone.
    fn default() -> Self {
        Self { prior: 0.0, set: 0.0, stop: 0.0, count: 0.0, n_beams: 4, length_penalty: 0.7 }
    }
}
