//! [`EncoderOptions`]: what a run may do otherwise.

use serde::{Deserialize, Serialize};

use super::pair::PairKind;

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
