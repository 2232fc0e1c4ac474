//! [`SequenceModel`]: a network with what it was trained for, and its file.

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};

use super::{
    config::{Fusion, SequenceConfig},
    network::SequenceNetwork,
};
use crate::error::{Error, Result};

/// Name of the header in the metadata of a file.
const HEADER: &str = "skillmux-sequence-composer";

/// A sequence composer as `skillmux train composer --kind sequence` writes it.
pub struct SequenceModel {
    /// The network.
    pub network: SequenceNetwork,
    /// How it decodes.
    pub fusion: Fusion,
    /// Hash of its file.
    pub fingerprint: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    config: SequenceConfig,
    fusion: Fusion,
}

impl SequenceModel {
    /// Reads a model.
    ///
    /// # Errors
    /// [`Error::ComposerDamaged`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let damaged = |detail: &str| Error::ComposerDamaged { detail: detail.to_owned() };
        let (_, metadata) = SafeTensors::read_metadata(bytes)
            .map_err(|_| damaged("is no safetensors file, or a part of one"))?;
        let header = metadata.metadata().as_ref().and_then(|all| all.get(HEADER));
        let header = header.ok_or_else(|| damaged("has no header of a sequence composer"))?;
        let Header { config, fusion } = serde_json::from_str(header)
            .map_err(|error| damaged(&format!("has a header of another form: {error}")))?;
        if config.n_heads == 0 || !config.width.is_multiple_of(config.n_heads) {
            return Err(damaged("has heads that do not divide its width"));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|_| damaged("is cut or mixed up"))?;
        let mut source = |name: &str, shape: &[usize]| {
            let view = tensors.tensor(name).ok().filter(|view| view.shape() == shape);
            let Some(view) = view else {
                return Err(candle_core::Error::Msg(format!("has no tensor `{name}` {shape:?}")));
            };
            let dtype = DType::try_from(view.dtype())?;
            Tensor::from_raw_buffer(view.data(), dtype, shape, &Device::Cpu)?.to_dtype(DType::F32)
        };
        let network = SequenceNetwork::new(&config, &mut source)
            .map_err(|error| damaged(&error.to_string()))?;
        let fingerprint = blake3::hash(bytes).to_hex()[..16].to_owned();
        Ok(Self { network, fusion, fingerprint })
    }

    /// Returns the bytes of a model, in half precision.
    ///
    /// # Errors
    /// What the tensor library says.
    pub fn to_bytes(
        config: &SequenceConfig,
        fusion: &Fusion,
        tensors: &[(String, Tensor)],
    ) -> candle_core::Result<Vec<u8>> {
        let header = Header { config: config.clone(), fusion: *fusion };
        let header = serde_json::to_string(&header).map_err(candle_core::Error::wrap)?;
        let halves = tensors
            .iter()
            .map(|(name, tensor)| Ok((name.clone(), tensor.to_dtype(DType::F16)?)))
            .collect::<candle_core::Result<Vec<_>>>()?;
        let metadata = HashMap::from([(HEADER.to_owned(), header)]);
        Ok(safetensors::serialize(halves, Some(metadata))?)
    }
}
