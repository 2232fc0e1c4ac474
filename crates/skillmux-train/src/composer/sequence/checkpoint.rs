//! [`State`]: everything that a run needs to go on.

use std::{collections::HashMap, io};

use candle_core::{DType, Device, Tensor, Var};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};

use super::epoch::EpochLine;
use crate::{
    adamw::AdamW,
    encoder::RunFolder,
    error::{Error, Result},
    file::replace,
};

/// Weights, means of the optimizer, the weights of the best epoch, and the header.
const FILE: &str = "checkpoint.safetensors";

/// Name of the header in the metadata of [`FILE`].
const HEADER: &str = "state";

/// What stands before the names of variables in [`FILE`].
const GROUPS: [&str; 4] = ["weights/", "means/", "squares/", "best/"];

/// A number of the network that is learned, by its name.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) var: Var,
}

/// The state of a run, but for the weights, which the variables hold. What is drawn follows from
/// the seed and the number of the step.
pub(super) struct State {
    pub(super) header: Header,
    pub(super) optimizer: AdamW,
    /// The weights of the best epoch.
    pub(super) best: Vec<Tensor>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    key: String,
    pub(super) step: usize,
    pub(super) log: Vec<EpochLine>,
}

impl State {
    pub(super) fn start(key: String, variables: &[Variable]) -> Result<Self> {
        let vars: Vec<&Var> = variables.iter().map(|variable| &variable.var).collect();
        let header = Header { key, step: 0, log: Vec::new() };
        Ok(Self { header, optimizer: AdamW::new(&vars)?, best: copies(variables)? })
    }

    /// Reads the checkpoint of a run that is to be resumed, if there is one, with the weights.
    pub(super) fn open(
        run: &RunFolder<'_>,
        key: &str,
        variables: &[Variable],
    ) -> Result<Option<Self>> {
        let path = run.path.join(FILE);
        let Some(bytes) = run.checkpoint(FILE)? else { return Ok(None) };
        let foreign = || Error::CheckpointForeign { path: path.clone() };
        let header = header(&bytes).filter(|header| header.key == key).ok_or_else(foreign)?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(|_| foreign())?;
        let read = |group: &str| -> Result<Vec<Tensor>> {
            let of_variable = |Variable { name, var }: &Variable| {
                let view = tensors.tensor(&format!("{group}{name}")).map_err(|_| foreign())?;
                if view.shape() != var.dims() {
                    return Err(foreign());
                }
                let shape = view.shape();
                Ok(Tensor::from_raw_buffer(view.data(), DType::F32, shape, &Device::Cpu)?)
            };
            variables.iter().map(of_variable).collect()
        };
        let [weights, means, squares, best] = GROUPS;
        for (variable, value) in variables.iter().zip(read(weights)?) {
            variable.var.set(&value)?;
        }
        let optimizer = AdamW { means: read(means)?, squares: read(squares)? };
        Ok(Some(Self { header, optimizer, best: read(best)? }))
    }

    /// Writes the checkpoint.
    pub(super) fn write(&self, run: &RunFolder<'_>, variables: &[Variable]) -> Result<()> {
        let path = run.path.join(FILE);
        let weights: Vec<Tensor> = copies(variables)?;
        let groups = [&weights, &self.optimizer.means, &self.optimizer.squares, &self.best];
        let named = GROUPS.iter().zip(groups).flat_map(|(group, tensors)| {
            let names = variables.iter().map(move |variable| format!("{group}{}", variable.name));
            names.zip(tensors)
        });
        let header = serde_json::to_string(&self.header).expect("a log always serialises");
        let metadata = HashMap::from([(HEADER.to_owned(), header)]);
        let bytes = safetensors::serialize(named, Some(metadata)).map_err(|error| {
            Error::Write { path: path.clone(), source: io::Error::other(error) }
        })?;
        replace(&path, &bytes)
    }
}

/// Returns the weights as they are now, which later steps do not change.
pub(super) fn copies(variables: &[Variable]) -> Result<Vec<Tensor>> {
    let copies = variables.iter().map(|variable| variable.var.as_detached_tensor().copy());
    Ok(copies.collect::<candle_core::Result<_>>()?)
}

fn header(bytes: &[u8]) -> Option<Header> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    serde_json::from_str(metadata.metadata().as_ref()?.get(HEADER)?).ok()
}
