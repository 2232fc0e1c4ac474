//! [`LogLine`]: what a round did, and what it scores.

use serde::{Deserialize, Serialize};

use super::{negative::NegativeCounts, pair::PairKind};

/// What a round did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Number of the round, from 1.
    pub round: usize,
    /// Steps since the start.
    pub step: usize,
    /// Learning rate of the last step.
    pub learning_rate: f32,
    /// Mean loss of each kind of pair, 0 for a kind that was not drawn.
    pub losses: [f32; PairKind::N],
    /// What the filter removed.
    pub negatives: NegativeCounts,
    /// Scores on what is held out.
    pub scores: ValidationScores,
}

/// Scores on held-out queries over all skills, and on held-out pairs of a skill in two languages.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ValidationScores {
    /// Recall@10 of the fusion with BM25, by which rounds are compared.
    pub recall_at_10: f32,
    /// Recall@50 of the fusion.
    pub recall_at_50: f32,
    /// Hit@1 of the fusion.
    pub hit_at_1: f32,
    /// Recall@10 of BM25 alone.
    pub lexical_recall_at_10: f32,
    /// Hit@1 of BM25 alone.
    pub lexical_hit_at_1: f32,
    /// Recall@10 of the encoder alone.
    pub dense_recall_at_10: f32,
    /// Recall@10 of the encoder alone, from a Chinese description to its English skill.
    pub zh_to_en: f32,
    /// The other way.
    pub en_to_zh: f32,
}
