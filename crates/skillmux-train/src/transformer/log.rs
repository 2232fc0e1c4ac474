//! [`TransformerLogLine`]: what a round did, and what it scores.

use serde::{Deserialize, Serialize};

/// What a run tells while it goes.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum TransformerEvent<'l> {
    /// A step was taken.
    Step {
        /// Its number, from 1.
        step: usize,
        /// Steps of the whole run.
        n_steps: usize,
        /// Mean over its queries.
        loss: f32,
    },
    /// A round has ended; that before the first step is number 0.
    Round(&'l TransformerLogLine),
}

/// What a round did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransformerLogLine {
    /// Number of the round; 0 is the base, before the first step.
    pub round: usize,
    /// Steps since the start.
    pub step: usize,
    /// Rate of the last step.
    pub learning_rate: f64,
    /// Mean loss of the round's steps.
    pub loss: f32,
    /// Mean length of the round's gradients, before they were shortened.
    pub gradient_norm: f32,
    /// In-batch negatives of the round that the filter took out.
    pub n_blocked: usize,
    /// Scores of the held-out queries.
    pub scores: TransformerScores,
}

/// Scores of held-out queries: of an encoder by cosine alone over a sampled library, of a
/// cross-encoder over the right skill and BM25's first ones.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TransformerScores {
    /// Share of queries whose first skill is right.
    pub hit_at_1: f32,
    /// Share of queries with a right skill among the first ten.
    pub recall_at_10: f32,
}

impl TransformerScores {
    /// Returns what rounds are compared by.
    pub(super) fn sum(self) -> f32 {
        self.hit_at_1 + self.recall_at_10
    }

    /// Returns the scores of queries whose best right skills have these ranks, from 0.
    pub(super) fn of_ranks(ranks: &[usize]) -> Self {
        let share = |k: usize| {
            ranks.iter().filter(|rank| **rank < k).count() as f32 / ranks.len().max(1) as f32
        };
        Self { hit_at_1: share(1), recall_at_10: share(10) }
    }
}
