//! [`CheckpointEncoder`]: a published encoder.

use std::error::Error as StdError;

use candle_core::{Result as TensorResult, Tensor};
use skillmux::{
    Error as EngineError,
    error::Result as EngineResult,
    model::{Encoder, EncoderIdentity},
};

use super::{
    Checkpoint, CheckpointError, InferencePrecision, Parts, TensorError,
    batch::Batch,
    bert::Bert,
    config::Family,
    fingerprint,
    layer::{last_states, look_up, mean_states},
    pooling::Pooling,
    qwen3::Qwen3,
    tokens::{Frame, Sequence, Tokens},
    weights::Weights,
};

/// An encoder of a folder, as `sentence-transformers` runs it: tokens, network, pooling, length 1.
///
/// A text of nothing but blanks has no direction: its vector is zero.
pub struct CheckpointEncoder {
    identity: EncoderIdentity,
    tokens: Tokens,
    network: EncoderNetwork,
    query_prefix: String,
    text_prefix: String,
    /// Characters of a query that are read, if not all are.
    query_chars: Option<usize>,
}

/// A network and what becomes the vector of a text.
pub(super) struct EncoderNetwork {
    network: Network,
    pooling: Pooling,
}

enum Network {
    Bert(Bert),
    Qwen3(Qwen3),
}

impl CheckpointEncoder {
    pub(super) fn read(checkpoint: &Checkpoint) -> Result<Self, CheckpointError> {
        let Checkpoint { config, settings, .. } = checkpoint;
        let Parts { tokens, mut weights, hasher } = checkpoint.read()?;
        let precision = checkpoint.precision();
        let network = EncoderNetwork::take(checkpoint, precision, &mut weights)?;
        let (query_prefix, text_prefix) =
            (settings.query_prefix.clone(), settings.text_prefix.clone());
        let pooling = format!("{:?}", settings.pooling);
        let mut texts = vec![pooling.as_str(), &query_prefix, &text_prefix];
        let query_chars = settings.query_chars.map(|n_chars| n_chars.to_string());
        texts.extend(query_chars.as_deref());
        texts.extend(precision.mark());
        let fingerprint = fingerprint(hasher, settings.max_tokens, &texts);
        let dim = u32::try_from(config.width).expect("the width was checked");
        let identity = EncoderIdentity { name: precision.name_of(config), dim, fingerprint };
        Ok(Self {
            identity,
            tokens,
            network,
            query_chars: settings.query_chars,
            query_prefix,
            text_prefix,
        })
    }

    fn encode_with(&self, prefix: &str, texts: &[&str]) -> EngineResult<Vec<f32>> {
        let name = || self.identity.name.clone();
        let failed = |source| EngineError::Encoder { name: name(), hint: None, source };
        self.vectors(prefix, texts).map_err(failed)
    }

    fn vectors(
        &self,
        prefix: &str,
        texts: &[&str],
    ) -> Result<Vec<f32>, Box<dyn StdError + Send + Sync>> {
        let dim = self.dim();
        let says_something = |(_, text): &(usize, &&str)| !text.trim().is_empty();
        let said: Vec<(usize, &&str)> = texts.iter().enumerate().filter(says_something).collect();
        if said.is_empty() {
            return Ok(vec![0.0; texts.len() * dim]);
        }
        let inputs: Vec<String> = said.iter().map(|(_, text)| format!("{prefix}{text}")).collect();
        let sequences = self.tokens.of_texts(&inputs, Frame::OfTokenizer)?;
        let mut vectors = vec![0.0; texts.len() * dim];
        let pooled = self.network.pooled(&sequences).and_then(|all| all.flatten_all()?.to_vec1());
        let pooled: Vec<f32> = pooled.map_err(TensorError)?;
        for (vector, (at, _)) in pooled.chunks(dim).zip(said) {
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            let row = &mut vectors[at * dim..][..dim];
            for (x, y) in row.iter_mut().zip(vector) {
                *x = y / length.max(f32::MIN_POSITIVE);
            }
        }
        Ok(vectors)
    }
}

impl EncoderNetwork {
    /// Takes the network of an encoder out.
    pub(super) fn take(
        checkpoint: &Checkpoint,
        precision: InferencePrecision,
        weights: &mut Weights,
    ) -> Result<Self, CheckpointError> {
        let Checkpoint { folder, config, settings, .. } = checkpoint;
        let pooling = settings.pooling;
        let network = match config.family {
            Family::Bert | Family::Roberta => {
                Network::Bert(Bert::take(config, precision, weights)?)
            }
            Family::Qwen3 if pooling != Pooling::Last => {
                return Err(folder.unsupported("a pooling other than of the last token in Qwen3"));
            }
            Family::Qwen3 => {
                Network::Qwen3(Qwen3::take(config, settings.max_tokens, precision, weights)?)
            }
        };
        Ok(Self { network, pooling })
    }

    /// Returns the vectors of at least one sequence as the network has them, of any length; `[n,
    /// dim]`.
    pub(super) fn pooled(&self, sequences: &[Sequence]) -> TensorResult<Tensor> {
        match &self.network {
            Network::Bert(network) => {
                let of_batch = |batch| self.pool(&network.states(&batch)?, &batch);
                let pooled: Vec<Tensor> =
                    Batch::split(sequences, 0).map(of_batch).collect::<TensorResult<_>>()?;
                Tensor::cat(&pooled, 0)
            }
            Network::Qwen3(network) => network.last_states(sequences, 0),
        }
    }

    fn pool(&self, states: &Tensor, batch: &Batch<'_>) -> TensorResult<Tensor> {
        match self.pooling {
            Pooling::First => look_up(states, batch.first_rows()),
            Pooling::Last => last_states(states, batch),
            Pooling::Mean => mean_states(states, batch),
        }
    }
}

impl Encoder for CheckpointEncoder {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn encode(&self, texts: &[&str]) -> EngineResult<Vec<f32>> {
        self.encode_with(&self.text_prefix, texts)
    }

    fn encode_queries(&self, texts: &[&str]) -> EngineResult<Vec<f32>> {
        let Some(n_chars) = self.query_chars else {
            return self.encode_with(&self.query_prefix, texts);
        };
        let cut =
            |text: &&'_ str| text.char_indices().nth(n_chars).map_or(text.len(), |(at, _)| at);
        let texts: Vec<&str> = texts.iter().map(|text| &text[..cut(text)]).collect();
        self.encode_with(&self.query_prefix, &texts)
    }
}
