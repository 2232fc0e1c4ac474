//! [`TransformerOptions`]: what a run may do otherwise.

use serde::{Deserialize, Serialize};
use skillmux_models::checkpoint::{CheckpointUse, Precision};

use crate::{
    encoder::FalseNegativeFilter,
    error::Result,
    option::{at_least_one, not_negative, positive, share},
};

/// How a transformer is tuned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransformerOptions {
    /// Steps.
    pub n_steps: usize,
    /// Steps after which the held-out queries are scored and a checkpoint is written.
    pub n_steps_a_round: usize,
    /// Queries of a step.
    pub n_pairs: usize,
    /// Queries of a micro-batch: a step adds up the gradients of as many as it takes. The in-batch
    /// negatives of an encoder are those of the micro-batch.
    pub n_micro_pairs: usize,
    /// Mined negatives of a query.
    pub n_negatives: usize,
    /// Skills from the first of BM25's ranking that negatives are drawn from.
    pub n_best: usize,
    /// Divides the cosines of an encoder.
    pub temperature: f64,
    /// Highest rate of a step.
    pub learning_rate: f64,
    /// Share of the steps in which the rate rises in a line.
    pub warm_up: f64,
    /// Share of the steps, the last ones, in which the rate falls in a line to 0.
    pub cool_down: f64,
    /// What is taken off a matrix at a rate of 1, as a share of it; biases and norms keep theirs.
    pub weight_decay: f64,
    /// Longest gradient, over all weights; a longer one is shortened.
    pub max_gradient_norm: f64,
    /// Most tokens of a query of an encoder.
    pub max_query_tokens: usize,
    /// Most tokens of each part of a skill, or of a pair.
    pub max_text_tokens: usize,
    /// What the filter takes for a false negative.
    pub filter: FalseNegativeFilter,
    /// In what numbers products of matrices are computed.
    pub precision: Precision,
    /// Most held-out queries that a round scores.
    pub n_held_out: usize,
    /// Skills from BM25's ranking of each held-out query that it is scored against. Those of all
    /// queries make up the library of an encoder.
    pub n_distractors: usize,
    /// Seed of everything that is drawn.
    pub seed: u64,
}

impl TransformerOptions {
    /// Returns the defaults for a model of this kind: those that the shipped transformer was tuned
    /// with, and shorter lists than `SkillRouter`'s for a cross-encoder.
    pub fn of_use(purpose: CheckpointUse) -> Self {
        let encoder = Self {
            n_steps: 400,
            n_steps_a_round: 50,
            n_pairs: 32,
            n_micro_pairs: 32,
            n_negatives: 1,
            n_best: 30,
            temperature: 0.05,
            learning_rate: 5e-5,
            warm_up: 0.05,
            cool_down: 0.2,
            weight_decay: 0.01,
            max_gradient_norm: 1.0,
            max_query_tokens: 128,
            max_text_tokens: 64,
            filter: FalseNegativeFilter { max_cosine: 0.85, ..FalseNegativeFilter::default() },
            precision: Precision::Single,
            n_held_out: 100,
            n_distractors: 3,
            seed: 1,
        };
        if purpose == CheckpointUse::Encoder {
            return encoder;
        }
        Self {
            n_pairs: 8,
            n_micro_pairs: 1,
            n_negatives: 7,
            learning_rate: 2e-5,
            max_text_tokens: 256,
            n_held_out: 30,
            n_distractors: 19,
            ..encoder
        }
    }

    /// Checks that a transformer can be tuned with these options.
    ///
    /// # Errors
    /// [`Error::BadOption`](crate::Error::BadOption).
    pub fn check(&self) -> Result<()> {
        // There may be no negatives, and no distractors.
        let Self {
            n_steps,
            n_steps_a_round,
            n_pairs,
            n_micro_pairs,
            n_negatives: _,
            n_best: _,
            temperature,
            learning_rate,
            warm_up,
            cool_down,
            weight_decay,
            max_gradient_norm,
            max_query_tokens,
            max_text_tokens,
            filter,
            precision: _,
            n_held_out,
            n_distractors: _,
            seed: _,
        } = self;
        for (name, count) in [
            ("n_steps", n_steps),
            ("n_steps_a_round", n_steps_a_round),
            ("n_pairs", n_pairs),
            ("n_micro_pairs", n_micro_pairs),
            ("max_query_tokens", max_query_tokens),
            ("max_text_tokens", max_text_tokens),
            ("n_held_out", n_held_out),
        ] {
            at_least_one(name, *count)?;
        }
        positive("temperature", *temperature)?;
        positive("learning_rate", *learning_rate)?;
        share("warm_up", *warm_up)?;
        share("cool_down", *cool_down)?;
        not_negative("weight_decay", *weight_decay)?;
        positive("max_gradient_norm", *max_gradient_norm)?;
        filter.check()
    }

    /// Returns the rate of a step, the first of which is number 1.
    pub(super) fn rate_at(&self, step: usize) -> f64 {
        let (step, n_steps) = (step as f64, self.n_steps as f64);
        let risen = step / (self.warm_up * n_steps).max(1.0);
        let left = (n_steps - step + 1.0) / (self.cool_down * n_steps).max(1.0);
        self.learning_rate * risen.min(left).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn options_with_which_nothing_can_be_tuned_are_named() {
        let default = TransformerOptions::of_use(CheckpointUse::Encoder);
        default.check().unwrap();
        TransformerOptions::of_use(CheckpointUse::PairScorer).check().unwrap();
        for (name, value) in [
            ("n_steps", "0"),
            ("n_steps_a_round", "0"),
            ("n_pairs", "0"),
            ("n_micro_pairs", "0"),
            ("temperature", "0"),
            ("learning_rate", "-1e-5"),
            ("warm_up", "-0.1"),
            ("cool_down", "1.1"),
            ("weight_decay", "-0.01"),
            ("max_gradient_norm", "0"),
            ("max_query_tokens", "0"),
            ("max_text_tokens", "0"),
            ("n_held_out", "0"),
        ] {
            let mut json = serde_json::to_value(&default).unwrap();
            json[name] = serde_json::from_str(value).unwrap();
            let options: TransformerOptions = serde_json::from_value(json).unwrap();
            let error = options.check().unwrap_err();
            assert!(
                matches!(error, Error::BadOption { name: told, .. } if told == name),
                "{error}"
            );
        }
    }

    #[test]
    fn the_rate_rises_stays_and_falls() {
        let options = TransformerOptions {
            n_steps: 100,
            learning_rate: 1.0,
            ..TransformerOptions::of_use(CheckpointUse::Encoder)
        };
        let rates: Vec<f64> = (1..=100).map(|step| options.rate_at(step)).collect();
        assert!(rates[..5].is_sorted_by(|a, b| a < b) && (rates[0] - 0.2).abs() < 1e-12);
        assert!(rates[4..80].iter().all(|rate| (rate - 1.0).abs() < 1e-12));
        assert!(rates[80..].is_sorted_by(|a, b| a > b) && rates[99] > 0.0);
    }
}
