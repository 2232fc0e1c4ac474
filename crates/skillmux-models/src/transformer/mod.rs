//! [`TransformerEncoder`]: a small BERT with eight-bit weights.
//!
//! The network is that of all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Wang et al. 2020): word and
//! position vectors, layers of attention and a feed-forward part with GELU, the mean over all
//! tokens, length 1. Matrices hold signed bytes with a scale a row; what enters them is rounded to
//! bytes with a scale a token, so that products are whole numbers. A text is encoded by itself,
//! never padded: its vector cannot depend on others.

mod layer;
mod linear;
mod matrix;
mod tokens;
mod weights;

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use rayon::ThreadPoolBuilder;
use skillmux::{
    error::Result as EngineResult,
    model::{Encoder, EncoderIdentity},
};

use self::{
    layer::{Layer, Norm},
    matrix::Matrix,
    tokens::Tokens,
    weights::Tensors,
};
use crate::error::{Error, Result};

/// Tokens that are read of a skill, with the two that open and close a text.
const SKILL_TOKENS: usize = 128;

/// Tokens that are read of a query.
const QUERY_TOKENS: usize = 256;

/// A text of which a larger share of tokens is unknown says nothing to the model: most of it is in a
/// writing that the vocabulary lacks.
const MAX_UNKNOWN_SHARE: f32 = 0.25;

/// What a transformer is read from.
#[derive(Debug, Clone, Copy)]
pub struct TransformerParts<'p> {
    /// Name and version, for the identity.
    pub name: &'p str,
    /// The tokens of the `WordPiece` vocabulary, one a line, in the order of the word vectors; continued words begin with
    /// `##`, and `[UNK]`, `[CLS]` and `[SEP]` are among them.
    pub vocabulary: &'p str,
    /// Safetensors files that hold the tensors together, under the names of BERT. A matrix is `I8` `[n_out, n_in]` within 127 of 0
    /// with a `F32` `NAME.scale` `[n_out]`; the other tensors are `F32`.
    pub tensors: &'p [&'static [u8]],
}

/// A transformer as an encoder of texts.
///
/// Texts are lower-cased and cut to 128 tokens, queries to 256. A text of which more than a quarter is unknown
/// to the vocabulary, as Chinese to an English one, has a vector of zeros.
pub struct TransformerEncoder {
    identity: EncoderIdentity,
    tokens: Tokens,
    words: Matrix,
    /// Position vectors, `[n_positions, dim]`.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

impl TransformerEncoder {
    /// Reads a transformer.
    ///
    /// # Errors
    /// [`Error::TransformerDamaged`].
    pub fn new(parts: &TransformerParts<'_>) -> Result<Self> {
        let tensors = Tensors::read(parts.tensors)?;
        let tokens = Tokens::new(parts.vocabulary)?;
        let words = tensors.matrix("embeddings.word_embeddings.weight")?;
        let dim = words.n_in;
        if words.n_out != tokens.n_known() {
            return Err(damaged("has not as many word vectors as tokens"));
        }
        let positions = tensors.numbers("embeddings.position_embeddings.weight")?;
        if dim == 0 || !positions.len().is_multiple_of(dim) || positions.is_empty() {
            return Err(damaged("has position vectors of another length"));
        }
        let norm = Norm::read(&tensors, "embeddings.LayerNorm", dim)?;
        let mut layers = Vec::new();
        while tensors.has_layer(layers.len()) {
            layers.push(Layer::read(&tensors, layers.len(), dim)?);
        }
        if layers.is_empty() {
            return Err(damaged("has no layers"));
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(parts.vocabulary.as_bytes());
        for bytes in parts.tensors {
            hasher.update_rayon(bytes);
        }
        let identity = EncoderIdentity {
            name: parts.name.to_owned(),
            dim: u32::try_from(dim).map_err(|_| damaged("is of another kind"))?,
            fingerprint: hasher.finalize().to_hex()[..16].to_owned(),
        };
        Ok(Self { identity, tokens, words, positions, norm, layers })
    }

    fn encode_cut(&self, texts: &[&str], max_tokens: usize) -> Vec<f32> {
        let max_tokens = max_tokens.min(self.positions.len() / self.identity.dim as usize);
        let n_threads = usize::min(rayon::current_num_threads(), texts.len());
        if n_threads < 2 {
            // Products of matrices use all threads.
            let rows = texts.iter().map(|text| self.vector(text, max_tokens));
            return rows.collect::<Vec<_>>().concat();
        }
        // A text a thread: sharing out each product would cost more than it gains.
        let next = AtomicUsize::new(0);
        let encode_some = || -> Vec<(usize, Vec<f32>)> {
            let mut rows = Vec::new();
            while let Some((at, text)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                texts.get(at).map(|text| (at, text))
            } {
                rows.push((at, self.vector(text, max_tokens)));
            }
            rows
        };
        let mut rows = thread::scope(|scope| {
            let alone = || match ThreadPoolBuilder::new().num_threads(1).build() {
                Ok(pool) => pool.install(encode_some),
                Err(_) => encode_some(),
            };
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(alone)).collect();
            // A panic goes on here.
            let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
            let rows = joined.map(|rows| rows.unwrap_or_else(|e| std::panic::resume_unwind(e)));
            rows.collect::<Vec<_>>().concat()
        });
        rows.sort_unstable_by_key(|(at, _)| *at);
        rows.into_iter().flat_map(|(_, row)| row).collect()
    }

