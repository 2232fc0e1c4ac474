//! [`TransformerEncoder`]: a small BERT with eight-bit weights.
//!
//! The network is that of all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Wang et al. 2020): word and
//! position vectors, layers of attention and a feed-forward part with GELU, the mean over all
//! tokens, length 1. Matrices hold signed bytes with a scale a row; what enters them is rounded to
//! bytes with a scale a token, so that products are whole numbers. A text is encoded by itself,
//! never padded: its vector cannot depend on others.

#[cfg(feature = "embedded")]
mod cross_encoder;
mod matrix;
mod network;
mod tokens;
mod weights;

use std::ops::Range;
use std::sync::Arc;
#[cfg(feature = "embedded")]
use std::sync::LazyLock;

use skillmux::{
    error::Result as EngineResult,
    model::{Encoder, EncoderIdentity, TokenEncoder, TokenVectors},
};

#[cfg(feature = "embedded")]
use self::cross_encoder::CrossEncoder;
use self::network::{Network, normalise};
use crate::{
    error::{Error, Result},
    int8::{Workspace, on_all_threads},
};

/// Tokens that are read of a skill, with the two that open and close a text.
const SKILL_TOKENS: usize = 128;

/// Tokens that are read of a query.
const QUERY_TOKENS: usize = 256;

/// A query of more tokens counts as one of so many.
const MAX_COUNTED_TOKENS: usize = 4096;

/// Name and version of the transformer of the binary, and of those that are trained as it was.
#[cfg(feature = "embedded")]
pub const TRANSFORMER_NAME: &str = "minilm-skills-1";

/// What a transformer is read from.
#[derive(Debug, Clone, Copy)]
pub struct TransformerParts<'p> {
    /// Name and version, for the identity.
    pub name: &'p str,
    /// The tokens of the `WordPiece` vocabulary, one a line, in the order of the word vectors;
    /// continued words begin with `##`, and `[UNK]`, `[CLS]` and `[SEP]` are among them.
    pub vocabulary: &'p str,
    /// Safetensors files that hold the tensors together, under the names of BERT. A matrix is `I8`
    /// `[n_out, n_in]` within 127 of 0 with a `F32` `NAME.scale` `[n_out]`; the other tensors are
    /// `F32`.
    pub tensors: &'p [&'static [u8]],
}

