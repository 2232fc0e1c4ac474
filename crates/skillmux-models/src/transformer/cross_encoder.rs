//! [`CrossEncoder`]: a small BERT that reads a query and a skill at once.

use skillmux::{
    error::Result as EngineResult,
    model::{PairScorer, PairScorerIdentity},
};

use super::{
    TransformerParts, damaged, network::Network, threads::on_all_threads, weights::Tensors,
};
use crate::error::Result;

/// Tokens that are read of a query, with those that open and close it.
const QUERY_TOKENS: usize = 96;

/// Tokens that are read of a text, with the closing one.
const TEXT_TOKENS: usize = 71;

/// A cross-encoder with eight-bit weights.
///
/// Reads `[CLS] query [SEP] text [SEP]`, the query cut to 96 tokens and the text to 71. The score is
/// the weighed product of the mean state of the query and that of the text, each of length 1, plus a bias: log-odds
/// that the text is that of the right skill. Where the vocabulary lacks more than a quarter of the tokens of either, it is 0.
pub struct CrossEncoder {
    identity: PairScorerIdentity,
    network: Network,
    weights: Vec<f32>,
    bias: f32,
}

impl CrossEncoder {
    /// Reads a cross-encoder, whose tensors hold `score.weight`, `[dim]`, and `score.bias`, `[1]`, as well.
    ///
    /// # Errors
    /// [`Error::TransformerDamaged`](crate::Error::TransformerDamaged).
    pub fn new(parts: &TransformerParts<'_>) -> Result<Self> {
        let tensors = Tensors::read(parts.tensors)?;
        let network = Network::read(parts.vocabulary, &tensors)?;
        if network.max_tokens() < QUERY_TOKENS + TEXT_TOKENS {
            return Err(damaged("reads too few tokens"));
        }
        let weights = tensors.vector("score.weight", network.dim())?;
        let bias = tensors.vector("score.bias", 1)?[0];
        let (name, fingerprint) = (parts.name.to_owned(), parts.fingerprint());
        Ok(Self { identity: PairScorerIdentity { name, fingerprint }, network, weights, bias })
    }

    fn score(&self, query: &[u32], text: &str) -> f32 {
        let opened = self.network.tokens.of(text, TEXT_TOKENS + 1);
        let text = &opened[1..];
        if !self.network.can_read(&text[..text.len() - 1]) {
            return 0.0;
        }
        let states = self.network.states(&[query, text].concat());
        let (of_query, of_text) = states.split_at(query.len() * self.network.dim());
        let directions = [of_query, of_text].map(|states| self.network.direction(states));
        let products = directions[0].iter().zip(&directions[1]).map(|(a, b)| a * b);
        self.bias
            + products.zip(&self.weights).map(|(product, weight)| product * weight).sum::<f32>()
    }
}

impl PairScorer for CrossEncoder {
    fn identity(&self) -> &PairScorerIdentity {
        &self.identity
    }

    fn scores(&self, query: &str, texts: &[&str]) -> EngineResult<Vec<f32>> {
        let query = self.network.tokens.of(query, QUERY_TOKENS);
        if !self.network.can_read(&query[1..query.len() - 1]) {
            return Ok(vec![0.0; texts.len()]);
        }
        Ok(on_all_threads(texts, |text| self.score(&query, text)))
    }
}

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::embedded::english_cross_encoder;

    /// What torch made of the same weights, with sums of 32 bits: `training/transformer/reference.py`.
    const REFERENCE: &str = include_str!("../../tests/data/cross-encoder.json");

    #[derive(Deserialize)]
    struct Reference {
        query: String,
        text: String,
        score: f32,
    }

    #[test]
    fn scores_are_those_of_torch() {
        let model = english_cross_encoder();
        let references: Vec<Reference> = serde_json::from_str(REFERENCE).unwrap();
        for Reference { query, text, score } in references {
            let found = model.scores(&query, &[&text]).unwrap()[0];
            // What enters a product is rounded to bytes here.
            assert!((found - score).abs() < 0.35, "{found} is not {score}: {query} / {text}");
        }
    }

    #[test]
    fn a_pair_has_the_same_score_alone_and_among_others() {
        let model = english_cross_encoder();
        let long = "Rotate the log files of a server by size and by day. ".repeat(40);
        let texts = ["pdf merge: Join PDF files", "", &long, "幻灯片", "a"];
        let together = model.scores("the disk is full of logs", &texts).unwrap();
        for (text, score) in texts.iter().zip(&together) {
            let alone = model.scores("the disk is full of logs", &[text]).unwrap();
            assert_eq!(alone[0].to_bits(), score.to_bits(), "{text}");
        }
        assert!(together[2] > together[0]);
        // What it cannot read says nothing.
        assert_eq!((together[1].to_bits(), together[3].to_bits()), (0, 0));
        assert_eq!(model.scores("合并这些表格", &["pdf merge"]).unwrap(), [0.0]);
        assert_eq!(model.scores("merge", &[]).unwrap(), Vec::<f32>::new());
    }

    #[test]
    fn weights_without_a_score_are_refused() {
        let parts = TransformerParts {
            name: "test",
            vocabulary: skillmux_transformer_embeddings::VOCABULARY,
            tensors: &[skillmux_transformer_embeddings::TENSORS],
        };
        let error = CrossEncoder::new(&parts).err().unwrap().to_string();
        assert_eq!(error, "the transformer has no tensor `score.weight`");
    }
}
