//! [`CheckpointEncoder`]: a published encoder.

use std::error::Error as StdError;

use candle_core::Tensor;
use skillmux::{
    Error as EngineError,
    error::Result as EngineResult,
    model::{Encoder, EncoderIdentity},
};

use super::{
    Checkpoint, CheckpointError, Parts,
    batch::Batch,
    bert::Bert,
    config::Family,
    fingerprint,
    layer::{last_states, look_up},
    qwen3::Qwen3,
    settings::Pooling,
    tokens::{Frame, Sequence, Tokens},
};

/// An encoder of a folder, as `sentence-transformers` runs it: tokens, network, pooling, length 1.
///
/// A text of nothing but blanks has no direction: its vector is zero.
pub struct CheckpointEncoder {
    identity: EncoderIdentity,
    tokens: Tokens,
    network: Network,
    pooling: Pooling,
    query_prefix: String,
    text_prefix: String,
}

enum Network {
    Bert(Bert),
    Qwen3(Qwen3),
}

impl CheckpointEncoder {
    pub(super) fn read(checkpoint: &Checkpoint) -> Result<Self, CheckpointError> {
        let Checkpoint { folder, config, settings } = checkpoint;
        let Parts { tokens, mut weights, hasher } = checkpoint.read()?;
        let network = match config.family {
            Family::Bert | Family::Roberta => Network::Bert(Bert::take(config, &mut weights)?),
            Family::Qwen3 if settings.pooling != Pooling::Last => {
                return Err(folder.unsupported("a pooling other than of the last token in Qwen3"));
            }
            Family::Qwen3 => {
                Network::Qwen3(Qwen3::take(config, settings.max_tokens, &mut weights)?)
            }
        };
        let (query_prefix, text_prefix) =
            (settings.query_prefix.clone(), settings.text_prefix.clone());
        let pooling = format!("{:?}", settings.pooling);
        let texts = [pooling.as_str(), &query_prefix, &text_prefix];
        let fingerprint = fingerprint(hasher, settings.max_tokens, &texts);
        let dim = u32::try_from(config.width).expect("the width was checked");
        let identity = EncoderIdentity { name: config.name(), dim, fingerprint };
        Ok(Self { identity, tokens, network, pooling: settings.pooling, query_prefix, text_prefix })
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
        let inputs: Vec<String> = said.iter().map(|(_, text)| format!("{prefix}{text}")).collect();
        let sequences = self.tokens.of_texts(&inputs, Frame::OfTokenizer)?;
        let mut vectors = vec![0.0; texts.len() * dim];
        for (vector, (at, _)) in self.pooled(&sequences)?.chunks(dim).zip(said) {
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            let row = &mut vectors[at * dim..][..dim];
            for (x, y) in row.iter_mut().zip(vector) {
                *x = y / length.max(f32::MIN_POSITIVE);
            }
        }
        Ok(vectors)
    }

    /// Returns the vectors of sequences as the network has them, of any length.
    fn pooled(&self, sequences: &[Sequence]) -> candle_core::Result<Vec<f32>> {
        let mut vectors = Vec::with_capacity(sequences.len() * self.dim());
        match &self.network {
            Network::Bert(network) => {
                for batch in Batch::split(sequences, 0) {
                    self.pool(&network.states(&batch)?, &batch, &mut vectors)?;
                }
            }
            Network::Qwen3(network) if !sequences.is_empty() => {
                let states = network.last_states(sequences, 0)?;
                vectors = states.flatten_all()?.to_vec1()?;
            }
            Network::Qwen3(_) => {}
        }
        Ok(vectors)
    }

    fn pool(
        &self,
        states: &Tensor,
        batch: &Batch<'_>,
        vectors: &mut Vec<f32>,
    ) -> candle_core::Result<()> {
        let rows = match self.pooling {
            Pooling::First => look_up(states, batch.first_rows())?,
            Pooling::Last => last_states(states, batch)?,
            Pooling::Mean => {
                let mean = |rows: std::ops::Range<usize>| {
                    states.narrow(0, rows.start, rows.len())?.mean_keepdim(0)
                };
                let means = batch.rows().into_iter().map(mean);
                Tensor::cat(&means.collect::<candle_core::Result<Vec<_>>>()?, 0)?
            }
        };
        vectors.extend(rows.flatten_all()?.to_vec1::<f32>()?);
        Ok(())
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
        self.encode_with(&self.query_prefix, texts)
    }
}