    /// Returns the vector of a text.
    fn vector(&self, text: &str, max_tokens: usize) -> Vec<f32> {
        let dim = self.identity.dim as usize;
        let ids = self.tokens.of(text, max_tokens);
        // The first and the last stand for no text.
        let n_inside = ids.len().saturating_sub(2);
        let n_unknown = ids.iter().filter(|id| **id == self.tokens.unknown()).count();
        if n_inside == 0 || n_unknown as f32 > MAX_UNKNOWN_SHARE * n_inside as f32 {
            return vec![0.0; dim];
        }
        let mut states = Vec::with_capacity(ids.len() * dim);
        for (id, position) in ids.iter().zip(self.positions.chunks_exact(dim)) {
            states.extend(self.words.row(*id as usize).zip(position).map(|(word, at)| word + at));
        }
        self.norm.apply(&mut states);
        for layer in &self.layers {
            states = layer.apply(&states, ids.len());
        }
        let mut mean = vec![0.0; dim];
        for state in states.chunks_exact(dim) {
            for (sum, x) in mean.iter_mut().zip(state) {
                *sum += x;
            }
        }
        let length = mean.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            for x in &mut mean {
                *x /= length;
            }
        }
        mean
    }
}

impl Encoder for TransformerEncoder {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn encode(&self, texts: &[&str]) -> EngineResult<Vec<f32>> {
        Ok(self.encode_cut(texts, SKILL_TOKENS))
    }

    fn encode_queries(&self, texts: &[&str]) -> EngineResult<Vec<f32>> {
        Ok(self.encode_cut(texts, QUERY_TOKENS))
    }
}

/// Returns what is said of weights that are not those of a transformer.
fn damaged(detail: impl Into<String>) -> Error {
    Error::TransformerDamaged { detail: detail.into() }
}

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// What torch made of the same weights, with sums of 32 bits: `training/transformer/export.py`.
    const REFERENCE: &str = include_str!("../../tests/data/transformer.json");

    #[derive(Deserialize)]
    struct Reference {
        text: String,
        tokens: Vec<u32>,
        vector: Vec<f32>,
    }

    fn dot(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn vectors_are_those_of_torch() {
        let transformer = crate::embedded::english_transformer();
        let references: Vec<Reference> = serde_json::from_str(REFERENCE).unwrap();
        for Reference { text, tokens, vector } in references {
            assert_eq!(transformer.tokens.of(&text, SKILL_TOKENS), tokens);
            let cosine = dot(&transformer.encode(&[&text]).unwrap(), &vector);
            // What enters a product is rounded to bytes here.
            assert!(cosine > 0.995, "{cosine}: {text}");
        }
    }

    #[test]
    fn a_text_has_the_same_vector_alone_and_among_others() {
        let transformer = crate::embedded::english_transformer();
        let long = "review the contract and say which clauses are risky ".repeat(40);
        let texts = ["merge pdf files", "", &long, "幻灯片", "a"];
        let together = transformer.encode(&texts).unwrap();
        for (text, row) in texts.iter().zip(together.chunks(transformer.dim())) {
            let alone = transformer.encode(&[text]).unwrap();
            assert!(alone.iter().zip(row).all(|(a, b)| a.to_bits() == b.to_bits()), "{text}");
        }
    }

    #[test]
    fn a_text_that_the_vocabulary_lacks_has_a_vector_of_zeros() {
        let transformer = crate::embedded::english_transformer();
        for (text, length) in
            [("合并这些表格", 0.0), ("", 0.0), ("merge the pdf files of 表", 1.0), ("🦀🦀 ok", 0.0)]
        {
            let vector = transformer.encode_queries(&[text]).unwrap();
            assert!((dot(&vector, &vector) - length).abs() < 1e-3, "{text}");
        }
    }

    #[test]
    fn a_task_finds_the_skill_that_is_told_in_other_words() {
        let transformer = crate::embedded::english_transformer();
        let skills = [
            "expense splitter: Divide shared costs of a group trip and settle debts",
            "pdf merge: Join several PDF files into one document",
            "log rotation: Keep log files from filling the disk",
        ];
        let skills = transformer.encode(&skills).unwrap();
        for (task, right) in [
            ("four of us went to Lisbon, who owes whom now", 0),
            ("my boss wants last month's invoices as a single thing he can print", 1),
            ("the server ran out of space overnight again because it writes so much down", 2),
        ] {
            let task = transformer.encode_queries(&[task]).unwrap();
            let cosines: Vec<f32> =
                skills.chunks(transformer.dim()).map(|skill| dot(skill, &task)).collect();
            let best = (0..3).max_by(|a, b| cosines[*a].total_cmp(&cosines[*b]));
            assert_eq!(best, Some(right), "{cosines:?}");
        }
    }

    #[test]
    fn weights_that_do_not_fit_together_are_refused() {
        let parts = TransformerParts {
            name: "test",
            vocabulary: skillmux_transformer_embeddings::VOCABULARY,
            tensors: &[skillmux_transformer_embeddings::TENSORS],
        };
        // Layer 0 alone is a network, if a small one.
        assert_eq!(TransformerEncoder::new(&parts).unwrap().layers.len(), 1);
        let refused = |parts: &TransformerParts<'_>| {
            TransformerEncoder::new(parts).err().map(|error| error.to_string()).unwrap_or_default()
        };
        let short = TransformerParts { vocabulary: "[UNK]\n[CLS]\n[SEP]\n", ..parts };
        assert_eq!(refused(&short), "the transformer has not as many word vectors as tokens");
        let half = TransformerParts { tensors: &[skillmux_transformer_layers::TENSORS], ..parts };
        assert_eq!(
            refused(&half),
            "the transformer has no tensor `embeddings.word_embeddings.weight`"
        );
        let cut = TransformerParts { tensors: &[b"\x08\0\0\0\0\0\0\0{}"], ..parts };
        assert!(refused(&cut).starts_with("the transformer does not open"), "{}", refused(&cut));
    }
}
