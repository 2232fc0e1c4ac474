//! [`EncoderOptions`]: what a run may do otherwise.

use serde::{Deserialize, Serialize};

use super::pair::PairKind;
use crate::{
    error::Result,
    option::{at_least_one, check, finite, not_negative, positive, share, share_below_one},
};

/// How an encoder is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EncoderOptions {
    /// Terms of the vocabulary, those of most skills.
    pub n_terms: usize,
    /// Dimensions.
    pub dim: usize,
    /// Steps, if the run does not stop early.
    pub n_steps: usize,
    /// Rounds that the steps are shared out to.
    pub n_rounds: usize,
    /// Rounds without a better score after which the run stops.
    pub patience: usize,
    /// Pairs of a batch.
    pub n_pairs: usize,
    /// Mined negatives of a pair of query and skill; `SkillRouter` has 10. In-batch negatives come
    /// on top: those of all other pairs.
    pub n_negatives: usize,
    /// Divides the cosines of a batch.
    pub temperature: f32,
    /// What the lexical score share in `[0, 1]` of a skill adds to its logit, so that the encoder
    /// learns what BM25 does not know (Gao et al. 2021, "Complement Lexical Retrieval Model with
    /// Semantic Residual Embeddings").
    pub lexical_weight: f32,
    /// Highest step of a number of a vector.
    pub learning_rate: f32,
    /// Share of the steps in which the learning rate rises, before it falls along a cosine.
    pub warm_up: f32,
    /// Share of the terms of a text that a step leaves out.
    pub dropout: f32,
    /// Most distinct terms of a body that a step sees, drawn anew each time.
    pub max_body_terms: usize,
    /// How often each kind of pair is drawn: query and skill, description and body, heading and
    /// section, texts in two languages, sections in two languages.
    pub mix: [f32; PairKind::N],
    /// What the filter takes for a false negative.
    pub filter: FalseNegativeFilter,
    /// Seed of everything that is drawn.
    pub seed: u64,
}

impl Default for EncoderOptions {
    /// Chosen on the held-out queries; see `docs/encoder.md`.
    fn default() -> Self {
        Self {
            n_terms: 49_152,
            dim: 160,
            n_steps: 1600,
            n_rounds: 4,
            patience: 3,
            n_pairs: 384,
            n_negatives: 8,
            temperature: 0.05,
            lexical_weight: 60.0,
            learning_rate: 0.01,
            warm_up: 0.05,
            dropout: 0.1,
            max_body_terms: 96,
            mix: [4.0, 2.0, 1.5, 2.0, 1.0],
            filter: FalseNegativeFilter::default(),
            seed: 1,
        }
    }
}

impl EncoderOptions {
    /// Checks that an encoder can be trained with these options.
    ///
    /// # Errors
    /// [`Error::BadOption`](crate::Error::BadOption).
    pub fn check(&self) -> Result<()> {
        // Any number of negatives and any seed will do.
        let Self {
            n_terms,
            dim,
            n_steps,
            n_rounds,
            patience,
            n_pairs,
            n_negatives: _,
            temperature,
            lexical_weight,
            learning_rate,
            warm_up,
            dropout,
            max_body_terms,
            mix,
            filter,
            seed: _,
        } = self;
        for (name, count) in [
            ("n_terms", n_terms),
            ("dim", dim),
            ("n_steps", n_steps),
            ("n_rounds", n_rounds),
            ("patience", patience),
            ("n_pairs", n_pairs),
            ("max_body_terms", max_body_terms),
        ] {
            at_least_one(name, *count)?;
        }
        positive("temperature", *temperature)?;
        not_negative("lexical_weight", *lexical_weight)?;
        positive("learning_rate", *learning_rate)?;
        share("warm_up", *warm_up)?;
        share_below_one("dropout", *dropout)?;
        mix.iter().try_for_each(|often| not_negative("mix", *often))?;
        let is_drawn = mix.iter().sum::<f32>() > 0.0;
        check("mix", 0, is_drawn, "above 0 for some kind of pair")?;
        filter.check()
    }
}

/// What is too similar to an answer to be a negative (`SkillRouter` §4.2 has the three layers, but
/// not the thresholds).
///
/// A skill that is named as an answer is always removed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FalseNegativeFilter {
    /// Highest Jaccard similarity of the bodies. We take the index's sketches, of four words in a
    /// row (`SkillRouter`: of three); forks that were edited have 0.6 and more.
    pub max_body_similarity: f32,
    /// Highest cosine of the vectors.
    pub max_cosine: f32,
}

impl Default for FalseNegativeFilter {
    fn default() -> Self {
        Self { max_body_similarity: 0.5, max_cosine: 0.92 }
    }
}

impl FalseNegativeFilter {
    /// Checks that texts can be told apart by these bounds.
    pub(crate) fn check(self) -> Result<()> {
        finite("max_body_similarity", self.max_body_similarity)?;
        finite("max_cosine", self.max_cosine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn options_with_which_nothing_can_be_trained_are_named() {
        EncoderOptions::default().check().unwrap();
        for (name, value) in [
            ("n_terms", "0"),
            ("dim", "0"),
            ("n_steps", "0"),
            ("n_rounds", "0"),
            ("patience", "0"),
            ("n_pairs", "0"),
            ("temperature", "0"),
            ("temperature", "-0.05"),
            ("lexical_weight", "-1"),
            ("learning_rate", "0"),
            ("learning_rate", "1e300"),
            ("warm_up", "1.5"),
            ("dropout", "1"),
            ("max_body_terms", "0"),
            ("mix", "[0, 0, 0, 0, 0]"),
            ("mix", "[1, 1, -1, 1, 1]"),
            ("filter", r#"{"max_body_similarity": 0.5, "max_cosine": 1e300}"#),
        ] {
            let mut json = serde_json::to_value(EncoderOptions::default()).unwrap();
            json[name] = serde_json::from_str(value).unwrap();
            let options: EncoderOptions = serde_json::from_value(json).unwrap();
            let error = options.check().unwrap_err();
            let Error::BadOption { name: told, .. } = error else { panic!("{name}: {error}") };
            assert_eq!(told, if name == "filter" { "max_cosine" } else { name });
        }
    }
}