impl TransformerParts<'_> {
    /// Returns those of the binary.
    #[cfg(feature = "embedded")]
    fn embedded() -> Self {
        Self {
            name: TRANSFORMER_NAME,
            vocabulary: skillmux_transformer_embeddings::VOCABULARY,
            tensors: &EMBEDDED_TENSORS,
        }
    }

    /// Returns the beginning of a hash of all parts.
    fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.vocabulary.as_bytes());
        for bytes in self.tensors {
            hasher.update_rayon(bytes);
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

/// A transformer as an encoder of texts.
///
/// Texts are lower-cased and cut to 128 tokens, queries to 256. A text of which more than a quarter
/// is unknown to the vocabulary, as Chinese to an English one, has a vector of zeros.
pub struct TransformerEncoder {
    identity: EncoderIdentity,
    network: Arc<Network>,
}

#[cfg(feature = "embedded")]
static EMBEDDED_TENSORS: [&[u8]; 2] =
    [skillmux_transformer_embeddings::TENSORS, skillmux_transformer_layers::TENSORS];

/// Fingerprint of the parts of the binary, which takes milliseconds to compute.
#[cfg(feature = "embedded")]
const EMBEDDED_FINGERPRINT: &str = "fe8b8b18efb8d6d4";

/// Name and version of the verifier of the binary.
#[cfg(feature = "embedded")]
const VERIFIER_NAME: &str = "minilm-serves-1";

/// The network of the binary, which its encoder and its verifier share.
#[cfg(feature = "embedded")]
static NETWORK: LazyLock<Arc<Network>> = LazyLock::new(|| {
    let parts = TransformerParts::embedded();
    Arc::new(Network::of(&parts).expect("the embedded transformer is well-formed"))
});

impl TransformerEncoder {
    /// Returns the one inside the program, without the lexicon: a Chinese text has a vector of
    /// zeros.
    #[cfg(feature = "embedded")]
    pub(crate) fn embedded() -> Self {
        Self::over(TRANSFORMER_NAME, EMBEDDED_FINGERPRINT.to_owned(), Arc::clone(&NETWORK))
            .expect("the embedded transformer is well-formed")
    }

    /// Reads a transformer.
    ///
    /// # Errors
    /// [`Error::TransformerDamaged`].
    pub fn new(parts: &TransformerParts<'_>) -> Result<Self> {
        Self::over(parts.name, parts.fingerprint(), Arc::new(Network::of(parts)?))
    }

    /// Returns the encoder over a network that was read from parts of this name and fingerprint.
    fn over(name: &str, fingerprint: String, network: Arc<Network>) -> Result<Self> {
        let identity = EncoderIdentity {
            name: name.to_owned(),
            dim: u32::try_from(network.dim()).map_err(|_| damaged("is of another kind"))?,
            fingerprint,
        };
        Ok(Self { identity, network })
    }

    fn encode_cut(&self, texts: &[&str], max_tokens: usize) -> Vec<f32> {
        let max_tokens = max_tokens.min(self.network.max_tokens());
        on_all_threads(texts, |text, workspace| self.vector(text, max_tokens, workspace)).concat()
    }

    /// Returns the last states of the tokens of a text, each with length 1, without those that open
    /// and close it.
    fn token_vectors(
        &self,
        text: &str,
        max_tokens: usize,
        workspace: &mut Workspace,
    ) -> TokenVectors {
        let max_tokens = max_tokens.min(self.network.max_tokens());
        let ids = self.network.tokens.of(text, max_tokens);
        let inside = &ids[1..ids.len() - 1];
        if !self.network.can_read(inside) {
            return TokenVectors::default();
        }
        let dim = self.network.dim();
        let states = self.network.states(&ids, workspace);
        let mut vectors = states[dim..states.len() - dim].to_vec();
        vectors.chunks_exact_mut(dim).for_each(normalise);
        TokenVectors { tokens: inside.to_vec(), vectors }
    }

    /// Returns the vector of a text.
    fn vector(&self, text: &str, max_tokens: usize, workspace: &mut Workspace) -> Vec<f32> {
        let ids = self.network.tokens.of(text, max_tokens);
        // The first and the last stand for no text.
        if !self.network.can_read(&ids[1..ids.len() - 1]) {
            return vec![0.0; self.network.dim()];
        }
        self.network.direction(&self.network.states(&ids, workspace))
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

    fn read_share(&self, query: &str) -> f32 {
        let n_read = QUERY_TOKENS.min(self.network.max_tokens());
        let n_tokens = self.network.tokens.of(query, MAX_COUNTED_TOKENS).len();
        f32::min(n_read as f32 / n_tokens as f32, 1.0)
    }
}

impl TokenEncoder for TransformerEncoder {
    fn encode_tokens(&self, texts: &[&str]) -> EngineResult<Vec<TokenVectors>> {
        Ok(on_all_threads(texts, |text, workspace| {
            self.token_vectors(text, SKILL_TOKENS, workspace)
        }))
    }

    fn encode_query_tokens(&self, query: &str) -> EngineResult<TokenVectors> {
        let of_query = on_all_threads(&[query], |query, workspace| {
            self.token_vectors(query, QUERY_TOKENS, workspace)
        });
        Ok(of_query.into_iter().next().unwrap_or_default())
    }

    fn clauses(&self, tokens: &[u32]) -> Vec<Range<usize>> {
        self.network.tokens.clauses(tokens)
    }
}

/// Returns what says whether a skill serves a task, with the weights of the binary.
#[cfg(feature = "embedded")]
pub(crate) fn verifier(translator: Box<dyn skillmux::model::Translator>) -> CrossEncoder {
    let (network, adapter) = (Arc::clone(&NETWORK), skillmux_transformer_layers::VERIFIER);
    CrossEncoder::new(VERIFIER_NAME, network, adapter, translator)
        .expect("the embedded verifier is well-formed")
}

/// Returns what is said of weights that are not those of a transformer.
fn damaged(detail: impl Into<String>) -> Error {
    Error::TransformerDamaged { detail: detail.into() }
}

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use safetensors::{SafeTensors, tensor::TensorView};
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
    fn the_known_fingerprint_is_that_of_the_parts() {
        assert_eq!(TransformerParts::embedded().fingerprint(), EMBEDDED_FINGERPRINT);
    }

    #[test]
    fn vectors_are_those_of_torch() {
        let transformer = TransformerEncoder::embedded();
        let references: Vec<Reference> = serde_json::from_str(REFERENCE).unwrap();
        for Reference { text, tokens, vector } in references {
            assert_eq!(transformer.network.tokens.of(&text, SKILL_TOKENS), tokens);
            let cosine = dot(&transformer.encode(&[&text]).unwrap(), &vector);
            // What enters a product is rounded to bytes here, on some processors to half of them.
            assert!(cosine > 0.99, "{cosine}: {text}");
        }
    }

    #[test]
    fn a_text_has_the_same_vector_alone_and_among_others() {
        let transformer = TransformerEncoder::embedded();
        let long = "review the contract and say which clauses are risky ".repeat(40);
        let texts = ["merge pdf files", "", &long, "幻灯片", "a"];
        let together = transformer.encode(&texts).unwrap();
        for (text, row) in texts.iter().zip(together.chunks(transformer.dim())) {
            let alone = transformer.encode(&[text]).unwrap();
            assert!(alone.iter().zip(row).all(|(a, b)| a.to_bits() == b.to_bits()), "{text}");
        }
    }

    #[test]
    fn the_vectors_of_tokens_point_where_the_text_does() {
        let transformer = TransformerEncoder::embedded();
        let texts = ["merge the pdf files", "幻灯片", "", "rotate logs"];
        let of_texts = transformer.encode_tokens(&texts).unwrap();
        let n_tokens: Vec<usize> = of_texts.iter().map(|of| of.tokens.len()).collect();
        assert_eq!(n_tokens, [4, 0, 0, 2]);
        let dim = transformer.dim();
        let [merge, .., rotate] = &of_texts[..] else { panic!() };
        assert_eq!((merge.vectors.len(), rotate.vectors.len()), (4 * dim, 2 * dim));
        for token in merge.vectors.chunks(dim) {
            assert!((dot(token, token) - 1.0).abs() < 1e-3);
        }
        assert_eq!(transformer.encode_query_tokens(texts[0]).unwrap(), *merge);
        let two =
            transformer.encode_query_tokens("merge the pdf files, and rotate all logs").unwrap();
        assert_eq!(transformer.clauses(&two.tokens), [0..4, 6..9]);
        let near = transformer.encode_query_tokens("combine two pdf documents").unwrap();
        let mean = |of: &TokenVectors| {
            let best = near.best_cosines(of, dim);
            best.iter().sum::<f32>() / best.len() as f32
        };
        assert!(mean(merge) > mean(rotate) + 0.1, "{} {}", mean(merge), mean(rotate));
    }

    #[test]
    fn a_text_that_the_vocabulary_lacks_has_a_vector_of_zeros() {
        let transformer = TransformerEncoder::embedded();
        for (text, length) in [
            ("合并这些表格", 0.0),
            ("", 0.0),
            ("merge the pdf files of 表", 1.0),
            ("🦀🦀", 0.0),
            ("合并 ok", 0.0),
        ] {
            let vector = transformer.encode_queries(&[text]).unwrap();
            assert!((dot(&vector, &vector) - length).abs() < 1e-3, "{text}");
        }
    }

    #[test]
    fn a_long_query_is_read_in_part() {
        let transformer = TransformerEncoder::embedded();
        // 510 words, and the two tokens that open and close a text.
        for (n_words, share) in [(0, 1.0), (254, 1.0), (510, 0.5), (100_000, 256.0 / 4096.0)] {
            let read = transformer.read_share(&"pdf ".repeat(n_words));
            assert!((read - share).abs() < 1e-6, "{n_words}: {read}");
        }
    }

    #[test]
    fn a_task_finds_the_skill_that_is_told_in_other_words() {
        let transformer = TransformerEncoder::embedded();
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
        assert_eq!(TransformerEncoder::new(&parts).unwrap().network.n_layers(), 1);
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
        let of = SafeTensors::deserialize(skillmux_transformer_embeddings::TENSORS).unwrap();
        let one_position = of.tensors().into_iter().map(|(name, tensor)| {
            if name != "embeddings.position_embeddings.weight" {
                return (name, tensor);
            }
            let dim = tensor.shape()[1];
            let data = &tensor.data()[..tensor.data().len() / tensor.shape()[0]];
            (name, TensorView::new(tensor.dtype(), vec![1, dim], data).unwrap())
        });
        let bytes: &[u8] = safetensors::serialize(one_position, None).unwrap().leak();
        let narrow = TransformerEncoder::new(&TransformerParts { tensors: &[bytes], ..parts });
        let error = narrow.err().unwrap();
        assert_eq!(error.to_string(), "the transformer has no place for a text");
    }
}
