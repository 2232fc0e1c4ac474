//! [`State`]: everything that a run needs to go on.

use std::{collections::HashMap, fs, io, path::Path};

use candle_core::{DType, Result as TensorResult, Tensor, Var};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use skillmux_models::checkpoint::Tunable;

use super::{data::Split, example::Example, log::TransformerLogLine, options::TransformerOptions};
use crate::{
    adamw::AdamW,
    encoder::{LOG, RunFolder},
    error::{Error, Result},
    file::replace,
};

/// Weights, means of the optimizer and the header of the last round.
const FILE: &str = "checkpoint.safetensors";

/// Weights of the best round.
const BEST: &str = "best.safetensors";

/// Name of the header in the metadata of [`FILE`].
const HEADER: &str = "state";

/// What stands before the names of variables in [`FILE`].
const WEIGHTS: &str = "weights/";
const MEANS: &str = "means/";
const SQUARES: &str = "squares/";

/// The state of a run, but for the weights, which the model holds. What is drawn follows from the
/// seed and the number of the step.
pub(super) struct State {
    header: Header,
    pub(super) optimizer: AdamW,
}

#[derive(Serialize, Deserialize)]
struct Header {
    key: String,
    step: usize,
    log: Vec<TransformerLogLine>,
}

/// Returns what two runs must have in common for one to go on from the other.
pub(super) fn key(tunable: &Tunable, data: &Split, options: &TransformerOptions) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tunable.fingerprint().as_bytes());
    for examples in [&data.train, &data.held_out] {
        hasher.update(&examples.len().to_le_bytes());
        for Example { query, gold, .. } in examples {
            hasher.update(query.text().as_bytes()).update(b"\n");
            hasher.update(&gold.len().to_le_bytes());
            for idx in gold {
                hasher.update(&idx.0.to_le_bytes());
            }
        }
    }
    let options = serde_json::to_vec(options).expect("numbers always serialise");
    hasher.update(&options);
    hasher.finalize().to_hex().to_string()
}

impl State {
    pub(super) fn start(key: String, tunable: &Tunable) -> Result<Self> {
        let variables: Vec<&Var> = tunable.variables().iter().map(|v| &v.var).collect();
        let optimizer = AdamW::new(&variables)?;
        Ok(Self { header: Header { key, step: 0, log: Vec::new() }, optimizer })
    }

    /// Reads the checkpoint of a run that is to be resumed, if there is one, with the weights.
    pub(super) fn open(run: &RunFolder<'_>, key: &str, tunable: &Tunable) -> Result<Option<Self>> {
        let path = run.path.join(FILE);
        let Some(bytes) = run.checkpoint(FILE)? else { return Ok(None) };
        let foreign = || Error::CheckpointForeign { path: path.clone() };
        let header = header(&bytes).filter(|header| header.key == key).ok_or_else(foreign)?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(|_| foreign())?;
        let [means, squares] = [MEANS, SQUARES].map(|group| read(&tensors, group, tunable));
        let optimizer =
            AdamW { means: means?.ok_or_else(foreign)?, squares: squares?.ok_or_else(foreign)? };
        set(tunable, &read(&tensors, WEIGHTS, tunable)?.ok_or_else(foreign)?)?;
        Ok(Some(Self { header, optimizer }))
    }

    /// Returns the number of steps that were taken.
    pub(super) fn step(&self) -> usize {
        self.header.step
    }

    /// Counts a step.
    pub(super) fn count(&mut self) -> usize {
        self.header.step += 1;
        self.header.step
    }

    pub(super) fn n_rounds(&self) -> usize {
        self.header.log.len()
    }

    /// Returns the round before the first step; there must be one.
    pub(super) fn base(&self) -> &TransformerLogLine {
        self.header.log.first().expect("a run begins with a round")
    }

    /// Returns the best round, the last of those that tie; there must be one.
    pub(super) fn best(&self) -> &TransformerLogLine {
        let best = self.header.log.iter().max_by(|a, b| a.scores.sum().total_cmp(&b.scores.sum()));
        best.expect("a run begins with a round")
    }

    /// Ends a round: keeps the weights if they are the best, then writes the checkpoint and the
    /// log.
    pub(super) fn note(
        &mut self,
        line: TransformerLogLine,
        tunable: &Tunable,
        run: &RunFolder<'_>,
    ) -> Result<()> {
        let round = line.round;
        self.header.log.push(line);
        let weights = || tunable.variables().iter().map(|v| (v.name.clone(), v.var.as_tensor()));
        // The best weights come first: a run that is killed between the two writes them again.
        if self.best().round == round {
            write(&run.path.join(BEST), weights(), None)?;
        }
        let AdamW { means, squares } = &self.optimizer;
        let names = || tunable.variables().iter().map(|v| v.name.as_str());
        let named = |group: &'static str, tensors| {
            names()
                .zip(tensors)
                .map(move |(name, tensor): (&str, &Tensor)| (format!("{group}{name}"), tensor))
        };
        let all = weights().map(|(name, tensor)| (format!("{WEIGHTS}{name}"), tensor));
        let all = all.chain(named(MEANS, means)).chain(named(SQUARES, squares));
        let header = serde_json::to_string(&self.header).expect("a log always serialises");
        write(&run.path.join(FILE), all, Some([(HEADER.to_owned(), header)].into()))?;
        let line = |line| serde_json::to_string(line).expect("a log always serialises") + "\n";
        let lines: String = self.header.log.iter().map(line).collect();
        replace(&run.path.join(LOG), lines.as_bytes())
    }
}

/// Gives the model the weights of the best round.
pub(super) fn take_best(tunable: &Tunable, run: &RunFolder<'_>) -> Result<()> {
    let path = run.path.join(BEST);
    let bytes = fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    let foreign = || Error::CheckpointForeign { path: path.clone() };
    let tensors = SafeTensors::deserialize(&bytes).map_err(|_| foreign())?;
    set(tunable, &read(&tensors, "", tunable)?.ok_or_else(foreign)?)
}

fn header(bytes: &[u8]) -> Option<Header> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    serde_json::from_str(metadata.metadata().as_ref()?.get(HEADER)?).ok()
}

/// Reads a tensor for each variable; `None` if one is missing or has another shape.
fn read(
    tensors: &SafeTensors<'_>,
    group: &str,
    tunable: &Tunable,
) -> TensorResult<Option<Vec<Tensor>>> {
    let mut found = Vec::new();
    for variable in tunable.variables() {
        let name = format!("{group}{}", variable.name);
        let view = tensors.tensor(&name).ok();
        let Some(view) = view.filter(|view| view.shape() == variable.var.dims()) else {
            return Ok(None);
        };
        let device = tunable.device();
        found.push(Tensor::from_raw_buffer(view.data(), DType::F32, view.shape(), device)?);
    }
    Ok(Some(found))
}

fn set(tunable: &Tunable, values: &[Tensor]) -> Result<()> {
    for (variable, value) in tunable.variables().iter().zip(values) {
        variable.var.set(value)?;
    }
    Ok(())
}

/// Writes tensors so that a killed run leaves the old file or the new one.
fn write<'t>(
    path: &Path,
    tensors: impl Iterator<Item = (String, &'t Tensor)>,
    metadata: Option<HashMap<String, String>>,
) -> Result<()> {
    let failed = |error| Error::Write { path: path.to_owned(), source: io::Error::other(error) };
    safetensors::serialize_to_file(tensors, metadata, path).map_err(failed)
}
